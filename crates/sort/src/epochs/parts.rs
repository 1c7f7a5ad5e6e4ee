//! The parts of the input, one for each rank that began the sort, and the rank that reads each.
//!
//! A resumed sort reads the same parts, on the same ranks if possible. A record keeps its position,
//! so it belongs to the same range and partition as before.

use std::sync::Arc;

use node::{FileKind, Node};
use pipeline::Failure;
use serde::{Deserialize, Serialize};

use crate::agreement::Agreement;
use crate::epochs::range_owners::assign_readers;
use crate::error::SortError;
use crate::files::input::Inputs;
use crate::files::input::header::read_header;
use crate::files::path_template::of_rank;
use crate::job::{Job, Reading, Source};
use crate::passes::indexing::{divides_inputs, with_indexes};
use crate::ranks::fingerprint::{Fingerprint, Part, check_same};
use crate::ranks::sampling::probe_checksum;

pub(crate) struct Parts {
    /// Length and checksum of every part.
    pub all: Vec<Part>,
    /// The parts that this rank reads, at their places in the whole input.
    pub mine: Vec<Arc<Inputs>>,
    /// The most parts that any rank reads.
    pub most: usize,
}

impl Parts {
    pub(crate) fn total(&self) -> u64 {
        self.all.iter().map(|part| part.bytes).sum()
    }

    /// Bytes of all records when they are written.
    pub(crate) fn total_out(&self) -> u64 {
        self.all.iter().map(Part::out_bytes).sum()
    }
}

/// The parts, as a rank finds them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Access {
    readable: Vec<u32>,
    /// Parts that it cannot read, whether another file has their name, and the reason.
    refused: Vec<(u32, bool, String)>,
}

pub(crate) struct Opener<'a> {
    pub node: &'a Node,
    pub job: &'a Job,
}

