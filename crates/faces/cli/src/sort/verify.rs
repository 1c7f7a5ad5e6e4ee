//! `--verify`: the output is read again.

use std::path::Path;

use ::sort::{
    IoChoice, Job, Manifest, ReadOptions, Report, SortError, Source, Target, Validated,
    ValidatedSet, WrittenFile, resolve, validate, validate_set,
};
use node::{Decompress, Node, Rank};
use pipeline::Failure;
use record::{Comparison, Headed, Summary};

/// Reads the output again: it must be in order and hold the records that came in.
pub(super) async fn check_output(
    node: &Node,
    job: &Job,
    comparison: Comparison,
    report: &Report,
) -> Result<(), Failure> {
    let written = match &job.target {
        _ if job.resume.is_some() => report.written.clone(),
        Target::Path(path) => vec![all_in(path, report)],
        // Rank 0 reads it for all.
        Target::Together(path) if node.rank() == Rank::ROOT => {
            vec![all_in(path, &report.clone().of_all())]
        }
        Target::Together(_) | Target::Standard => return Ok(()),
        Target::Directories(all) => return check_set(node, job, &all[0], report).await,
    };
    let decompress = job.compress.map_or(Decompress::Never, Decompress::From);
    for written in written {
        let (mut sources, mut comparison) =
            (vec![Source::Path(written.path.clone())], comparison.clone());
        let is_marked = |headed: &Headed| headed.head().is_marked_alone();
        if job.headed.as_ref().is_some_and(is_marked) {
            // Records may begin with a mark, too.
            sources = vec![Source::Path(written.path.clone()).behind(report.header_bytes)];
        } else if let Some(headed) = &job.headed {
            let reading = ReadOptions {
                io: IoChoice::Direct,
                decompress,
                memory_bytes: job.resources.memory_bytes,
                ..ReadOptions::default()
            };
            let resolved = resolve(node, headed, &sources, true, &reading).await?;
            sources = resolved.sources;
            comparison = resolved.contents.comparison().unwrap_or(comparison);
        }
        let again = Validated {
            decompress,
            sources,
            comparison,
            io: IoChoice::Direct,
            cores: job.resources.cores,
            control: job.control.clone(),
        };
        is_what_came_in(&validate(node, &again).await?, written)?;
    }
    Ok(())
}

/// All records of the output, in one path.
fn all_in(path: &Path, report: &Report) -> WrittenFile {
    WrittenFile {
        path: path.to_owned(),
        records: report.records,
        checksum: report.checksum,
    }
}

/// Reads a set again: each file must also match its entry in the manifest.
async fn check_set(
    node: &Node,
    job: &Job,
    directory: &Path,
    report: &Report,
) -> Result<(), Failure> {
    let again = ValidatedSet {
        manifest: directory.join(Manifest::NAME),
        io: IoChoice::Direct,
        cores: job.resources.cores,
        control: job.control.clone(),
    };
    let found = validate_set(node, &again).await?;
    match found.wrong.into_iter().next() {
        Some((file, what)) => Err(SortError::ReadBack { file, what }.into()),
        None => is_what_came_in(&found.summary, all_in(directory, report)),
    }
}

fn is_what_came_in(summary: &Summary, written: WrittenFile) -> Result<(), Failure> {
    let found = (summary.records as u64, summary.checksum.0);
    let what = match summary.first_unordered {
        Some(record) => format!("record {record} is out of order"),
        None if found != (written.records, written.checksum) => {
            let (records, checksum) = found;
            format!(
                "{records} records with checksum {checksum:x}, not {}",
                written.records
            )
        }
        None => return Ok(()),
    };
    Err(SortError::ReadBack {
        file: written.path,
        what,
    }
    .into())
}
