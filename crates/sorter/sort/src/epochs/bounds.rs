//! Bounds of the numbers in a checkpoint, checked before any of them is used. A resumed sort trusts
//! its own entries, but an altered one must not make it panic, loop, or write elsewhere.

use crate::epochs::checkpoint::{Begun, Checkpoint, Epoch, WrittenGroup};
use crate::files::spill::is_kind;
use crate::files::spill::packed_unit;
use crate::ranks::fingerprint::{Fingerprint, Part};
use crate::records::block::BLOCK_BYTES;
use crate::records::framing::Framing;
use crate::records::sample::Sample;
use crate::records::size::Size;
use crate::records::span::Left;
use crate::runs::partition::{Partition, SpilledRun};

/// Maximum number of epochs: a kill costs a rank at most this part of phase one.
pub(crate) const MOST_EPOCHS: u32 = 16;

/// Maximum number of ranges: larger MPI jobs are not known to us.
const MOST_RANGES: usize = 1 << 20;

/// Maximum bytes of a record and of a chunk: their products with counts stay far from overflow.
const MOST_BYTES: usize = 1 << 40;

/// Maximum number of disk blocks that a group leaves to the next: the one in which they meet.
const MOST_LEFT: usize = 1;

/// # Errors
/// The number that is impossible.
pub(crate) fn check_begun(begun: &Begun) -> Result<(), String> {
    let Begun {
        range,
        parts,
        epochs,
        chunk_bytes,
        ..
    } = begun;
    let block = BLOCK_BYTES as usize;
    within("epochs", *epochs as usize, 1, MOST_EPOCHS as usize)?;
    within("parts", parts.len(), 1, MOST_RANGES)?;
    within("range", *range as usize, 0, parts.len() - 1)?;
    let framing = framing_of(begun)?;
    within("bytes of a record", framing.longest(), 1, MOST_BYTES)?;
    within("chunk_bytes", *chunk_bytes, block, MOST_BYTES)?;
    if !chunk_bytes.is_multiple_of(block) {
        return Err(format!(
            "chunk_bytes is {chunk_bytes}, not whole blocks of {block}"
        ));
    }
    let bytes = parts.iter().try_fold(0_u64, |sum, part| {
        sum.checked_add(part.bytes)?.checked_add(part.added)
    });
    let Some(bytes) = bytes else {
        return Err("parts have more bytes than a disk can hold".to_owned());
    };
    if !parts.iter().all(|part| framing.is_whole(part.bytes)) {
        return Err("parts are not whole records".to_owned());
    }
    within("expected", begun.expected as usize, 0, bytes as usize)?;
    let ranges = elements("ranges", &begun.ranges, framing)?;
    within("splitters of ranges", ranges, 0, parts.len() - 1)?;
    elements("partitions", &begun.partitions, framing)?;
    let header = (begun.header.len() as u64, kernel::block_crc(&begun.header));
    if header != begun.fingerprint.header {
        return Err("the header has another length or checksum".to_owned());
    }
    if begun.kinds.len() != begun.directories.len() || !begun.kinds.iter().all(is_kind) {
        return Err("kinds are not one per directory".to_owned());
    }
    Ok(())
}

/// # Errors
/// The number that is impossible.
pub(crate) fn check_entries(found: &Checkpoint) -> Result<(), String> {
    let begun = &found.begun;
    let framing = framing_of(begun)?;
    let buckets = elements("partitions", &begun.partitions, framing)? + 1;
    let all: u64 = begun.parts.iter().map(Part::out_bytes).sum();
    for (number, epoch) in found.epochs.iter().enumerate() {
        let checked = check_epoch(epoch, begun, buckets, all);
        checked.map_err(|what| format!("epoch {number}: {what}"))?;
    }
    let sum = |bytes: fn(&Epoch) -> u64| {
        found
            .epochs
            .iter()
            .try_fold(0_u64, |sum, epoch| sum.checked_add(bytes(epoch)))
    };
    let (read, came) = (
        sum(|epoch| (epoch.read.size.bytes).saturating_add(epoch.skipped.bytes)),
        sum(|epoch| epoch.came.size.bytes),
    );
    if [read, came]
        .iter()
        .any(|sum| sum.is_none_or(|sum| sum > all))
    {
        return Err(format!(
            "epochs have more than the {all} bytes of the input"
        ));
    }
    if found.written.is_empty() {
        return Ok(());
    }
    if !found.has_come() {
        return Err("part 0: there is output, but not all records have come".to_owned());
    }
    let sizes: Vec<Size> = found.partitions().iter().map(Partition::size).collect();
    let mut before = WrittenBefore {
        sizes: &sizes,
        done: 0,
        kept: Size::default(),
    };
    for (number, written) in found.written.iter().enumerate() {
        let checked = before.check(written, framing, &begun.fingerprint);
        checked.map_err(|what| format!("part {number}: {what}"))?;
    }
    Ok(())
}

