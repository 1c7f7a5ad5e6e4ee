//! A sort from its inputs to its outputs, on one node or on several, with saved progress or without.
//!
//! ```text
//! agree       every rank says what it was started for; what one refuses, all refuse
//! recover     the progress that an earlier run saved (`--resume`): which rank continues which range
//! open        the parts of the input
//! phase one   sample, divide the keys, exchange records; in epochs          (or: form sorted runs)
//! phase two   sort the partitions into the output; in groups                (or: merge the runs)
//! settle      the records that all read are the records that all wrote
//! commit      outputs get their names; saved progress goes
//! ```
//!
//! Each of several nodes reads its own inputs, one sequence, rank 0's first, and writes one range of
//! the keys: the outputs, rank 0's first, have the same bytes for any number of ranks (TritonSort
//! 3.3, NOW-Sort 6). Meanwhile ranks watch each other: a failure, or a long silence of one, ends the
//! sort on all. A node alone has nothing to agree on and none to watch.
//!
//! Ranges are divided once, when the job first begins. So whichever rank continues one, it is the
//! same records, and its output has the same bytes. A lost range holds records of all inputs: they
//! are read again for it.

use std::collections::BTreeMap;

use node::Node;
use pipeline::Failure;

use crate::agreement::Agreement;
use crate::epochs::checkpoint::Checkpoint;
use crate::epochs::parts::Opener;
use crate::epochs::range::Range;
use crate::epochs::recovery::{Scene, look};
use crate::epochs::sorting::{Common, Sorting, Unfinished};
use crate::files::output::Output;
use crate::job::Job;
use crate::passes::exchange::Ports;
use crate::ranks::conflicts;
use crate::ranks::failure_detector::Watch;
use crate::ranks::fingerprint::{Fingerprint, same};
use crate::report::Report;

/// Sorts the job's inputs; on several nodes each gives its own, and gets one range of keys.
///
/// # Errors
/// Nothing is left of an output that failed, and the target keeps its old content; unless only the
/// list of outputs (`Job::listing`), which is written last, has failed.
pub async fn run(node: &Node, job: &Job) -> Result<Report, Failure> {
    run_and(node, job, async |report| Ok(report)).await
}

/// Sorts; then each node does what is to be done after that, while they still watch each other.
///
/// # Errors
/// As [`run`]; the outputs have their names when it is `then` that fails.
pub async fn run_and<T>(
    node: &Node,
    job: &Job,
    then: impl AsyncFnOnce(Report) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let begin = node.now();
    let watch = Watch::start(node, &job.control)?;
    let mut unfinished = Unfinished::default();
    let all = async {
        let mut report = sort(node, job, &mut unfinished).await?;
        unfinished.output = None;
        report.seconds = node.seconds(node.now().since(begin));
        then(report).await
    };
    let ended = all.await.map_err(|failure| match failure {
        Failure::Closed => job.control.take_failure().unwrap_or(Failure::Closed),
        failure => failure,
    });
    if let Some(spill) = unfinished.spill {
        spill.remove(node).await;
    }
    // The other ranks wait while a rank removes files of its own. But if it removed a part of their
    // file before they heard why, they would report that as the cause.
    let (shared, own) = unfinished
        .output
        .into_iter()
        .partition::<Vec<_>, _>(Output::is_part);
    for output in own {
        output.discard(node).await;
    }
    if let Err(failure) = &ended {
        watch.alarm(node, failure).await;
    }
    for output in shared {
        output.discard(node).await;
    }
    watch.end(node, ended.is_ok()).await;
    ended
}

