//! Phase one: the records of a round's ranges are brought to their partitions, in epochs.
//!
//! ```text
//! input of each rank   |... epoch 0 ...|... epoch 1 ...|... epoch 2 ...|
//! each epoch           read > exchange > spill > durable on all > the next
//! ```
//!
//! Without `--resume` there is one epoch, and records may stay in memory. With it, all records of
//! an epoch are on disk, on every rank, when the epoch ends; a resumed sort continues behind the
//! last epoch that all ranges have. An epoch costs an agreement, a sync, and the partitions' last
//! chunks, which are not full: so it reads about as many bytes as memory holds.

use std::path::PathBuf;
use std::sync::Arc;

use node::Node;
use pipeline::{Failure, StageReport};

use crate::agreement::Agreement;
use crate::epochs::checkpoint::{Checkpoint, Epoch, Moved};
use crate::epochs::range::KeyRange;
use crate::epochs::range_owners::Round;
use crate::epochs::sorting::RankSort;
use crate::error::SortError;
use crate::files::input::Inputs;
use crate::files::output::Output;
use crate::files::spill::Spill;
use crate::job::{Choice, Job, Target};
use crate::passes::distribution::DistributionSort;
use crate::passes::exchange::Exchange;
use crate::passes::report::add_up;
use crate::passes::wiring::{Pools, RunContext};
use crate::plan::Exchanging;
use crate::plan::Plan;
use crate::ranks::conflicts;
use crate::ranks::division::{Among, Division};
use crate::ranks::sampling::random_keys;
use crate::ranks::shares::weight;
use crate::records::size::Size;
use crate::records::splitters::Splitters;
use crate::runs::partition::Partition;
use crate::stages::{Drawn, Tally, all_there};

