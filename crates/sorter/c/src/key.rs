//! Keys that functions of C make.

use std::cmp::Reverse;
use std::ffi::{c_int, c_void};
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicPtr, Ordering};

use gristmill::Key as Encoded;

use crate::fault::KeyFailed;

/// The key of a record, which a key function fills.
#[derive(Default)]
pub struct Key {
    bytes: Vec<u8>,
}

impl Key {
    /// Adds a part.
    pub fn add(&mut self, part: impl Encoded, descending: bool) {
        if descending {
            Reverse(part).write(&mut self.bytes)
        } else {
            part.write(&mut self.bytes)
        }
    }

    /// Adds bytes as they are.
    pub fn add_raw(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }
}

impl Encoded for Key {
    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.bytes);
    }
}

/// Writes the key of a record with the `gristmill_key_...` functions, and returns 0. It gets the
/// pointer that `gristmill_set_key_function` got, and a record that it may only read.
///
/// Another value than 0 ends the call that pushed the record with `GRISTMILL_KEY`. It must return:
/// if it is left by `longjmp` or an exception of C++, all behaviour is undefined.
pub type KeyFunction = Option<
    extern "C" fn(user: *mut c_void, record: *const u8, length: usize, key: &mut Key) -> c_int,
>;

/// A key function with its pointer, which the library only passes on.
pub struct Maker {
    function: extern "C" fn(*mut c_void, *const u8, usize, &mut Key) -> c_int,
    user: AtomicPtr<c_void>,
}

impl Maker {
    pub fn new(function: KeyFunction, user: *mut c_void) -> Option<Maker> {
        let user = AtomicPtr::new(user);
        function.map(|function| Maker { function, user })
    }

    /// The key of a record. Unwinds with [`KeyFailed`] if the function fails.
    pub fn key(&self, record: &[u8]) -> Key {
        let mut key = Key::default();
        let user = self.user.load(Ordering::Relaxed);
        match (self.function)(user, record.as_ptr(), record.len(), &mut key) {
            0 => key,
            failed => resume_unwind(Box::new(KeyFailed(failed))),
        }
    }
}
