//! `gristmill-bench heaper-merger`: a merge of more and more sorted runs in the same memory.
//!
//! TritonSort's Figure 1 (section 2.5) shows why it does not merge. Each run is read ahead into two
//! buffers, so with more runs each read is smaller, until seeks, or the cost of requests, take all
//! of the disk's time. The input has as many sorted stretches as there are to be runs; no load
//! holds parts of two:
//!
//! ```text
//! memory   | run 0 | run 0 | run 1 | run 1 | ... | run k-1 | run k-1 | loads ...
//!          a read is about memory / 2k
//! ```
//!
//! Only the merge is timed, from its first read to its last write. Where memory does not have two
//! buffers for each run, the merge takes several passes, whose times are added.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;
use terminal::launcher::cores;

use clap::Args;
use kernel::patterns::Random;
use node::Decompress;
use pipeline::StageReport;
use record::{RECORD_BYTES, RecordSpec};
use serde_json::{Value, json};
use sort::{
    Choice, Framing, IoChoice, Job, Merging, Pack, Plan, Resources, Shape, Source, SpillLayout,
    Target, Tuning,
};

use crate::Common;
use crate::cold::Cold;
use crate::host::on_node;
use crate::race::{Race, Run};
use crate::table::{Column, RATIO, Report, Section};
use terminal::ending::failure::CliFailure;
use terminal::ending::scratch::Scratch;
use units::{amount, size};

/// Merge more and more sorted runs in the same memory (TritonSort, Figure 1).
///
/// The ratio is to copying the runs from file to file.
#[derive(Args)]
pub struct Arguments {
    /// Numbers of runs [default: 2,4,16,64,256,1024,4096,16384]
    #[arg(long = "files", value_name = "LIST", value_delimiter = ',',
        value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    files: Vec<u32>,
    /// Memory of the sort [default: 64M]
    #[arg(short = 'S', long, value_name = "SIZE", value_parser = size)]
    memory: Option<u64>,
    /// Bytes in all runs, about [default: 1G]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    size: Option<u64>,
    /// Where to work: three times the size is needed
    #[arg(long, value_name = "DIR", default_value = ".")]
    directory: PathBuf,
    #[command(flatten)]
    pub common: Common,
}

const FILES: [u32; 8] = [2, 4, 16, 64, 256, 1024, 4096, 16384];
const SMOKE_FILES: [u32; 3] = [2, 16, 256];
const MEMORY_BYTES: u64 = 64 << 20;
const SMOKE_MEMORY_BYTES: u64 = 12 << 20;
const SIZE_BYTES: u64 = 1 << 30;
const SMOKE_SIZE_BYTES: u64 = 8 << 20;

/// The largest chunk that is tried, and the least: a disk block, which the plan makes as large as a
/// record needs.
const MOST_CHUNK_BYTES: u64 = 4 << 20;
const LEAST_CHUNK_BYTES: u64 = 4096;

const INPUT: &str = "runs";
const OUTPUT: &str = "output";

