//! What is there of a sort that is gone on with: every rank looks where it may be, and all find the
//! same.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use node::Node;
use pipeline::Failure;
use serde::{Deserialize, Serialize};

use crate::agreement::Agreement;
use crate::epochs::checkpoint::{Begun, Checkpoint};
use crate::epochs::paths::places;
use crate::epochs::range_owners::{Holders, Round, Seen, deal};
use crate::error::SortError;
use crate::files::path_template::names_rank;
use crate::files::temporary::sweep;
use crate::files::text_file::spelled;
use crate::job::Resume;
use crate::job::Source;
use crate::ranks::fingerprint::Fingerprint;

/// What a rank tells of a range that it sees.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Found {
    begun: Begun,
    epochs: u32,
}

/// What is there, and who goes on with it.
pub(crate) struct Scene {
    pub holders: Holders,
    /// Those of the ranges that this rank goes on with.
    pub mine: BTreeMap<u32, Checkpoint>,
    /// What else this rank sees of the job.
    pub others: Vec<Checkpoint>,
    /// What all ranges have in common, if there are any.
    pub begun: Option<Begun>,
}

/// What is there of the job on all ranks, and who goes on with what.
pub(crate) async fn look(
    node: &Node,
    resume: &Resume,
    agreement: &mut Agreement,
    statement: &Fingerprint,
) -> Result<Scene, Failure> {
    let rank = node.rank().0;
    let tell = |found: &Vec<Checkpoint>| -> Vec<Found> { found.iter().map(Found::of).collect() };
    let found = find(node, resume, BTreeSet::from([rank])).await;
    let told = found.as_ref().map(tell).unwrap_or_default();
    let (mut found, mut all) = agreement
        .agree_and_tell(node, found.map(|found| (found, told)))
        .await?;
    // Where each rank has a place of its own, those of ranks that are not there any more may be on
    // any host.
    let first = all
        .iter()
        .flatten()
        .map(|found| found.begun.parts.len() as u32)
        .max();
    let others: BTreeSet<u32> = (node.nodes()..first.unwrap_or(0)).collect();
    if !others.is_empty() && is_ranked(resume) {
        let more = find(node, resume, others).await;
        let told = more.as_ref().map(tell).unwrap_or_default();
        let (more, told) = agreement
            .agree_and_tell(node, more.map(|more| (more, told)))
            .await?;
        all.iter_mut()
            .zip(told)
            .for_each(|(all, told)| all.extend(told));
        found.extend(more);
    }
    let Some(begun) = chosen(&all) else {
        let holders = Holders {
            rounds: vec![Round::first(node.nodes())],
            ..Holders::default()
        };
        return Ok(Scene {
            holders,
            mine: BTreeMap::new(),
            others: found,
            begun: None,
        });
    };
    if let Some(what) = difference(statement, resume, &begun) {
        let what = format!("is of another sort: this one has {what}");
        return Err(SortError::Checkpoint {
            file: begun.target.into(),
            what,
        }
        .into());
    }
    let others = all.iter().flatten().map(|found| &found.begun);
    if others
        .into_iter()
        .any(|other| other.division == begun.division && !is_one(other, &begun))
    {
        let what = "has entries of ranges that do not belong together".to_owned();
        return Err(SortError::Checkpoint {
            file: begun.target.into(),
            what,
        }
        .into());
    }
    let began = begun.parts.len();
    if !statement.shared && node.nodes() as usize > began {
        let what = format!(
            "was begun by {began} ranks, and more have inputs that it does not; start {began} or fewer"
        );
        return Err(SortError::Checkpoint {
            file: begun.target.into(),
            what,
        }
        .into());
    }
    let seen: Vec<Seen> = (0..)
        .zip(&all)
        .flat_map(|(rank, told)| told.iter().map(move |found| (rank, found)))
        .filter(|(_, found)| found.begun.division == begun.division)
        .map(|(rank, Found { begun, epochs })| Seen {
            rank,
            range: begun.range,
            epochs: *epochs,
        })
        .collect();
    let holders = deal(&seen, node.nodes(), begun.parts.len() as u32, begun.epochs);
    let is_mine = |checkpoint: &Checkpoint| {
        let Begun {
            range, division, ..
        } = checkpoint.begun;
        division == begun.division
            && holders.kept.contains(&range)
            && holders.of[range as usize] == rank
    };
    let (wanted, mut others): (Vec<_>, Vec<_>) = found.into_iter().partition(is_mine);
    let mut mine: BTreeMap<u32, Checkpoint> = BTreeMap::new();
    for checkpoint in wanted {
        let range = checkpoint.begun.range;
        let known = mine.get(&range).map_or(0, |known| known.epochs.len());
        match known < checkpoint.epochs.len() || !mine.contains_key(&range) {
            true => others.extend(mine.insert(range, checkpoint)),
            false => others.push(checkpoint),
        }
    }
    Ok(Scene {
        holders,
        mine,
        others,
        begun: Some(begun),
    })
}

/// What tells a sort from the one that was begun; how records are exchanged does not.
fn difference(statement: &Fingerprint, resume: &Resume, begun: &Begun) -> Option<String> {
    let mut begun_with = begun.statement.clone();
    begun_with.exchange = statement.exchange;
    let sources = || {
        let is_other = begun.sources != named(&resume.sources);
        is_other.then(|| format!("other inputs than {}", begun.sources.join(", ")))
    };
    statement.difference(&begun_with).or_else(sources)
}

/// Whether two ranges are of one beginning.
fn is_one(one: &Begun, other: &Begun) -> bool {
    one.statement == other.statement
        && one.sources == other.sources
        && one.parts == other.parts
        && (one.epochs, &one.ranges) == (other.epochs, &other.ranges)
}

impl Found {
    /// Without what only its own rank needs.
    fn of(checkpoint: &Checkpoint) -> Found {
        let begun = Begun {
            partitions: Vec::new(),
            ..checkpoint.begun.clone()
        };
        Found {
            begun,
            epochs: checkpoint.epochs.len() as u32,
        }
    }
}

fn is_ranked(resume: &Resume) -> bool {
    match resume.temporary.is_empty() {
        true => resume.target.parent().is_some_and(names_rank),
        false => resume.temporary.iter().any(|path| names_rank(path)),
    }
}

/// What this rank sees in the places of these ranks.
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

/// Of the divisions that are there, the one of which most ranges are.
fn chosen(all: &[Vec<Found>]) -> Option<Begun> {
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
pub(crate) fn named(sources: &[Source]) -> Vec<String> {
    let name = |source: &Source| match source {
        Source::Path(path) | Source::Listed(path) => spelled(path),
        Source::Standard => "-".to_owned(),
    };
    sources.iter().map(name).collect()
}
