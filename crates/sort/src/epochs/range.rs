//! A range of keys on its owner: its files, new or opened again (`--resume`).

use crate::runs::partition::Partition;
use std::sync::Arc;

use pipeline::Failure;

use crate::epochs::checkpoint::{Begun, Checkpoint};
use crate::epochs::paths::Site;
use crate::epochs::recovery::source_names;
use crate::epochs::sorting::Sorting;
use crate::error::{SortError, amount};
use crate::files::output::Output;
use crate::files::spill::{Spill, kept_paths};
use crate::job::{Resume, Tuning};
use crate::passes::wiring::{Pools, Run};
use crate::plan::Exchanging;
use crate::ranks::division::Division;
use crate::ranks::planning::Planning;
use crate::records::splitters::Splitters;

/// Spill files are larger than their records by this part, for chunks that are not full.
const SPARE_SHARE: u64 = 8;

pub(crate) struct Range<'a> {
    pub number: u32,
    /// Its plan, its output (none if that has its name already), its account.
    pub run: Run<'a>,
    pub spill: Spill,
    /// The partitions of phase one, if no progress is saved; otherwise the notes have them.
    pub partitions: Vec<Partition>,
    /// The memory of phase one, if records stay in it until phase two.
    pub memory: Option<Pools>,
    /// Saved progress, of a resumable sort.
    pub notes: Option<Checkpoint>,
    /// The splitters of its partitions, until phase one takes them.
    pub splitters: Option<Splitters>,
}

impl<'a> Range<'a> {
    pub(crate) fn new(number: u32, run: Run<'a>, spill: Spill) -> Range<'a> {
        Range {
            number,
            run,
            spill,
            partitions: Vec::new(),
            memory: None,
            notes: None,
            splitters: None,
        }
    }
}

impl<'a> Sorting<'a> {
    /// Begins a range, before its first record comes.
    pub(crate) async fn begin_range(
        &mut self,
        range: u32,
        division: &Division,
        exchanging: &Exchanging,
    ) -> Result<Range<'a>, Failure> {
        let expected = division.share(self.parts.total());
        if let Some(resume) = self.resume() {
            return self
                .begin_resumable(resume, (range, expected), division, exchanging)
                .await;
        }
        let output = self.unfinished.output.clone().expect("it was opened");
        let planning = self.planning(Some(&output), output.spill_directories(self.job));
        let plan = planning.prepare(expected, exchanging).await?;
        let places = planning.temporary.clone();
        let bytes = plan.temporary_bytes();
        let splitters = division.partitions(&*self.job.contents, plan.buckets);
        let run = self.run(plan, Some(Arc::new(output)));
        Ok(Range {
            splitters: Some(splitters),
            ..Range::new(range, run, self.spill(places, bytes))
        })
    }

    /// Begins a range of a resumable sort: its files outlive the run, and a checkpoint notes its
    /// progress.
    async fn begin_resumable(
        &self,
        resume: &Resume,
        (range, expected): (u32, u64),
        division: &Division,
        exchanging: &Exchanging,
    ) -> Result<Range<'a>, Failure> {
        let (node, job) = (self.node, self.job);
        let site = Site::of(node, resume, node.rank().0, range).await?;
        // An earlier job may have left files there; a copy of this range on another rank must not
        // take them for its own.
        for directory in site.all_directories() {
            Checkpoint::clear(node, directory, &site.stem).await?;
        }
        let (io, copy) = (job.resources.io, node.random() as u32);
        let file = site.draft(copy);
        let output = Output::keep(node, &site.target, (&file, None), io).await?;
        let mut made = Vec::new();
        let begun = async {
            let planning = self.planning(Some(&output), site.directories.clone());
            exchanging.fits(job.resources.memory_bytes)?;
            let plan = planning.plan(expected, Some(exchanging))?;
            // All records wait on disk.
            let bytes = plan.input_bytes.unwrap_or(0);
            planning.demand(&plan, bytes + bytes / SPARE_SHARE).await?;
            let spill = Spill::new(node, site.directories.clone(), io, bytes);
            let kinds = spill.keep(node, &site.spill_stem(copy)).await?;
            made = kept_paths(&site.directories, &kinds, &site.spill_stem(copy));
            let partitions = division.partitions(&*job.contents, plan.buckets);
            let common = self.common.clone();
            let (directories, target) = site.spelled();
            let begun = Begun {
                name: resume.name.clone(),
                fingerprint: common.fingerprint.expect("a resumable sort has one"),
                division: common.division,
                range,
                rank: node.rank().0,
                sources: source_names(&resume.sources),
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
            Ok((checkpoint, spill, plan, partitions))
        };
        match begun.await {
            Ok((checkpoint, spill, plan, partitions)) => {
                let run = self.run(plan, Some(Arc::new(output)));
                Ok(Range {
                    notes: Some(checkpoint),
                    splitters: Some(partitions),
                    ..Range::new(range, run, spill)
                })
            }
            // No entry names these files yet.
            Err(failure) => {
                for path in made.iter().chain([&file]) {
                    let _ = node.remove(path).await;
                }
                Err(failure)
            }
        }
    }

    /// Opens the files of a range that an earlier run began.
    pub(crate) async fn reopen(
        &self,
        checkpoint: Checkpoint,
        exchanging: Option<&Exchanging>,
    ) -> Result<Range<'a>, Failure> {
        let (node, io) = (self.node, self.job.resources.io);
        let begun = &checkpoint.begun;
        let begun_range = begun.range;
        let (given, limit) = (self.job.resources.memory_bytes, begun.memory_bytes);
        if given < limit {
            let (begun_with, now) = (amount(limit), amount(given));
            let least = limit.div_ceil(1 << 20);
            let what = format!(
                "was started with {begun_with} of memory, and {now} may be too little: give at least -S {least}M"
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
                let (target, draft) = (&checkpoint.site.target, checkpoint.draft());
                let known = (draft.as_path(), Some(begun.draft));
                Some(Arc::new(Output::keep(node, target, known, io).await?))
            }
        };
        let places = checkpoint.site.directories.clone();
        let planning = self.planning(output.as_deref(), places.clone());
        // Saved chunks have this length, and saved partitions these splitters.
        let splitters = self.parse_splitters(&begun.partitions)?;
        let buckets = Some(splitters.buckets);
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
        let run = self.run(plan, output);
        Ok(Range {
            notes: Some(checkpoint),
            splitters: exchanging.map(|_| splitters),
            ..Range::new(begun_range, run, spill)
        })
    }
}
