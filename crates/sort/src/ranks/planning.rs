//! What a rank plans: the exchange and what it does with its own range, in one memory limit.

use std::path::PathBuf;
use std::sync::Arc;

use node::Node;
use pipeline::Failure;

use crate::agreement::Agreement;
use crate::error::SortError;
use crate::files::disk_space::Demand;
use crate::files::input::Inputs;
use crate::files::output::Output;
use crate::job::{Job, Resources, Tuning};
use crate::passes::choice::choose;
use crate::passes::exchange::{Exchange, Ports};
use crate::plan::{Exchanging, Plan, Shape};
use crate::ranks::division::{Among, Division};
use crate::ranks::sampling::draw;
use crate::stages::{Drawn, Tally};

/// What a plan depends on beside the number of records.
pub(crate) struct Planning<'a> {
    pub node: &'a Node,
    pub job: &'a Job,
    /// Where the range goes; a rank without one has none.
    pub output: Option<&'a Output>,
    /// Directories for spill files.
    pub temporary: Vec<PathBuf>,
    /// Files of the input.
    pub inputs: usize,
    /// What is given.
    pub tuning: Tuning,
}

/// A plan, with all that was chosen for it.
pub(crate) struct Planned {
    pub plan: Plan,
    /// Its reason, where that is not memory alone.
    pub why: Option<String>,
    /// How records go to the nodes of their keys, where there are several.
    pub exchange: Option<Exchange>,
    /// What choosing splitters took.
    pub tally: Tally,
}

