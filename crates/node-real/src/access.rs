//! Rights of files, and whether the caller may believe a file.
//!
//! A file that lies in a directory may be anybody's: a link to another file, a pipe, or a text that somebody else wrote
//! under a name of ours. A program believes a file of an earlier run if it is a regular file of the caller's own, as OpenSSH
//! asks of its keys (`StrictModes`).

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use node::{Access, NotBelieved, PERMISSION_BITS};
use rustix::fs::{FileType, Gid, Mode, OFlags, Stat, Uid};
use rustix::io::{Errno, retry_on_intr};

/// The attribute that holds a file's access control list.
const ACL: &str = "system.posix_acl_access";

/// The attribute is a version of 4 bytes, and entries: tag and permissions of 2 bytes each, and a number of 4
/// (linux/posix_acl_xattr.h).
const ACL_HEADER_BYTES: usize = 4;
const ACL_ENTRY_BYTES: usize = 8;

/// Tags of entries: a user by name, the owning group, a group by name.
const ACL_NAMED_USER: u32 = 0x02;
const ACL_GROUP: u32 = 0x04;
const ACL_NAMED_GROUP: u32 = 0x08;

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
        let why = format!("it belongs to user {}, not to user {caller}", there.st_uid);
        return Err(NotBelieved::error(why));
    }
    if there.st_nlink > 1 {
        return Err(NotBelieved::error("it has other names (hard links)"));
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
        FileType::Symlink => Err(NotBelieved::error("it is a link, not a regular file")),
        _ => Err(NotBelieved::error("it is not a regular file")),
    }
}

/// The access that a file gives. An access control list counts with its least: the copy that is made of it has no list.
pub(crate) fn of(path: &Path) -> io::Result<Access> {
    let there = rustix::fs::stat(path)?;
    let mut mode = there.st_mode & PERMISSION_BITS;
    if let Some(list) = read_list(path) {
        // With a list, the group's bits of the mode are the most that any entry grants.
        mode &= !0o070 | list.group << 3;
        // Users and groups by name become others, or members of the group.
        mode &= !0o077 | list.named << 3 | list.named;
    }
    Ok(Access { owner: there.st_uid, group: there.st_gid, mode })
}

/// The rights in a file's access control list.
struct List {
    /// The owning group's.
    group: u32,
    /// Those that all users and groups by name have.
    named: u32,
}

fn read_list(path: &Path) -> Option<List> {
    let mut bytes = vec![0; LONGEST_ATTRIBUTE];
    let length = rustix::fs::getxattr(path, ACL, &mut bytes).ok()?;
    let mut list = List { group: 0o7, named: 0o7 };
    for entry in bytes[..length].get(ACL_HEADER_BYTES..)?.chunks_exact(ACL_ENTRY_BYTES) {
        let word = |at| u32::from(u16::from_le_bytes([entry[at], entry[at + 1]]));
        match word(0) {
            ACL_GROUP => list.group &= word(2),
            ACL_NAMED_USER | ACL_NAMED_GROUP => list.named &= word(2),
            _ => {}
        }
    }
    Some(list)
}

/// Gives a file this access, as far as the caller may.
pub(crate) fn set(fd: impl AsFd, access: Access) -> io::Result<()> {
    let there = rustix::fs::fstat(&fd)?;
    let mut mode = access.mode & PERMISSION_BITS;
    // It may have inherited a list from its directory, which the mode would bring to life. Most files have none.
    let _ = rustix::fs::fremovexattr(&fd, ACL);
    let group = Some(Gid::from_raw(access.group));
    if there.st_gid != access.group
        && retry_on_intr(|| rustix::fs::fchown(&fd, None, group)).is_err()
    {
        // The group's rights must not become those of another group.
        mode &= !0o070 | (mode & 0o007) << 3;
    }
    retry_on_intr(|| rustix::fs::fchmod(&fd, Mode::from_raw_mode(mode)))?;
    if there.st_uid != access.owner {
        // Only root may give a file away; anybody else has replaced it by a file of their own.
        let owner = Some(Uid::from_raw(access.owner));
        let _ = retry_on_intr(|| rustix::fs::fchown(&fd, owner, None));
    }
    Ok(())
}
