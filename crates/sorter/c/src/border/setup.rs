//! Making, describing and freeing a sorter.
#![allow(unsafe_code, reason = "exported names are for C")]

use std::ffi::{c_char, c_int, c_void};
use std::num::NonZero;

use gristmill::Progress;

use super::pointers::{Handle, Text};
use super::{Out, needed, on, put, quietly};
use crate::fault::{Fault, Status};
use crate::key::{KeyFunction, Maker};
use crate::options::Options;
use crate::sorter::Sorter;

/// Bytes of the name of a phase, with the 0 at its end.
const PHASE_BYTES: usize = 32;

/// How far a sort has come.
#[repr(C)]
pub struct ProgressOfC {
    /// The phase: empty before the sort begins, then such as "sort" and "merge".
    pub phase: [c_char; PHASE_BYTES],
    /// Bytes of the input that were read in this phase.
    pub read: u64,
    /// Bytes of the output that were written in this phase.
    pub written: u64,
    /// Bytes of all records; 0 if that is not known.
    pub total: u64,
}

impl From<Progress> for ProgressOfC {
    fn from(progress: Progress) -> ProgressOfC {
        let mut phase = [0; PHASE_BYTES];
        let bytes = progress.phase.bytes().take(PHASE_BYTES - 1);
        for (to, from) in phase.iter_mut().zip(bytes) {
            *to = from as c_char;
        }
        ProgressOfC {
            phase,
            read: progress.read,
            written: progress.written,
            total: progress.total,
        }
    }
}

/// Makes a sorter of records in a format: "lines", "fixed:100", "csv", "varlen:u32le" or any other
/// that `gristmill sort --format` knows. Its mistakes are told when the sort begins. Free it with
/// gristmill_free().
#[unsafe(no_mangle)]
pub extern "C" fn gristmill_new(format: Text, sorter: Out<'_, *mut Sorter>) -> Status {
    quietly(|| {
        let out = needed(sorter, "sorter")?;
        out.write(std::ptr::null_mut());
        let made = Box::new(Sorter::new(format.utf8("format")?));
        out.write(Box::into_raw(made));
        Ok(Status::Ok)
    })
}

/// Ends the sort if it goes on, removes its temporary files, and frees the sorter and all that it has
/// lent. No other call may use it meanwhile or afterwards. NULL is allowed.
#[unsafe(no_mangle)]
pub extern "C" fn gristmill_free(sorter: Option<Box<Sorter>>) {
    quietly(|| {
        drop(sorter);
        Ok(Status::Ok)
    });
}

/// The text of the last failure of this sorter, "" if there was none: what happened, where, and what
/// to do. It stays until the next call that fails. While another call uses the sorter, it is the
/// text of GRISTMILL_BUSY.
#[unsafe(no_mangle)]
pub extern "C" fn gristmill_error(sorter: Handle) -> *const c_char {
    let Some(sorter) = sorter.get() else {
        return gristmill_status_text(Status::Argument as c_int);
    };
    let text = sorter.with_error(|text| text.as_ptr());
    text.unwrap_or_else(|| gristmill_status_text(Status::Busy as c_int))
}

/// A short text for a status. It is never NULL, and is not freed.
#[unsafe(no_mangle)]
pub extern "C" fn gristmill_status_text(status: c_int) -> *const c_char {
    Status::text(status).as_ptr().cast()
}

/// The version of the library, such as "0.1.0". It is not freed.
#[unsafe(no_mangle)]
pub extern "C" fn gristmill_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

fn set(sorter: Handle, change: impl FnOnce(&mut Options) -> Result<(), Fault>) -> Status {
    on(sorter, |work| change(work.options()?).map(|()| Status::Ok))
}

/// Adds a key, less significant than those before: "2,2n" of lines, "0+10" of records of one length,
/// "price:num:desc" of rows. Without keys, whole records are compared.
#[unsafe(no_mangle)]
pub extern "C" fn gristmill_add_key(sorter: Handle, key: Text) -> Status {
    set(sorter, |options| {
        let key = key.utf8("key")?;
        options.format(|format| format.key(key));
        Ok(())
    })
}

