//! The parts of the input, one for each rank that began the sort, and who reads which.
//!
//! Who goes on with a sort reads the same parts, by the same rank where that is there: a record keeps its
//! position, so it belongs where it belonged before.

use std::sync::Arc;

use node::Node;
use pipeline::Failure;

use crate::cluster::agreement::Agreement;
use crate::cluster::holders::readers;
use crate::cluster::sampling::mark;
use crate::cluster::statement::{Part, share};
use crate::error::SortError;
use crate::input::{Inputs, Source};
use crate::job::{Job, Resume};
use crate::ranked::of_rank;

/// What this rank reads.
pub(super) struct Parts {
    /// What all parts are.
    pub all: Vec<Part>,
    /// Those of this rank, at their places in the whole.
    pub mine: Vec<Arc<Inputs>>,
    /// How many the rank with the most has.
    pub most: usize,
}

impl Parts {
    /// Nobody reads anything.
    pub(super) fn none(all: Vec<Part>) -> Parts {
        Parts { all, mine: Vec::new(), most: 0 }
    }

    /// Each rank opens its own.
    pub(super) async fn begin(
        node: &Node,
        job: &Job,
        resume: &Resume,
        agreement: &mut Agreement,
    ) -> Result<Parts, Failure> {
        let rank = node.rank().0;
        let opened = open(node, job, resume, (rank, node.nodes())).await;
        let (inputs, all) = agreement.with(node, opened).await?;
        if let Some(rank) = all.iter().position(|part| job.shared && part.ends != all[0].ends) {
            let what = "its input is another one".to_owned();
            return Err(SortError::Different { rank: rank as u32, what }.into());
        }
        Ok(Parts { mine: vec![placed(inputs, &all, rank)], all, most: 1 })
    }

    /// Whoever can open a part as it was reads it.
    pub(super) async fn again(
        node: &Node,
        job: &Job,
        resume: &Resume,
        agreement: &mut Agreement,
        all: Vec<Part>,
    ) -> Result<Parts, Failure> {
        let mut can = Vec::new();
        let mut opened = Vec::new();
        let mut why = String::new();
        for part in 0..all.len() as u32 {
            match open(node, job, resume, (part, all.len() as u32)).await {
                Ok((inputs, found)) if found == all[part as usize] => {
                    can.push(part);
                    opened.push(placed(inputs, &all, part));
                }
                Ok(_) => why = format!("part {part} is another one here"),
                Err(failure) => why = failure.to_string(),
            }
        }
        let (can, all_can) = agreement.with(node, Ok((can.clone(), can))).await?;
        let readers = readers(&all_can, all.len() as u32);
        let readers = readers.map_err(|part| SortError::PartGone { part, what: why })?;
        let own = |part: u32| readers[part as usize] == node.rank().0;
        let mine = can.iter().zip(opened).filter(|(part, _)| own(**part));
        let mine = mine.map(|(_, inputs)| inputs).collect();
        let count = |rank: u32| readers.iter().filter(|&&reader| reader == rank).count();
        let most = (0..node.nodes()).map(count).max().unwrap_or(0);
        Ok(Parts { all, mine, most })
    }

    /// Records of all of them.
    pub(super) fn total(&self) -> u64 {
        self.all.iter().map(|part| part.records).sum()
    }
}

/// A part, and what it is.
async fn open(
    node: &Node,
    job: &Job,
    resume: &Resume,
    (part, parts): (u32, u32),
) -> Result<(Inputs, Part), Failure> {
    let own = |source: &Source| match source {
        Source::Path(path) => Source::Path(of_rank(path, part)),
        Source::Standard => Source::Standard,
    };
    let sources: Vec<Source> = resume.sources.iter().map(own).collect();
    let bytes = job.contents.record_bytes();
    let mut inputs = Inputs::open(node, &sources, bytes, job.resources.io).await?;
    let piped = || SortError::NotDivisible { what: "an input is a pipe".to_owned() };
    let records = inputs.records.ok_or_else(piped)?;
    let ends = mark(node, job, &Arc::new(inputs.clone())).await?;
    if job.shared {
        inputs.narrow(share(records, part, parts));
    }
    let records = inputs.records.unwrap_or(0);
    Ok((inputs, Part { records, ends }))
}

/// The part at its place in the whole.
fn placed(mut inputs: Inputs, all: &[Part], part: u32) -> Arc<Inputs> {
    inputs.base = all[..part as usize].iter().map(|part| part.records).sum();
    Arc::new(inputs)
}
