//! Phase one: the records of a round's ranges come to their partitions, in epochs.
//!
//! ```text
//! input of each rank   |... epoch 0 ...|... epoch 1 ...|... epoch 2 ...|
//! each epoch           read > exchange > spill > durable on all > the next
//! ```
//!
//! Without `--resume` there is one epoch, and records may stay in memory. With it, everything of an
//! epoch is on disk when the epoch has ended, on every rank; so all continue behind the last epoch
//! that all of them have. An epoch costs an agreement, a sync, and the partitions' last chunks,
//! which are not full: so it is as long as memory is large.

use std::path::PathBuf;
use std::sync::Arc;

use node::Node;
use pipeline::{Failure, StageReport};

use crate::agreement::Agreement;
use crate::epochs::checkpoint::{Checkpoint, Epoch, Sum};
use crate::epochs::range::Range;
use crate::epochs::range_owners::Round;
use crate::epochs::sorting::Sorting;
use crate::error::SortError;
use crate::files::input::Inputs;
use crate::files::output::Output;
use crate::files::spill::Spill;
use crate::job::{Job, Target};
use crate::passes::distribution::DistributionSort;
use crate::passes::exchange::Exchange;
use crate::passes::report::add_up;
use crate::passes::wiring::{Pools, Run};
use crate::plan::Exchanging;
use crate::ranks::conflicts;
use crate::ranks::division::{Among, Division};
use crate::records::splitters::Splitters;
use crate::runs::partition::Partition;
use crate::stages::{Drawn, Tally};

