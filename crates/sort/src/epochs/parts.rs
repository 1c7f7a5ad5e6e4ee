//! The parts of the input, one for each rank that began the sort, and who reads which.
//!
//! Who goes on with a sort reads the same parts, by the same rank where that is there: a record
//! keeps its position, so it belongs where it belonged before.

use std::sync::Arc;

use node::Node;
use pipeline::Failure;
use serde::{Deserialize, Serialize};

use crate::agreement::Agreement;
use crate::epochs::range_owners::readers;
use crate::error::SortError;
use crate::files::input::Inputs;
use crate::files::path_template::of_rank;
use crate::job::Source;
use crate::job::{Job, Resume};
use crate::ranks::fingerprint::Part;
use crate::ranks::sampling::mark;

/// What this rank reads.
pub(crate) struct Parts {
    /// What all parts are.
    pub all: Vec<Part>,
    /// Those of this rank, at their places in the whole.
    pub mine: Vec<Arc<Inputs>>,
    /// How many the rank with the most has.
    pub most: usize,
}

impl Parts {
    /// Records of all of them.
    pub(crate) fn total(&self) -> u64 {
        self.all.iter().map(|part| part.records).sum()
    }
}

/// What a rank finds of the parts.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Seen {
    can: Vec<u32>,
    /// Of those that it cannot read: which is another one here, and why.
    not: Vec<(u32, bool, String)>,
}

/// Who opens parts.
pub(crate) struct Opener<'a> {
    pub node: &'a Node,
    pub job: &'a Job,
    pub resume: &'a Resume,
}

impl Opener<'_> {
    /// Each rank opens its own.
    pub(crate) async fn begin(&self, agreement: &mut Agreement) -> Result<Parts, Failure> {
        let (node, rank) = (self.node, self.node.rank().0);
        let opened = self.open(rank, node.nodes()).await;
        let (inputs, all) = agreement.agree_and_tell(node, opened).await?;
        let is_other = |part: &Part| self.job.shared && part.ends != all[0].ends;
        if let Some(rank) = all.iter().position(is_other) {
            let what = "its input is another one".to_owned();
            return Err(SortError::Different {
                rank: rank as u32,
                what,
            }
            .into());
        }
        Ok(Parts {
            mine: vec![placed(inputs, &all, rank)],
            all,
            most: 1,
        })
    }

    /// Whoever can open a part as it was reads it. A part that is not needed any more may be gone,
    /// but not be another one.
    pub(crate) async fn again(
        &self,
        agreement: &mut Agreement,
        all: Vec<Part>,
        is_needed: bool,
    ) -> Result<Parts, Failure> {
        let (mut seen, mut opened) = (Seen::default(), Vec::new());
        for part in 0..all.len() as u32 {
            match self.open(part, all.len() as u32).await {
                Ok((inputs, found)) if found == all[part as usize] => {
                    seen.can.push(part);
                    opened.push(placed(inputs, &all, part));
                }
                Ok(_) => seen
                    .not
                    .push((part, true, "it is another one now".to_owned())),
                Err(failure) => seen.not.push((part, false, failure.to_string())),
            }
        }
        let (can, told) = agreement
            .agree_and_tell(self.node, Ok((seen.can.clone(), seen)))
            .await?;
        let readers = readers(
            &told.iter().map(|seen| seen.can.clone()).collect::<Vec<_>>(),
            all.len() as u32,
        );
        let readers = match readers {
            Ok(readers) => readers,
            Err(part) => {
                let mut why = told
                    .iter()
                    .flat_map(|seen| &seen.not)
                    .filter(|not| not.0 == part);
                let why = why.clone().find(|not| not.1).or_else(|| why.next());
                let is_other = why.is_some_and(|why| why.1);
                if is_needed || is_other {
                    let what = why.map(|why| why.2.clone()).unwrap_or_default();
                    return Err(SortError::PartGone { part, what }.into());
                }
                Vec::new()
            }
        };
        if !is_needed || readers.is_empty() {
            return Ok(Parts {
                all,
                mine: Vec::new(),
                most: 0,
            });
        }
        let own = |part: u32| readers[part as usize] == self.node.rank().0;
        let mine = can.iter().zip(opened).filter(|(part, _)| own(**part));
        let mine = mine.map(|(_, inputs)| inputs).collect();
        let count = |rank: u32| readers.iter().filter(|&&reader| reader == rank).count();
        let most = (0..self.node.nodes()).map(count).max().unwrap_or(0);
        Ok(Parts { all, mine, most })
    }

    /// One of so many parts, and what it is.
    async fn open(&self, part: u32, parts: u32) -> Result<(Inputs, Part), Failure> {
        let (node, job) = (self.node, self.job);
        let own = |source: &Source| match source {
            Source::Path(path) => Source::Path(of_rank(path, part)),
            other => other.clone(),
        };
        let sources: Vec<Source> = self.resume.sources.iter().map(own).collect();
        let bytes = job.contents.record_bytes();
        let mut inputs = Inputs::open(node, &sources, bytes, job.resources.io).await?;
        let piped = || SortError::NotDivisible {
            what: "an input is a pipe".to_owned(),
        };
        inputs.records.ok_or_else(piped)?;
        let ends = mark(node, job, &Arc::new(inputs.clone())).await?;
        if job.shared {
            inputs = inputs.part(part, parts);
        }
        let records = inputs.records.unwrap_or(0);
        Ok((inputs, Part { records, ends }))
    }
}

/// The part at its place in the whole.
fn placed(mut inputs: Inputs, all: &[Part], part: u32) -> Arc<Inputs> {
    inputs.base = all[..part as usize].iter().map(|part| part.records).sum();
    Arc::new(inputs)
}
