//! Recovery of saved progress (`--resume`): every rank tells which checkpoints it has found, and
//! all ranks derive the same assignment of ranges from that.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use node::Node;
use pipeline::Failure;
use serde::{Deserialize, Serialize};

use crate::agreement::Agreement;
use crate::epochs::checkpoint::{Begun, Checkpoint};
use crate::epochs::paths::places;
use crate::epochs::range_owners::{RangeAssignment, Round, Seen, assign_ranges};
use crate::error::SortError;
use crate::files::path_template::names_rank;
use crate::files::sweep::sweep;
use crate::files::text_file::spelled;
use crate::job::Resume;
use crate::job::Source;
use crate::ranks::fingerprint::Fingerprint;

/// A range that a rank has found.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Found {
    begun: Begun,
    epochs: u32,
    /// Percentage of its output.
    written: u32,
}

pub(crate) struct Recovery {
    pub assignment: RangeAssignment,
    /// The ranges that this rank continues.
    pub mine: BTreeMap<u32, Checkpoint>,
    /// Other checkpoints of the job that this rank has found.
    pub others: Vec<Checkpoint>,
    /// Facts that all ranges share; `None` without saved progress.
    pub begun: Option<Begun>,
    pub percent_done: u32,
}

impl Recovery {
    /// No progress to continue from: each rank begins the range of its number.
    pub(crate) fn none(ranks: u32, others: Vec<Checkpoint>) -> Recovery {
        let assignment = RangeAssignment {
            rounds: vec![Round::first(ranks)],
            ..RangeAssignment::default()
        };
        Recovery {
            assignment,
            mine: BTreeMap::new(),
            others,
            begun: None,
            percent_done: 0,
        }
    }
}

/// Finds the job's checkpoints on all ranks, and assigns their ranges.
pub(crate) async fn find_progress(
    node: &Node,
    resume: &Resume,
    agreement: &mut Agreement,
    fingerprint: &Fingerprint,
) -> Result<Recovery, Failure> {
    let rank = node.rank().0;
    let (found, all) = find_on_all_ranks(node, resume, agreement).await?;
    let Some(begun) = largest_division(&all) else {
        return Ok(Recovery::none(node.nodes(), found));
    };
    check_job(node, resume, fingerprint, &begun, &all)?;
    let of_division = |found: &&Found| found.begun.division == begun.division;
    let seen: Vec<(u32, &Found)> = (0..)
        .zip(&all)
        .flat_map(|(rank, told)| {
            told.iter()
                .filter(of_division)
                .map(move |found| (rank, found))
        })
        .collect();
    let ranges = begun.parts.len();
    let copies: Vec<Seen> = seen
        .iter()
        .map(|(rank, found)| Seen {
            rank: *rank,
            range: found.begun.range,
            epochs: found.epochs,
        })
        .collect();
    let assignment = assign_ranges(&copies, node.nodes(), ranges as u32, begun.epochs);
    let mut written = vec![0; ranges];
    for (rank, found) in seen {
        let range = found.begun.range as usize;
        if assignment.owners[range] == rank {
            written[range] = found.written.max(written[range]);
        }
    }
    let is_mine = |checkpoint: &Checkpoint| {
        let Begun {
            range, division, ..
        } = checkpoint.begun;
        division == begun.division
            && assignment.continued.contains(&range)
            && assignment.owners[range as usize] == rank
    };
    let (mine, others) = furthest(found, is_mine);
    Ok(Recovery {
        percent_done: assignment.percent_done(begun.epochs, &written),
        assignment,
        mine,
        others,
        begun: Some(begun),
    })
}

/// By range the checkpoint with the most epochs, of those that this rank continues; and all others.
fn furthest(
    found: Vec<Checkpoint>,
    is_mine: impl Fn(&Checkpoint) -> bool,
) -> (BTreeMap<u32, Checkpoint>, Vec<Checkpoint>) {
    let (wanted, mut others): (Vec<_>, Vec<_>) = found.into_iter().partition(is_mine);
    let mut mine: BTreeMap<u32, Checkpoint> = BTreeMap::new();
    for checkpoint in wanted {
        let range = checkpoint.begun.range;
        let known = mine.get(&range).map(|known| known.epochs.len());
        if known.is_none_or(|known| known < checkpoint.epochs.len()) {
            others.extend(mine.insert(range, checkpoint))
        } else {
            others.push(checkpoint)
        }
    }
    (mine, others)
}

/// The checkpoints that this rank has found, and by rank those that all have found.
async fn find_on_all_ranks(
    node: &Node,
    resume: &Resume,
    agreement: &mut Agreement,
) -> Result<(Vec<Checkpoint>, Vec<Vec<Found>>), Failure> {
    let tell = |found: &Vec<Checkpoint>| -> Vec<Found> { found.iter().map(Found::of).collect() };
    let own = find(node, resume, BTreeSet::from([node.rank().0])).await;
    let told = own.as_ref().map(tell).unwrap_or_default();
    let (mut own, mut all) = agreement
        .agree_and_tell(node, own.map(|own| (own, told)))
        .await?;
    // With `{rank}` in a directory, those of ranks that the job no longer has may be on any host.
    let began = all
        .iter()
        .flatten()
        .map(|found| found.begun.parts.len() as u32)
        .max();
    let others: BTreeSet<u32> = (node.nodes()..began.unwrap_or(0)).collect();
    if !others.is_empty() && is_ranked(resume) {
        let more = find(node, resume, others).await;
        let told = more.as_ref().map(tell).unwrap_or_default();
        let (more, told) = agreement
            .agree_and_tell(node, more.map(|more| (more, told)))
            .await?;
        all.iter_mut()
            .zip(told)
            .for_each(|(all, told)| all.extend(told));
        own.extend(more);
    }
    Ok((own, all))
}

