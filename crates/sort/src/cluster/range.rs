//! A range of keys on the rank that has it: its files, begun or opened again (`--resume`).

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pipeline::Failure;

use crate::cluster::building::Builder;
use crate::cluster::checkpoint::{self, Begun, Checkpoint};
use crate::cluster::division::Division;
use crate::cluster::planning::Planning;
use crate::cluster::scene::named;
use crate::error::SortError;
use crate::job::{Resume, Tuning};
use crate::output::Output;
use crate::plan::{Exchanging, Plan};
use crate::ranked::of_rank;
use crate::spill::Spill;

/// What is spilled takes so much more than its records: chunks that are not full.
const SPARE_SHARE: u64 = 8;

/// A range on its way, on the rank that has it.
pub(super) struct Built {
    pub checkpoint: Checkpoint,
    /// None when it has its name already.
    pub output: Option<Arc<Output>>,
    pub spill: Spill,
    pub plan: Plan,
}

impl Builder<'_> {
    /// A range of which nothing is there.
    pub(super) async fn begin_range(
        &self,
        range: u32,
        division: &Division,
        exchanging: &Exchanging,
    ) -> Result<Built, Failure> {
        let (node, job, name) = (self.node, self.job, &self.resume.name);
        let places = self.places(range);
        let stem = checkpoint::stem(name, range);
        let (target, file) = self.output(range).await?;
        // What an earlier job left there; another copy of the range must not take this one's files for its own.
        let beside = target.parent().unwrap_or(Path::new("/"));
        for place in places.iter().map(PathBuf::as_path).chain([beside]) {
            Checkpoint::clear(node, place, &stem).await?;
        }
        let io = job.resources.io;
        let output = Output::keep(node, &target, file.clone(), io).await?;
        let expected = division.records(self.parts.total());
        let mut made = Vec::new();
        let begun = async {
            let planning = self.planning(Some(&output), places.clone());
            exchanging.fits(job.resources.memory_bytes)?;
            let plan = planning.plan(expected, Some(exchanging))?;
            // All of it waits on disk.
            let bytes = plan.input_bytes.unwrap_or(0);
            planning.demand(&plan, bytes + bytes / SPARE_SHARE).await?;
            let spill = Spill::new(node, places.clone(), io, bytes);
            let kept = spill.keep(node, &format!("{stem}{:08x}-", node.random() as u32)).await?;
            made.clone_from(&kept.paths);
            let partitions = division.partitions(&*job.contents, plan.buckets);
            let common = self.common.clone();
            let begun = Begun {
                name: name.clone(),
                statement: common.statement,
                division: common.division,
                range,
                sources: named(&self.resume.sources),
                memory_bytes: job.resources.memory_bytes,
                parts: common.parts,
                epochs: common.epochs,
                ranges: common.ranges.unwrap_or_default(),
                partitions: partitions.elements().to_bytes(),
                expected,
                chunk_bytes: plan.chunk_bytes,
                spill: kept,
                output: file.clone(),
                target,
            };
            let checkpoint = Checkpoint::begin(node, &places[0], begun).await?;
            Ok((checkpoint, spill, plan))
        };
        match begun.await {
            Ok((checkpoint, spill, plan)) => {
                Ok(Built { checkpoint, output: Some(Arc::new(output)), spill, plan })
            }
            // Nothing speaks of these files yet.
            Err(failure) => {
                for path in made.iter().chain([&file]) {
                    let _ = node.remove(path).await;
                }
                Err(failure)
            }
        }
    }

    /// The target of a range, and the file that becomes it.
    async fn output(&self, range: u32) -> Result<(PathBuf, PathBuf), Failure> {
        let target = of_rank(&self.resume.target, range);
        let target = self.node.resolve(&target).await?;
        let stem = checkpoint::stem(&self.resume.name, range);
        let copy = self.node.random() as u32;
        let file = target.with_file_name(format!("{stem}{copy:08x}-output"));
        Ok((target, file))
    }

    /// Opens what is there of a range.
    pub(super) async fn reopen(
        &self,
        checkpoint: Checkpoint,
        exchanging: Option<&Exchanging>,
    ) -> Result<Built, Failure> {
        let (node, io) = (self.node, self.job.resources.io);
        let begun = &checkpoint.begun;
        let (given, limit) = (self.job.resources.memory_bytes, begun.memory_bytes);
        if given < limit {
            let what = format!("was begun with {limit} bytes of memory, and {given} may not do");
            return Err(SortError::Checkpoint { file: begun.output.clone(), what }.into());
        }
        let output = match checkpoint.is_named(node).await {
            true => None,
            false => {
                let path = begun.output.clone();
                Some(Arc::new(Output::keep(node, &begun.target, path, io).await?))
            }
        };
        let places = begun.spill.directories.clone();
        let planning = self.planning(output.as_deref(), places.clone());
        // What is there was cut and divided so.
        let buckets = Some(self.splitters(&begun.partitions)?.buckets);
        let chunk_bytes = Some(begun.chunk_bytes);
        let tuning = Tuning { chunk_bytes, buckets, ..planning.tuning };
        let planning = Planning { tuning, ..planning };
        let plan = planning.plan(begun.expected, exchanging)?;
        let spill = Spill::new(node, places, io, plan.input_bytes.unwrap_or(0));
        let mut ends = vec![0; begun.spill.paths.len()];
        for run in checkpoint.partitions().iter().flat_map(|partition| &partition.runs) {
            let extent = run.extent(begun.chunk_bytes);
            ends[extent.file] = ends[extent.file].max(extent.offset + extent.bytes);
        }
        spill.open_kept(node, &begun.spill, &ends).await?;
        Ok(Built { checkpoint, output, spill, plan })
    }
}

/// Where what is done of a range waits on a rank.
pub(super) fn places(resume: &Resume, rank: u32, range: u32) -> Vec<PathBuf> {
    if !resume.temporary.is_empty() {
        return resume.temporary.iter().map(|path| of_rank(path, rank)).collect();
    }
    let target = of_rank(&resume.target, range);
    let beside = target.parent().filter(|parent| !parent.as_os_str().is_empty());
    vec![beside.unwrap_or(Path::new(".")).to_owned()]
}
