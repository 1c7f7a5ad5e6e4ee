//! The files of a merged output, and the records of each.

use pipeline::Failure;

use crate::files::spill::Spill;
use crate::passes::merge_inputs::merges_inputs;
use crate::passes::wiring::RunContext;
use crate::records::block::Bucket;
use crate::records::size::Size;
use crate::runs::sorted_run::SortedRun;
use crate::stages::OutputPart;

/// Slices of a set of output files: fine enough for the shares of directories.
const SLICES: u64 = 1024;

/// Lays out the output of a merge of `runs`. Fast disks get more of a set of files.
///
/// # Errors
/// When the disks have too little room.
pub(super) async fn output_parts(
    run: &RunContext<'_>,
    spill: &Spill,
    runs: &[SortedRun],
) -> Result<Vec<OutputPart>, Failure> {
    let (node, output) = (run.node, run.output());
    let size: Size = runs.iter().map(SortedRun::size).sum();
    if run.plan.input_bytes.is_none() {
        if merges_inputs(run.job, &run.inputs, Some(output)) {
            return Ok(vec![OutputPart::ALL]);
        }
        output.reserve(node, size.bytes).await?;
    }
    let slices = size.records.clamp(1, SLICES);
    let upto = |slice| size.upto(slice, slices);
    let sizes: Vec<Size> = (0..slices)
        .map(|slice| upto(slice + 1) - upto(slice))
        .collect();
    let header = run.job.contents.header().len() as u64;
    let layout = output
        .lay_out(node, (&sizes, header), &spill.rates())
        .await?;
    let mut parts: Vec<OutputPart> = Vec::new();
    for slice in (0..sizes.len()).filter(|&slice| sizes[slice].records > 0) {
        let Bucket {
            first, size, to, ..
        } = layout.bucket(slice, Vec::new());
        match parts.last_mut().filter(|part| part.file == to.file) {
            Some(part) => part.size += size,
            None => parts.push(OutputPart {
                file: to.file,
                first,
                size,
            }),
        }
    }
    Ok(parts)
}
