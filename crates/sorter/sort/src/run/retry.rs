//! Retries a sort with what the failed attempt learned about its lines.
//!
//! ```text
//! a line is longer than the buffers     > buffers with room for the longest, which is measured
//! the memory is too little for the buffers that lines seen ask for     > the same
//! a quote is not closed in its line     > rows whose quotes may hold newlines
//! ```
//!
//! A sort may begin again as long as nothing has left it: its output is a draft, or untouched, and its
//! inputs can be read again. A pipe that it writes to stays open from one attempt to the next. A merge
//! of sorted inputs writes to a pipe before it has read all; so it looks for quotes from the
//! start, and gives long lines buffers of their own (`stages/long_records`).
//!
//! Most files have no such lines, and those that have show it early.

use std::path::Path;
use std::sync::Arc;

use node::{FileKind, LOT_BYTES, Node};
use pipeline::Failure;
use record::rows::without_mark;
use record::{Framing, Headed};

use crate::agreement::Agreement;
use crate::epochs::parts::check_files;
use crate::epochs::recovery::saved_header;
use crate::epochs::sorting::Unfinished;
use crate::error::SortError;
use crate::files::bad_rows::{AsideForm, BadRows};
use crate::files::output::Output;
use crate::job::{Choice, Job, LongestLine, Source, Target, naming_source, without_lots};
use crate::records::contents::Contents;
use crate::report::{Report, Warning};

use super::rows::{read_headers, resolved, same_header};
use super::sort_in_one_copy;

/// Sorts, again if lines are longer, or rows go on over more lines, than was expected.
pub(super) async fn sort_any_lines(
    node: &Node,
    job: &Job,
    unfinished: &mut Unfinished,
) -> Result<Report, Failure> {
    let mut job = job.clone();
    if job.contents.shuffle().is_some() {
        job.longest_line = job.longest_line.behind(LOT_BYTES);
    }
    let may_begin_again = may_begin_again(node, &job).await;
    // A set's manifest tells rows from lines.
    let mut goes_on =
        !may_begin_again || streams(node, &job).await || names_a_set(node, &job).await;
    let is_csv = |headed: &Headed| matches!(headed.framing(), Framing::Quoted(_));
    let is_csv = job.headed.as_ref().is_some_and(is_csv);
    let mut agreement = Agreement::new(node, &job.control);
    loop {
        let failure = match attempt(node, &job, goes_on, (unfinished, &mut agreement)).await {
            Ok(report) => return Ok(with_bad_rows(report, &job, unfinished)),
            Err(Failure::Closed) => job.control.take_failure().unwrap_or(Failure::Closed),
            Err(failure) => failure,
        };
        if let Some(bad_rows) = unfinished.bad_rows.take() {
            bad_rows.discard(node).await;
        }
        let found = cause_of(&failure).filter(|cause| match cause {
            Cause::Lengths => may_have_long_lines(&job),
            Cause::OpenQuote => !goes_on && is_csv,
        });
        let is_untouched = (unfinished.output.as_ref()).is_none_or(Output::may_be_given_up);
        let Some(cause) = found.filter(|_| may_begin_again && is_untouched) else {
            let failure = without_lots(failure, &*job.contents);
            // Positions of rows are counted without their headers.
            return Err(match job.headed {
                None => naming_source(failure, &job.sources),
                Some(_) => failure,
            });
        };
        job.control.begin_again()?;
        discard(node, unfinished).await;
        match cause {
            Cause::Lengths => job.longest_line = LongestLine::Measured,
            Cause::OpenQuote => goes_on = true,
        }
    }
}

/// Sorts with what is known of the lines so far.
async fn attempt(
    node: &Node,
    job: &Job,
    goes_on: bool,
    (unfinished, agreement): (&mut Unfinished, &mut Agreement),
) -> Result<Report, Failure> {
    let job = with_rows(node, job, goes_on, (unfinished, agreement)).await?;
    let report = sort_in_one_copy(node, &job, (unfinished, agreement)).await?;
    Ok(with_warnings(report, node, &job))
}

/// Removes what a failed attempt has written. A pipe stays open.
async fn discard(node: &Node, unfinished: &mut Unfinished) {
    if let Some(spill) = unfinished.spill.take() {
        spill.remove(node).await;
    }
    if let Some(draft) = unfinished.output.take_if(|output| !output.is_pipe()) {
        draft.discard(node).await;
    }
}

/// Whether lines may be longer than the plan supposed.
fn may_have_long_lines(job: &Job) -> bool {
    let has_lengths = !job.contents.framing().is_fixed() || job.headed.is_some();
    has_lengths && job.longest_line != LongestLine::Measured
}

/// The reason to begin again.
enum Cause {
    /// A line is longer than the plan supposed, or the plan supposes longer lines than memory holds.
    Lengths,
    OpenQuote,
}

fn cause_of(failure: &Failure) -> Option<Cause> {
    let Failure::Program(error) = failure else {
        return None;
    };
    match error.downcast_ref() {
        Some(SortError::LongLine { .. } | SortError::TooLittleMemory { .. }) => {
            Some(Cause::Lengths)
        }
        // Behind a quote that is open, lines have other mistakes, too, and may be checked first.
        // So has the survey, which looks at whole rows where memory is too little.
        Some(SortError::BadRow { .. } | SortError::BadRecord { .. }) => Some(Cause::OpenQuote),
        _ => None,
    }
}

