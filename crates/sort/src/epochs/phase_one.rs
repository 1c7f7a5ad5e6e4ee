//! Phase one of a sort that can be gone on with, in epochs (`--resume`).
//!
//! ```text
//! input of each rank   |... epoch 0 ...|... epoch 1 ...|... epoch 2 ...|
//! each epoch           read > exchange > spill > durable on all > the next
//! ```
//!
//! When an epoch has ended everything of it is on disk and nothing in memory, on every rank; so all
//! go on behind the last epoch that all of them have. What an epoch costs beside its records is an
//! agreement, a sync, and the partitions' last chunks, which are not full: so it is as long as
//! memory is large.

use std::path::PathBuf;
use std::sync::Arc;

use node::Node;
use pipeline::{Failure, StageReport};

use crate::agreement::Agreement;
use crate::epochs::bounds::MOST_EPOCHS;
use crate::epochs::checkpoint::{Checkpoint, Epoch, Sum};
use crate::epochs::parts::Parts;
use crate::epochs::paths::places;
use crate::epochs::range::Built;
use crate::epochs::range_owners::Round;
use crate::error::SortError;
use crate::files::input::Inputs;
use crate::files::output::Output;
use crate::files::spill::Spill;
use crate::job::{Job, Resume};
use crate::passes::distribution::{Came, DistributionSort};
use crate::passes::exchange::{Exchange, Ports};
use crate::passes::wiring::{Pools, Run, add_up};
use crate::plan::{Exchanging, Plan};
use crate::ranks::conflicts;
use crate::ranks::division::{Among, Division};
use crate::ranks::fingerprint::{Fingerprint, Part};
use crate::ranks::planning::Planning;
use crate::ranks::sampling::draw;
use crate::records::contents::Sample;
use crate::records::splitters::Splitters;
use crate::report::SampleCost;
use crate::runs::partition::Partition;
use crate::stages::{Drawn, Tally};

/// What all ranges of a sort have in common.
#[derive(Clone)]
pub(crate) struct Common {
    pub statement: Fingerprint,
    pub division: u64,
    pub parts: Vec<Part>,
    pub epochs: u32,
    /// What divides the ranges, once that is chosen.
    pub ranges: Option<Vec<u8>>,
}

/// A rank that builds ranges.
pub(crate) struct Builder<'a> {
    pub node: &'a Node,
    pub job: &'a Job,
    pub resume: &'a Resume,
    pub ports: Ports,
    pub common: Common,
    pub parts: Parts,
    /// What a run reads that reads nothing.
    pub nothing: Arc<Inputs>,
    pub stages: Vec<StageReport>,
    /// Whether something was there.
    pub went_on: bool,
    pub sample: SampleCost,
    /// What this rank read.
    pub read: Sum,
}

