//! Pointers to sorters, to texts and to several things of one type.
//!
//! Their fields are private and they have no constructor, so all of them come from C: as arguments of
//! the functions of the header, or in an array that is one. The header demands that such a pointer is
//! NULL or points at the things that its parameter names, which do not change during the call.
#![allow(unsafe_code, reason = "it reads what C points at")]

use std::ffi::{CStr, OsStr, c_char};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::slice;

use crate::fault::Fault;
use crate::sorter::Sorter;

/// A text that ends with 0, or NULL.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct Text(*const c_char);

impl Text {
    fn text(&self, name: &str) -> Result<&CStr, Fault> {
        if self.0.is_null() {
            return Err(Fault::argument(&format!("{name} is NULL")));
        }
        // SAFETY: it is not NULL, so it points at a text that ends with 0 (see the module). The
        // reference lives no longer than `self`, an argument of the call during which that is so.
        Ok(unsafe { CStr::from_ptr(self.0) })
    }

    /// The text, which must be UTF-8. Errors call it `name`.
    pub fn utf8(&self, name: &str) -> Result<&str, Fault> {
        let text = self.text(name)?.to_str();
        text.map_err(|_| Fault::argument(&format!("{name} is not UTF-8")))
    }

    /// The text as a path of any bytes.
    pub fn path(&self, name: &str) -> Result<PathBuf, Fault> {
        let bytes = self.text(name)?.to_bytes();
        Ok(PathBuf::from(OsStr::from_bytes(bytes)))
    }
}

/// A sorter, or NULL.
#[repr(transparent)]
pub struct Handle(*mut Sorter);

impl Handle {
    /// The sorter.
    pub fn get(&self) -> Option<&Sorter> {
        // SAFETY: it is NULL or points at a sorter that `gristmill_new` made and that is not freed
        // before the call ends (see the module). Calls share a sorter: it has its own lock.
        unsafe { self.0.as_ref() }
    }
}

/// The first of several things, or NULL.
#[repr(transparent)]
pub struct First<T>(*const T);

impl<T> First<T> {
    /// The `count` things from here on. Errors call them `name`.
    pub fn all(&self, count: usize, name: &str) -> Result<&[T], Fault> {
        match count {
            0 => return Ok(&[]),
            _ if self.0.is_null() => return Err(Fault::argument(&format!("{name} is NULL"))),
            _ if count > isize::MAX as usize / size_of::<T>().max(1) => {
                return Err(Fault::argument(&format!("{name} has an impossible length")));
            }
            _ => {}
        }
        // SAFETY: it is not NULL, so it points at `count` things (see the module), whose bytes are no
        // more than an allocation can have. The slice lives no longer than `self`, an argument of the
        // call during which they do not change.
        Ok(unsafe { slice::from_raw_parts(self.0, count) })
    }
}
