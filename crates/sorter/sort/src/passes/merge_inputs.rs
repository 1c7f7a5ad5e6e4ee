//! A merge of inputs that are sorted already: each is a run, and nothing is sorted (`sort -m`).
//!
//! ```text
//! inputs     a  b  c  d  e      more than memory has room for, or than may be merged at once
//!            \\__|__/   |  |
//!             run       |  |    on disk
//!               \\______|__/
//!                output
//! ```

use std::sync::Arc;

use crate::files::input::{Input, Inputs};
use crate::files::output::Output;
use crate::job::{Choice, Job};
use crate::passes::wiring::RunContext;
use crate::plan::Plan;
use crate::records::contents::Contents;
use crate::records::framing::Framing;
use crate::records::lengths::{LONGEST_BYTES, Lengths};
use crate::records::size::Size;
use crate::runs::sorted_run::SortedRun;
use crate::stages::{LongRecords, SortedInputs, unit_beside};

/// Larger reads do not gain, and touch more memory (`gristmill-bench disk`).
const READ_BYTES: usize = 1 << 20;

/// Whether the job merges its inputs as they are. A set of files is laid out by the size of the input,
/// which pipes and chained records without an index do not tell. Where rows are set aside, where files are
/// compressed, and where the last of equal records is kept, inputs are sorted.
pub(crate) fn merges_inputs(job: &Job, inputs: &Inputs, output: Option<&Output>) -> bool {
    let is_laid_out = inputs.is_seekable() || output.is_some_and(Output::is_one);
    let is_asked = job.plan == Choice::MergeInputs && job.top.is_none();
    // Each input that is merged would have a decompressor of its own.
    let is_plain = job.bad_rows.is_none() && inputs.compressed().is_none();
    // It would hold the next record of an input back until the one behind it is read.
    let is_plain = is_plain && !job.contents.keeps_last();
    is_asked && is_laid_out && is_plain && job.contents.comparison().is_some()
}

/// Sorted inputs that are merged at once.
pub(crate) fn inputs_at_once(job: &Job, plan: &Plan) -> usize {
    let asked = job.tuning.fan_in.unwrap_or(usize::MAX);
    plan.inputs_at_once().min(asked.max(2))
}

pub(super) fn runs_of(run: &RunContext<'_>) -> Vec<SortedRun> {
    let framing = run.plan.framing;
    let run_of = |(number, input): (usize, &Input)| {
        let bytes = input.bytes + u64::from(input.is_open());
        let records = bytes.div_ceil(framing.mean() as u64);
        SortedRun::of_input(number, Size { records, bytes })
    };
    run.inputs.files.iter().enumerate().map(run_of).collect()
}

/// The same records, of which some are longer than buffers.
fn any_length(contents: &Arc<dyn Contents>, framing: Framing) -> Arc<dyn Contents> {
    let longer = contents.with_lengths(Lengths::about(framing.mean(), LONGEST_BYTES));
    longer.unwrap_or_else(|| Arc::clone(contents))
}

/// What readers of inputs need.
pub(super) fn sorted_inputs(run: &RunContext<'_>, memory: &LongRecords) -> Option<SortedInputs> {
    let contents = &run.job.contents;
    Some(SortedInputs {
        inputs: run.inputs.clone(),
        framing: run.plan.framing,
        contents: any_length(contents, run.plan.framing),
        order: contents.comparison()?,
        unit_bytes: unit_beside(run.plan.framing, run.plan.chunk_bytes, READ_BYTES),
        tally: run.tally.clone(),
        sifter: run.sifter(),
        memory: memory.clone(),
    })
}