/// Returns the rows that `gristmill-bench heaper-merger` prints.
///
/// # Errors
/// Too little memory or room; a failure of the sort.
pub fn run(arguments: &Arguments) -> Result<Report, CliFailure> {
    let common = arguments.common;
    let bytes = common.size(arguments.size, SIZE_BYTES, SMOKE_SIZE_BYTES);
    let memory_bytes = common.size(arguments.memory, MEMORY_BYTES, SMOKE_MEMORY_BYTES);
    let mut bench = HeaperMerger {
        place: Scratch::new(&arguments.directory, "bench")?,
        records: (bytes / RECORD_BYTES as u64).max(1),
        memory_bytes,
        cold: Cold::find(common.smoke),
    };
    let files = match (&arguments.files[..], common.smoke) {
        ([], true) => SMOKE_FILES.to_vec(),
        ([], false) => FILES.to_vec(),
        (asked, _) => asked.to_vec(),
    };
    let mut race = Race::new();
    let command = "read one file and write another, durably";
    race.enter("copy", command, |bench: &mut HeaperMerger| bench.copy());
    for runs in files {
        let kibibytes = memory_bytes >> 10;
        let command = format!("gristmill sort --plan merge -S {kibibytes}K of {runs} sorted runs");
        race.enter(format!("{runs} runs"), command, move |bench| {
            bench.merge(runs)
        });
    }
    let mut rows = race.run(common.runs, &mut bench)?;
    for row in &mut rows[1..] {
        let rate = row.figure("bytes") / 1e6 / row.median().max(f64::MIN_POSITIVE);
        row.add(json!({ "mb_per_s": rate }));
    }
    let title = format!("merging sorted runs in {}", amount(memory_bytes));
    Ok(Report {
        bench: "heaper-merger",
        facts: json!({
            "bytes": bench.records * RECORD_BYTES as u64,
            "memory_bytes": memory_bytes,
            "cores": cores(),
            "cold": bench.cold.name(),
        }),
        sections: vec![Section::new(title, (bench.records, "record"), rows).with_columns(&COLUMNS)],
    })
}

struct HeaperMerger {
    place: Scratch,
    records: u64,
    memory_bytes: u64,
    cold: Cold,
}

/// Runs that are each a number of whole loads.
#[derive(Clone, Copy)]
struct Stretches {
    runs: u64,
    /// Records of each.
    records: u64,
    tuning: Tuning,
}

impl HeaperMerger {
    fn merge(&self, runs: u32) -> Result<Run, CliFailure> {
        let stretches = self.stretches(runs.into())?;
        let input = self.place.path().join(INPUT);
        write_runs(&input, stretches).map_err(|cause| failed(&input, &cause))?;
        self.cold.forget(&input)?;
        let (sources, records) = (vec![Source::Path(input)], RecordSpec::gensort());
        let target = Target::Path(self.place.path().join(OUTPUT));
        let job = Job {
            decompress: Decompress::Never,
            temporary: vec![self.place.path().to_owned()],
            pack: Pack::Never,
            plan: Choice::Merge,
            tuning: stretches.tuning,
            may_begin_again: false,
            ..Job::new(sources, &records, target, self.resources())
        };
        let report = on_node(move |node| {
            let job = job.clone();
            async move { sort::run(&node, &job).await }
        })?;
        if report.partitions != stretches.runs {
            let message = format!("{} runs were made of {runs}", report.partitions);
            return Err(CliFailure::new("bug", message));
        }
        let stages = ["run merger", "writer"];
        let merging = stages.iter().filter_map(|name| report.stage(name));
        let reads = report.stage("run reader");
        Ok(Run {
            seconds: Some(merging.map(lived).sum()),
            figures: json!({
                "runs": report.partitions,
                "read_bytes": reads.map_or(0, |stage| stage.bytes / stage.units.max(1)),
                "bytes": report.bytes,
                // The first pass made the runs.
                "merge_passes": report.passes - 1,
            }),
        })
    }

    /// The size of runs that are whole loads, and the plan's numbers that make them so.
    fn stretches(&self, runs: u64) -> Result<Stretches, CliFailure> {
        let (merging, tuning) = self.merging(runs)?;
        let block_records = (merging.block_room / RECORD_BYTES) as u64;
        let blocks = (self.records / runs / block_records).max(1);
        let load = blocks.min(merging.load_chunks as u64);
        let records = blocks / load * load * block_records;
        let tuning = Tuning {
            load_chunks: Some(load as usize),
            ..tuning
        };
        Ok(Stretches {
            runs,
            records,
            tuning,
        })
    }

