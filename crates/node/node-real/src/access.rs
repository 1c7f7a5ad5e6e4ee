//! Permissions of files, and whether the caller may trust a file.
//!
//! A file in a directory may be anyone's: a link to another file, a pipe, or a text that another
//! user wrote under a name of ours. A program trusts a file of an earlier run if it is a regular
//! file that the caller owns, as OpenSSH requires of its keys (`StrictModes`).

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use node::{Access, NotBelieved, PERMISSION_BITS, of_another_group};
use rustix::fs::{FileType, Gid, Mode, OFlags, Stat, Uid};
use rustix::io::Errno;

use crate::retry::retried;

/// The attribute that holds a file's access control list: a version of 4 bytes, then entries with
/// a tag and permissions of 2 bytes each and a number of 4 (linux/posix_acl_xattr.h).
const ACL: &str = "system.posix_acl_access";
const ACL_HEADER_BYTES: usize = 4;
const ACL_ENTRY_BYTES: usize = 8;

/// Tags of entries.
const ACL_NAMED_USER: u32 = 0x02;
const ACL_GROUP: u32 = 0x04;
const ACL_NAMED_GROUP: u32 = 0x08;

/// Bytes of the longest attribute (XATTR_SIZE_MAX).
const LONGEST_ATTRIBUTE: usize = 64 << 10;

/// Opens a regular file for reading. Refuses a pipe without waiting for its writer.
pub(crate) fn open_regular(path: &Path) -> io::Result<OwnedFd> {
    check_regular(&retried(|| rustix::fs::stat(path))?)?;
    // Another file may have the name by now.
    let fd = open(path, OFlags::RDONLY)?;
    check_regular(&retried(|| rustix::fs::fstat(&fd))?)?;
    Ok(fd)
}

/// Opens a file that the caller owns and that has no other name.
pub(crate) fn open_own(path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
    let fd = open_unlinked(path, flags, Mode::empty())?;
    check_own(&fd)?;
    Ok(fd)
}

/// Opens a file of an earlier run for reading and writing; the caller checks its identity.
pub(crate) fn open_again(path: &Path) -> io::Result<OwnedFd> {
    match open_unlinked(path, OFlags::RDWR, Mode::empty()) {
        // It may already have the permissions of a read-only output.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            let read_only = open_own(path, OFlags::RDONLY)?;
            retried(|| rustix::fs::fchmod(&read_only, Mode::RUSR | Mode::WUSR))?;
            open_unlinked(path, OFlags::RDWR, Mode::empty())
        }
        opened => opened,
    }
}

/// Opens a regular file that is not reached through a link; with the flag `CREATE`, creates a
/// missing one.
pub(crate) fn open_unlinked(path: &Path, flags: OFlags, mode: Mode) -> io::Result<OwnedFd> {
    match retried(|| rustix::fs::lstat(path)) {
        Ok(there) => check_regular(&there)?,
        Err(Errno::NOENT) if flags.contains(OFlags::CREATE) => {}
        Err(error) => return Err(error.into()),
    }
    let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let fd = retried(|| rustix::fs::open(path, flags, mode))?;
    check_regular(&retried(|| rustix::fs::fstat(&fd))?)?;
    Ok(fd)
}

/// Refuses a file that another user may have written.
pub(crate) fn check_own(fd: &OwnedFd) -> io::Result<()> {
    let there = retried(|| rustix::fs::fstat(fd))?;
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
    Ok(retried(|| rustix::fs::open(path, flags, Mode::empty()))?)
}

fn check_regular(there: &Stat) -> io::Result<()> {
    match FileType::from_raw_mode(there.st_mode) {
        FileType::RegularFile => Ok(()),
        FileType::Directory => Err(Errno::ISDIR.into()),
        FileType::Symlink => Err(NotBelieved::error("it is a link, not a regular file")),
        _ => Err(NotBelieved::error("it is not a regular file")),
    }
}

/// Owner, group and permissions of a file. An access control list counts as the least that it
/// grants, because a file with this access has no list.
pub(crate) fn of(path: &Path) -> io::Result<Access> {
    let there = retried(|| rustix::fs::stat(path))?;
    let mode = there.st_mode & PERMISSION_BITS;
    let mode = read_list(path).map_or(mode, |list| list.least(mode));
    Ok(Access {
        owner: there.st_uid,
        group: there.st_gid,
        mode,
    })
}

/// The permissions in a file's access control list.
struct List {
    /// Those of the owning group.
    group: u32,
    /// Those that all named users and groups have.
    named: u32,
}

impl List {
    fn parse(bytes: &[u8]) -> Option<List> {
        let mut list = List {
            group: 0o7,
            named: 0o7,
        };
        for entry in bytes.get(ACL_HEADER_BYTES..)?.chunks_exact(ACL_ENTRY_BYTES) {
            let [tag, rights] = [[entry[0], entry[1]], [entry[2], entry[3]]];
            let rights = u32::from(u16::from_le_bytes(rights));
            match u32::from(u16::from_le_bytes(tag)) {
                ACL_GROUP => list.group &= rights,
                ACL_NAMED_USER | ACL_NAMED_GROUP => list.named &= rights,
                _ => {}
            }
        }
        Some(list)
    }

