//! `gristmill demo`: sorts a million records in one pass, in two and by a merge, and on simulated
//! cores, and shows the history of that sort.

use std::path::{Path, PathBuf};

use ::lab::{Changes, Observer, Parameters, Place, Seeds, SimReport};
use ::sort::{
    Choice, Generate, IoChoice, Job, Pack, Report, Resources, Source, Target, Validated, generate,
    validate,
};
use clap::Args;
use node::{Decompress, Node};
use pipeline::{Control, Failure};
use record::{Comparison, Generator, RecordSpec, Summary};

use host::machine;
use sim::command;
use terminal::ending::failure::{CliFailure, Exit};
use terminal::ending::say;
use terminal::ending::scratch::Scratch;
use terminal::{launcher, progress};
use units::{count, grouped};

const EXAMPLES: &str = "\
Examples:
  gristmill demo
  gristmill demo --directory /tmp --cores 4096";

/// Sort a million records with much memory and with little, and on simulated cores.
///
/// The records are checked after each sort. A table shows the history of that sort.
#[derive(Args)]
#[command(before_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Directory to work in, with 300 MB of free space
    #[arg(long, value_name = "DIR", default_value = ".")]
    directory: PathBuf,
    /// Simulated cores, which sort 16 keys each; 65,536 cores take 1 GB of memory
    #[arg(long, value_name = "N", value_parser = count, default_value = "65536")]
    cores: u64,
}

/// Cores of the paper's headline.
const PAPERS_CORES: u64 = 65_536;

/// On 65,536 cores 1,048,576 keys, which the paper calls a million.
const KEYS_PER_CORE: u64 = 16;

/// The Datamation benchmark: one million records of 100 bytes (Anon et al., 1985).
const RECORDS: u64 = 1_000_000;

/// Room for a fifth of the records.
const LITTLE_MEMORY_BYTES: u64 = 20 << 20;

/// The ways to sort, with the memory of each where it is little.
const WAYS: [(Choice, Option<u64>, &str); 3] = [
    (
        Choice::Auto,
        None,
        "disk to disk, durable, every record accounted for",
    ),
    (
        Choice::TwoPass,
        Some(LITTLE_MEMORY_BYTES),
        "the same in 20 MiB of memory, partitions on disk",
    ),
    (
        Choice::Merge,
        Some(LITTLE_MEMORY_BYTES),
        "the same in 20 MiB, by a merge of sorted runs",
    ),
];

/// Earlier sorts of a million records, where the records were, and how long it took. FastSort to
/// Popovici, MilliSort and NanoSort are from the introduction of NanoSort (arXiv 2204.12615),
/// Tandem and psort from psort.
const HISTORY: [(&str, &str, &str); 9] = [
    ("1986  FastSort, 2 cores", "disk to disk", "3,600 s"),
    ("1987  Tandem", "disk to disk", "980 s"),
    ("1989  Baugsto, 16 cores", "disk to disk", "180 s"),
    ("1989  Baugsto, 100 cores", "disk to disk", "40 s"),
    ("1993  AlphaSort, 3 cores", "disk to disk", "7 s"),
    ("2002  Popovici, 32 servers", "disk to disk", "440 ms"),
    ("2011  psort, 16 nodes", "disk to disk", "75 ms"),
    ("2021  MilliSort, 2,240 cores", "in memory", "1 ms"),
    ("2022  NanoSort, 65,536 cores", "simulated", "68 us"),
];

/// Commands for a user's own data.
const OWN_DATA: &str = "\
Your own data: lines, rows with a header, records of 64 bytes with a number at byte 8:
  target/release/gristmill sort FILE -o SORTED
  target/release/gristmill sort --format csv --key COLUMN:num FILE -o SORTED
  target/release/gristmill sort --format fixed:64 --key 8+8:u64le -S 2G FILE -o SORTED
  target/release/gristmill doctor DIR   # what DIR and this machine offer a sort
Next: `make release install PREFIX=$HOME/.local` puts `gristmill` on your path.";

pub(crate) fn run(arguments: &Arguments) -> Result<Exit, CliFailure> {
    let simulated = million_on(arguments.cores)?;
    let place = Scratch::new(&arguments.directory, "demo")?;
    let control = Control::default();
    let inside = place.path().to_owned();
    let watch = control.clone();
    let sorted = machine::run(&control, progress::Mode::Auto, move |node| {
        let (inside, watch) = (inside.clone(), watch.clone());
        async move { act(&node, &inside, &watch).await }
    })?;
    let million = simulate(&simulated)?;
    let sound = sorted
        .iter()
        .all(|(report, summary)| summary.is_ordered() && summary.checksum.0 == report.checksum);
    tell(&sorted[0].0, sound, &million)?;
    Ok(if sound && million.is_right() {
        Exit::Done
    } else {
        Exit::CheckFailed
    })
}

