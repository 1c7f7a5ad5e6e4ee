//! A sort that can be gone on with (`--resume`), whatever ended it: what is done waits on disk, and
//! the same job begun again goes on there, with the same ranks or fewer.
//!
//! ```text
//! look      what is there of this job, on which rank                        checkpoint
//! deal      which rank goes on with which range, and reads which part       holders, parts
//! build     phase one, in epochs; what is lost, from the first record on    building
//! write     phase two, group by group                                      writing
//! settle    what all read is what all wrote; then outputs get their names; what was kept goes
//! ```
//!
//! Ranges are divided once, when the job first begins. So whoever goes on, each range is the same
//! records, and its output has the same bytes. A lost range holds records of all inputs: they are
//! read again for it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use node::Node;
use pipeline::Failure;
use serde::{Deserialize, Serialize};

use crate::agreement::Agreement;
use crate::epochs::checkpoint::{Begun, Checkpoint, Sum};
use crate::epochs::parts::Opener;
use crate::epochs::phase_one::{Builder, Common};
use crate::epochs::phase_two::{Sorted, write};
use crate::epochs::range::Built;
use crate::epochs::recovery::{Scene, look};
use crate::error::SortError;
use crate::files::input::Inputs;
use crate::files::manifest::ListedFile;
use crate::files::output::Output;
use crate::job::{Job, Resume};
use crate::passes::exchange::Ports;
use crate::passes::wiring::{Outcome, Run, add_up};
use crate::ranks::conflicts;
use crate::ranks::fingerprint::{Fingerprint, Part, same};
use crate::ranks::listing;
use crate::ranks::listing::Listed;
use crate::records::span::Span;
use crate::report::{RankReport, Report, SampleCost, Warning, Written};
use crate::stages::Tally;

/// What became of a range, told to all.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Made {
    range: u32,
    sum: Sum,
    /// What was read of all parts, as this range knows it.
    read: Sum,
}

/// Sorts, going on where an earlier run ended.
pub(crate) async fn run(
    node: &Node,
    job: &Job,
    resume: &Resume,
    agreement: &mut Agreement,
    ports: Ports,
) -> Result<Report, Failure> {
    let begin = node.now();
    let statement = Fingerprint::of(job).map_err(Failure::from);
    let (statement, all) = agreement
        .agree_and_tell(node, statement.map(|own| (own.clone(), own)))
        .await?;
    same(&all)?;
    let Scene {
        holders,
        mut mine,
        others,
        begun,
    } = look(node, resume, agreement, &statement).await?;
    let parts = match &begun {
        None => Opener { node, job, resume }.begin(agreement).await?,
        Some(begun) => {
            let is_needed = !holders.rounds.is_empty();
            let opener = Opener { node, job, resume };
            opener
                .again(agreement, begun.parts.clone(), is_needed)
                .await?
        }
    };
    // Ranks may have more memory than others.
    let drawn = (node.random(), Builder::epochs(job, &parts));
    let (division, epochs) = agreement.agree_and_tell(node, Ok(((), drawn))).await?.1[0];
    let went_on = begun.is_some();
    let common = match begun {
        Some(Begun {
            division,
            parts,
            epochs,
            ranges,
            ..
        }) => Common {
            statement,
            division,
            parts,
            epochs,
            ranges: Some(ranges),
        },
        None => Common {
            statement,
            division,
            parts: parts.all.clone(),
            epochs,
            ranges: None,
        },
    };
    let mut builder = Builder {
        node,
        job,
        resume,
        ports,
        common,
        parts,
        nothing: Arc::new(Inputs::none()),
        stages: Vec::new(),
        went_on,
        sample: SampleCost::default(),
        read: Sum::default(),
    };
    let mut built = Vec::new();
    for round in &holders.rounds {
        let range = round.range_of(node.rank().0);
        let goes_on = (0..)
            .zip(&round.owners)
            .any(|(range, owner)| owner.is_some() && holders.kept.contains(&range));
        built.extend(match goes_on {
            true => {
                let found = range.and_then(|range| mine.remove(&range));
                builder.go_on(agreement, round, found).await?
            }
            false => builder.begin(agreement, round).await?,
        });
    }
    // Of those that are left all records have come.
    let reopened = reopen(&builder, mine).await;
    built.extend(agreement.agree(node, reopened).await?);
    built.sort_by_key(|built| built.checkpoint.begun.range);
    // Those that were there, too.
    let outputs: Vec<_> = built
        .iter()
        .filter_map(|built| built.output.as_deref())
        .collect();
    conflicts::apart(node, agreement, &outputs).await?;
    let mut sorted = Vec::new();
    for built in &mut built {
        let written = write(&builder, built).await;
        built.spill.drop_generations(node).await;
        sorted.push(written?);
    }
    let seconds = node.seconds(node.now().since(begin));
    let listed = listed(job, &built, &sorted);
    let mut report = settle(&builder, agreement, &built, sorted, seconds).await?;
    for part in &builder.parts.mine {
        report.warnings.extend(part.grown(node).await);
    }
    report
        .warnings
        .extend(finish(node, job, agreement, built, listed).await?);
    // Nobody goes on with copies of ranges that were built again elsewhere.
    for checkpoint in others {
        checkpoint.remove(node).await;
    }
    Ok(report)
}

/// Goes on with ranges that need no more records.
async fn reopen(
    builder: &Builder<'_>,
    mine: BTreeMap<u32, Checkpoint>,
) -> Result<Vec<Built>, Failure> {
    let mut all = Vec::new();
    for mut checkpoint in mine.into_values() {
        checkpoint.hold(builder.node).await?;
        all.push(builder.reopen(checkpoint, None).await?);
    }
    Ok(all)
}