impl<'a> RankSort<'a> {
    /// Phase one on a node alone, which exchanges no records.
    pub(crate) async fn phase_one_alone(&mut self) -> Result<KeyRange<'a>, Failure> {
        let (node, job) = (self.node, self.job);
        // An earlier attempt leaves a pipe open.
        let output = match self.unfinished.output.clone() {
            Some(pipe) => pipe,
            None => open_output(node, job, 0, &self.parts.mine).await?,
        };
        self.unfinished.output = Some(output.clone());
        let part = Arc::clone(&self.parts.mine[0]);
        let planning = self.planning(Some(&output), output.spill_directories(job));
        let (plan, why) = planning.alone(&part).await?;
        let places = planning.temporary.clone();
        let run = RunContext {
            why,
            ..self.run(plan, Some(Arc::new(output)))
        };
        let bytes = run.plan.temporary_bytes();
        let spill = self.spill(&run.plan, places, bytes);
        let mut range = KeyRange::new(0, run, spill);
        self.begins_to_sort(range.run.plan.input_bytes.unwrap_or(0));
        if range.run.plan.merging.is_none() {
            self.run_only_epoch(&mut range).await?;
        }
        Ok(range)
    }

    /// Begins the ranges of a round, from the first record on. Returns this rank's.
    pub(crate) async fn begin_round(
        &mut self,
        agreement: &mut Agreement,
        round: &Round,
    ) -> Result<Option<KeyRange<'a>>, Failure> {
        let (node, job) = (self.node, self.job);
        if self.resume().is_none() {
            // If one rank refuses, all others remove their drafts.
            let header = job.contents.header().len() as u64;
            let output =
                open_output(node, job, header + self.parts.total_out(), &self.parts.mine).await;
            let output = output.map(|output| self.unfinished.output.insert(output).clone());
            let output = agreement.agree(node, output).await?;
            conflicts::check_distinct(node, agreement, &[&output]).await?;
        }
        let (exchanging, places) = self.exchanging(agreement, round).await?;
        let told = async {
            let drawn = self.draw(places).await?;
            let sampled = drawn.sample.bytes() as u64;
            Ok((drawn, (sampled, self.weigh(round).await?)))
        };
        let (Drawn { sample, cost }, told) = agreement.agree_and_tell(node, told.await).await?;
        let (sampled, weights): (Vec<u64>, Vec<u64>) = told.into_iter().unzip();
        self.sample = cost;
        let known = match &self.common.ranges {
            Some(bytes) => Some(self.parse_sample(bytes)?),
            None => None,
        };
        let among = Among {
            contents: &*job.contents,
            owners: round.owners.clone(),
            weights,
            random_keys: random_keys(job),
            known,
        };
        let division = Division::agree(node, agreement, &among, &sample, &sampled).await?;
        // The plan counts on the sample's memory.
        drop(sample);
        self.common.ranges = Some(division.ranks.elements().to_bytes());
        let begun = match round.range_of(node.rank().0) {
            Some(range) => self
                .begin_range(range, &division, &exchanging)
                .await
                .map(Some),
            None => Ok(None),
        };
        let mut range = self.keep_apart(agreement, begun).await?;
        let exchange = self.exchange(round, exchanging, division.ranks, range.as_mut());
        let exchange = exchange.await;
        self.run_epochs(agreement, round, exchange, &mut range)
            .await?;
        Ok(range)
    }

    /// The weight of this rank's range among all; none is asked for where the ranges are known.
    async fn weigh(&self, round: &Round) -> Result<u64, Failure> {
        if self.common.ranges.is_some() {
            return Ok(1);
        }
        let output = self.unfinished.output.as_ref();
        let mut directories = output.map_or_else(Vec::new, Output::directories);
        directories.extend(self.places(self.node.rank().0));
        directories.sort();
        directories.dedup();
        let even = self.parts.total() / round.owners.len().max(1) as u64;
        weight(self.node, self.job, (&directories, even)).await
    }

    /// Agrees that all ranks have begun, and that their outputs are different files. If not,
    /// removes what this one has begun.
    async fn keep_apart(
        &self,
        agreement: &mut Agreement,
        begun: Result<Option<KeyRange<'a>>, Failure>,
    ) -> Result<Option<KeyRange<'a>>, Failure> {
        let node = self.node;
        let (range, begun) = match begun {
            Ok(range) => (range, Ok(())),
            Err(failure) => (None, Err(failure)),
        };
        let agreed = match agreement.agree(node, begun).await {
            Ok(()) if self.resume().is_some() => {
                let output = range.as_ref().and_then(|range| range.run.output.as_deref());
                conflicts::check_distinct(node, agreement, output.as_slice()).await
            }
            agreed => agreed,
        };
        if let Err(failure) = agreed {
            // No record has come, so nothing is worth saving.
            if let Some(notes) = range.and_then(|range| range.notes) {
                notes.remove(node).await;
            }
            return Err(failure);
        }
        Ok(range)
    }

    /// Continues the ranges of a round from an epoch that all of them have; `found` is this rank's.
    pub(crate) async fn continue_round(
        &mut self,
        agreement: &mut Agreement,
        round: &Round,
        found: Option<Checkpoint>,
    ) -> Result<Option<KeyRange<'a>>, Failure> {
        let exchanging = self.exchanging(agreement, round).await?.0;
        let reopened = async {
            let Some(mut checkpoint) = found else {
                return Ok(None);
            };
            checkpoint.hold(self.node).await?;
            checkpoint.cut(self.node, round.from as usize).await?;
            self.reopen(checkpoint, Some(&exchanging)).await.map(Some)
        };
        let mut range = agreement.agree(self.node, reopened.await).await?;
        let ranges = self.common.ranges.as_deref().unwrap_or_default();
        let ranges = self.parse_splitters(ranges)?;
        let exchange = self.exchange(round, exchanging, ranges, range.as_mut());
        let exchange = exchange.await;
        self.run_epochs(agreement, round, exchange, &mut range)
            .await?;
        Ok(range)
    }

    /// The exchange of a round, whose ranges are divided by `ranges`.
    async fn exchange(
        &self,
        round: &Round,
        exchanging: Exchanging,
        ranges: Splitters,
        range: Option<&mut KeyRange<'a>>,
    ) -> Exchange {
        // Ranks do not share records, so duplicates cannot be dropped across a boundary.
        let ranges = if self.job.contents.is_unique() {
            ranges.undivided()
        } else {
            ranges
        };
        let partitions = range.and_then(|range| range.splitters.take());
        let divided = (ranges, partitions.unwrap_or_else(|| Splitters::even(1)));
        let ports = self.ports.as_ref().expect("records are exchanged");
        let mut exchange = Exchange::new(self.node, exchanging, ports, divided).await;
        if self.resume().is_some() {
            exchange.owners = Some(Arc::new(round.owners.clone()));
        }
        exchange
    }

    async fn run_epochs(
        &mut self,
        agreement: &mut Agreement,
        round: &Round,
        exchange: Exchange,
        range: &mut Option<KeyRange<'a>>,
    ) -> Result<(), Failure> {
        let node = self.node;
        let mut idle = None;
        let range = match range {
            Some(range) => range,
            None => {
                let run = self.run(self.idle_plan(Some(&exchange.plan))?, None);
                let spill = self.spill(&run.plan, Vec::new(), 0);
                idle.insert(KeyRange::new(u32::MAX, run, spill))
            }
        };
        range.run.exchange = Some(exchange);
        let own = self.parts.mine.iter().filter_map(|part| part.bytes).sum();
        self.begins_to_sort(own);
        if self.resume().is_none() {
            // Ranks do not agree while records are on their way: a failure is an alarm.
            return self.run_only_epoch(range).await;
        }
        let memory = range.run.pools(&range.run.pipeline())?;
        let mut stages = Vec::new();
        for number in round.from..self.common.epochs {
            let epoch = self.epoch(range, &memory, number, &mut stages).await?;
            let synced = range.spill.sync(node).await.map_err(Failure::from);
            let told = synced.map(|()| (epoch.came, epoch.moved()));
            let (_, all) = agreement.agree_and_tell(node, told).await?;
            let Moved { read, skipped, .. } = agreed(round, &all)?;
            let epoch = Epoch {
                read,
                skipped,
                ..epoch
            };
            let noted = match &mut range.notes {
                Some(notes) => notes.add_epoch(node, epoch).await,
                None => Ok(()),
            };
            agreement.agree(node, noted.map_err(Failure::from)).await?;
        }
        range.spill.trim(node).await;
        range.run.exchange = None;
        add_up(&mut self.stages, stages);
        Ok(())
    }

    /// The only epoch of a sort that saves no progress: records may stay in memory.
    async fn run_only_epoch(&mut self, range: &mut KeyRange<'a>) -> Result<(), Failure> {
        let memory = range.run.pools(&range.run.pipeline())?;
        let sorting = DistributionSort {
            run: &range.run,
            spill: range.spill.clone(),
        };
        let spills_all = self.job.tuning.spills_all && range.run.plan.spilling.is_some();
        range.partitions = sorting
            .divide_input(&memory, !spills_all, &mut self.stages)
            .await?;
        range.spill.end_stripes(self.node).await?;
        range.spill.trim(self.node).await;
        let read = match &range.run.exchange {
            Some(exchange) => &exchange.read,
            None => &range.run.tally,
        };
        self.read += read.records_in();
        range.run.exchange = None;
        range.memory = Some(memory);
        Ok(())
    }

    /// One epoch: this rank's parts one after the other, in as many steps as the rank with the most
    /// parts needs.
    async fn epoch(
        &mut self,
        range: &KeyRange<'a>,
        memory: &Pools,
        number: u32,
        stages: &mut Vec<StageReport>,
    ) -> Result<Epoch, Failure> {
        let (came, read) = (Tally::default(), Tally::default());
        let skipped = self.sifted.blank();
        let exchange = range.run.exchange.clone();
        let exchange = exchange.map(|exchange| Exchange {
            read: read.clone(),
            ..exchange
        });
        let mut partitions = Vec::new();
        for step in 0..self.parts.most {
            let part = self.parts.mine.get(step);
            let inputs = part.map_or_else(
                || Inputs::none(range.run.plan.framing),
                |part| part.part(number, self.common.epochs),
            );
            let run = RunContext {
                inputs: Arc::new(inputs),
                tally: came.clone(),
                exchange: exchange.clone(),
                ..range.run.clone()
            };
            let sorting = DistributionSort {
                run: &run,
                spill: range.spill.clone(),
            };
            partitions.push(sorting.divide_input(memory, false, stages).await?);
        }
        let (read, came) = (read.records_in(), came.records_in());
        self.read += read;
        Ok(Epoch {
            read,
            skipped: self.sifted.blank() - skipped,
            came,
            partitions: join(&partitions),
        })
    }

    /// Spill files that are removed at the end of the run.
    pub(crate) fn spill(&mut self, plan: &Plan, places: Vec<PathBuf>, bytes: u64) -> Spill {
        let job = self.job;
        let mut spill =
            Spill::new(self.node, places, job.resources.io, bytes).packed(plan.pack(job.pack));
        spill = spill.striped(plan.striping());
        if let Some(bytes) = plan.area_bytes() {
            spill = spill.with_areas(bytes);
        }
        spill.limit = self.job.temporary_limit;
        self.unfinished.spill = Some(spill.clone());
        spill
    }
}