/// # Errors
/// When the checkpoints do not belong to this job, or do not belong together.
fn check_job(
    node: &Node,
    resume: &Resume,
    fingerprint: &Fingerprint,
    begun: &Begun,
    all: &[Vec<Found>],
) -> Result<(), SortError> {
    let refused = |what| SortError::Checkpoint {
        file: begun.target.clone().into(),
        what,
    };
    if let Some(what) = difference(fingerprint, resume, begun) {
        return Err(refused(format!(
            "belongs to another sort: this one has {what}"
        )));
    }
    let mut others = all.iter().flatten().map(|found| &found.begun);
    if others.any(|other| other.division == begun.division && !is_same_sort(other, begun)) {
        let what = "has entries of ranges that do not belong together";
        return Err(refused(what.to_owned()));
    }
    let began = begun.parts.len();
    if !fingerprint.shared && node.nodes() as usize > began {
        return Err(refused(format!(
            "was begun by {began} ranks, and the inputs of further ranks are not part of it; start \
             {began} ranks or fewer"
        )));
    }
    Ok(())
}

/// How a job differs from the one that was begun; the exchange may differ.
fn difference(fingerprint: &Fingerprint, resume: &Resume, begun: &Begun) -> Option<String> {
    let mut begun_with = begun.fingerprint.clone();
    begun_with.exchange = fingerprint.exchange;
    let sources = || {
        let is_other = begun.sources != source_names(&resume.sources);
        is_other.then(|| format!("other inputs than {}", begun.sources.join(", ")))
    };
    fingerprint.difference(&begun_with).or_else(sources)
}

/// Whether two ranges were begun by the same run.
fn is_same_sort(one: &Begun, other: &Begun) -> bool {
    one.fingerprint == other.fingerprint
        && one.sources == other.sources
        && one.parts == other.parts
        && (one.epochs, &one.ranges) == (other.epochs, &other.ranges)
}

impl Found {
    /// Without the splitters of partitions, which only the owner needs, and the header, which has a
    /// checksum.
    fn of(checkpoint: &Checkpoint) -> Found {
        let begun = Begun {
            partitions: Vec::new(),
            header: Vec::new(),
            ..checkpoint.begun.clone()
        };
        Found {
            begun,
            epochs: checkpoint.epochs.len() as u32,
            written: checkpoint.percent_written(),
        }
    }
}

fn is_ranked(resume: &Resume) -> bool {
    if resume.temporary.is_empty() {
        resume.target.parent().is_some_and(names_rank)
    } else {
        resume.temporary.iter().any(|path| names_rank(path))
    }
}

/// The checkpoints in the directories of `ranks` on this host.
async fn find(
    node: &Node,
    resume: &Resume,
    ranks: BTreeSet<u32>,
) -> Result<Vec<Checkpoint>, Failure> {
    let mut found = Vec::new();
    let first = |rank: u32| places(resume, rank, rank).swap_remove(0);
    let all: BTreeSet<PathBuf> = ranks.into_iter().map(first).collect();
    for place in all {
        sweep(node, &place, &[]).await;
        found.extend(Checkpoint::find(node, resume, &place).await?);
    }
    Ok(found)
}

/// The header of the rows that were begun, if any rank has saved progress: the inputs of the ranks
/// that are left may have no byte.
pub(crate) async fn saved_header(
    node: &Node,
    resume: &Resume,
    agreement: &mut Agreement,
) -> Result<Vec<u8>, Failure> {
    let longest = |found: Vec<Checkpoint>| {
        let headers = found.into_iter().map(|found| found.begun.header);
        headers.max_by_key(Vec::len).unwrap_or_default()
    };
    let own = find(node, resume, BTreeSet::from([node.rank().0])).await;
    let told = own.map(|found| ((), longest(found)));
    let all = agreement.agree_and_tell(node, told).await?.1;
    let first = all.into_iter().find(|header| !header.is_empty());
    Ok(first.unwrap_or_default())
}

/// The division with the most surviving ranges.
fn largest_division(all: &[Vec<Found>]) -> Option<Begun> {
    let mut divisions: BTreeMap<u64, (BTreeSet<u32>, &Begun)> = BTreeMap::new();
    for Found { begun, .. } in all.iter().flatten() {
        let entry = divisions
            .entry(begun.division)
            .or_insert((BTreeSet::new(), begun));
        entry.0.insert(begun.range);
    }
    let most = divisions
        .into_values()
        .max_by_key(|(ranges, _)| ranges.len());
    most.map(|(_, begun)| begun.clone())
}

/// Inputs, as the command line names them.
pub(crate) fn source_names(sources: &[Source]) -> Vec<String> {
    let name = |source: &Source| source.path().map_or("-".to_owned(), spelled);
    sources.iter().map(name).collect()
}

#[cfg(test)]
mod tests;
