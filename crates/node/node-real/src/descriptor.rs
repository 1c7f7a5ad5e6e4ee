//! Paths that lead to open descriptors of this process: `/dev/stdout`, `/dev/fd/3`, and links to them.
//!
//! Such a path means what is open there, at its position: what a script printed before and prints
//! afterwards stays. The file below it must not be renamed over, nor opened again at its front.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{OwnedFd, RawFd};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use rustix::fs::OFlags;

use crate::disks::directory_of;
use crate::retry::{retried, retried_std};
use crate::sys::descriptor::copy;

/// As many links as the system follows.
const MOST_LINKS: u32 = 40;

/// Whether paths lead to the descriptors that this process was started with, and to no other.
static ONLY_INHERITED: AtomicBool = AtomicBool::new(false);

/// Lets paths lead to no descriptor that this process has opened itself: its user, who does not know of
/// them, may name one that a shell did not open.
pub fn allow_inherited_descriptors_only() {
    ONLY_INHERITED.store(true, Relaxed);
}

/// The descriptor of this process that a path leads to, if it does.
fn number(path: &Path) -> Option<RawFd> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        let directory = retried_std(|| directory_of(&path).canonicalize()).ok()?;
        // Those of a thread are those of the process.
        let is_own = |own: std::path::PathBuf| directory.starts_with(own);
        if directory.ends_with("fd") && Path::new("/proc/self").canonicalize().is_ok_and(is_own) {
            return path.file_name().and_then(OsStr::to_str)?.parse().ok();
        }
        path = directory.join(retried_std(|| std::fs::read_link(&path)).ok()?);
    }
    None
}

/// Whether a path leads to an open descriptor of this process.
pub fn is_descriptor(path: &Path) -> bool {
    number(path).is_some()
}

/// The descriptor that a path leads to, for writing at its position; none if it leads to another
/// file.
///
/// # Errors
/// When it is not open for writing.
pub fn open_descriptor(path: &Path) -> io::Result<Option<OwnedFd>> {
    let Some(number) = number(path) else {
        return Ok(None);
    };
    let is_writable = |fd: &OwnedFd| {
        let flags = retried(|| rustix::fs::fcntl_getfl(fd));
        flags.is_ok_and(|flags| flags & OFlags::ACCMODE != OFlags::RDONLY)
    };
    let fd = copy(number, ONLY_INHERITED.load(Relaxed));
    let fd = fd.ok().filter(is_writable);
    let refused = || io::Error::other("it is not open for writing; check the redirection");
    fd.ok_or_else(refused).map(Some)
}