    /// The permission bits that replace the list of a file whose mode shows `mode`.
    fn least(&self, mode: u32) -> u32 {
        // With a list, the group bits of the mode are the most that any entry grants. Without it,
        // named users and groups count as others or as members of the group.
        mode & (0o700 | (self.group & self.named) << 3 | self.named)
    }
}

fn read_list(path: &Path) -> Option<List> {
    let mut bytes = vec![0; LONGEST_ATTRIBUTE];
    let length = retried(|| rustix::fs::getxattr(path, ACL, &mut bytes)).ok()?;
    List::parse(&bytes[..length])
}

/// Sets owner, group and permissions of a file, as far as the caller may.
pub(crate) fn set(fd: impl AsFd, access: Access) -> io::Result<()> {
    let there = retried(|| rustix::fs::fstat(&fd))?;
    let mut mode = access.mode & PERMISSION_BITS;
    // It may have inherited a list from its directory, which the mode would activate. Most files
    // have none.
    let _ = retried(|| rustix::fs::fremovexattr(&fd, ACL));
    let group = Some(Gid::from_raw(access.group));
    if there.st_gid != access.group && retried(|| rustix::fs::fchown(&fd, None, group)).is_err() {
        // The group's permissions must not become those of another group.
        mode = of_another_group(mode);
    }
    retried(|| rustix::fs::fchmod(&fd, Mode::from_raw_mode(mode)))?;
    if there.st_uid != access.owner {
        // Only root may give a file away; otherwise it stays the caller's.
        let owner = Some(Uid::from_raw(access.owner));
        let _ = retried(|| rustix::fs::fchown(&fd, owner, None));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::fcntl_getfl;
    use rustix::io::{FdFlags, fcntl_getfd};

    /// The name may lead to a pipe, a link or a terminal by the time that the file is opened.
    #[test]
    fn files_are_opened_without_waits_and_closed_in_other_programs() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let none = Mode::empty();
        let followed = open(file.path(), OFlags::RDWR).unwrap();
        let unlinked = open_unlinked(file.path(), OFlags::RDWR, none).unwrap();
        for (fd, more) in [(followed, OFlags::empty()), (unlinked, OFlags::NOFOLLOW)] {
            let flags = fcntl_getfl(&fd).unwrap();
            assert!(flags.contains(OFlags::RDWR | OFlags::NONBLOCK | more));
            assert!(fcntl_getfd(&fd).unwrap().contains(FdFlags::CLOEXEC));
        }
    }

    /// A list in the kernel's format: version 2, then tag, permissions and number of each entry.
    fn list(entries: &[(u16, u16)]) -> List {
        let mut bytes = 2_u32.to_le_bytes().to_vec();
        for &(tag, rights) in entries {
            bytes.extend([tag.to_le_bytes(), rights.to_le_bytes()].concat());
            bytes.extend(u32::MAX.to_le_bytes());
        }
        List::parse(&bytes).unwrap()
    }

    #[test]
    fn a_list_counts_as_the_least_that_it_grants() {
        // Owner, owning group, mask, others; no named users or groups.
        let plain = list(&[(1, 6), (4, 4), (16, 6), (32, 0)]);
        assert_eq!(plain.least(0o660), 0o640);
        assert_eq!(
            list(&[(1, 7), (2, 6), (4, 7), (16, 7), (32, 7)]).least(0o777),
            0o766
        );
        assert_eq!(
            list(&[(1, 6), (2, 0), (4, 6), (16, 6), (32, 4)]).least(0o664),
            0o600
        );
        assert_eq!(
            list(&[(1, 6), (4, 6), (8, 4), (8, 1), (16, 7), (32, 5)]).least(0o675),
            0o600
        );
        assert_eq!(
            list(&[(1, 6), (4, 5), (8, 5), (16, 7), (32, 5)]).least(0o675),
            0o655
        );
        assert!(List::parse(&[2, 0]).is_none());
    }

    #[test]
    fn another_group_gets_the_rights_of_others() {
        let modes = [
            (0o660, 0o600),
            (0o664, 0o644),
            (0o640, 0o600),
            (0o606, 0o606),
            (0o751, 0o711),
        ];
        assert!(modes.iter().all(|&(old, new)| of_another_group(old) == new));
    }

    #[test]
    fn set_id_bits_are_not_set() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let there = of(file.path()).unwrap();
        set(
            file.as_file(),
            Access {
                mode: 0o7640,
                ..there
            },
        )
        .unwrap();
        assert_eq!(
            rustix::fs::stat(file.path()).unwrap().st_mode & 0o7777,
            0o640
        );
        assert_eq!(
            of(file.path()).unwrap(),
            Access {
                mode: 0o640,
                ..there
            }
        );
    }
}