impl Builder<'_> {
    /// So many epochs suit parts of so many records.
    pub(crate) fn epochs(job: &Job, parts: &Parts) -> u32 {
        if let Some(steps) = job.tuning.steps {
            return steps.clamp(1, MOST_EPOCHS);
        }
        let largest = parts.all.iter().map(|part| part.records).max().unwrap_or(0);
        let bytes = largest * job.contents.record_bytes() as u64;
        (bytes / job.resources.memory_bytes.max(1)).clamp(1, u64::from(MOST_EPOCHS)) as u32
    }

    /// Where what is done of a range waits on this rank.
    pub(crate) fn places(&self, range: u32) -> Vec<PathBuf> {
        places(self.resume, self.node.rank().0, range)
    }

    pub(crate) fn planning<'p>(
        &'p self,
        output: Option<&'p Output>,
        places: Vec<PathBuf>,
    ) -> Planning<'p> {
        let inputs = self.parts.mine.iter().map(|part| part.files.len()).sum();
        let Builder { node, job, .. } = *self;
        Planning {
            node,
            job,
            output,
            temporary: places,
            inputs,
            tuning: job.tuning,
        }
    }

    /// Goes on with the ranges of a round, from an epoch on that all of them have; this rank's is
    /// given.
    pub(crate) async fn go_on(
        &mut self,
        agreement: &mut Agreement,
        round: &Round,
        found: Option<Checkpoint>,
    ) -> Result<Option<Built>, Failure> {
        let exchanging = self.exchanging(agreement, round).await?.0;
        let reopened = async {
            let Some(mut checkpoint) = found else {
                return Ok(None);
            };
            checkpoint.hold(self.node).await?;
            checkpoint.cut(self.node, round.from as usize).await?;
            self.reopen(checkpoint, Some(&exchanging)).await.map(Some)
        };
        let mut built = agreement.agree(self.node, reopened.await).await?;
        let ranges = self.splitters(self.common.ranges.as_deref().unwrap_or_default())?;
        self.build(agreement, round, (exchanging, ranges), &mut built)
            .await?;
        Ok(built)
    }

    /// Begins the ranges of a round, from the first record on.
    pub(crate) async fn begin(
        &mut self,
        agreement: &mut Agreement,
        round: &Round,
    ) -> Result<Option<Built>, Failure> {
        let (node, job) = (self.node, self.job);
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
        let owners = round.owners.clone();
        let among = Among {
            contents: &*job.contents,
            owners,
            known,
        };
        let division = Division::agree(node, agreement, &among, &sample, &sampled).await?;
        self.common.ranges = Some(division.ranks.elements().to_bytes());
        let begun = match round.range_of(node.rank().0) {
            Some(range) => self
                .begin_range(range, &division, &exchanging)
                .await
                .map(Some),
            None => Ok(None),
        };
        let (mut built, told) = match begun {
            Ok(built) => (built, Ok(((), ()))),
            Err(failure) => (None, Err(failure)),
        };
        let told = match agreement.agree_and_tell(node, told).await {
            Ok(_) => {
                let output = built.as_ref().and_then(|built| built.output.as_deref());
                conflicts::apart(node, agreement, output.as_slice()).await
            }
            Err(failure) => Err(failure),
        };
        if let Err(failure) = told {
            // Nothing has come: there is nothing to go on with.
            if let Some(Built { checkpoint, .. }) = built {
                checkpoint.remove(node).await;
            }
            return Err(failure);
        }
        self.build(agreement, round, (exchanging, division.ranks), &mut built)
            .await?;
        Ok(built)
    }

    fn record_bytes(&self) -> usize {
        self.job.contents.record_bytes()
    }

    /// What a rank plans that has no range, in a round that exchanges or at all.
    pub(crate) fn idle(&self, exchanging: Option<&Exchanging>) -> Result<Plan, Failure> {
        let planning = self.planning(None, self.places(self.node.rank().0));
        Ok(planning.plan(0, exchanging)?)
    }

    /// How records are exchanged, and how many places are looked at.
    async fn exchanging(
        &self,
        agreement: &mut Agreement,
        round: &Round,
    ) -> Result<(Exchanging, u64), Failure> {
        let ranges = self.node.nodes().max(round.owners.len() as u32);
        let planning = self.planning(None, self.places(self.node.rank().0));
        let even = self.parts.total().div_ceil(round.owners.len() as u64);
        let agreed = planning.exchanging(agreement, even, ranges).await?;
        agreed.0.fits(self.job.resources.memory_bytes)?;
        Ok(agreed)
    }

    /// This rank's part of so many places that are looked at in all.
    async fn draw(&self, places: u64) -> Result<Drawn, Failure> {
        let mut all = Drawn::default();
        for part in &self.parts.mine {
            let own = part.records.unwrap_or(0);
            let share = places * own / self.parts.total().max(1);
            let drawn = draw(self.node, self.job, part, share).await?;
            all.sample.add(&drawn.sample);
            all.cost.places += drawn.cost.places;
            all.cost.bytes += drawn.cost.bytes;
            all.cost.seconds += drawn.cost.seconds;
        }
        Ok(all)
    }

    fn known(&self, bytes: &[u8]) -> Result<Sample, Failure> {
        let found = Sample::from_bytes(bytes, self.record_bytes());
        let rank = self.node.rank().0;
        Ok(found.ok_or(SortError::Garbled { rank })?)
    }

    pub(crate) fn splitters(&self, bytes: &[u8]) -> Result<Splitters, Failure> {
        let order = self
            .job
            .contents
            .order()
            .expect("real records: it was looked at before");
        let known = self.known(bytes)?;
        if !Splitters::are_ascending(order, &known) {
            let what = "says splitters that are not in order".to_owned();
            return Err(SortError::Checkpoint {
                file: self.resume.target.clone(),
                what,
            }
            .into());
        }
        Ok(Splitters::of(order, known))
    }

    /// The run of a range, or of a rank that has none.
    pub(crate) fn run<'r>(&'r self, plan: &Plan, output: Option<&'r Arc<Output>>) -> Run<'r> {
        Run {
            output,
            ..Run::new(self.node, self.job, plan.clone(), &self.nothing)
        }
    }

    /// All epochs of a round.
    async fn build(
        &mut self,
        agreement: &mut Agreement,
        round: &Round,
        (exchanging, ranges): (Exchanging, Splitters),
        built: &mut Option<Built>,
    ) -> Result<(), Failure> {
        let node = self.node;
        let (plan, partitions) = match &built {
            Some(own) => (own.plan.clone(), own.checkpoint.begun.partitions.clone()),
            None => (self.idle(Some(&exchanging))?, Vec::new()),
        };
        let partitions = self.splitters(&partitions)?;
        let own: u64 = self.parts.mine.iter().filter_map(|part| part.records).sum();
        self.job
            .control
            .enter("sort", own * self.record_bytes() as u64);
        let spill = match built.as_ref() {
            Some(built) => built.spill.clone(),
            None => Spill::new(node, Vec::new(), self.job.resources.io, 0),
        };
        let exchange = Exchange::new(node, exchanging, &self.ports, (ranges, partitions)).await;
        let owners = Some(Arc::new(round.owners.clone()));
        let exchange = Some(Exchange { owners, ..exchange });
        let run = Run {
            exchange,
            ..self.run(&plan, None)
        };
        let memory = run.pools(&run.pipeline())?;
        let (mut stages, mut read) = (Vec::new(), Sum::default());
        for number in round.from..self.common.epochs {
            let (epoch, did) = self.epoch(&run, &spill, &memory, number).await?;
            add_up(&mut stages, did);
            read.add(epoch.read);
            let synced = spill.sync(node).await.map_err(Failure::from);
            let told = synced.map(|()| (epoch.came, (epoch.read, epoch.came)));
            let (_, all) = agreement.agree_and_tell(node, told).await?;
            let epoch = Epoch {
                read: agreed(round, &all)?,
                ..epoch
            };
            let noted = match built.as_mut() {
                Some(built) => built.checkpoint.add_epoch(node, epoch).await,
                None => Ok(()),
            };
            agreement.agree(node, noted.map_err(Failure::from)).await?;
        }
        spill.trim(node).await;
        drop(run);
        add_up(&mut self.stages, stages);
        self.read.add(read);
        Ok(())
    }

    /// One epoch: this rank's parts one after the other, as many times as any rank has one.
    async fn epoch(
        &self,
        run: &Run<'_>,
        spill: &Spill,
        memory: &Pools,
        number: u32,
    ) -> Result<(Epoch, Vec<StageReport>), Failure> {
        let (came, read) = (Tally::default(), Tally::default());
        let mut exchange = run.exchange.clone().expect("it was made with one");
        exchange.read = read.clone();
        let (mut partitions, mut stages) = (Vec::new(), Vec::new());
        for step in 0..self.parts.most {
            let part = self.parts.mine.get(step);
            let inputs =
                part.map_or_else(Inputs::none, |part| part.part(number, self.common.epochs));
            let inputs = Arc::new(inputs);
            let run = Run {
                inputs: &inputs,
                tally: came.clone(),
                ..run.clone()
            };
            let mut pipeline = run.pipeline();
            let memory = memory.of(&pipeline);
            let (splitters, chunks) = exchange.start(&run, &mut pipeline, &memory)?;
            let came = Came {
                splitters,
                chunks,
                again_beside: Some(0),
                positions: 0.0..1.0,
            };
            let two = DistributionSort {
                run: &run,
                spill: spill.clone(),
            };
            let (some, did) = two.divide(pipeline, came, &memory).await?;
            add_up(&mut stages, did);
            partitions.push(some);
        }
        let epoch = Epoch {
            read: sum(&read),
            came: sum(&came),
            partitions: join(&partitions),
        };
        Ok((epoch, stages))
    }
}

/// What all ranks read in an epoch. Where all ranges are built it is what came.
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
