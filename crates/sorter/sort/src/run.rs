//! A sort from its inputs to its outputs, on one node or several, with saved progress or without.
//!
//! ```text
//! agree       compare the ranks' jobs: if one rank refuses, all refuse
//! recover     find saved progress (`--resume`): which rank continues which range
//! open        the parts of the input
//! phase one   sample, divide the keys, exchange records; in epochs          (or: form sorted runs)
//! phase two   sort the partitions into the output; in groups                (or: merge the runs)
//! settle      compare the records that all ranks read with those that they wrote
//! commit      outputs get their names; saved progress is removed
//! ```
//!
//! Each rank reads its own inputs, which are one sequence, rank 0's first, and writes one range of
//! the keys. The outputs, rank 0's first, have the same bytes for any number of ranks (TritonSort
//! 3.3, NOW-Sort 6). Meanwhile ranks watch each other: a failure or a long silence of one ends the
//! sort on all. A node alone has nothing to agree on and no rank to watch.
//!
//! The keys are divided into ranges once, when the job first begins. So a range has the same
//! records and its output the same bytes, whichever rank continues it. A lost range may hold
//! records of any input, so all inputs are read again for it.

mod retry;
mod rows;

use std::collections::BTreeMap;
use std::pin::Pin;

use node::{DiskError, Node, Open};
use pipeline::Failure;

use crate::agreement::Agreement;
use crate::epochs::checkpoint::Checkpoint;
use crate::epochs::parts::{Opener, Parts};
use crate::epochs::phase_two::Sorted;
use crate::epochs::range::KeyRange;
use crate::epochs::recovery::{Recovery, find_progress};
use crate::epochs::sorting::{RankSort, SharedFacts, Unfinished};
use crate::error::SortError;
use crate::files::output::{Output, refuse_fixed};
use crate::job::{Job, Shares, Source, Target};
use crate::passes::exchange::Ports;
use crate::passes::survey;
use crate::ranks::conflicts;
use crate::ranks::failure_detector::FailureDetector;
use crate::ranks::fingerprint::{Fingerprint, check_same};
use crate::records::lengths::Lengths;
use crate::report::Report;
use node::temporary::check_name;

pub use rows::{Resolved, resolve};

/// Sorts the job's inputs. In a sort of several ranks, each gives its own job and gets one range of
/// the keys.
///
/// # Errors
/// A refused job, a failed disk or rank, lost records. The draft of an output is removed then and
/// the target keeps its old content, unless only the list of outputs (`Job::listing`), which is
/// written last, has failed.
pub async fn run(node: &Node, job: &Job) -> Result<Report, Failure> {
    run_and(node, job, async |report| Ok(report)).await
}

/// Sorts, then runs `then` on each rank while ranks still watch each other.
///
/// # Errors
/// As [`run`], and a failure of `then`; outputs have their names by then.
pub async fn run_and<T>(
    node: &Node,
    job: &Job,
    then: impl AsyncFnOnce(Report) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let begin = node.now();
    let detector = FailureDetector::start(node, &job.control)?;
    let mut unfinished = Unfinished::default();
    let all = async {
        check_names(job)?;
        check_shares(node, job)?;
        look_first(node, job).await?;
        if let Some(list) = &job.listing {
            refuse_fixed(
                node,
                list,
                "the list of all outputs is renamed: name another output",
            )
            .await?;
        }
        let mut report = retry::sort_any_lines(node, job, &mut unfinished).await?;
        unfinished.output = None;
        report.seconds = node.seconds(node.now().since(begin));
        then(report).await
    };
    let ended = all.await.map_err(|failure| match failure {
        Failure::Closed => job.control.take_failure().unwrap_or(Failure::Closed),
        failure => failure,
    });
    if let Some(spill) = unfinished.spill.take() {
        spill.remove(node).await;
    }
    // Other ranks wait while a rank removes its own files. But if it removed its part of a shared
    // file before they heard why, they would report that as the cause.
    let output = unfinished.output;
    if let Some(own) = output.as_ref().filter(|output| !output.is_shared()) {
        own.discard(node).await;
    }
    if let Err(failure) = &ended {
        detector.alarm(node, failure).await;
    }
    if let Some(shared) = output.filter(Output::is_shared) {
        shared.discard(node).await;
    }
    detector.end(node, ended.is_ok()).await;
    ended
}

/// Refuses files that a sweep would remove.
fn check_names(job: &Job) -> Result<(), DiskError> {
    for source in &job.sources {
        if let Source::Path(path) | Source::Listed(path) = source {
            check_name(path)?;
        }
    }
    match &job.target {
        Target::Path(path) | Target::Together(path) => check_name(path),
        Target::Directories(_) | Target::Standard => Ok(()),
    }
}

