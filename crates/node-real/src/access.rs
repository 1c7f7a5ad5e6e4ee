//! Who may do what with a file, and whether the caller may believe it.
//!
//! A file that lies in a directory may be anybody's: a link to another file, a pipe, or a text that somebody else wrote
//! under a name of ours. What a program believes of an earlier run is a regular file of the caller's own, as OpenSSH asks
//! of its keys (`StrictModes`).

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use node::{Access, PERMISSION_BITS};
use rustix::fs::{FileType, Gid, Mode, OFlags, Stat, Uid};
use rustix::io::{Errno, retry_on_intr};

/// The attribute that holds a file's access control list.
const ACL: &str = "system.posix_acl_access";

/// The attribute is a version of 4 bytes, and entries: tag and permissions of 2 bytes each, and a number of 4
/// (linux/posix_acl_xattr.h).
const ACL_HEADER_BYTES: usize = 4;
const ACL_ENTRY_BYTES: usize = 8;

/// The tag of the entry for the owning group.
const ACL_GROUP: u16 = 0x04;

/// Bytes of the longest attribute (XATTR_SIZE_MAX).
const LONGEST_ATTRIBUTE: usize = 64 << 10;

/// Opens a regular file to read without waiting for a writer, as a pipe would have to.
pub(crate) fn open_regular(path: &Path) -> io::Result<OwnedFd> {
    check_regular(&rustix::fs::stat(path)?)?;
    // Another file may have its name by now.
    let fd = open(path, OFlags::RDONLY)?;
    check_regular(&rustix::fs::fstat(&fd)?)?;
    Ok(fd)
}

/// Opens a file of the caller's own, by this name and no other.
pub(crate) fn open_own(path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
    let fd = open_unlinked(path, flags, Mode::empty())?;
    check_own(&fd)?;
    Ok(fd)
}

/// Opens a regular file that is not reached through a link; with `CREATE` among the flags makes it if it is not there.
pub(crate) fn open_unlinked(path: &Path, flags: OFlags, mode: Mode) -> io::Result<OwnedFd> {
    match rustix::fs::lstat(path) {
        Ok(there) => check_regular(&there)?,
        Err(Errno::NOENT) if flags.contains(OFlags::CREATE) => {}
        Err(error) => return Err(error.into()),
    }
    let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let fd = retry_on_intr(|| rustix::fs::open(path, flags, mode))?;
    check_regular(&rustix::fs::fstat(&fd)?)?;
    Ok(fd)
}

/// Refuses a file that another user may have written.
pub(crate) fn check_own(fd: &OwnedFd) -> io::Result<()> {
    let there = rustix::fs::fstat(fd)?;
    let caller = rustix::process::geteuid().as_raw();
    if there.st_uid != caller {
        let what = format!("it belongs to user {}, not to user {caller}", there.st_uid);
        return Err(io::Error::other(what));
    }
    if there.st_nlink > 1 {
        return Err(io::Error::other("it has other names (hard links)"));
    }
    Ok(())
}

fn open(path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
    let flags = flags | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    Ok(retry_on_intr(|| rustix::fs::open(path, flags, Mode::empty()))?)
}

fn check_regular(there: &Stat) -> io::Result<()> {
    match FileType::from_raw_mode(there.st_mode) {
        FileType::RegularFile => Ok(()),
        FileType::Directory => Err(Errno::ISDIR.into()),
        FileType::Symlink => Err(io::Error::other("it is a link, not a regular file")),
        _ => Err(io::Error::other("it is not a regular file")),
    }
}

/// The access that a file gives.
pub(crate) fn of(path: &Path) -> io::Result<Access> {
    let there = rustix::fs::stat(path)?;
    let mut mode = there.st_mode & PERMISSION_BITS;
    if let Some(group) = group_entry(path) {
        // With a list, the group's bits of the mode are the most that any entry grants.
        mode = mode & !0o070 | (group & mode >> 3 & 0o7) << 3;
    }
    Ok(Access { owner: there.st_uid, group: there.st_gid, mode })
}

/// The permissions of the owning group in a file's access control list, if it has one.
fn group_entry(path: &Path) -> Option<u32> {
    let mut list = vec![0; LONGEST_ATTRIBUTE];
    let length = rustix::fs::getxattr(path, ACL, &mut list).ok()?;
    let entries = list[..length].get(ACL_HEADER_BYTES..)?.chunks_exact(ACL_ENTRY_BYTES);
    let word = |entry: &[u8], at| u16::from_le_bytes([entry[at], entry[at + 1]]);
    let of_group = entries.into_iter().find(|entry| word(entry, 0) == ACL_GROUP);
    of_group.map(|entry| u32::from(word(entry, 2)))
}

/// Gives a file this access, as far as the caller may.
pub(crate) fn set(fd: impl AsFd, access: Access) -> io::Result<()> {
    let there = rustix::fs::fstat(&fd)?;
    let mut mode = access.mode & PERMISSION_BITS;
    if there.st_gid != access.group
        && retry_on_intr(|| rustix::fs::fchown(&fd, None, Some(Gid::from_raw(access.group))))
            .is_err()
    {
        // The group's rights must not become those of another group.
        mode = mode & !0o070 | (mode >> 3 & mode & 0o7) << 3;
    }
    if there.st_uid != access.owner {
        // Only root may give a file away; anybody else has replaced it by a file of their own.
        let _ = retry_on_intr(|| rustix::fs::fchown(&fd, Some(Uid::from_raw(access.owner)), None));
    }
    Ok(retry_on_intr(|| rustix::fs::fchmod(&fd, Mode::from_raw_mode(mode)))?)
}
