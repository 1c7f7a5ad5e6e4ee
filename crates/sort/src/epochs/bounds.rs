//! Numbers of a checkpoint, checked before any of them is used: a sort that resumes trusts its own
//! entries, but not so far that an altered one could make it panic, loop, or write elsewhere.

use crate::epochs::checkpoint::{Begun, Checkpoint, Epoch, Written};
use crate::files::spill::is_kind;
use crate::records::block::BLOCK_BYTES;
use crate::runs::partition::Run;

/// Epochs at most: a kill costs a rank at most such a part of phase one.
pub(crate) const MOST_EPOCHS: u32 = 16;

/// Ranges at most: MPI jobs of more ranks are not known to us.
const MOST_RANGES: usize = 1 << 20;

/// Bytes of a record and of a chunk at most: their products with counts stay far from overflow.
const MOST_BYTES: usize = 1 << 40;

/// Blocks that a group leaves to the next one: the one in which they meet.
const MOST_LEFT: usize = 1;

/// # Errors
/// Says which number cannot be.
pub(crate) fn check_begun(begun: &Begun) -> Result<(), String> {
    let Begun {
        range,
        parts,
        epochs,
        chunk_bytes,
        statement,
        ..
    } = begun;
    let block = BLOCK_BYTES as usize;
    within("epochs", *epochs as usize, 1, MOST_EPOCHS as usize)?;
    within("parts", parts.len(), 1, MOST_RANGES)?;
    within("range", *range as usize, 0, parts.len() - 1)?;
    within("record_bytes", statement.record_bytes, 1, MOST_BYTES)?;
    within("chunk_bytes", *chunk_bytes, block, MOST_BYTES)?;
    if !chunk_bytes.is_multiple_of(block) {
        return Err(format!(
            "chunk_bytes is {chunk_bytes}, not whole blocks of {block}"
        ));
    }
    let records = parts
        .iter()
        .try_fold(0_u64, |sum, part| sum.checked_add(part.records));
    if records.is_none_or(|all| all.checked_mul(statement.record_bytes as u64).is_none()) {
        return Err("parts are of more records than a disk can hold".to_owned());
    }
    within(
        "expected",
        begun.expected as usize,
        0,
        records.unwrap_or(0) as usize,
    )?;
    let each = statement.record_bytes.saturating_add(size_of::<u64>());
    let most = (parts.len() - 1).saturating_mul(each);
    if !begun.ranges.len().is_multiple_of(each) || begun.ranges.len() > most {
        return Err(format!(
            "ranges are {} bytes, not at most {most}",
            begun.ranges.len()
        ));
    }
    if !begun.partitions.len().is_multiple_of(each) {
        return Err(format!(
            "partitions are {} bytes, not whole elements",
            begun.partitions.len()
        ));
    }
    if begun.kinds.len() != begun.directories.len() || !begun.kinds.iter().all(is_kind) {
        return Err("kinds are not one of each directory".to_owned());
    }
    Ok(())
}

/// # Errors
/// Says which number cannot be.
pub(crate) fn check_all(found: &Checkpoint) -> Result<(), String> {
    let begun = &found.begun;
    let each = begun.statement.record_bytes + size_of::<u64>();
    let buckets = begun.partitions.len() / each + 1;
    let all: u64 = begun.parts.iter().map(|part| part.records).sum();
    for (number, epoch) in found.epochs.iter().enumerate() {
        let checked = check_epoch(epoch, begun, buckets, all);
        checked.map_err(|what| format!("epoch {number}: {what}"))?;
    }
    let sum = |count: fn(&Epoch) -> u64| {
        found
            .epochs
            .iter()
            .try_fold(0_u64, |sum, epoch| sum.checked_add(count(epoch)))
    };
    for count in [
        sum(|epoch| epoch.read.records),
        sum(|epoch| epoch.came.records),
    ] {
        if count.is_none_or(|count| count > all) {
            return Err(format!(
                "epochs have more than the {all} records of the input"
            ));
        }
    }
    if found.written.is_empty() {
        return Ok(());
    }
    if !found.has_come() {
        return Err("part 0: there is output, but not all records have come".to_owned());
    }
    let sizes: Vec<u64> = found
        .partitions()
        .iter()
        .map(|partition| partition.records())
        .collect();
    let mut done = 0;
    for (number, written) in found.written.iter().enumerate() {
        let checked = check_written(written, (done, &sizes), begun.statement.record_bytes);
        done = checked.map_err(|what| format!("part {number}: {what}"))?;
    }
    Ok(())
}

fn check_epoch(epoch: &Epoch, begun: &Begun, buckets: usize, all: u64) -> Result<(), String> {
    within("read", epoch.read.records as usize, 0, all as usize)?;
    within(
        "came",
        epoch.came.records as usize,
        0,
        epoch.read.records as usize,
    )?;
    within("partitions", epoch.partitions.len(), 0, buckets)?;
    let files: usize = begun.kinds.iter().map(|(count, _)| count).sum();
    let mut came = 0_u64;
    for (runs, records) in &epoch.partitions {
        let mut chunks = 0;
        for run in runs.iter().map(|&run| Run::of_number(run)) {
            within("chunks of a run", run.chunks(), 1, usize::MAX)?;
            within(
                "file of a run",
                run.extent(begun.chunk_bytes).file,
                0,
                files.saturating_sub(1),
            )?;
            chunks += run.chunks();
        }
        let most = chunks.saturating_mul(begun.chunk_bytes) / begun.statement.record_bytes;
        within("records of a partition", *records as usize, 0, most)?;
        came = came.saturating_add(*records);
    }
    if came != epoch.came.records {
        return Err(format!(
            "{came} records lie in partitions, not {}",
            epoch.came.records
        ));
    }
    Ok(())
}

/// The number of partitions that are written then, of partitions of these sizes.
fn check_written(
    written: &Written,
    (done, sizes): (usize, &[u64]),
    record_bytes: usize,
) -> Result<usize, String> {
    within("partitions", written.partitions, done + 1, sizes.len())?;
    let before: u64 = sizes[..done].iter().sum();
    let records: u64 = sizes[done..written.partitions].iter().sum();
    match &written.span {
        None if records > 0 => return Err(format!("{records} records have no span")),
        Some(span) if (span.begin, span.records, span.file) != (before, records, 0) => {
            return Err(format!(
                "the span is not of {records} records behind {before}"
            ));
        }
        Some(span) if span.first.len() != record_bytes || span.last.len() != record_bytes => {
            return Err(format!(
                "records of the span are not of {record_bytes} bytes"
            ));
        }
        None | Some(_) => {}
    }
    within("left", written.left.len(), 0, MOST_LEFT)?;
    let end = (before + records) * record_bytes as u64;
    for left in &written.left {
        within("left begin", left.begin, 0, BLOCK_BYTES as usize)?;
        let begin = u128::from(left.block) * u128::from(BLOCK_BYTES) + left.begin as u128;
        let is_end = begin + left.bytes.len() as u128 == u128::from(end);
        if !is_end || left.block != end / BLOCK_BYTES {
            return Err(format!(
                "bytes are left of disk block {}, not at byte {end}",
                left.block
            ));
        }
    }
    Ok(written.partitions)
}

fn within(what: &str, value: usize, least: usize, most: usize) -> Result<(), String> {
    match (least..=most).contains(&value) {
        true => Ok(()),
        false => Err(format!("{what} is {value}, not {least} to {most}")),
    }
}

#[cfg(test)]
mod tests;
