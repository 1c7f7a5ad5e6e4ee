//! The parts of a key, which a key function writes one behind the other.
#![allow(unsafe_code, reason = "exported names are for C")]

use std::ffi::c_int;

use super::pointers::First;
use super::quietly;
use crate::fault::{Fault, Status};
use crate::key::Key;

fn add(key: Option<&mut Key>, add: impl FnOnce(&mut Key) -> Result<(), Fault>) -> Status {
    quietly(|| {
        let key = key.ok_or_else(|| Fault::argument("key is NULL"))?;
        add(key).map(|()| Status::Ok)
    })
}

/// Adds an unsigned number to a key; with `descending` not 0, large ones come first.
#[unsafe(no_mangle)]
pub extern "C" fn gristmill_key_u64(
    key: Option<&mut Key>,
    value: u64,
    descending: c_int,
) -> Status {
    add(key, |key| {
        key.add(value, descending != 0);
        Ok(())
    })
}

/// Adds a signed number to a key; with `descending` not 0, large ones come first.
#[unsafe(no_mangle)]
pub extern "C" fn gristmill_key_i64(
    key: Option<&mut Key>,
    value: i64,
    descending: c_int,
) -> Status {
    add(key, |key| {
        key.add(value, descending != 0);
        Ok(())
    })
}

/// Adds a number to a key, in the total order of IEEE 754: -0 before 0, NaN at the ends.
#[unsafe(no_mangle)]
pub extern "C" fn gristmill_key_f64(
    key: Option<&mut Key>,
    value: f64,
    descending: c_int,
) -> Status {
    add(key, |key| {
        key.add(value, descending != 0);
        Ok(())
    })
}

/// Adds bytes of any number to a key, such as a text. They are compared as unsigned bytes, and a
/// beginning comes before what it begins.
#[unsafe(no_mangle)]
pub extern "C" fn gristmill_key_bytes(
    key: Option<&mut Key>,
    bytes: First<u8>,
    length: usize,
    descending: c_int,
) -> Status {
    add(key, |key| {
        key.add(bytes.all(length, "bytes")?, descending != 0);
        Ok(())
    })
}

/// Adds bytes to a key as they are: for keys that the program has encoded. No such key may be the
/// beginning of another one.
#[unsafe(no_mangle)]
pub extern "C" fn gristmill_key_raw(
    key: Option<&mut Key>,
    bytes: First<u8>,
    length: usize,
) -> Status {
    add(key, |key| {
        key.add_raw(bytes.all(length, "bytes")?);
        Ok(())
    })
}
