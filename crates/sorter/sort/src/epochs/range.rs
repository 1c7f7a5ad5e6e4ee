//! A range of keys on its owner: its files, new or opened again (`--resume`).

use std::path::PathBuf;
use std::sync::Arc;

use pipeline::Failure;

use crate::epochs::checkpoint::{Begun, Checkpoint};
use crate::epochs::paths::Site;
use crate::epochs::recovery::source_names;
use crate::epochs::sorting::RankSort;
use crate::error::SortError;
use crate::files::output::Output;
use crate::files::spill::{Spill, kept_paths};
use crate::job::{Resume, Tuning};
use crate::passes::wiring::{Pools, RunContext};
use crate::plan::Exchanging;
use crate::ranks::division::Division;
use crate::ranks::planning::Planning;
use crate::records::splitters::Splitters;
use crate::runs::partition::Partition;
use units::amount;

/// Spill files are larger than their records by this part, for chunks that are not full.
const SPARE_SHARE: u64 = 8;

pub(crate) struct KeyRange<'a> {
    pub number: u32,
    /// Its plan, its output (none if that has its name already), its account.
    pub run: RunContext<'a>,
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

/// A resumable range that is being begun.
struct Fresh<'a> {
    resume: &'a Resume,
    site: Site,
    range: u32,
    /// Tells its files from those of an earlier start.
    copy: u32,
    /// Bytes of its records, estimated.
    expected: u64,
    division: &'a Division,
    exchanging: &'a Exchanging,
}