    /// The largest chunks that leave two for every run, or else the smallest possible ones.
    fn merging(&self, runs: u64) -> Result<(Merging, Tuning), CliFailure> {
        let shape = Shape {
            inputs: 1,
            bytes: Some(self.records * RECORD_BYTES as u64),
            is_about: false,
            framing: Framing::fixed(RECORD_BYTES),
            sequential_output: false,
            stable: false,
            outputs: 1,
            temporary: 1,
            sources: Default::default(),
            coding: Default::default(),
            pack: Pack::Never,
            spill_layout: SpillLayout::Log,
            stripe: None,
        };
        let mut chunk_bytes = MOST_CHUNK_BYTES;
        loop {
            let tuning = Tuning {
                chunk_bytes: Some(chunk_bytes as usize),
                ..Tuning::default()
            };
            let plan = Plan::merge(&shape, &self.resources(), &tuning);
            let smaller = chunk_bytes - chunk_bytes / 8;
            let is_least = smaller < LEAST_CHUNK_BYTES;
            let suits = |merging: &Merging| is_least || merging.fan_in as u64 >= runs;
            match plan {
                Ok(Plan {
                    merging: Some(merging),
                    ..
                }) if suits(&merging) => {
                    return Ok((merging, tuning));
                }
                Err(error) if is_least => {
                    return Err(CliFailure::new(error.kind(), error.to_string()));
                }
                _ => chunk_bytes = smaller,
            }
        }
    }

    fn resources(&self) -> Resources {
        Resources {
            cores: cores(),
            memory_bytes: self.memory_bytes,
            io: IoChoice::Direct,
        }
    }

    /// Copies a file of the same size.
    fn copy(&self) -> Result<f64, CliFailure> {
        let (input, output) = (
            self.place.path().join(INPUT),
            self.place.path().join(OUTPUT),
        );
        let one = Stretches {
            runs: 1,
            records: self.records,
            tuning: Tuning::default(),
        };
        write_runs(&input, one).map_err(|cause| failed(&input, &cause))?;
        self.cold.forget(&input)?;
        let begin = Instant::now();
        let copied = std::fs::copy(&input, &output).and_then(|_| File::open(&output)?.sync_all());
        copied.map_err(|cause| failed(&output, &cause))?;
        Ok(begin.elapsed().as_secs_f64())
    }
}

/// Writes sorted runs, one behind the other: the keys of each are spread over all there are.
fn write_runs(path: &Path, Stretches { runs, records, .. }: Stretches) -> std::io::Result<()> {
    const KEY_WORD_BYTES: usize = 8;
    let mut file = BufWriter::with_capacity(1 << 20, File::create(path)?);
    let mut record = [0; RECORD_BYTES];
    let step = (u64::MAX / records).max(1);
    for run in 0..runs {
        let mut random = Random::new(run);
        for number in 0..records {
            let (key, rest) = record.split_at_mut(KEY_WORD_BYTES);
            key.copy_from_slice(&(number * step + random.below(step)).to_be_bytes());
            random.fill(rest);
            file.write_all(&record)?;
        }
    }
    file.into_inner()?.sync_all()
}

fn failed(path: &Path, cause: &std::io::Error) -> CliFailure {
    let message = format!(
        "cannot write {}: {cause}; name a place with --directory",
        path.display()
    );
    CliFailure {
        file: Some(path.to_owned()),
        ..CliFailure::new("io", message)
    }
}

/// Mean lifetime of the workers of a stage.
fn lived(stage: &StageReport) -> f64 {
    (stage.busy_s + stage.starved_s + stage.blocked_s) / stage.workers.max(1) as f64
}

/// Figure 1 as a table.
const COLUMNS: [Column; 7] = [
    Column("read", |_, row| {
        row.shown("read_bytes", |bytes| bytes.as_u64().map(amount))
    }),
    Column("passes", |_, row| {
        row.shown("merge_passes", |passes| Some(passes.to_string()))
    }),
    Column("seconds", |_, row| format!("{:.3}", row.median())),
    Column("min", |_, row| format!("{:.3}", row.least())),
    Column("max", |_, row| format!("{:.3}", row.most())),
    Column("MB/s", |_, row| {
        let rate = |rate: &Value| rate.as_f64().map(|rate| format!("{rate:.0}"));
        row.shown("mb_per_s", rate)
    }),
    RATIO,
];