/// Compares records by the keys that a function writes, instead of those of the format. It is called
/// once for each record, in their order, by the thread that pushes it or reads the files, and sees a
/// line without its delimiter, and a record without its length. Records with equal keys keep their
/// order. `user` goes to the function as it is.
#[unsafe(no_mangle)]
pub extern "C" fn gristmill_set_key_function(
    sorter: Handle,
    function: KeyFunction,
    user: *mut c_void,
) -> Status {
    set(sorter, |options| {
        let maker = Maker::new(function, user);
        let maker = maker.ok_or_else(|| Fault::argument("function is NULL"))?;
        options.sorter(|sorter| sorter.by_key(move |record| maker.key(record)));
        Ok(())
    })
}

/// The byte between the fields of a line, or the values of a row.
#[unsafe(no_mangle)]
pub extern "C" fn gristmill_set_separator(sorter: Handle, separator: u8) -> Status {
    set(sorter, |options| {
        options.format(|format| format.separator(separator));
        Ok(())
    })
}

/// The byte at the end of a line instead of a newline.
#[unsafe(no_mangle)]
pub extern "C" fn gristmill_set_delimiter(sorter: Handle, delimiter: u8) -> Status {
    set(sorter, |options| {
        options.format(|format| format.delimiter(delimiter));
        Ok(())
    })
}

/// Rows whose first one names no columns; keys have numbers, as in "#2:num".
#[unsafe(no_mangle)]
pub extern "C" fn gristmill_set_without_header(sorter: Handle) -> Status {
    set(sorter, |options| {
        options.format(|format| format.without_header());
        Ok(())
    })
}

/// Lines that stay on top: a number of them, or the first bytes of each, such as "#". Call it again for further ones.
#[unsafe(no_mangle)]
pub extern "C" fn gristmill_add_header(sorter: Handle, lines: Text) -> Status {
    set(sorter, |options| {
        let lines = lines.utf8("lines")?;
        options.format(|format| format.header(lines));
        Ok(())
    })
}

/// Records of several lines, from files into a file: each begins with a line at whose front the pattern is, a regular
/// expression, such as "[0-9]{4}-".
#[unsafe(no_mangle)]
pub extern "C" fn gristmill_set_record_start(sorter: Handle, pattern: Text) -> Status {
    set(sorter, |options| {
        let pattern = pattern.utf8("pattern")?;
        options.format(|format| format.record_start(pattern));
        Ok(())
    })
}

/// Records of so many lines each, from files into a file.
#[unsafe(no_mangle)]
pub extern "C" fn gristmill_set_record_lines(sorter: Handle, lines: u32) -> Status {
    set(sorter, |options| {
        options.format(|format| format.record_lines(lines));
        Ok(())
    })
}

/// Lines that are shuffled instead of sorted, from files into a file: each has the same chance of each place, and the same
/// seed gives the same order.
#[unsafe(no_mangle)]
pub extern "C" fn gristmill_set_shuffle(sorter: Handle, seed: u64) -> Status {
    set(sorter, |options| {
        options.format(|format| format.shuffled(seed));
        Ok(())
    })
}

/// A word that stands for a missing value, of rows and of keys of lines with types, such as "NA". Call it again for
/// further ones.
#[unsafe(no_mangle)]
pub extern "C" fn gristmill_add_null(sorter: Handle, word: Text) -> Status {
    set(sorter, |options| {
        let word = word.utf8("word")?;
        options.format(|format| format.null(word));
        Ok(())
    })
}

/// Rows may have fewer columns than the header; their values are missing.
#[unsafe(no_mangle)]
pub extern "C" fn gristmill_set_short_rows(sorter: Handle) -> Status {
    set(sorter, |options| {
        options.format(|format| format.short_rows());
        Ok(())
    })
}

/// Keeps the order of records with equal keys. Otherwise the rest of their bytes decides.
#[unsafe(no_mangle)]
pub extern "C" fn gristmill_set_stable(sorter: Handle) -> Status {
    set(sorter, |options| {
        options.sorter(|sorter| sorter.stable());
        Ok(())
    })
}

/// Keeps only the first of the records with equal keys.
#[unsafe(no_mangle)]
pub extern "C" fn gristmill_set_unique(sorter: Handle) -> Status {
    set(sorter, |options| {
        options.sorter(|sorter| sorter.unique());
        Ok(())
    })
}

/// Keeps only the last of the records with equal keys.
#[unsafe(no_mangle)]
pub extern "C" fn gristmill_set_keep_last(sorter: Handle) -> Status {
    set(sorter, |options| {
        options.sorter(|sorter| sorter.keep_last());
        Ok(())
    })
}