fn check_epoch(epoch: &Epoch, begun: &Begun, buckets: usize, all: u64) -> Result<(), String> {
    let framing = framing_of(begun)?;
    check_size("read", epoch.read.size, all, framing)?;
    check_size("skipped", epoch.skipped, all, framing)?;
    check_size("came", epoch.came.size, epoch.read.size.bytes, framing)?;
    within("partitions", epoch.partitions.len(), 0, buckets)?;
    let files: usize = begun.kinds.iter().map(|(count, _)| count).sum();
    let mut came = 0_u64;
    for (runs, size) in &epoch.partitions {
        let mut chunks = 0;
        for run in runs.iter().map(|&run| SpilledRun::of_number(run)) {
            within("chunks of a run", run.chunks(), 1, usize::MAX)?;
            // A packed chunk is shorter than one as it is.
            let most = (begun.chunk_bytes - 1) / packed_unit(begun.chunk_bytes);
            within("length of a packed chunk", run.packed().into(), 0, most)?;
            within(
                "file of a run",
                run.extent(begun.chunk_bytes).file,
                0,
                files.saturating_sub(1),
            )?;
            chunks += run.chunks();
        }
        let most = chunks.saturating_mul(begun.chunk_bytes) as u64;
        check_size("a partition", *size, most, framing)?;
        came = came.saturating_add(size.bytes);
    }
    if came != epoch.came.size.bytes {
        return Err(format!(
            "{came} bytes of records lie in partitions, not {}",
            epoch.came.size.bytes
        ));
    }
    Ok(())
}

/// The framing of the job's records.
fn framing_of(begun: &Begun) -> Result<Framing, String> {
    let framing = begun.fingerprint.framing();
    framing.map_err(|error| format!("the order is none: {error}"))
}

/// The number of elements of a sample.
fn elements(what: &str, bytes: &[u8], framing: Framing) -> Result<usize, String> {
    let sample = Sample::from_bytes(bytes, framing);
    let none = || format!("{what} have {} bytes, not whole elements", bytes.len());
    Ok(sample.ok_or_else(none)?.len())
}

/// Whether a size has at most `most` bytes, and its records and bytes agree.
fn check_size(what: &str, size: Size, most: u64, framing: Framing) -> Result<(), String> {
    within(
        &format!("bytes of {what}"),
        size.bytes as usize,
        0,
        most as usize,
    )?;
    if !framing.is_whole(size.bytes) {
        return Err(format!("bytes of {what} are not whole records"));
    }
    let [least, most] = [framing.longest(), framing.shortest()]
        .map(|length| size.bytes.div_ceil(length as u64) as usize);
    within(
        &format!("records of {what}"),
        size.records as usize,
        least,
        most,
    )
}

/// The partitions that the output holds before a group.
struct WrittenBefore<'a> {
    sizes: &'a [Size],
    /// Number of partitions that it holds.
    done: usize,
    /// Records of them that were not dropped.
    kept: Size,
}

impl WrittenBefore<'_> {
    /// Checks the next group, and adds it.
    fn check(
        &mut self,
        written: &WrittenGroup,
        framing: Framing,
        job: &Fingerprint,
    ) -> Result<(), String> {
        let (done, end) = (self.done, written.partitions);
        within("partitions", end, done + 1, self.sizes.len())?;
        let came: Size = self.sizes[done..end].iter().sum();
        let dropped = written.dropped.size;
        check_size("dropped", dropped, came.bytes, framing)?;
        // A record is dropped only behind another one.
        let most = if job.unique {
            came.records
                .saturating_sub(u64::from(self.kept.records == 0))
        } else {
            0
        };
        within(
            "records dropped",
            dropped.records as usize,
            0,
            most as usize,
        )?;
        let size = came - dropped;
        self.check_span(written, size, framing)?;
        (self.done, self.kept) = (end, self.kept + size);
        within("left", written.left.len(), 0, MOST_LEFT)?;
        // A header comes with the first record.
        let end = match self.kept.bytes {
            0 => 0,
            bytes => bytes.saturating_add(job.header.0),
        };
        written
            .left
            .iter()
            .try_for_each(|left| check_left(left, end))
    }

    /// Checks that the group has a span of `size` records.
    fn check_span(
        &self,
        written: &WrittenGroup,
        size: Size,
        framing: Framing,
    ) -> Result<(), String> {
        let is_record = |record: &Vec<u8>| framing.is_record(record);
        match &written.span {
            None if size.records > 0 => Err(format!("{} records have no span", size.records)),
            Some(span) if (span.begin, span.size, span.file) != (self.kept, size, 0) => {
                let (records, before) = (size.records, self.kept.records);
                Err(format!(
                    "the span is not of {records} records behind {before}"
                ))
            }
            Some(span) if ![&span.first, &span.last].into_iter().all(is_record) => {
                let bytes = framing.longest();
                Err(format!("records of the span are not of {bytes} bytes"))
            }
            None | Some(_) => Ok(()),
        }
    }
}

/// Whether bytes that a group leaves to the next lie at the end of the output so far.
fn check_left(left: &Left, end: u64) -> Result<(), String> {
    within("left begin", left.begin, 0, BLOCK_BYTES as usize)?;
    let begin = u128::from(left.block) * u128::from(BLOCK_BYTES) + left.begin as u128;
    let is_end = begin + left.bytes.len() as u128 == u128::from(end);
    if is_end && left.block == end / BLOCK_BYTES {
        Ok(())
    } else {
        Err(format!(
            "bytes are left of disk block {}, not at byte {end}",
            left.block
        ))
    }
}

fn within(what: &str, value: usize, least: usize, most: usize) -> Result<(), String> {
    if (least..=most).contains(&value) {
        Ok(())
    } else {
        Err(format!("{what} is {value}, not {least} to {most}"))
    }
}

#[cfg(test)]
pub(super) mod tests;