impl Opener<'_> {
    /// Opens this rank's part of an input that is sorted from the beginning. The parts of all ranks
    /// are one sequence.
    pub(crate) async fn open_first(&self, agreement: &mut Agreement) -> Result<Parts, Failure> {
        let (node, rank) = (self.node, self.node.rank().0);
        let opened = self.open(rank, node.nodes()).await;
        let told = opened.and_then(|(inputs, part, all)| {
            // The fingerprint of a resumable sort was compared before any file was opened.
            let is_compared = self.job.resume.is_some() || self.job.is_alone(node);
            let own = match is_compared {
                true => None,
                false => Some(Fingerprint::new(self.job, all, part.ends)?),
            };
            Ok((inputs, (part, own)))
        });
        let (inputs, told) = agreement.agree_and_tell(node, told).await?;
        let (all, fingerprints): (Vec<Part>, Vec<_>) = told.into_iter().unzip();
        let fingerprints: Vec<Fingerprint> = fingerprints.into_iter().flatten().collect();
        check_same(&fingerprints)?;
        let is_other = |part: &Part| self.job.shared && part.ends != all[0].ends;
        if let Some(rank) = all.iter().position(is_other) {
            let what = "its input differs from that of rank 0".to_owned();
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

    /// Opens the parts of a resumed sort: a rank reads parts that it finds unchanged. A part that
    /// is no longer needed may be missing, but must not have changed.
    pub(crate) async fn reopen(
        &self,
        agreement: &mut Agreement,
        all: Vec<Part>,
        is_needed: bool,
    ) -> Result<Parts, Failure> {
        let (mut access, mut opened) = (Access::default(), Vec::new());
        for part in 0..all.len() as u32 {
            match self.open(part, all.len() as u32).await {
                Ok((inputs, found, _)) if found == all[part as usize] => {
                    access.readable.push(part);
                    opened.push(placed(inputs, &all, part));
                }
                Ok(_) => {
                    let what = "its contents have changed".to_owned();
                    access.refused.push((part, true, what));
                }
                Err(failure) => access.refused.push((part, false, failure.to_string())),
            }
        }
        let (readable, told) = agreement
            .agree_and_tell(self.node, Ok((access.readable.clone(), access)))
            .await?;
        let can: Vec<Vec<u32>> = told.iter().map(|access| access.readable.clone()).collect();
        let readers = match assign_readers(&can, all.len() as u32) {
            Ok(readers) => readers,
            Err(part) => {
                let mut why = told
                    .iter()
                    .flat_map(|access| &access.refused)
                    .filter(|refused| refused.0 == part);
                let changed = why.clone().find(|refused| refused.1);
                let why = changed.or_else(|| why.next());
                if is_needed || changed.is_some() {
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
        let mine = readable.iter().zip(opened).filter(|(part, _)| own(**part));
        let mine = mine.map(|(_, inputs)| inputs).collect();
        let count = |rank: u32| readers.iter().filter(|&&reader| reader == rank).count();
        let most = (0..self.node.nodes()).map(count).max().unwrap_or(0);
        Ok(Parts { all, mine, most })
    }

    /// One of `parts` parts: its files, its length and checksum, and the bytes of all inputs
    /// together.
    async fn open(&self, part: u32, parts: u32) -> Result<(Inputs, Part, u64), Failure> {
        let (node, job) = (self.node, self.job);
        let own = |source: &Source| match source {
            Source::Path(path) => Source::Path(of_rank(path, part)),
            other => other.clone(),
        };
        let sources: Vec<Source> = match &job.resume {
            Some(resume) => {
                let named = resume.sources.iter().map(own).collect();
                self.behind_headers(named).await?
            }
            None => job.sources.clone(),
        };
        let mut inputs = self.open_inputs(&sources).await?;
        if job.is_alone(node) {
            let (part, bytes) = (part_of(&inputs, 0), inputs.bytes.unwrap_or(0));
            return Ok((inputs, part, bytes));
        }
        if let Some(file) = inputs.compressed() {
            return Err(SortError::Compressed { file }.into());
        }
        let piped = || SortError::NotDivisible {
            what: "an input is a pipe".to_owned(),
        };
        let all = inputs.bytes.ok_or_else(piped)?;
        let ends = match job.resume.is_some() || job.shared {
            true => probe_checksum(node, job, &Arc::new(inputs.clone())).await?,
            false => 0,
        };
        if job.shared {
            inputs = inputs.part(part, parts);
        }
        let part = part_of(&inputs, ends);
        Ok((inputs, part, all))
    }
}

impl Opener<'_> {
    /// The sources of a part behind their headers, if they are rows that have some.
    async fn behind_headers(&self, sources: Vec<Source>) -> Result<Vec<Source>, Failure> {
        let (node, job) = (self.node, self.job);
        let Some(rows) = job.rows.as_ref().filter(|rows| rows.has_header) else {
            return Ok(sources);
        };
        let framing = rows.dialect.framing();
        let mut behind = Vec::new();
        for source in sources {
            let (_, rest) = read_header(node, &source, framing, job.reading()).await?;
            behind.push(rest);
        }
        Ok(behind)
    }

    /// The inputs; those of chained records with indexes, if they are divided.
    async fn open_inputs(&self, sources: &[Source]) -> Result<Inputs, Failure> {
        let (node, job) = (self.node, self.job);
        let (framing, reading) = (job.contents.framing(), job.reading());
        if framing.is_chained() && divides_inputs(node, job) && are_files(node, sources).await {
            let in_parts = Reading {
                in_parts: true,
                ..reading
            };
            let inputs = Inputs::open(node, sources, framing, in_parts).await?;
            if inputs.lacks_indexes() {
                return with_indexes(node, job, inputs).await;
            }
        }
        Inputs::open(node, sources, framing, reading).await
    }
}

/// Whether no source is known to be a pipe.
async fn are_files(node: &Node, sources: &[Source]) -> bool {
    for source in sources {
        let Some(path) = source.path() else {
            return false;
        };
        let found = node.metadata(path).await;
        if found.is_ok_and(|found| found.kind == FileKind::Sequential) {
            return false;
        }
    }
    true
}

fn part_of(inputs: &Inputs, ends: u64) -> Part {
    Part {
        bytes: inputs.bytes.unwrap_or(0),
        added: inputs.added(),
        ends,
    }
}

/// Gives a part its position in the whole input.
fn placed(mut inputs: Inputs, all: &[Part], part: u32) -> Arc<Inputs> {
    inputs.base = all[..part as usize].iter().map(|part| part.bytes).sum();
    Arc::new(inputs)
}