impl<'a> Planning<'a> {
    pub(crate) fn new(
        node: &'a Node,
        job: &'a Job,
        inputs: &Inputs,
        output: &'a Output,
    ) -> Planning<'a> {
        let (temporary, inputs) = (output.spill_directories(job), inputs.files.len());
        Planning {
            node,
            job,
            output: Some(output),
            temporary,
            inputs,
            tuning: job.tuning,
        }
    }

    fn shape(&self, records: Option<u64>) -> Shape {
        Shape {
            inputs: self.inputs,
            records,
            record_bytes: self.job.contents.record_bytes(),
            sequential_output: self.output.is_some_and(Output::is_sequential),
            outputs: self.output.map_or(1, Output::at_once),
            stable: self.job.contents.is_stable(),
            temporary: self.temporary.len(),
        }
    }

    /// The plan of a sort on this node alone.
    pub(crate) async fn alone(&self, inputs: &Arc<Inputs>) -> Result<Planned, Failure> {
        let shape = self.shape(inputs.records);
        let (plan, why) = choose(self.node, self.job, &shape, inputs).await?;
        if plan.input_bytes.is_some() {
            self.demand(&plan, plan.temporary_bytes()).await?;
        }
        Ok(Planned {
            plan,
            why,
            exchange: None,
            tally: Tally::default(),
        })
    }

    /// The plan of this node's part in a sort of `total` records over all nodes, which agree on how
    /// keys are divided.
    pub(crate) async fn divided(
        &self,
        agreement: &mut Agreement,
        ports: &Ports,
        (inputs, total): (&Arc<Inputs>, u64),
    ) -> Result<Planned, Failure> {
        let (node, job, contents) = (self.node, self.job, &*self.job.contents);
        let even = total.div_ceil(u64::from(node.nodes()));
        let (exchanging, places) = self.exchanging(agreement, even, node.nodes()).await?;
        let own = inputs.records.unwrap_or(0);
        let drawn = draw(node, job, inputs, places * own / total.max(1)).await;
        let drawn = drawn.map(|drawn| {
            let sampled = drawn.sample.positions.len() as u64;
            (drawn, sampled)
        });
        let (Drawn { sample, cost }, sampled) = agreement.agree_and_tell(node, drawn).await?;
        let among = Among {
            contents,
            owners: (0..node.nodes()).map(Some).collect(),
            known: None,
        };
        let division = Division::agree(node, agreement, &among, &sample, &sampled).await?;
        let plan = self.prepare(division.records(total), &exchanging).await;
        let plan = agreement.agree(node, plan).await?;
        let partitions = division.partitions(contents, plan.buckets);
        let divided = (division.ranks, partitions);
        let tally = Tally::default();
        tally.sampled(cost);
        Ok(Planned {
            plan,
            why: None,
            exchange: Some(Exchange::new(node, exchanging, ports, divided).await),
            tally,
        })
    }

    /// A plan of what this node does with so many records, beside the exchange.
    pub(crate) fn plan(
        &self,
        records: u64,
        exchanging: Option<&Exchanging>,
    ) -> Result<Plan, SortError> {
        let limit = self.job.resources.memory_bytes;
        let memory_bytes = Exchanging::rest(limit);
        let given = Resources {
            memory_bytes,
            ..self.job.resources
        };
        // Its pools are for so many distributors and units of that size.
        let tuning = exchanging.map_or(self.tuning, |exchanging| Tuning {
            unit_records: Some(exchanging.unit_records),
            distributors: Some(exchanging.distributors),
            ..self.tuning
        });
        Plan::two_pass_of_about(&self.shape(Some(records)), &given, &tuning).map_err(|refused| {
            match refused {
                SortError::TooLittleMemory {
                    bytes,
                    needed,
                    passes,
                    ..
                } => {
                    let needed = Exchanging::with_rest(needed);
                    SortError::TooLittleMemory {
                        bytes,
                        needed,
                        limit,
                        passes,
                    }
                }
                refused => refused,
            }
        })
    }

    /// How ranks exchange records, so many in each of some ranges, when all have proposed that:
    /// chunks fit wherever they come from. And how many places all of them look at.
    pub(crate) async fn exchanging(
        &self,
        agreement: &mut Agreement,
        even: u64,
        ranges: u32,
    ) -> Result<(Exchanging, u64), Failure> {
        let (node, limit) = (self.node, self.job.resources.memory_bytes);
        let proposed = self.plan(even, None).map(|plan| {
            let exchanging = Exchanging::new(&plan, ranges, limit);
            let proposal = (plan.samples as u64, exchanging.chunk_bytes as u64);
            ((plan, exchanging), proposal)
        });
        let ((plan, exchanging), all) = agreement
            .agree_and_tell(node, proposed.map_err(Failure::from))
            .await?;
        let chunk = all.iter().map(|&(_, chunk)| chunk).min().unwrap_or(0);
        let samples = all.iter().map(|&(samples, _)| samples).max().unwrap_or(0);
        let least = Division::places(self.job.contents.record_bytes());
        let places = u64::from(node.nodes()) * samples.max(least);
        Ok((exchanging.with_chunks(&plan, ranges, chunk), places))
    }

    /// The plan, if there is room for what it writes.
    pub(crate) async fn prepare(
        &self,
        records: u64,
        exchanging: &Exchanging,
    ) -> Result<Plan, Failure> {
        exchanging.fits(self.job.resources.memory_bytes)?;
        // What is read is cut as it was when the exchange was planned.
        let plan = self.plan(records, Some(exchanging))?;
        self.demand(&plan, plan.temporary_bytes()).await?;
        Ok(plan)
    }

    /// # Errors
    /// When there is no room for the output and so much of what is spilled.
    pub(crate) async fn demand(&self, plan: &Plan, temporary_bytes: u64) -> Result<(), Failure> {
        let Some(output) = self.output else {
            return Ok(());
        };
        let output_bytes = output.due(self.node, plan.input_bytes.unwrap_or(0));
        let (outputs, temporary) = (output.directories(), self.temporary.clone());
        // Beside one file of all lies what all of them spill.
        let temporary_bytes = match self.job.temporary.is_empty() {
            true => output.due_beside(self.node, temporary_bytes),
            false => temporary_bytes,
        };
        let demand = Demand {
            outputs,
            output_bytes,
            temporary,
            temporary_bytes,
        };
        demand.check(self.node).await?;
        output.reserve(self.node, output_bytes).await
    }
}
