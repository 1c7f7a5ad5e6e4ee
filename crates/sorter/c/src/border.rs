//! The functions that C calls, and the pointers that it passes: all `unsafe` of this crate.
//!
//! The exported functions are safe code but for their names, which no other library may have. A
//! pointer to a key or a result is a reference, or `None` where C passes NULL; that it points at one
//! is the caller's promise, in the header. Other pointers are those of [`pointers`].
//! No panic leaves a function: what can panic runs in `Sorter::call`, or in `quietly`.

mod files;
mod keys;
mod pointers;
mod records;
mod setup;

use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::fault::{Fault, Status};
use crate::sorter::Work;

use pointers::Handle;

/// A place for a result, which need not be initialised.
type Out<'a, T> = Option<&'a mut MaybeUninit<T>>;

/// Does one call of a sorter.
fn on(sorter: Handle, call: impl FnOnce(&mut Work) -> Result<Status, Fault>) -> Status {
    sorter
        .get()
        .map_or(Status::Argument, |sorter| sorter.call(call))
}

/// A result that the caller may not want.
fn put<T>(out: Out<'_, T>, value: T) {
    if let Some(out) = out {
        out.write(value);
    }
}

/// A place for a result that must be there.
fn needed<'a, T>(out: Out<'a, T>, name: &str) -> Result<&'a mut MaybeUninit<T>, Fault> {
    out.ok_or_else(|| Fault::argument(&format!("{name} is NULL")))
}

/// Ends in no panic.
fn quietly(call: impl FnOnce() -> Result<Status, Fault>) -> Status {
    let ended = catch_unwind(AssertUnwindSafe(call));
    let ended = ended.unwrap_or_else(|panic| Err(Fault::of_panic(&*panic)));
    ended.unwrap_or_else(|fault| fault.status)
}
