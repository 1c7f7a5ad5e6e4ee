//! `gristmill demo`: a million records, disk to disk, beside the history of that sort.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ::sort::{
    Bytes, Generate, IoChoice, Job, Report, Resources, Source, Target, Tuning, Validated, generate,
    one_pass, validate,
};
use clap::Args;
use node::Node;
use pipeline::{Control, Failure};
use record::{Comparison, Generator, Order, Summary, Ties};

use crate::failure::{CliFailure, Exit};
use crate::scratch::Scratch;
use crate::{machine, progress, say};

/// Sort a million records disk to disk, check them, and show the history of that benchmark.
#[derive(Args)]
pub struct Arguments {
    /// Where to work: 200 MB are needed for a moment
    #[arg(long, value_name = "DIR", default_value = ".")]
    directory: PathBuf,
}

/// The Datamation benchmark: one million records of 100 bytes (Anon et al., 1985).
const RECORDS: u64 = 1_000_000;

/// Who sorted the million before, how, and how long it took.
const HISTORY: [(&str, &str, &str); 4] = [
    ("1986  FastSort, Tandem", "disk to disk", "3,600 s"),
    ("1987  Tandem", "disk to disk", "980 s"),
    ("2002  Popovici, 32 servers", "disk to disk", "440 ms"),
    ("      psort, 16 nodes", "disk to disk", "75 ms"),
];

/// Shows.
pub fn run(arguments: &Arguments) -> Result<Exit, CliFailure> {
    let place = Scratch::new(&arguments.directory, "demo")?;
    let control = Control::default();
    let inside = place.path().to_owned();
    let watch = control.clone();
    let (report, summary) = machine::run(&control, progress::Mode::Auto, move |node| {
        let (inside, watch) = (inside.clone(), watch.clone());
        async move { act(&node, &inside, &watch).await }
    })?;
    tell(&report, &summary)?;
    let sound = summary.is_ordered() && summary.checksum.0 == report.checksum;
    Ok(if sound { Exit::Done } else { Exit::CheckFailed })
}

async fn act(node: &Node, place: &Path, control: &Control) -> Result<(Report, Summary), Failure> {
    let (input, output) = (place.join("input"), place.join("output"));
    let cores = machine::cores();
    let made = Generate {
        generator: Generator::default(),
        first: 0,
        records: RECORDS,
        target: Target::Path(input.clone()),
        checksum: false,
        cores,
        io: IoChoice::Direct,
        control: control.clone(),
    };
    generate(node, &made).await?;
    let _ = say::out(format!("made      {RECORDS} records of 100 bytes"));
    let memory_bytes = machine::memory_limit(None);
    let job = Job {
        sources: vec![Source::Path(input)],
        target: Target::Path(output.clone()),
        contents: Arc::new(Bytes::new(Order::gensort(Ties::Record))),
        resources: Resources { cores, memory_bytes, io: IoChoice::Direct },
        tuning: Tuning::default(),
        control: control.clone(),
    };
    let report = one_pass(node, &job).await?;
    let _ = say::out(format!(
        "sorted    disk to disk, durable, every record accounted for: {:.0} ms",
        report.seconds * 1e3
    ));
    let check = Validated {
        sources: vec![Source::Path(output)],
        comparison: Comparison::valsort(false),
        io: IoChoice::Direct,
        cores,
        control: control.clone(),
    };
    let summary = validate(node, &check).await?;
    let _ = say::out(format!(
        "checked   {} records in order, checksum {}",
        summary.records, summary.checksum
    ));
    Ok((report, summary))
}

fn tell(report: &Report, summary: &Summary) -> Result<(), CliFailure> {
    let here = format!("{:.0} ms", report.seconds * 1e3);
    say::out("\nSorting a million records (the Datamation benchmark)\n")?;
    for (who, how, time) in HISTORY {
        say::out(format!("  {who:<28} {how:<14} {time:>8}"))?;
    }
    let who = format!("now   Gristmill, {} cores", machine::cores());
    say::out(format!("  {who:<28} {:<14} {here:>8}", "disk to disk"))?;
    if !summary.is_ordered() {
        say::out("\nThe output is NOT in order: please report this.")?;
    }
    Ok(())
}