impl<'a> KeyRange<'a> {
    pub(crate) fn new(number: u32, run: RunContext<'a>, spill: Spill) -> KeyRange<'a> {
        KeyRange {
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

impl<'a> RankSort<'a> {
    /// Begins a range, before its first record comes.
    pub(crate) async fn begin_range(
        &mut self,
        range: u32,
        division: &Division,
        exchanging: &Exchanging,
    ) -> Result<KeyRange<'a>, Failure> {
        if let Some(resume) = self.resume() {
            return self
                .begin_resumable(resume, range, division, exchanging)
                .await;
        }
        let expected = division.share(self.parts.total());
        let output = self.unfinished.output.clone().expect("it was opened");
        let planning = self.planning(Some(&output), output.spill_directories(self.job));
        let plan = planning.prepare(expected, exchanging).await?;
        let places = planning.temporary.clone();
        let bytes = plan.temporary_bytes();
        let splitters = division.partitions(&*self.job.contents, plan.buckets);
        let spill = self.spill(&plan, places, bytes);
        let run = self.run(plan, Some(Arc::new(output)));
        Ok(KeyRange {
            splitters: Some(splitters),
            ..KeyRange::new(range, run, spill)
        })
    }

    /// Begins a range of a resumable sort: its files outlive the run, and a checkpoint notes its
    /// progress.
    async fn begin_resumable(
        &self,
        resume: &Resume,
        range: u32,
        division: &Division,
        exchanging: &Exchanging,
    ) -> Result<KeyRange<'a>, Failure> {
        let node = self.node;
        let site = Site::of(node, resume, node.rank().0, range).await?;
        // An earlier job may have left files there; a copy of this range on another rank must not
        // take them for its own.
        for directory in site.all_directories() {
            Checkpoint::clear(node, directory, &site.stem).await?;
        }
        let copy = node.random() as u32;
        let draft = site.draft(copy);
        let io = self.job.resources.io;
        let output = Output::keep(node, &site.target, (&draft, None), io).await?;
        let output = output.hiding(node, self.job.view().as_ref());
        let fresh = Fresh {
            resume,
            site,
            range,
            copy,
            expected: division.share(self.parts.total()),
            division,
            exchanging,
        };
        let mut made = vec![draft];
        let begun = self.begin_files(&fresh, output, &mut made).await;
        if begun.is_err() {
            // No entry names these files yet.
            for path in made {
                let _ = node.remove(&path).await;
            }
        }
        begun
    }

    /// Makes the spill files of a resumable range, then its checkpoint. Adds the files to `made`.
    async fn begin_files(
        &self,
        fresh: &Fresh<'_>,
        output: Output,
        made: &mut Vec<PathBuf>,
    ) -> Result<KeyRange<'a>, Failure> {
        let (node, job, site) = (self.node, self.job, &fresh.site);
        let planning = self.planning(Some(&output), site.directories.clone());
        fresh.exchanging.fits(job.resources.memory_bytes)?;
        let plan = planning.plan(fresh.expected, Some(fresh.exchanging))?;
        // All records wait on disk.
        let bytes = plan.input_bytes.unwrap_or(0);
        planning.demand(&plan, bytes + bytes / SPARE_SHARE).await?;
        let spill = Spill::new(node, site.directories.clone(), job.resources.io, bytes)
            .packed(plan.pack(job.pack));
        let stem = site.spill_stem(fresh.copy);
        let kinds = spill.keep(node, &stem).await?;
        made.extend(kept_paths(&site.directories, &kinds, &stem));
        let partitions = fresh.division.partitions(&*job.contents, plan.buckets);
        let begun = Begun {
            partitions: partitions.elements().to_bytes(),
            chunk_bytes: plan.chunk_bytes,
            kinds,
            draft: output.file(0).metadata().identity,
            ..self.begun(fresh)
        };
        let checkpoint = Checkpoint::begin(node, site.clone(), begun).await?;
        let run = self.run(plan, Some(Arc::new(output)));
        Ok(KeyRange {
            notes: Some(checkpoint),
            splitters: Some(partitions),
            ..KeyRange::new(fresh.range, run, spill)
        })
    }

    /// A range's first note, without its plan and its files.
    fn begun(&self, fresh: &Fresh<'_>) -> Begun {
        let common = self.common.clone();
        let (directories, target) = fresh.site.spelled();
        Begun {
            name: fresh.resume.name.clone(),
            fingerprint: common.fingerprint.expect("a resumable sort has one"),
            header: self.job.contents.header().to_vec(),
            division: common.division,
            range: fresh.range,
            rank: self.node.rank().0,
            sources: source_names(&fresh.resume.sources),
            memory_bytes: self.job.resources.memory_bytes,
            parts: common.parts,
            epochs: common.epochs,
            ranges: common.ranges.unwrap_or_default(),
            partitions: Vec::new(),
            expected: fresh.expected,
            chunk_bytes: 0,
            kinds: Vec::new(),
            copy: fresh.copy,
            draft: 0,
            directories,
            target,
        }
    }

    /// Refuses less memory than an earlier run began a range with.
    fn check_memory(&self, checkpoint: &Checkpoint) -> Result<(), SortError> {
        let limit = checkpoint.begun.memory_bytes;
        let given = self.job.resources.memory_bytes;
        if given >= limit {
            return Ok(());
        }
        let (begun_with, now) = (amount(limit), amount(given));
        let least = limit.div_ceil(1 << 20);
        let what = format!(
            "was started with {begun_with} of memory, and {now} may be too little: give at least -S {least}M"
        );
        let file = checkpoint.draft();
        Err(SortError::Checkpoint { file, what })
    }

    /// The draft that an earlier run began, unless it has its name already.
    async fn reopened_output(
        &self,
        checkpoint: &Checkpoint,
    ) -> Result<Option<Arc<Output>>, Failure> {
        if checkpoint.is_named(self.node).await {
            return Ok(None);
        }
        let (target, draft) = (&checkpoint.site.target, checkpoint.draft());
        let known = (draft.as_path(), Some(checkpoint.begun.draft));
        let output = Output::keep(self.node, target, known, self.job.resources.io);
        let output = output.await?.hiding(self.node, self.job.view().as_ref());
        Ok(Some(Arc::new(output)))
    }

    /// Opens the files of a range that an earlier run began.
    pub(crate) async fn reopen(
        &self,
        checkpoint: Checkpoint,
        exchanging: Option<&Exchanging>,
    ) -> Result<KeyRange<'a>, Failure> {
        let (node, io) = (self.node, self.job.resources.io);
        self.check_memory(&checkpoint)?;
        let begun = &checkpoint.begun;
        let begun_range = begun.range;
        let output = self.reopened_output(&checkpoint).await?;
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
        let spill = Spill::new(node, places, io, plan.input_bytes.unwrap_or(0))
            .packed(plan.pack(planning.job.pack));
        let (paths, ends) = (checkpoint.spill_paths(), checkpoint.spill_ends());
        spill.open_kept(node, &begun.kinds, (paths, &ends)).await?;
        let run = self.run(plan, output);
        Ok(KeyRange {
            notes: Some(checkpoint),
            splitters: exchanging.map(|_| splitters),
            ..KeyRange::new(begun_range, run, spill)
        })
    }
}
