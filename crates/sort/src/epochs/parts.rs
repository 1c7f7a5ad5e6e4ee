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
use crate::files::input::header::read_headers_of;
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

/// A part that is there, but not as it was.
const CHANGED: &str = "its contents have changed";

pub(crate) struct Opener<'a> {
    pub node: &'a Node,
    pub job: &'a Job,
}

/// The files of a part; of all parts if all ranks name the same files.
struct Opened {
    /// Those of chained records have no indexes yet.
    inputs: Inputs,
    /// A checksum of probes.
    ends: u64,
}

impl Opened {
    fn whole(&self) -> Part {
        part_of(&self.inputs, self.ends)
    }
}

impl Opener<'_> {
    /// Opens this rank's part of an input that is sorted from the beginning. The parts of all ranks
    /// are one sequence.
    pub(crate) async fn open_first(&self, agreement: &mut Agreement) -> Result<Parts, Failure> {
        let (node, rank) = (self.node, self.node.rank().0);
        let told = self.open_own(rank).await;
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

    async fn open_own(&self, rank: u32) -> Result<(Inputs, (Part, Option<Fingerprint>)), Failure> {
        let (node, job) = (self.node, self.job);
        let Opened { inputs, ends } = self.open(rank).await?;
        let inputs = self.with_cuts(inputs).await?;
        // The fingerprint of a resumable sort was compared before any file was opened.
        let own = match job.resume.is_some() || job.is_alone(node) {
            true => None,
            false => Some(Fingerprint::new(job, inputs.bytes.unwrap_or(0), ends)?),
        };
        let inputs = self.cut(&inputs, rank, node.nodes());
        let part = part_of(&inputs, ends);
        Ok((inputs, (part, own)))
    }

    /// Opens the parts of a resumed sort: a rank reads parts that it finds unchanged. A part that
    /// is no longer needed may be missing, but must not have changed.
    pub(crate) async fn reopen(
        &self,
        agreement: &mut Agreement,
        all: Vec<Part>,
        is_needed: bool,
    ) -> Result<Parts, Failure> {
        let (opened, access) = self.find(&all).await;
        let told = Ok(((), access));
        let ((), told) = agreement.agree_and_tell(self.node, told).await?;
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
        let mine = self.take(opened, &readers, &all).await;
        let mine = agreement.agree(self.node, mine).await?;
        let count = |rank: u32| readers.iter().filter(|&&reader| reader == rank).count();
        let most = (0..self.node.nodes()).map(count).max().unwrap_or(0);
        Ok(Parts { all, mine, most })
    }

    /// The parts that are there, and those that are not or have changed. No index is made for that.
    async fn find(&self, all: &[Part]) -> (Vec<(Vec<u32>, Opened)>, Access) {
        let numbers = 0..all.len() as u32;
        let groups: Vec<Vec<u32>> = match self.job.shared {
            true => vec![numbers.collect()],
            false => numbers.map(|part| vec![part]).collect(),
        };
        let (mut access, mut opened) = (Access::default(), Vec::new());
        for parts in groups {
            let expected = Part {
                bytes: parts.iter().map(|&part| all[part as usize].bytes).sum(),
                added: parts.iter().map(|&part| all[part as usize].added).sum(),
                ends: all[parts[0] as usize].ends,
            };
            let refused = match self.open(parts[0]).await {
                Ok(found) if found.whole() == expected => {
                    access.readable.extend(&parts);
                    opened.push((parts, found));
                    continue;
                }
                Ok(_) => (true, CHANGED.to_owned()),
                Err(failure) => (false, failure.to_string()),
            };
            let refused = parts
                .iter()
                .map(|&part| (part, refused.0, refused.1.clone()));
            access.refused.extend(refused);
        }
        (opened, access)
    }

    /// The parts that this rank reads, at their places.
    async fn take(
        &self,
        opened: Vec<(Vec<u32>, Opened)>,
        readers: &[u32],
        all: &[Part],
    ) -> Result<Vec<Arc<Inputs>>, Failure> {
        let mut mine = Vec::new();
        for (mut parts, opened) in opened {
            parts.retain(|&part| readers[part as usize] == self.node.rank().0);
            if parts.is_empty() {
                continue;
            }
            let inputs = self.with_cuts(opened.inputs).await?;
            for part in parts {
                let inputs = self.cut(&inputs, part, all.len() as u32);
                if inputs.bytes != Some(all[part as usize].bytes) {
                    let what = CHANGED.to_owned();
                    return Err(SortError::PartGone { part, what }.into());
                }
                mine.push(placed(inputs, all, part));
            }
        }
        Ok(mine)
    }

    /// The files of a part, with a checksum that tells them from others where that is needed.
    async fn open(&self, part: u32) -> Result<Opened, Failure> {
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
        let inputs = self.open_inputs(&sources).await?;
        if job.is_alone(node) {
            return Ok(Opened { inputs, ends: 0 });
        }
        if let Some(file) = inputs.compressed() {
            return Err(SortError::Compressed { file }.into());
        }
        if !inputs.is_seekable() {
            let what = "an input is a pipe".to_owned();
            return Err(SortError::NotDivisible { what }.into());
        }
        let ends = match job.resume.is_some() || job.shared {
            true => probe_checksum(node, job, &Arc::new(inputs.clone())).await?,
            false => 0,
        };
        Ok(Opened { inputs, ends })
    }

    /// The sources of a part behind their headers, if they are rows that have some.
    async fn behind_headers(&self, sources: Vec<Source>) -> Result<Vec<Source>, Failure> {
        let (node, job) = (self.node, self.job);
        let Some(rows) = job.rows.as_ref().filter(|rows| rows.has_header) else {
            return Ok(sources);
        };
        let framing = rows.dialect.framing();
        let mut behind = Vec::new();
        for source in &sources {
            behind.push(
                read_headers_of(node, source, framing, job.reading())
                    .await?
                    .1,
            );
        }
        Ok(behind)
    }

    /// The inputs, open to be divided if they must be and can be.
    async fn open_inputs(&self, sources: &[Source]) -> Result<Inputs, Failure> {
        let (node, job) = (self.node, self.job);
        let (framing, reading) = (job.contents.framing(), job.reading());
        if framing.is_chained() && divides_inputs(node, job) && are_files(node, sources).await {
            let in_parts = Reading {
                in_parts: true,
                ..reading
            };
            let inputs = Inputs::open(node, sources, framing, in_parts).await?;
            if inputs.is_seekable() {
                return Ok(inputs);
            }
        }
        Inputs::open(node, sources, framing, reading).await
    }

    /// The inputs with indexes, if they need some.
    async fn with_cuts(&self, inputs: Inputs) -> Result<Inputs, Failure> {
        match inputs.lack_indexes() {
            true => with_indexes(self.node, self.job, inputs).await,
            false => Ok(inputs),
        }
    }

    /// A part of an input that all ranks name; otherwise all of it.
    fn cut(&self, inputs: &Inputs, part: u32, parts: u32) -> Inputs {
        match self.job.shared && !self.job.is_alone(self.node) {
            true => inputs.part(part, parts),
            false => inputs.clone(),
        }
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