/// NanoSort on a simulated cluster.
fn million_on(cores: u64) -> Result<::lab::Job, CliFailure> {
    let changes = Changes {
        threads: Some(launcher::cores()),
        ..Changes::default()
    };
    let options = [("cores", cores), ("keys-per-core", KEYS_PER_CORE)];
    let asked = Parameters::of("nano-sort", options)?;
    let place = Place::named("nanopu", &changes)?;
    Ok(::lab::Job::new(asked, place, Seeds::default())?)
}

fn simulate(job: &::lab::Job) -> Result<SimReport, CliFailure> {
    let observer = Observer::default();
    let caught = command::stop_on_signal(&observer, job.place())?;
    let report = command::watched(&observer, &caught, progress::Mode::Auto, || {
        job.run(&observer)
    })?;
    let (seconds, cores) = (report.wall_s, u64::from(report.cores));
    say::out(format!(
        "simulated {} keys on {} nanoPU cores, every message: {seconds:.1} s",
        grouped(KEYS_PER_CORE * cores),
        grouped(cores)
    ))?;
    Ok(report)
}

/// Makes the records, and sorts and checks them each way.
async fn act(
    node: &Node,
    place: &Path,
    control: &Control,
) -> Result<Vec<(Report, Summary)>, Failure> {
    let made = Generate {
        generator: Generator::default(),
        first: 0,
        records: RECORDS,
        target: Target::Path(place.join("input")),
        checksum: false,
        cores: launcher::cores(),
        io: IoChoice::Direct,
        control: control.clone(),
    };
    generate(node, &made).await?;
    let made = grouped(RECORDS);
    let _ = say::out(format!("made      {made} records of 100 bytes"));
    let mut sorted = Vec::new();
    for (plan, memory, what) in WAYS {
        let memory_bytes = memory.unwrap_or_else(|| host::memory::memory_limit(None));
        let job = Job {
            plan,
            ..job(place, memory_bytes, control)
        };
        let report = ::sort::run(node, &job).await?;
        let ms = report.seconds * 1e3;
        let _ = say::out(format!("sorted    {what}: {ms:.0} ms"));
        let check = Validated {
            decompress: Decompress::Never,
            sources: vec![Source::Path(place.join("output"))],
            comparison: Comparison::valsort(false),
            io: IoChoice::Direct,
            cores: launcher::cores(),
            control: control.clone(),
        };
        let summary = validate(node, &check).await?;
        let _ = say::out(format!(
            "checked   {} records in order, checksum {}",
            grouped(summary.records as u64),
            summary.checksum
        ));
        sorted.push((report, summary));
    }
    Ok(sorted)
}

/// A sort of the records that were made.
fn job(place: &Path, memory_bytes: u64, control: &Control) -> Job {
    let resources = Resources {
        cores: launcher::cores(),
        memory_bytes,
        io: IoChoice::Direct,
    };
    let sources = vec![Source::Path(place.join("input"))];
    let target = Target::Path(place.join("output"));
    Job {
        pack: Pack::Never,
        control: control.clone(),
        may_begin_again: false,
        ..Job::new(sources, &RecordSpec::gensort(), target, resources)
    }
}

fn tell(first: &Report, sound: bool, million: &SimReport) -> Result<(), CliFailure> {
    let here = format!("{:.0} ms", first.seconds * 1e3);
    say::out("\nSorting a million records, from the Datamation benchmark on\n")?;
    for (who, how, time) in HISTORY {
        say::out(format!("  {who:<28} {how:<14} {time:>8}"))?;
    }
    let who = format!("now   Gristmill, {} cores", launcher::cores());
    say::out(format!("  {who:<28} {:<14} {here:>8}", "disk to disk"))?;
    let cores = u64::from(million.cores);
    let who = match cores {
        PAPERS_CORES => "now   NanoSort by Gristmill".to_owned(),
        _ => format!(
            "      {} keys, {} cores",
            grouped(KEYS_PER_CORE * cores),
            grouped(cores)
        ),
    };
    let time = format!("{:.0} us", million.time_us.mean);
    say::out(format!("  {who:<28} {:<14} {time:>8}", "simulated"))?;
    say::out(format!("\n{}", caveat(first.direct_io.read)))?;
    say::out(format!("\n{OWN_DATA}"))?;
    if !sound {
        say::out("\nAn output is NOT in order or lost records: please report this.")?;
    }
    Ok(())
}

/// Says how the input was read and which times are simulated.
fn caveat(is_direct: bool) -> String {
    let input = if is_direct {
        "was read past the page cache, right after it was written"
    } else {
        "was in the page cache"
    };
    format!(
        "The input of our sort {input}; the others began with cold disks.\n\
         `gristmill-bench datamation` measures that. No nanoPU with 65,536 cores exists:\n\
         the paper's time is simulated, and ours comes from another simulator. The mean of\n\
         ten runs on 65,536 cores says (docs/papers/nanosort.md):\n{}",
        command::verdict()
    )
}