/// Whether a sort can be begun again: on this node alone, from files that can be read again, before
/// anything has left it.
async fn may_begin_again(node: &Node, job: &Job) -> bool {
    if !job.may_begin_again || !job.is_alone(node) {
        return false;
    }
    // Rows are set aside as they are read.
    if let Some(path) = &job.bad_rows
        && is_pipe(node, path).await
    {
        return false;
    }
    for source in &job.sources {
        let Some(path) = source.path() else {
            return false;
        };
        let found = node.metadata(path).await;
        if !found.is_ok_and(|found| found.kind != FileKind::Sequential && found.length > 0) {
            return false;
        }
    }
    true
}

/// Whether the output may leave before all of the input has been read.
async fn streams(node: &Node, job: &Job) -> bool {
    let is_merged = job.plan == Choice::MergeInputs;
    match &job.target {
        Target::Standard => is_merged,
        Target::Path(path) => is_merged && is_pipe(node, path).await,
        Target::Together(_) | Target::Directories(_) => false,
    }
}

async fn is_pipe(node: &Node, path: &Path) -> bool {
    let found = node.sink(path).await;
    found.is_ok_and(|found| found.kind == FileKind::Sequential)
}

async fn names_a_set(node: &Node, job: &Job) -> bool {
    for path in job.sources.iter().filter_map(Source::path) {
        let found = node.metadata(path).await;
        if found.is_ok_and(|found| found.kind == FileKind::Directory) {
            return true;
        }
    }
    false
}

/// The job with the order of its rows, which their header decides.
async fn with_rows(
    node: &Node,
    job: &Job,
    goes_on: bool,
    (unfinished, agreement): (&mut Unfinished, &mut Agreement),
) -> Result<Job, Failure> {
    check_files(node, job).await?;
    let Some(headed) = &job.headed else {
        let lines = (Arc::clone(&job.contents), AsideForm::of_lines());
        unfinished.bad_rows = bad_rows(node, job, lines).await?;
        return Ok(job.clone());
    };
    let own = read_headers(node, headed, &job.sources, &job.reading()).await;
    let mut headers = same_header(node, headed, own, agreement).await?;
    if let (Some(resume), true) = (&job.resume, headers.header.is_empty()) {
        headers.header = saved_header(node, resume, agreement).await?;
    }
    let contents = resolved(headed, &headers, goes_on, &job.sources)?;
    let form = headed.rows().map_or_else(AsideForm::of_lines, |rows| {
        AsideForm::of_rows(rows, headed.names(&headers.header))
    });
    unfinished.bad_rows = bad_rows(node, job, (Arc::clone(&contents), form)).await?;
    Ok(Job {
        sources: headers.behind,
        contents,
        ..job.clone()
    })
}

/// The file for records of these contents with mistakes.
async fn bad_rows(
    node: &Node,
    job: &Job,
    records: (Arc<dyn Contents>, AsideForm),
) -> Result<Option<BadRows>, Failure> {
    Ok(match &job.bad_rows {
        Some(path) => Some(BadRows::open(node, path.clone(), job, records).await?),
        None => None,
    })
}

/// Warns of keys that no row had, and of marks that no line on top had. Of several ranks, or of a sort that goes
/// on, each has seen a part of the rows.
fn with_warnings(mut report: Report, node: &Node, job: &Job) -> Report {
    if job.is_alone(node) && job.resume.is_none() {
        let unseen = job.contents.unseen_keys().into_iter();
        let of_lines = is_of_lines(job);
        let warnings = unseen.map(|key| Warning::NoSuchKey { key, of_lines });
        report.warnings.extend(warnings);
        let head = job.headed.as_ref().map(Headed::head);
        let header = without_mark(job.contents.header());
        let marked = head.filter(|head| {
            let is_there = head.marks().any(|mark| header.starts_with(mark));
            head.marks().next().is_some() && !is_there && report.records > 0
        });
        report.warnings.extend(marked.map(|head| {
            let marks = head
                .marks()
                .map(|mark| format!("\"{}\"", mark.escape_ascii()));
            let begin = marks.collect::<Vec<_>>().join(" or ");
            Warning::NoHeader { begin }
        }));
    }
    report
}

/// Whether records are no rows.
fn is_of_lines(job: &Job) -> bool {
    job.headed.as_ref().and_then(Headed::rows).is_none()
}

/// Warns of the rows that were set aside.
fn with_bad_rows(mut report: Report, job: &Job, unfinished: &mut Unfinished) -> Report {
    let Some(bad_rows) = unfinished.bad_rows.take() else {
        return report;
    };
    if bad_rows.replaces {
        let file = bad_rows.path().clone();
        report.warnings.push(Warning::OldBadRows { file });
    }
    if let Some(first) = bad_rows.first() {
        report.warnings.push(Warning::BadRows {
            file: bad_rows.path().clone(),
            count: bad_rows.rows().records,
            first,
            of_lines: is_of_lines(job),
        });
    }
    report
}
