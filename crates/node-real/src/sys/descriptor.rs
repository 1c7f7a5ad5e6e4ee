//! Copies of the descriptors that this process was started with, or has opened since.

#![allow(unsafe_code)]

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd, RawFd};

use rustix::io::{Errno, fcntl_dupfd_cloexec};

/// A copy of descriptor `number`, which shares its position in the file.
///
/// # Errors
/// When there is no such descriptor, or the process has no more.
pub(crate) fn copy(number: RawFd) -> io::Result<OwnedFd> {
    if number < 0 {
        return Err(Errno::BADF.into());
    }
    // SAFETY: it is not -1, and it is borrowed for one call, which fails if it is not open. Only the
    // copy is used then; a user names a descriptor to have it written.
    let borrowed = unsafe { BorrowedFd::borrow_raw(number) };
    Ok(fcntl_dupfd_cloexec(borrowed, 0)?)
}