/// Adds up the numbers of a column in records with equal keys, exactly, into the one that is kept: a column of rows as
/// in a key, the number of a field of lines, or `OFFSET+LENGTH:TYPE` of records. Call it again for more of them.
#[unsafe(no_mangle)]
pub extern "C" fn gristmill_add_sum(sorter: Handle, column: Text) -> Status {
    set(sorter, |options| {
        let column = column.utf8("column")?.to_owned();
        options.sorter(move |sorter| sorter.sum(&column));
        Ok(())
    })
}

/// Sets rows with mistakes, and lines whose keys have types, aside in a file, which is replaced; without it, the first
/// mistake ends the sort.
#[unsafe(no_mangle)]
pub extern "C" fn gristmill_set_bad_records(sorter: Handle, file: Text) -> Status {
    set(sorter, |options| {
        let file = file.path("file")?;
        options.sorter(|sorter| sorter.bad_records(file));
        Ok(())
    })
}

/// Keeps only the first `records` of the sorted records.
#[unsafe(no_mangle)]
pub extern "C" fn gristmill_set_top(sorter: Handle, records: u64) -> Status {
    set(sorter, |options| {
        options.sorter(move |sorter| sorter.top(records));
        Ok(())
    })
}

/// The limit on memory in bytes; 256 MiB if it is not set. Small sorts take less, and a limit above the
/// machine's memory is the machine's.
#[unsafe(no_mangle)]
pub extern "C" fn gristmill_set_memory(sorter: Handle, bytes: u64) -> Status {
    set(sorter, |options| {
        options.sorter(move |sorter| sorter.memory(bytes));
        Ok(())
    })
}

/// Threads that work at a time; as many as there are cores if it is not set, and no more than these or
/// 256.
#[unsafe(no_mangle)]
pub extern "C" fn gristmill_set_threads(sorter: Handle, threads: usize) -> Status {
    set(sorter, |options| {
        let threads = NonZero::new(threads);
        let threads = threads.ok_or_else(|| Fault::argument("threads are at least one"))?;
        options.sorter(move |sorter| sorter.threads(threads));
        Ok(())
    })
}

/// A directory for temporary files, best on a disk of its own; call it again for more of them.
/// Without one they go to $TMPDIR, or to /tmp. A relative one is below the directory that the process has
/// when the sort begins.
#[unsafe(no_mangle)]
pub extern "C" fn gristmill_add_temporary(sorter: Handle, directory: Text) -> Status {
    set(sorter, |options| {
        let directory = directory.path("directory")?;
        options.sorter(|sorter| sorter.temporary(directory));
        Ok(())
    })
}

/// Protects temporary files by parity: stripes of so many blocks over one directory more, each added by
/// gristmill_add_temporary and best on a disk of its own. One of them may be lost while the sort goes on.
#[unsafe(no_mangle)]
pub extern "C" fn gristmill_set_stripe(sorter: Handle, blocks: usize) -> Status {
    set(sorter, |options| {
        let blocks = NonZero::new(blocks);
        let blocks = blocks.ok_or_else(|| Fault::argument("a stripe has at least one block"))?;
        options.sorter(move |sorter| sorter.stripe(blocks));
        Ok(())
    })
}

/// Bytes of the longest line or record with a length that is pushed, if it exceeds a 256th of the
/// memory.
#[unsafe(no_mangle)]
pub extern "C" fn gristmill_set_longest(sorter: Handle, bytes: usize) -> Status {
    set(sorter, |options| {
        options.sorter(move |sorter| sorter.longest(bytes));
        Ok(())
    })
}

/// Stops the sort, from any thread and at any time before gristmill_free(): it removes its files, and
/// the call that waits for it returns GRISTMILL_STOPPED. If none waits, the files go with the next call,
/// at the latest gristmill_free().
#[unsafe(no_mangle)]
pub extern "C" fn gristmill_stop(sorter: Handle) -> Status {
    quietly(|| match sorter.get() {
        Some(sorter) => {
            sorter.watch.stop();
            Ok(Status::Ok)
        }
        None => Ok(Status::Argument),
    })
}

/// How far the sort has come, from any thread and at any time before gristmill_free().
#[unsafe(no_mangle)]
pub extern "C" fn gristmill_get_progress(sorter: Handle, progress: Out<'_, ProgressOfC>) -> Status {
    quietly(|| match (sorter.get(), progress) {
        (Some(sorter), progress @ Some(_)) => {
            put(progress, sorter.watch.progress().into());
            Ok(Status::Ok)
        }
        _ => Ok(Status::Argument),
    })
}
