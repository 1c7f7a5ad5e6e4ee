//! The parts of the input, one for each rank that began the sort, and the rank that reads each.
//!
//! A resumed sort reads the same parts, on the same ranks if possible. A record keeps its position,
//! so it belongs to the same range and partition as before.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use node::{FileKind, Node};
use pipeline::Failure;
use serde::{Deserialize, Serialize};

use crate::agreement::Agreement;
use crate::epochs::range_owners::assign_readers;
use crate::error::SortError;
use crate::files::input::Inputs;
use crate::files::input::header::{Front, body, read_fronts_of};
use crate::files::path_template::of_rank;
use crate::job::{Job, ReadOptions, Source};
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

/// Why a rank's shared input is refused.
const OTHER_INPUT: &str = "it has another input under that name, or the input was changed or replaced \
    meanwhile (if each rank has its own, put {rank} in the name)";

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
        Part {
            bytes: self.inputs.bytes.unwrap_or(0),
            added: self.inputs.added(),
            ends: self.ends,
            stamp: self.inputs.stamp(),
        }
    }

    /// How the part differs from the one that was expected, in words.
    fn change(&self, expected: &Part) -> String {
        let (file, found) = (self.inputs.changed_last(), self.whole());
        let is_same = found.stamp.content == expected.stamp.content && found.ends == expected.ends;
        let what = if is_same {
            "was replaced, or its name, rights or times were changed"
        } else {
            "has other contents"
        };
        format!("{} {what}", file.display())
    }
}

/// A rank's part of an input that is sorted from the beginning, as all ranks hear of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Seen {
    part: Part,
    host: String,
    fingerprint: Option<Fingerprint>,
}

impl Seen {
    /// The first rank whose input differs from what those before have under the same name. Hosts that
    /// share a file may have other numbers for it, so those are compared within a host; between hosts,
    /// the length, the time of modification, and probes of the content.
    fn first_other(all: &[Seen]) -> Option<usize> {
        let first = &all.first()?.part;
        let mut on_hosts = BTreeMap::new();
        all.iter().position(|Seen { part, host, .. }| {
            let files = on_hosts.entry(host).or_insert(part.stamp.files);
            (part.ends, part.stamp.content) != (first.ends, first.stamp.content)
                || !host.is_empty() && *files != part.stamp.files
        })
    }
}