/// The same while ranks are watched.
async fn sort(node: &Node, job: &Job, unfinished: &mut Unfinished) -> Result<Report, Failure> {
    let began = node.now();
    let mut agreement = Agreement::new(node, &job.control);
    // A rank that sends early waits until the port has its owner.
    let exchanges = node.nodes() > 1 || job.resume.is_some();
    let ports = exchanges.then(|| Ports::bind(node));
    let (scene, fingerprint) = recover(node, job, &mut agreement).await?;
    let opener = Opener { node, job };
    let parts = match &scene.begun {
        None => opener.begin(&mut agreement).await?,
        Some(begun) => {
            let is_needed = !scene.holders.rounds.is_empty();
            opener
                .again(&mut agreement, begun.parts.clone(), is_needed)
                .await?
        }
    };
    // Ranks may have more memory than others: the root's choice holds for all.
    let drawn = (node.random(), Sorting::epochs(job, &parts));
    let (division, epochs) = agreement.agree_and_tell(node, Ok(((), drawn))).await?.1[0];
    let resumed = scene.begun.is_some();
    let common = match scene.begun {
        Some(begun) => Common {
            fingerprint,
            division: begun.division,
            parts: begun.parts,
            epochs: begun.epochs,
            ranges: Some(begun.ranges),
        },
        None => Common {
            fingerprint,
            division,
            parts: parts.all.clone(),
            epochs,
            ranges: None,
        },
    };
    let mut sorting = Sorting::new(node, job, (ports, common, parts), unfinished);
    sorting.resumed = resumed;
    let mut mine = scene.mine;
    let mut ranges: Vec<Range<'_>> = Vec::new();
    if !exchanges {
        ranges.push(sorting.phase_one_alone().await?);
    } else {
        for round in &scene.holders.rounds {
            let range = round.range_of(node.rank().0);
            ranges.extend(match scene.holders.continues(round) {
                true => {
                    let found = range.and_then(|range| mine.remove(&range));
                    sorting.go_on(&mut agreement, round, found).await?
                }
                false => sorting.begin(&mut agreement, round).await?,
            });
        }
    }
    if job.resume.is_some() {
        // All records of the other ranges have come.
        let reopened = reopen(&sorting, mine).await;
        ranges.extend(agreement.agree(node, reopened).await?);
        ranges.sort_by_key(|range| range.number);
        let outputs = ranges
            .iter()
            .filter_map(|range| range.run.output.as_deref());
        let outputs: Vec<&Output> = outputs.collect();
        conflicts::apart(node, &mut agreement, &outputs).await?;
    }
    let mut sorted = Vec::new();
    for range in &mut ranges {
        let written = range.phase_two(&mut sorting.stages).await;
        match range.notes.is_some() {
            true => range.spill.drop_generations(node).await,
            false => range.spill.clone().remove(node).await,
        }
        let written = written?;
        if range.run.plan.merging.is_some() {
            // A merge reads in its own way, and all that it read came out.
            sorting.read.add(written.sum());
        }
        sorted.push(written);
    }
    let mut report = sorting
        .settle(&mut agreement, (&ranges, &sorted), began)
        .await?;
    // Before the output takes the name of an input.
    for part in &sorting.parts.mine {
        report.warnings.extend(part.grown(node).await);
    }
    let warnings = sorting.commit(&mut agreement, ranges, &sorted).await?;
    report.warnings.extend(warnings);
    // No rank continues copies of ranges that were built again elsewhere.
    for checkpoint in scene.others {
        checkpoint.remove(node).await;
    }
    Ok(report)
}

/// The progress that is there; nothing of a sort that saves none.
async fn recover(
    node: &Node,
    job: &Job,
    agreement: &mut Agreement,
) -> Result<(Scene, Option<Fingerprint>), Failure> {
    if job.resume.is_none() && node.nodes() == 1 {
        return Ok((Scene::empty(1, Vec::new()), None));
    }
    let own = Fingerprint::of(job).map_err(Failure::from);
    let told = own.map(|own| (own.clone(), own));
    let (own, all) = agreement.agree_and_tell(node, told).await?;
    same(&all)?;
    let Some(resume) = &job.resume else {
        return Ok((Scene::empty(node.nodes(), Vec::new()), Some(own)));
    };
    let scene = look(node, resume, agreement, &own).await?;
    Ok((scene, Some(own)))
}

/// Opens ranges that need no more records.
async fn reopen<'a>(
    sorting: &Sorting<'a>,
    mine: BTreeMap<u32, Checkpoint>,
) -> Result<Vec<Range<'a>>, Failure> {
    let mut all = Vec::new();
    for mut checkpoint in mine.into_values() {
        checkpoint.hold(sorting.node).await?;
        all.push(sorting.reopen(checkpoint, None).await?);
    }
    Ok(all)
}