/// What the outputs of this rank hold.
fn listed(job: &Job, built: &[Built], sorted: &[Sorted]) -> Listed {
    let all = built.iter().zip(sorted).map(|(built, sorted)| {
        let path = built.checkpoint.site.target.to_string_lossy().into_owned();
        let file = ListedFile::of(path, &*job.contents, &sorted.spans);
        (built.checkpoint.begun.range, listing::here(job, vec![file]))
    });
    all.collect()
}

/// What all read must be what all wrote; the report of it.
async fn settle(
    builder: &Builder<'_>,
    agreement: &mut Agreement,
    built: &[Built],
    sorted: Vec<Sorted>,
    seconds: f64,
) -> Result<Report, Failure> {
    let node = builder.node;
    let whole = Tally::default();
    whole.sampled(builder.sample);
    let (mut stages, mut made) = (builder.stages.clone(), Vec::new());
    let (mut own, mut passes, mut unevenness) = (Sum::default(), 2, 1.0_f64);
    let mut written = Vec::new();
    for (built, sorted) in built.iter().zip(sorted) {
        let range = built.checkpoint.begun.range;
        for span in sorted.spans {
            let span = Span {
                begin: own.records,
                file: range as usize,
                ..span
            };
            whole.goes_out(span, &*builder.job.contents)?;
        }
        own.add(sorted.sum);
        passes = passes.max(sorted.passes);
        unevenness = unevenness.max(sorted.unevenness);
        add_up(&mut stages, sorted.stages);
        made.push(Made {
            range,
            sum: sorted.sum,
            read: built.checkpoint.read(),
        });
        let (path, Sum { records, crc }) = (built.checkpoint.site.target.clone(), sorted.sum);
        written.push(Written {
            path,
            records,
            checksum: crc,
        });
    }
    whole.came_in(own.records, own.crc);
    let plan = match built.first() {
        Some(built) => built.plan.clone(),
        None => builder.idle(None)?,
    };
    let output = built.iter().find_map(|built| built.output.as_ref());
    let run = Run {
        tally: whole,
        ..builder.run(&plan, output)
    };
    let temp_peak_bytes = built.iter().map(|built| built.spill.peak_bytes()).sum();
    let total: u64 = builder.common.parts.iter().map(|part| part.records).sum();
    let reason = match builder.went_on {
        true => format!("went on with what was kept of {total} records"),
        false => "began anew: nothing was kept of an earlier run".to_owned(),
    };
    let mut report = run.report(
        stages,
        Outcome {
            plan: "two-pass",
            reason,
            passes,
            temp_peak_bytes,
        },
    )?;
    (report.unevenness, report.seconds, report.written) = (unevenness, seconds, written);
    let did = RankReport {
        read_records: builder.read.records,
        records: report.records,
        bytes: report.bytes,
        checksum: report.checksum,
        seconds,
        bottleneck: report.bottleneck.to_owned(),
    };
    let ((), all) = agreement
        .agree_and_tell(node, Ok(((), (did, made))))
        .await?;
    let (ranks, made): (Vec<RankReport>, Vec<Vec<Made>>) = all.into_iter().unzip();
    is_all(&made.concat(), &builder.common.parts)?;
    report.ranks = ranks;
    Ok(report)
}

/// Every range is there once, all of them were built of the same input, and they are all of it.
fn is_all(made: &[Made], parts: &[Part]) -> Result<(), SortError> {
    let ranges = parts.len();
    let records: u64 = parts.iter().map(|part| part.records).sum();
    let all: BTreeSet<u32> = made.iter().map(|made| made.range).collect();
    assert!(
        all.len() == ranges && made.len() == ranges,
        "every range was dealt once"
    );
    let mut out = Sum::default();
    made.iter().for_each(|made| out.add(made.sum));
    match made
        .iter()
        .find(|made| made.read != out || out.records != records)
    {
        None => Ok(()),
        Some(Made { read, .. }) => Err(SortError::Lost {
            records_in: read.records,
            records_out: out.records,
            sum_in: read.crc,
            sum_out: out.crc,
        }),
    }
}

/// Outputs get their names when those of all ranks have nothing left to fail but that; then what
/// was kept goes.
async fn finish(
    node: &Node,
    job: &Job,
    agreement: &mut Agreement,
    built: Vec<Built>,
    listed: Listed,
) -> Result<Option<Warning>, Failure> {
    let finished = async {
        for built in &built {
            let bytes = built.checkpoint.came().records * built.plan.record_bytes as u64;
            if let Some(output) = &built.output {
                output.finish(node, bytes).await?;
            }
        }
        Ok(listed)
    };
    let listed = listing::gather(node, job, agreement, finished.await).await?;
    let named = async {
        for Built {
            output, checkpoint, ..
        } in &built
        {
            match output {
                Some(output) => drop(Output::clone(output).name(node).await?),
                // An earlier run may have died before its new name was durable; a rename to itself
                // makes it so.
                None => {
                    node.rename(&checkpoint.site.target, &checkpoint.site.target)
                        .await?
                }
            }
        }
        Ok(((), ()))
    };
    agreement.agree_and_tell(node, named.await).await?;
    let stale = listing::show(node, job, agreement, listed).await?;
    for Built {
        checkpoint, spill, ..
    } in built
    {
        checkpoint.remove(node).await;
        spill.remove(node).await;
    }
    Ok(stale)
}
