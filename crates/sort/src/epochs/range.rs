//! A range of keys on the rank that has it: its files, begun or opened again (`--resume`).

use std::sync::Arc;

use pipeline::Failure;

use crate::epochs::checkpoint::{Begun, Checkpoint};
use crate::epochs::paths::Site;
use crate::epochs::phase_one::Builder;
use crate::epochs::recovery::named;
use crate::error::{SortError, amount};
use crate::files::output::Output;
use crate::files::spill::{Spill, kept_paths};
use crate::job::Tuning;
use crate::plan::{Exchanging, Plan};
use crate::ranks::division::Division;
use crate::ranks::planning::Planning;

/// What is spilled takes so much more than its records: chunks that are not full.
const SPARE_SHARE: u64 = 8;

/// A range on its way, on the rank that has it.
pub(crate) struct Built {
    pub checkpoint: Checkpoint,
    /// None when it has its name already.
    pub output: Option<Arc<Output>>,
    pub spill: Spill,
    pub plan: Plan,
}

impl Builder<'_> {
    /// A range of which nothing is there.
    pub(crate) async fn begin_range(
        &self,
        range: u32,
        division: &Division,
        exchanging: &Exchanging,
    ) -> Result<Built, Failure> {
        let (node, job) = (self.node, self.job);
        let site = Site::of(node, self.resume, node.rank().0, range).await?;
        // An earlier job may have left files there; another copy of the range must not take this
        // one's for its own.
        for directory in site.all_directories() {
            Checkpoint::clear(node, directory, &site.stem).await?;
        }
        let (io, copy) = (job.resources.io, node.random() as u32);
        let file = site.draft(copy);
        let output = Output::keep(node, &site.target, (file.clone(), None), io).await?;
        let expected = division.records(self.parts.total());
        let mut made = Vec::new();
        let begun = async {
            let planning = self.planning(Some(&output), site.directories.clone());
            exchanging.fits(job.resources.memory_bytes)?;
            let plan = planning.plan(expected, Some(exchanging))?;
            // All of it waits on disk.
            let bytes = plan.input_bytes.unwrap_or(0);
            planning.demand(&plan, bytes + bytes / SPARE_SHARE).await?;
            let spill = Spill::new(node, site.directories.clone(), io, bytes);
            let kinds = spill.keep(node, &site.spill_stem(copy)).await?;
            made = kept_paths(&site.directories, &kinds, &site.spill_stem(copy));
            let partitions = division.partitions(&*job.contents, plan.buckets);
            let common = self.common.clone();
            let (directories, target) = site.spelled();
            let begun = Begun {
                name: self.resume.name.clone(),
                statement: common.statement,
                division: common.division,
                range,
                rank: node.rank().0,
                sources: named(&self.resume.sources),
                memory_bytes: job.resources.memory_bytes,
                parts: common.parts,
                epochs: common.epochs,
                ranges: common.ranges.unwrap_or_default(),
                partitions: partitions.elements().to_bytes(),
                expected,
                chunk_bytes: plan.chunk_bytes,
                kinds,
                copy,
                draft: output.file(0).metadata().identity,
                directories,
                target,
            };
            let checkpoint = Checkpoint::begin(node, site.clone(), begun).await?;
            Ok((checkpoint, spill, plan))
        };
        match begun.await {
            Ok((checkpoint, spill, plan)) => Ok(Built {
                checkpoint,
                output: Some(Arc::new(output)),
                spill,
                plan,
            }),
            // Nothing speaks of these files yet.
            Err(failure) => {
                for path in made.iter().chain([&file]) {
                    let _ = node.remove(path).await;
                }
                Err(failure)
            }
        }
    }

    /// Opens what is there of a range.
    pub(crate) async fn reopen(
        &self,
        checkpoint: Checkpoint,
        exchanging: Option<&Exchanging>,
    ) -> Result<Built, Failure> {
        let (node, io) = (self.node, self.job.resources.io);
        let begun = &checkpoint.begun;
        let (given, limit) = (self.job.resources.memory_bytes, begun.memory_bytes);
        if given < limit {
            let (begun_with, now) = (amount(limit), amount(given));
            let least = limit.div_ceil(1 << 20);
            let what = format!(
                "was begun with {begun_with} of memory, and {now} may not do: give at least -S {least}M"
            );
            return Err(SortError::Checkpoint {
                file: checkpoint.draft(),
                what,
            }
            .into());
        }
        let output = match checkpoint.is_named(node).await {
            true => None,
            false => {
                let (target, known) = (&checkpoint.site.target, Some(begun.draft));
                let draft = (checkpoint.draft(), known);
                Some(Arc::new(Output::keep(node, target, draft, io).await?))
            }
        };
        let places = checkpoint.site.directories.clone();
        let planning = self.planning(output.as_deref(), places.clone());
        // What is there was cut and divided so.
        let buckets = Some(self.splitters(&begun.partitions)?.buckets);
        let chunk_bytes = Some(begun.chunk_bytes);
        let tuning = Tuning {
            chunk_bytes,
            buckets,
            ..planning.tuning
        };
        let planning = Planning { tuning, ..planning };
        let plan = planning.plan(begun.expected, exchanging)?;
        let spill = Spill::new(node, places, io, plan.input_bytes.unwrap_or(0));
        let (paths, ends) = (checkpoint.spill_paths(), checkpoint.spill_ends());
        spill.open_kept(node, &begun.kinds, (paths, &ends)).await?;
        Ok(Built {
            checkpoint,
            output,
            spill,
            plan,
        })
    }
}
