//! Files sorted, merged, read and checked.
#![allow(unsafe_code, reason = "exported names are for C")]

use std::path::PathBuf;

use super::pointers::{First, Handle, Text};
use super::records::ReportOfC;
use super::{Out, needed, on, put};
use crate::fault::{Fault, Status};

fn paths(inputs: &First<Text>, count: usize) -> Result<Vec<PathBuf>, Fault> {
    let inputs = inputs.all(count, "inputs")?.iter();
    inputs.map(|input| input.path("an input")).collect()
}

/// Sorts `count` files into a file, which appears in one step when it is complete; it may be one of
/// them. If the sort fails, the name keeps its old content. `report` may be NULL.
#[unsafe(no_mangle)]
pub extern "C" fn gristmill_sort_files(
    sorter: Handle,
    inputs: First<Text>,
    count: usize,
    output: Text,
    report: Out<'_, ReportOfC>,
) -> Status {
    on(sorter, |work| {
        let (inputs, output) = (paths(&inputs, count)?, output.path("output")?);
        let sorted = work.begin()?.sort_files(inputs, output)?;
        put(report, work.ended(sorted)?.into());
        Ok(Status::Ok)
    })
}

/// Merges `count` files that are sorted into a file, without sorting them again. `report` may be NULL.
#[unsafe(no_mangle)]
pub extern "C" fn gristmill_merge_files(
    sorter: Handle,
    inputs: First<Text>,
    count: usize,
    output: Text,
    report: Out<'_, ReportOfC>,
) -> Status {
    on(sorter, |work| {
        let (inputs, output) = (paths(&inputs, count)?, output.path("output")?);
        let merged = work.begin()?.merge_files(inputs, output)?;
        put(report, work.ended(merged)?.into());
        Ok(Status::Ok)
    })
}

/// Sorts `count` files whose records are then read with gristmill_next(), without gristmill_start().
#[unsafe(no_mangle)]
pub extern "C" fn gristmill_read_files(
    sorter: Handle,
    inputs: First<Text>,
    count: usize,
) -> Status {
    on(sorter, |work| {
        let inputs = paths(&inputs, count)?;
        let sorted = work.begin()?.read_files(inputs)?;
        work.read(sorted);
        Ok(Status::Ok)
    })
}

/// Looks for the first record of a file that is out of order: `number` gets its number, from 1, or 0
/// if all are in order. `record` and `length` may be NULL, or get the record, which is lent until the
/// next call with this sorter.
#[unsafe(no_mangle)]
pub extern "C" fn gristmill_check_file(
    sorter: Handle,
    file: Text,
    number: Out<'_, u64>,
    record: Out<'_, *const u8>,
    length: Out<'_, usize>,
) -> Status {
    on(sorter, |work| {
        let (file, number) = (file.path("file")?, needed(number, "number")?);
        let found = work.begin()?.check_file(file)?;
        number.write(found.as_ref().map_or(0, |found| found.number));
        let found = work.lend(found.map(|found| found.record).unwrap_or_default());
        put(record, found.as_ptr());
        put(length, found.len());
        Ok(Status::Ok)
    })
}
