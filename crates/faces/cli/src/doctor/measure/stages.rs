//! The times of stages on a core, from reports of sorts in memory.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::hint::black_box;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

use host::machine;
use node::{DiskError, Filled, Random};
use pipeline::Control;
use record::{Given, RecordSpec};
use sort::{Choice, IoChoice, Job, Report, Resources, Source, StageName, Target};
use terminal::ending::failure::CliFailure;
use terminal::ending::scratch::Scratch;
use terminal::{launcher, progress};

/// Bytes of a record of each sort; the times of both give that of a record and that of a byte.
const LENGTHS: [usize; 2] = [100, 1000];

/// Each input has so many bytes, of which memory holds a part: so every stage has work.
const BYTES: usize = 128 << 20;
const MEMORY: u64 = 64 << 20;

/// Memory that is touched, in buffers like those of a sort, and a part of all that a sort may have at most.
const TOUCHED: u64 = 2 << 30;
const TOUCHED_SHARE: u64 = 4;
const UNIT: usize = 4 << 20;
const PAGE: usize = 4096;

/// Runs of each sort; the least time of a stage counts, since others only add to it.
const RUNS: usize = 2;

/// The stages that take a core, where disks take the bytes past the page cache.
const STAGES: [StageName; 3] = [
    StageName::Distributor,
    StageName::PartitionBuffers,
    StageName::Sorter,
];

/// The time of each stage by record and by byte, in nanoseconds.
pub(super) struct Costs(Vec<(&'static str, f64, f64)>);

impl fmt::Display for Costs {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|(name, of_record, of_byte)| {
            writeln!(
                out,
                "\"{name}\" = {{ ns_per_record = {of_record:.1}, ns_per_byte = {of_byte:.3} }}"
            )
        })
    }
}

/// The nanoseconds in which a byte of memory is written for the first time.
///
/// # Errors
/// When there is too little memory.
pub(super) fn first_touch() -> Result<f64, CliFailure> {
    machine::run(
        &Control::default(),
        progress::Mode::Never,
        |node| async move {
            let share = (host::memory::memory_limit(None) / TOUCHED_SHARE).min(TOUCHED);
            let count = (share as usize / UNIT).max(1);
            let begin = Instant::now();
            let buffers = node.buffers(count, UNIT, Filled::Once);
            let mut buffers = buffers
                .map_err(|cause| DiskError::new("have memory for", "buffers".as_ref(), cause))?;
            for buffer in &mut buffers {
                let pages = buffer.bytes_mut().iter_mut().step_by(PAGE);
                pages.for_each(|byte| *byte = black_box(1));
            }
            Ok(begin.elapsed().as_secs_f64() * 1e9 / (count * UNIT) as f64)
        },
    )
}

/// Sorts records and lines, in memory where the system has files there.
///
/// # Errors
/// When there is no room, or a sort fails.
pub(super) fn measure() -> Result<[Costs; 2], CliFailure> {
    let shared = Path::new("/dev/shm");
    let place = if shared.is_dir() {
        shared.to_owned()
    } else {
        std::env::temp_dir()
    };
    let scratch = Scratch::new(&place, "measure")?;
    Ok([costs(scratch.path(), false)?, costs(scratch.path(), true)?])
}

/// The seconds of stages for a byte, by their names.
type Seconds = BTreeMap<&'static str, f64>;

fn costs(place: &Path, is_lines: bool) -> Result<Costs, CliFailure> {
    let [short, long] = LENGTHS.map(|length| seconds(place, is_lines, length));
    let (short, long) = (short?, long?);
    let [shorter, longer] = LENGTHS.map(|length| length as f64);
    let cost = |stage: StageName| {
        let name = stage.name();
        let (short, long) = (short.get(name)? * 1e9, long.get(name)? * 1e9);
        // short = record / shorter + byte, long = record / longer + byte
        let record = ((short - long) / (1.0 / shorter - 1.0 / longer)).max(0.0);
        Some((name, record, (long - record / longer).max(0.0)))
    };
    Ok(Costs(STAGES.into_iter().filter_map(cost).collect()))
}

/// Sorts records of one length.
fn seconds(place: &Path, is_lines: bool, length: usize) -> Result<Seconds, CliFailure> {
    let input = place.join("in");
    write(&input, is_lines, length).map_err(|cause| {
        let message = format!("cannot write {}: {}", input.display(), cause.kind());
        CliFailure::new("io", message)
    })?;
    let mut least = Seconds::new();
    for _ in 0..RUNS {
        for stage in sort(place, input.clone(), is_lines, length)?.stages {
            if stage.bytes > 0 {
                let seconds = stage.busy_s / stage.bytes as f64;
                let known = least.entry(stage.name).or_insert(seconds);
                *known = known.min(seconds);
            }
        }
    }
    Ok(least)
}

fn write(path: &Path, is_lines: bool, length: usize) -> io::Result<()> {
    const SEED: u64 = 1; // the same records in every run
    let mut random = Random::new(SEED);
    let mut text = Vec::with_capacity(BYTES + 8);
    while text.len() < BYTES {
        text.extend_from_slice(&random.next_u64().to_le_bytes());
    }
    text.truncate(BYTES / length * length);
    if is_lines {
        for line in text.chunks_exact_mut(length) {
            line.iter_mut().for_each(|byte| *byte = b'a' + *byte % 26);
            line[length - 1] = b'\n';
        }
    }
    fs::write(path, text)
}

fn sort(place: &Path, input: PathBuf, is_lines: bool, length: usize) -> Result<Report, CliFailure> {
    let format = if is_lines {
        "lines".to_owned()
    } else {
        format!("fixed:{length}")
    };
    let spec = RecordSpec::new(&Given {
        format,
        ..Given::default()
    });
    let spec = spec.map_err(|error| CliFailure::usage(error.to_string()))?;
    let resources = Resources {
        cores: launcher::cores(),
        memory_bytes: MEMORY,
        io: IoChoice::Buffered,
    };
    let target = Target::Path(place.join("out"));
    let control = Control::default();
    let job = Job {
        plan: Choice::TwoPass,
        control: control.clone(),
        ..Job::new(vec![Source::Path(input)], &spec, target, resources)
    };
    machine::run(&control, progress::Mode::Never, move |node| {
        let job = job.clone();
        async move { sort::run(&node, &job).await }
    })
}
