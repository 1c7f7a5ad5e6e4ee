//! What a rank plans: the exchange and what it does with its own range, in one memory limit.

use std::path::PathBuf;

use node::Node;
use pipeline::Failure;

use crate::error::SortError;
use crate::input::Inputs;
use crate::job::{Job, Resources, Tuning};
use crate::output::Output;
use crate::plan::{Exchanging, Plan, Shape};
use crate::room::Demand;
use crate::run::temporary;

/// What a plan depends on beside the number of records.
pub(super) struct Planning<'a> {
    pub node: &'a Node,
    pub job: &'a Job,
    pub output: &'a Output,
    /// Directories for spill files.
    pub temporary: Vec<PathBuf>,
    inputs: usize,
}

impl<'a> Planning<'a> {
    pub(super) fn new(
        node: &'a Node,
        job: &'a Job,
        inputs: &Inputs,
        output: &'a Output,
    ) -> Planning<'a> {
        let (temporary, inputs) = (temporary(job, output), inputs.files.len());
        Planning { node, job, output, temporary, inputs }
    }

    fn shape(&self, records: u64) -> Shape {
        Shape {
            inputs: self.inputs,
            records: Some(records),
            record_bytes: self.job.contents.record_bytes(),
            sequential_output: self.output.is_sequential(),
            outputs: self.output.at_once(),
            stable: self.job.contents.is_stable(),
            temporary: self.temporary.len(),
        }
    }

    /// A plan of what this node does with so many records, beside the exchange.
    pub(super) fn plan(
        &self,
        records: u64,
        exchanging: Option<&Exchanging>,
    ) -> Result<Plan, SortError> {
        let limit = self.job.resources.memory_bytes;
        let memory_bytes = Exchanging::rest(limit);
        let given = Resources { memory_bytes, ..self.job.resources };
        // Its pools are for so many distributors and units of that size.
        let tuning = exchanging.map_or(self.job.tuning, |exchanging| Tuning {
            unit_records: Some(exchanging.unit_records),
            distributors: Some(exchanging.distributors),
            ..self.job.tuning
        });
        Plan::two_pass(&self.shape(records), &given, &tuning).map_err(|refused| match refused {
            SortError::TooLittleMemory { bytes, needed, passes, .. } => {
                let needed = Exchanging::with_rest(needed);
                SortError::TooLittleMemory { bytes, needed, limit, passes }
            }
            refused => refused,
        })
    }

    /// The plan, if there is room for what it writes.
    pub(super) async fn prepare(
        &self,
        records: u64,
        exchanging: &Exchanging,
    ) -> Result<Plan, Failure> {
        exchanging.fits(self.job.resources.memory_bytes)?;
        // What is read is cut as it was when the exchange was planned.
        let plan = self.plan(records, Some(exchanging))?;
        let output_bytes = plan.input_bytes.unwrap_or(0);
        let demand = Demand {
            outputs: self.output.directories(),
            output_bytes,
            temporary: self.temporary.clone(),
            temporary_bytes: plan.temporary_bytes(),
        };
        demand.check(self.node).await?;
        self.output.reserve(self.node, output_bytes).await?;
        Ok(plan)
    }
}
