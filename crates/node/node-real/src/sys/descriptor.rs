//! Copies of the descriptors that this process was started with, or has opened since.

#![allow(unsafe_code)]

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd, RawFd};

use rustix::io::{Errno, FdFlags, fcntl_dupfd_cloexec, fcntl_getfd};

/// A copy of descriptor `number`, which shares its position in the file.
///
/// # Errors
/// When there is no such descriptor, or it must be `inherited` and is not, or the process has no more.
pub(crate) fn copy(number: RawFd, inherited: bool) -> io::Result<OwnedFd> {
    if number < 0 {
        return Err(Errno::BADF.into());
    }
    // SAFETY: it is not -1, and it is borrowed for calls that fail if it is not open. Only the
    // copy is used then; a user names a descriptor to have it written.
    let borrowed = unsafe { BorrowedFd::borrow_raw(number) };
    // All that this process opens itself is closed when another program starts.
    if inherited && fcntl_getfd(borrowed)?.contains(FdFlags::CLOEXEC) {
        return Err(Errno::BADF.into());
    }
    Ok(fcntl_dupfd_cloexec(borrowed, 0)?)
}