impl<'a> Sorting<'a> {
    /// The range of a node alone, whose records are not exchanged.
    pub(crate) async fn phase_one_alone(&mut self) -> Result<Range<'a>, Failure> {
        let (node, job) = (self.node, self.job);
        let output = self
            .unfinished
            .output
            .insert(open_output(node, job, 0).await?)
            .clone();
        let part = Arc::clone(&self.parts.mine[0]);
        let planning = self.planning(Some(&output), output.spill_directories(job));
        let (plan, why) = planning.alone(&part).await?;
        let places = planning.temporary.clone();
        let run = Run {
            why,
            ..self.run(plan, Some(Arc::new(output)))
        };
        let bytes = run.plan.temporary_bytes();
        let mut range = Range::new(0, run, self.spill(places, bytes));
        self.begins_to_sort(range.run.plan.input_bytes.unwrap_or(0));
        if range.run.plan.merging.is_none() {
            self.divide(&mut range).await?;
        }
        Ok(range)
    }

    /// Begins the ranges of a round, from the first record on.
    pub(crate) async fn begin(
        &mut self,
        agreement: &mut Agreement,
        round: &Round,
    ) -> Result<Option<Range<'a>>, Failure> {
        let (node, job) = (self.node, self.job);
        if self.resume().is_none() {
            // What one rank refuses is for all others to take away.
            let output = open_output(node, job, self.parts.total()).await;
            let output = output.map(|output| self.unfinished.output.insert(output).clone());
            let output = agreement.agree(node, output).await?;
            conflicts::apart(node, agreement, &[&output]).await?;
        }
        let (exchanging, places) = self.exchanging(agreement, round).await?;
        let drawn = self.draw(places).await.map(|drawn| {
            let sampled = drawn.sample.positions.len() as u64;
            (drawn, sampled)
        });
        let (Drawn { sample, cost }, sampled) = agreement.agree_and_tell(node, drawn).await?;
        self.sample = cost;
        let known = match &self.common.ranges {
            Some(bytes) => Some(self.known(bytes)?),
            None => None,
        };
        let among = Among {
            contents: &*job.contents,
            owners: round.owners.clone(),
            known,
        };
        let division = Division::agree(node, agreement, &among, &sample, &sampled).await?;
        // The plan counts on its memory.
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
        let partitions = match &range {
            Some(range) => division.partitions(&*job.contents, range.run.plan.buckets),
            None => Splitters::even(1),
        };
        let divided = (division.ranks, partitions);
        self.exchange(agreement, round, (exchanging, divided), &mut range)
            .await?;
        Ok(range)
    }

    /// Agrees that all ranks have begun, and that their outputs are different files.
    async fn keep_apart(
        &self,
        agreement: &mut Agreement,
        begun: Result<Option<Range<'a>>, Failure>,
    ) -> Result<Option<Range<'a>>, Failure> {
        let node = self.node;
        let (range, begun) = match begun {
            Ok(range) => (range, Ok(())),
            Err(failure) => (None, Err(failure)),
        };
        let agreed = match agreement.agree(node, begun).await {
            Ok(()) if self.resume().is_some() => {
                let output = range.as_ref().and_then(|range| range.run.output.as_deref());
                conflicts::apart(node, agreement, output.as_slice()).await
            }
            agreed => agreed,
        };
        if let Err(failure) = agreed {
            // No record has come: nothing is worth saving.
            if let Some(notes) = range.and_then(|range| range.notes) {
                notes.remove(node).await;
            }
            return Err(failure);
        }
        Ok(range)
    }

    /// Continues the ranges of a round, from an epoch that all of them have; this rank's is given.
    pub(crate) async fn go_on(
        &mut self,
        agreement: &mut Agreement,
        round: &Round,
        found: Option<Checkpoint>,
    ) -> Result<Option<Range<'a>>, Failure> {
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
        let ranges = self.splitters(self.common.ranges.as_deref().unwrap_or_default())?;
        let notes = range.as_ref().and_then(|range| range.notes.as_ref());
        let partitions = notes.map_or(&[][..], |notes| &notes.begun.partitions);
        let divided = (ranges, self.splitters(partitions)?);
        self.exchange(agreement, round, (exchanging, divided), &mut range)
            .await?;
        Ok(range)
    }

    /// All epochs of a round.
    async fn exchange(
        &mut self,
        agreement: &mut Agreement,
        round: &Round,
        (exchanging, divided): (Exchanging, (Splitters, Splitters)),
        range: &mut Option<Range<'a>>,
    ) -> Result<(), Failure> {
        let node = self.node;
        let ports = self.ports.as_ref().expect("records are exchanged");
        let mut exchange = Exchange::new(node, exchanging, ports, divided).await;
        if self.resume().is_some() {
            exchange.owners = Some(Arc::new(round.owners.clone()));
        }
        let mut idle = None;
        let range = match range {
            Some(range) => range,
            None => {
                let run = self.run(self.idle(Some(&exchanging))?, None);
                idle.insert(Range::new(u32::MAX, run, self.spill(Vec::new(), 0)))
            }
        };
        range.run.exchange = Some(exchange);
        let own: u64 = self.parts.mine.iter().filter_map(|part| part.records).sum();
        self.begins_to_sort(own * self.job.contents.record_bytes() as u64);
        if self.resume().is_none() {
            // While records are under way ranks do not agree: a failure is an alarm.
            return self.divide(range).await;
        }
        let memory = range.run.pools(&range.run.pipeline())?;
        let mut stages = Vec::new();
        for number in round.from..self.common.epochs {
            let epoch = self.epoch(range, &memory, number, &mut stages).await?;
            let synced = range.spill.sync(node).await.map_err(Failure::from);
            let told = synced.map(|()| (epoch.came, (epoch.read, epoch.came)));
            let (_, all) = agreement.agree_and_tell(node, told).await?;
            let epoch = Epoch {
                read: agreed(round, &all)?,
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
    async fn divide(&mut self, range: &mut Range<'a>) -> Result<(), Failure> {
        let memory = range.run.pools(&range.run.pipeline())?;
        let sorting = DistributionSort {
            run: &range.run,
            spill: range.spill.clone(),
        };
        range.partitions = sorting
            .divide_input(&memory, true, &mut self.stages)
            .await?;
        range.spill.trim(self.node).await;
        let read = match &range.run.exchange {
            Some(exchange) => &exchange.read,
            None => &range.run.tally,
        };
        self.read.add(sum(read));
        range.run.exchange = None;
        range.memory = Some(memory);
        Ok(())
    }

    /// One epoch: this rank's parts one after the other, as many times as any rank has one.
    async fn epoch(
        &mut self,
        range: &Range<'a>,
        memory: &Pools,
        number: u32,
        stages: &mut Vec<StageReport>,
    ) -> Result<Epoch, Failure> {
        let (came, read) = (Tally::default(), Tally::default());
        let exchange = range.run.exchange.clone();
        let exchange = exchange.map(|exchange| Exchange {
            read: read.clone(),
            ..exchange
        });
        let mut partitions = Vec::new();
        for step in 0..self.parts.most {
            let part = self.parts.mine.get(step);
            let inputs =
                part.map_or_else(Inputs::none, |part| part.part(number, self.common.epochs));
            let run = Run {
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
        let (read, came) = (sum(&read), sum(&came));
        self.read.add(read);
        Ok(Epoch {
            read,
            came,
            partitions: join(&partitions),
        })
    }

    /// Spill files that are removed with the run.
    pub(crate) fn spill(&mut self, places: Vec<PathBuf>, bytes: u64) -> Spill {
        let spill = Spill::new(self.node, places, self.job.resources.io, bytes);
        self.unfinished.spill = Some(spill.clone());
        spill
    }
}

/// This rank's output, or its part of a file that all ranks write, of `records` in all.
async fn open_output(node: &Node, job: &Job, records: u64) -> Result<Output, Failure> {
    match &job.target {
        Target::Together(path) if node.nodes() > 1 => {
            let bytes = records * job.contents.record_bytes() as u64;
            Output::together(node, job, path, bytes).await
        }
        target => Output::open(node, target, job.resources.io).await,
    }
}

/// Records that all ranks read in an epoch. Where all ranges are built they are those that came.
fn agreed(round: &Round, all: &[(Sum, Sum)]) -> Result<Sum, SortError> {
    let (mut read, mut came) = (Sum::default(), Sum::default());
    for (of_read, of_came) in all {
        read.add(*of_read);
        came.add(*of_came);
    }
    if round.owners.iter().all(Option::is_some) && read != came {
        let (records_in, sum_in, records_out, sum_out) =
            (read.records, read.crc, came.records, came.crc);
        return Err(SortError::Lost {
            records_in,
            records_out,
            sum_in,
            sum_out,
        });
    }
    Ok(read)
}

fn sum(tally: &Tally) -> Sum {
    let (records, crc) = tally.came();
    Sum { records, crc }
}

/// Partitions of several steps, each with all its runs.
fn join(steps: &[Vec<Partition>]) -> Vec<(Vec<u64>, u64)> {
    let count = steps.iter().map(Vec::len).max().unwrap_or(0);
    let mut all = vec![(Vec::new(), 0); count];
    for (number, partition) in steps.iter().flat_map(|step| step.iter().enumerate()) {
        all[number].0.extend(partition.numbers());
        all[number].1 += partition.spilled_records;
    }
    all
}