/// Refuses a list of shares for other ranks than one. Several ranks look when they divide the keys, and a sort that goes
/// on keeps its parts.
fn check_shares(node: &Node, job: &Job) -> Result<(), SortError> {
    match &job.shares {
        Shares::Given(all) if node.nodes() == 1 && job.resume.is_none() && all.len() != 1 => {
            Err(SortError::Shares {
                given: all.len(),
                ranks: 1,
            })
        }
        _ => Ok(()),
    }
}

/// Looks at all inputs of a job before the first is opened: a named pipe would wait for its writer before
/// a misspelt name behind it is told.
async fn look_first(node: &Node, job: &Job) -> Result<(), DiskError> {
    // A sort that goes on may have read all of them.
    let is_new = job.resume.is_none();
    for path in job
        .sources
        .iter()
        .skip(1)
        .filter(|_| is_new)
        .filter_map(Source::path)
    {
        if node.metadata(path).await.is_err() {
            // It says why.
            node.open(path, Open::Read { direct: false }).await?;
        }
    }
    Ok(())
}

/// [`sort`] behind a pointer. Its futures, a megabyte of code, are compiled here, once; a plain
/// `async fn` is compiled again in each crate that calls it.
fn sort_in_one_copy<'a>(
    node: &'a Node,
    job: &'a Job,
    all: (&'a mut Unfinished, &'a mut Agreement),
) -> Pin<Box<dyn Future<Output = Result<Report, Failure>> + 'a>> {
    Box::pin(sort(node, job, all))
}

async fn sort(
    node: &Node,
    job: &Job,
    (unfinished, agreement): (&mut Unfinished, &mut Agreement),
) -> Result<Report, Failure> {
    let began = node.now();
    // A rank that sends early waits until the port has its owner.
    let ports = (!job.is_alone(node)).then(|| Ports::bind(node));
    let (mut recovery, fingerprint) = recover(node, job, agreement).await?;
    let percent_resumed = recovery.begun.as_ref().map(|_| recovery.percent_done);
    let found = (&mut recovery, fingerprint);
    let (common, parts) = open(node, job, agreement, found).await?;
    let measured = with_lengths(node, job, agreement, &parts).await?;
    let job = measured.as_ref().unwrap_or(job);
    let mut sorting = RankSort::new(node, job, (ports, common, parts), unfinished);
    sorting.percent_resumed = percent_resumed;
    let mut ranges = phase_one(&mut sorting, agreement, &mut recovery).await?;
    let sorted = phase_two_unchanged(&mut sorting, &mut ranges).await?;
    let mut report = sorting.settle(agreement, (&ranges, &sorted), began).await?;
    // Before the output takes the name of an input.
    for part in &sorting.parts.mine {
        report.warnings.extend(part.grown(node).await);
    }
    let warnings = sorting.commit(agreement, ranges, &sorted).await?;
    report.warnings.extend(warnings);
    // No run continues other copies of the ranges.
    for checkpoint in recovery.others {
        checkpoint.remove(node).await;
    }
    Ok(report)
}

/// Phase two, and a check that no input has changed when the last of it was read: a merge reads its input
/// in phase two.
async fn phase_two_unchanged<'a>(
    sorting: &mut RankSort<'a>,
    ranges: &mut [KeyRange<'a>],
) -> Result<Vec<Sorted>, Failure> {
    let node = sorting.node;
    let is_merge = ranges.iter().any(|range| range.run.plan.merging.is_some());
    for part in sorting.parts.mine.iter().filter(|_| !is_merge) {
        part.check_unchanged(node).await?;
    }
    let sorted = phase_two(sorting, ranges).await?;
    for part in sorting.parts.mine.iter().filter(|_| is_merge) {
        part.check_unchanged(node).await?;
    }
    Ok(sorted)
}

/// The job with the lengths of its lines, which plans count on. A resumable sort must find the same
/// ones again, and does not look.
async fn with_lengths(
    node: &Node,
    job: &Job,
    agreement: &mut Agreement,
    parts: &Parts,
) -> Result<Option<Job>, Failure> {
    if job.contents.framing().is_fixed() || job.resume.is_some() {
        return Ok(None);
    }
    let own = survey::lengths(node, job, &parts.mine[0]).await;
    let told = own.map(|own| ((), own));
    let all = agreement.agree_and_tell(node, told).await?.1;
    let all = all.into_iter().reduce(Lengths::and).expect("a rank");
    let contents = survey::with_lengths(&*job.contents, all);
    Ok(contents.map(|contents| Job {
        contents,
        ..job.clone()
    }))
}