impl Opener<'_> {
    /// Opens this rank's part of an input that is sorted from the beginning. The parts of all ranks
    /// are one sequence.
    pub(crate) async fn open_first(&self, agreement: &mut Agreement) -> Result<Parts, Failure> {
        let (node, rank) = (self.node, self.node.rank().0);
        let told = self.open_own(rank).await;
        let (inputs, told) = agreement.agree_and_tell(node, told).await?;
        let fingerprints = told.iter().filter_map(|seen| seen.fingerprint.clone());
        check_same(&fingerprints.collect::<Vec<Fingerprint>>())?;
        if let Some(rank) = Seen::first_other(&told).filter(|_| self.job.shared) {
            let (rank, what) = (rank as u32, OTHER_INPUT.to_owned());
            return Err(SortError::Different { rank, what }.into());
        }
        let all: Vec<Part> = told.into_iter().map(|seen| seen.part).collect();
        Ok(Parts {
            mine: vec![placed(inputs, &all, rank)],
            all,
            most: 1,
        })
    }

    async fn open_own(&self, rank: u32) -> Result<(Inputs, Seen), Failure> {
        let (node, job) = (self.node, self.job);
        let opened = self.open(rank).await?;
        let whole = opened.whole();
        let inputs = self.with_cuts(opened.inputs).await?;
        // The fingerprint of a resumable sort was compared before any file was opened.
        let fingerprint = if job.resume.is_some() || job.is_alone(node) {
            None
        } else {
            Some(Fingerprint::new(job, whole.bytes)?)
        };
        let inputs = self.cut(inputs, rank, node.nodes());
        let seen = Seen {
            part: Part {
                bytes: inputs.bytes.unwrap_or(0),
                added: inputs.added(),
                ..whole
            },
            host: job.host.clone(),
            fingerprint,
        };
        Ok((inputs, seen))
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
        let groups: Vec<Vec<u32>> = if self.job.shared {
            vec![numbers.collect()]
        } else {
            numbers.map(|part| vec![part]).collect()
        };
        let (mut access, mut opened) = (Access::default(), Vec::new());
        for parts in groups {
            // A rank sees a shared input as it did before.
            let seen = parts[self.node.rank().0 as usize % parts.len()];
            let expected = Part {
                bytes: parts.iter().map(|&part| all[part as usize].bytes).sum(),
                added: parts.iter().map(|&part| all[part as usize].added).sum(),
                ..all[seen as usize]
            };
            let refused = match self.open(parts[0]).await {
                Ok(found) if found.whole() == expected => {
                    access.readable.extend(&parts);
                    opened.push((parts, found));
                    continue;
                }
                Ok(found) => (true, found.change(&expected)),
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
                let inputs = self.cut(inputs.clone(), part, all.len() as u32);
                if inputs.bytes != Some(all[part as usize].bytes) {
                    let what = "its records end elsewhere".to_owned();
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
            let view = job.view().filter(|view| !view.is_local());
            return Err(match view {
                Some(_) => SortError::CountedLines { file }.into(),
                None => SortError::Compressed { file }.into(),
            });
        }
        if let Some(source) = inputs.undivided() {
            return Err(not_divisible(source).into());
        }
        let ends = if job.resume.is_some() || job.shared {
            probe_checksum(node, job, &Arc::new(inputs.clone())).await?
        } else {
            0
        };
        Ok(Opened { inputs, ends })
    }

    /// The sources of a part behind their headers and marks, if they are rows.
    async fn behind_headers(&self, sources: Vec<Source>) -> Result<Vec<Source>, Failure> {
        let (node, job) = (self.node, self.job);
        let Some(headed) = &job.headed else {
            return Ok(sources);
        };
        let mut behind = Vec::new();
        for source in &sources {
            let (fronts, rest) = read_fronts_of(node, source, headed, &job.reading()).await?;
            // The header of the output was read before.
            let is_other = |Front { header, .. }: &&Front| {
                !header.is_empty() && body(header) != body(job.contents.header())
            };
            if let Some(Front { file, .. }) = fronts.iter().find(is_other) {
                let file = file.path().unwrap_or(Path::new("-")).to_owned();
                return Err(SortError::Replaced { file }.into());
            }
            behind.push(rest);
        }
        Ok(behind)
    }

    /// The inputs, open to be divided if they must be and can be.
    async fn open_inputs(&self, sources: &[Source]) -> Result<Inputs, Failure> {
        let (node, job) = (self.node, self.job);
        let (framing, reading) = (job.contents.framing(), job.reading());
        if framing.is_chained()
            && divides_inputs(node, job)
            && known_pipe(node, sources).await.is_none()
        {
            let in_parts = ReadOptions {
                in_parts: true,
                ..reading.clone()
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
        if inputs.lack_indexes() {
            with_indexes(self.node, self.job, inputs).await
        } else {
            Ok(inputs)
        }
    }

    /// A part of an input that all ranks name; otherwise all of it.
    fn cut(&self, inputs: Inputs, part: u32, parts: u32) -> Inputs {
        if self.job.shared && !self.job.is_alone(self.node) {
            inputs.part(part, parts)
        } else {
            inputs
        }
    }
}

/// Refuses pipes where inputs are divided, before one is opened: that would wait for its writer.
///
/// # Errors
/// When an input is a pipe or a device.
pub(crate) async fn check_files(node: &Node, job: &Job) -> Result<(), SortError> {
    if job.is_alone(node) {
        return Ok(());
    }
    match known_pipe(node, &job.sources).await {
        Some(source) => Err(not_divisible(source)),
        None => Ok(()),
    }
}

async fn known_pipe<'a>(node: &Node, sources: &'a [Source]) -> Option<&'a Source> {
    for source in sources {
        let Some(path) = source.path() else {
            return Some(source);
        };
        let found = node.metadata(path).await;
        if found.is_ok_and(|found| found.kind == FileKind::Sequential) {
            return Some(source);
        }
    }
    None
}

fn not_divisible(source: &Source) -> SortError {
    let name = source.path().unwrap_or(Path::new("-"));
    let why = "is a pipe, or its length is not known";
    SortError::NotDivisible {
        what: format!("{} {why}", name.display()),
    }
}

/// Gives a part its position in the whole input.
fn placed(mut inputs: Inputs, all: &[Part], part: u32) -> Arc<Inputs> {
    inputs.base = all[..part as usize].iter().map(|part| part.bytes).sum();
    Arc::new(inputs)
}