/// This rank's output, or its part of a file of `bytes` bytes that all ranks write.
async fn open_output(
    node: &Node,
    job: &Job,
    bytes: u64,
    inputs: &[Arc<Inputs>],
) -> Result<Output, Failure> {
    match &job.target {
        Target::Together(path) if node.nodes() > 1 => {
            Output::together(node, job, path, bytes).await
        }
        target => {
            let output = Output::open(node, target, job.output_io(), &job.temporary).await?;
            let merges = job.plan == Choice::MergeInputs;
            for inputs in inputs {
                output.spares(node, inputs, merges).await?;
            }
            let output = output.compressed(node, job.compression()).await?;
            let output = output.hiding(node, job.view().as_ref());
            output.collecting(node, job).await
        }
    }
}

/// Records that all ranks have read in an epoch. If the round has all ranges, as many must have
/// come.
fn agreed(round: &Round, all: &[Moved]) -> Result<Moved, SortError> {
    let moved = Moved {
        read: all.iter().map(|moved| moved.read).sum(),
        skipped: all.iter().map(|moved| moved.skipped).sum(),
        came: all.iter().map(|moved| moved.came).sum(),
    };
    if round.owners.iter().all(Option::is_some) {
        all_there(moved.read, moved.came)?;
    }
    Ok(moved)
}

/// The partitions of several steps, each with the runs of all steps.
fn join(steps: &[Vec<Partition>]) -> Vec<(Vec<u64>, Size)> {
    let count = steps.iter().map(Vec::len).max().unwrap_or(0);
    let mut all = vec![(Vec::new(), Size::default()); count];
    for (number, partition) in steps.iter().flat_map(|step| step.iter().enumerate()) {
        all[number].0.extend(partition.numbers());
        all[number].1 += partition.spilled;
    }
    all
}