/// Compares the ranks' jobs and finds saved progress.
async fn recover(
    node: &Node,
    job: &Job,
    agreement: &mut Agreement,
) -> Result<(Recovery, Option<Fingerprint>), Failure> {
    let checked = job
        .check_compression(node)
        .and_then(|()| job.check_splitters())
        .and_then(|()| job.check_stripes())
        .and_then(|()| job.check_view())
        .and_then(|()| job.check_shuffle(node));
    if job.is_alone(node) {
        checked?;
        return Ok((Recovery::none(1, Vec::new()), None));
    }
    let own = checked
        .and_then(|()| Fingerprint::of(job))
        .map_err(Failure::from);
    let told = own.map(|own| (own.clone(), own));
    let (own, all) = agreement.agree_and_tell(node, told).await?;
    check_same(&all)?;
    let Some(resume) = &job.resume else {
        return Ok((Recovery::none(node.nodes(), Vec::new()), Some(own)));
    };
    let recovery = find_progress(node, resume, agreement, &own).await?;
    Ok((recovery, Some(own)))
}

/// Opens the parts of the input, and takes the facts that all ranges share from saved progress, or
/// from the root.
async fn open(
    node: &Node,
    job: &Job,
    agreement: &mut Agreement,
    (recovery, fingerprint): (&mut Recovery, Option<Fingerprint>),
) -> Result<(SharedFacts, Parts), Failure> {
    let opener = Opener { node, job };
    let begun = recovery.begun.take();
    let parts = match &begun {
        None => opener.open_first(agreement).await?,
        Some(begun) => {
            let is_needed = !recovery.assignment.rounds.is_empty();
            let all = begun.parts.clone();
            opener.reopen(agreement, all, is_needed).await?
        }
    };
    // Ranks may have more memory than others: the root's choice holds for all.
    let drawn = (node.random(), RankSort::epochs(job, &parts));
    let (division, epochs) = agreement.agree_and_tell(node, Ok(((), drawn))).await?.1[0];
    let common = match begun {
        Some(begun) => SharedFacts {
            fingerprint,
            division: begun.division,
            parts: begun.parts,
            epochs: begun.epochs,
            ranges: Some(begun.ranges),
        },
        None => SharedFacts {
            fingerprint,
            division,
            parts: parts.all.clone(),
            epochs,
            ranges: None,
        },
    };
    Ok((common, parts))
}

/// Phase one of all rounds. Returns this rank's ranges.
async fn phase_one<'a>(
    sorting: &mut RankSort<'a>,
    agreement: &mut Agreement,
    recovery: &mut Recovery,
) -> Result<Vec<KeyRange<'a>>, Failure> {
    let node = sorting.node;
    if sorting.job.is_alone(node) {
        return Ok(vec![sorting.phase_one_alone().await?]);
    }
    let mut ranges: Vec<KeyRange<'_>> = Vec::new();
    for round in &recovery.assignment.rounds {
        let range = round.range_of(node.rank().0);
        ranges.extend(if recovery.assignment.continues(round) {
            let found = range.and_then(|range| recovery.mine.remove(&range));
            sorting.continue_round(agreement, round, found).await?
        } else {
            sorting.begin_round(agreement, round).await?
        });
    }
    if sorting.job.resume.is_some() {
        // The rest of this rank's ranges have all their records.
        let reopened = reopen(sorting, std::mem::take(&mut recovery.mine)).await;
        ranges.extend(agreement.agree(node, reopened).await?);
        ranges.sort_by_key(|range| range.number);
        let outputs = ranges
            .iter()
            .filter_map(|range| range.run.output.as_deref());
        let outputs: Vec<&Output> = outputs.collect();
        conflicts::check_distinct(node, agreement, &outputs).await?;
    }
    Ok(ranges)
}

async fn phase_two<'a>(
    sorting: &mut RankSort<'a>,
    ranges: &mut [KeyRange<'a>],
) -> Result<Vec<Sorted>, Failure> {
    let mut all = Vec::new();
    for range in ranges {
        let sorted = range.write_output(&mut sorting.stages).await;
        if range.notes.is_some() {
            range.spill.drop_generations(sorting.node).await
        } else {
            range.spill.clone().remove(sorting.node).await
        }
        let sorted = sorted?;
        if range.run.plan.merging.is_some() {
            // A merge reads its input in phase two.
            sorting.read += sorted.read;
        }
        all.push(sorted);
    }
    Ok(all)
}

async fn reopen<'a>(
    sorting: &RankSort<'a>,
    mine: BTreeMap<u32, Checkpoint>,
) -> Result<Vec<KeyRange<'a>>, Failure> {
    let mut all = Vec::new();
    for mut checkpoint in mine.into_values() {
        checkpoint.hold(sorting.node).await?;
        all.push(sorting.reopen(checkpoint, None).await?);
    }
    Ok(all)
}
