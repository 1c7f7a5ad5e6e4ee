//! Records pushed and read.
#![allow(unsafe_code, reason = "exported names are for C")]

use gristmill::Report;

use super::pointers::{First, Handle, Text};
use super::{Out, needed, on, put};
use crate::fault::{Fault, Status};

/// The result of a sort.
#[repr(C)]
pub struct ReportOfC {
    /// Records written.
    pub records: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The most bytes of temporary files at any time.
    pub temporary_bytes: u64,
    /// The time that it took.
    pub seconds: f64,
    /// How often a record was read and written: 1 if memory held all.
    pub passes: u32,
    /// 1 if the output file was written in place, because it could not be replaced, else 0.
    pub in_place: u32,
    /// Bytes of a temporary directory that was lost, read from the others.
    pub rebuilt_bytes: u64,
    /// Records that stayed apart from those with their keys, because a total would not have fitted.
    pub apart: u64,
    /// Records that were set aside for their mistakes.
    pub set_aside: u64,
}

impl From<Report> for ReportOfC {
    fn from(report: Report) -> ReportOfC {
        ReportOfC {
            records: report.records,
            bytes: report.bytes,
            temporary_bytes: report.temporary_bytes,
            seconds: report.time.as_secs_f64(),
            passes: report.passes,
            in_place: report.in_place.into(),
            rebuilt_bytes: report.rebuilt_bytes,
            apart: report.apart,
            set_aside: report.set_aside,
        }
    }
}

/// Begins a sort of records that are pushed. No option can be set from now on.
#[unsafe(no_mangle)]
pub extern "C" fn gristmill_start(sorter: Handle) -> Status {
    on(sorter, |work| {
        let feed = work.begin()?.start()?;
        work.feed(feed);
        Ok(Status::Ok)
    })
}

/// Adds a record, which is copied. A line may lack its delimiter, which is added. Waits while the sort
/// is behind.
#[unsafe(no_mangle)]
pub extern "C" fn gristmill_push(sorter: Handle, record: First<u8>, length: usize) -> Status {
    on(sorter, |work| {
        let record = record.all(length, "record")?;
        work.feeding()?.push(record)?;
        Ok(Status::Ok)
    })
}

/// Adds `count` records, which lie one behind the other: the first has `lengths[0]` bytes. If one is
/// refused, those before it were added, and those behind it were not. `pushed` may be NULL, or gets
/// their number.
#[unsafe(no_mangle)]
pub extern "C" fn gristmill_push_many(
    sorter: Handle,
    records: First<u8>,
    lengths: First<usize>,
    count: usize,
    pushed: Out<'_, usize>,
) -> Status {
    let mut done = 0;
    let status = on(sorter, |work| {
        let lengths = lengths.all(count, "lengths")?;
        let sum = lengths
            .iter()
            .try_fold(0_usize, |sum, &length| sum.checked_add(length));
        let sum = sum.ok_or_else(|| Fault::argument("lengths have an impossible sum"))?;
        let mut rest = records.all(sum, "records")?;
        let feed = work.feeding()?;
        for &length in lengths {
            let record = rest.split_off(..length).expect("it is part of the sum");
            feed.push(record)?;
            done += 1;
        }
        Ok(Status::Ok)
    });
    put(pushed, done);
    status
}

/// Adds whole records that lie one behind the other, as in a file; their format says where they end.
/// If one is refused, those before it were added, and those behind it were not.
#[unsafe(no_mangle)]
pub extern "C" fn gristmill_push_bytes(sorter: Handle, bytes: First<u8>, length: usize) -> Status {
    on(sorter, |work| {
        let bytes = bytes.all(length, "bytes")?;
        work.feeding()?.push_reader(bytes)?;
        Ok(Status::Ok)
    })
}

/// Ends the input. The records come back in order.
#[unsafe(no_mangle)]
pub extern "C" fn gristmill_finish(sorter: Handle) -> Status {
    on(sorter, |work| work.finish())
}

/// Lends the next record, with its delimiter or length, until the next call with this sorter. Returns
/// GRISTMILL_END behind the last one; rely on the records only then, since lost or changed ones are
/// found at the end. The header of rows comes first.
#[unsafe(no_mangle)]
pub extern "C" fn gristmill_next(
    sorter: Handle,
    record: Out<'_, *const u8>,
    length: Out<'_, usize>,
) -> Status {
    on(sorter, |work| {
        let (to, length) = (needed(record, "record")?, needed(length, "length")?);
        let next = work.next()?;
        to.write(next.map_or(std::ptr::null(), <[u8]>::as_ptr));
        length.write(next.map_or(0, <[u8]>::len));
        Ok(next.map_or(Status::End, |_| Status::Ok))
    })
}

/// Lends some of the next records, one behind the other, and their lengths, until the next call with
/// this sorter. Returns GRISTMILL_END, and 0 records, behind the last one.
#[unsafe(no_mangle)]
pub extern "C" fn gristmill_next_many(
    sorter: Handle,
    records: Out<'_, *const u8>,
    lengths: Out<'_, *const usize>,
    count: Out<'_, usize>,
) -> Status {
    on(sorter, |work| {
        let records = needed(records, "records")?;
        let (lengths, count) = (needed(lengths, "lengths")?, needed(count, "count")?);
        let block = work.next_many()?;
        records.write(block.bytes.as_ptr());
        lengths.write(block.lengths.as_ptr());
        count.write(block.lengths.len());
        Ok(if block.lengths.is_empty() {
            Status::End
        } else {
            Status::Ok
        })
    })
}

/// Writes all records that are left to a file, which gets its name when it is complete and durable.
/// Otherwise the name keeps its old content. `report` may be NULL.
#[unsafe(no_mangle)]
pub extern "C" fn gristmill_write_file(
    sorter: Handle,
    path: Text,
    report: Out<'_, ReportOfC>,
) -> Status {
    on(sorter, |work| {
        let path = path.path("path")?;
        put(report, work.write_file(path)?.into());
        Ok(Status::Ok)
    })
}

/// The result of a sort whose last record was read or written.
#[unsafe(no_mangle)]
pub extern "C" fn gristmill_get_report(sorter: Handle, report: Out<'_, ReportOfC>) -> Status {
    on(sorter, |work| {
        needed(report, "report")?.write(work.report()?.into());
        Ok(Status::Ok)
    })
}
