//! Files that another user may have made: which are trusted, and the access that others get.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::Path;

use node::{Access, NotBelieved, Open};
use node_real::Cluster;
use rustix::fs::XattrFlags;
use rustix::process::geteuid;

use crate::nobody::ran_as_nobody;
use crate::strace::skip;

/// A user and a group that are not the caller's.
const STRANGER: u32 = 4242;
const GROUP: u32 = 4343;

/// Ways to open a file that another user may have made.
const KEEP: Open = Open::Keep {
    direct: false,
    mode: 0o600,
};
const AGAIN: Open = Open::Again { direct: false };
const JOIN: Open = Open::Join { direct: false };
const REGULAR: Open = Open::Regular { direct: false };

/// The error of opening a file.
fn refusal(path: &Path, how: Open) -> Option<io::Error> {
    let path = path.to_owned();
    let mut refusals = Cluster::new(1, 1).run(move |node| {
        let path = path.clone();
        async move { node.open(&path, how).await.err().map(|error| error.cause) }
    });
    refusals.pop().unwrap()
}

#[track_caller]
fn assert_not_trusted(path: &Path, how: Open, why: &str) {
    let cause = refusal(path, how).expect("it is refused");
    let reason = NotBelieved::of(&cause).map(ToString::to_string);
    assert!(
        reason.is_some_and(|reason| reason.contains(why)),
        "{how:?}: {cause}"
    );
}

fn set_access(path: &Path, access: Access) {
    let path = path.to_owned();
    Cluster::new(1, 1).run(move |node| {
        let path = path.clone();
        async move {
            let file = node.open(&path, Open::Own).await.unwrap();
            file.set_access(&node, access).await.unwrap();
        }
    });
}

fn access_of(path: &Path) -> Access {
    let path = path.to_owned();
    let mut found = Cluster::new(1, 1).run(move |node| {
        let path = path.clone();
        async move { node.access(&path).await.unwrap() }
    });
    found.pop().unwrap()
}

#[test]
fn a_directory_is_refused_as_a_directory() {
    let place = tempfile::TempDir::new().unwrap();
    for how in [Open::Own, KEEP, AGAIN, JOIN, REGULAR] {
        let cause = refusal(place.path(), how).expect("it is refused");
        assert_eq!(cause.kind(), io::ErrorKind::IsADirectory, "{how:?}");
    }
}

/// A link is refused unless links are followed, and no file is created through a link.
#[test]
fn a_link_is_refused_as_a_link() {
    let place = tempfile::TempDir::new().unwrap();
    let (file, link) = (place.path().join("file"), place.path().join("link"));
    symlink("file", &link).unwrap();
    assert_not_trusted(&link, KEEP, "it is a link");
    assert!(!file.exists());
    fs::write(&file, "").unwrap();
    for how in [Open::Own, KEEP, AGAIN, JOIN] {
        assert_not_trusted(&link, how, "it is a link");
    }
    assert!(refusal(&link, REGULAR).is_none());
}

/// Another name of a file may belong to another user.
#[test]
fn a_file_with_several_names_is_not_trusted() {
    let place = tempfile::TempDir::new().unwrap();
    let (file, other) = (place.path().join("file"), place.path().join("other"));
    fs::write(&file, "").unwrap();
    assert!(refusal(&file, Open::Own).is_none());
    fs::hard_link(&file, other).unwrap();
    for how in [Open::Own, KEEP] {
        assert_not_trusted(&file, how, "it has other names");
    }
    assert!(refusal(&file, AGAIN).is_none());
}

#[test]
fn a_file_of_another_user_is_not_trusted() {
    if !geteuid().is_root() {
        return skip("only root gives files to other users");
    }
    let place = tempfile::TempDir::new().unwrap();
    let file = place.path().join("file");
    fs::write(&file, "").unwrap();
    chown(&file, Some(STRANGER), None).unwrap();
    for how in [Open::Own, KEEP] {
        assert_not_trusted(&file, how, "it belongs to user 4242, not to user 0");
    }
    assert!(refusal(&file, REGULAR).is_none());
}

/// The group bits of the mode show the mask of an access control list; the owning group may have
/// fewer rights.
#[test]
fn the_access_of_a_file_with_a_list_is_the_least_that_it_grants() {
    let file = tempfile::NamedTempFile::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    // Version 2; owner rw, user 4242 rw, owning group nothing, mask rw, others nothing
    // (linux/posix_acl_xattr.h).
    let mut list = 2_u32.to_le_bytes().to_vec();
    let anybody = u32::MAX;
    for (tag, rights, who) in [
        (1, 6, anybody),
        (2, 6, STRANGER),
        (4, 0, anybody),
        (16, 6, anybody),
        (32, 0, anybody),
    ] {
        list.extend([u16::to_le_bytes(tag), u16::to_le_bytes(rights)].concat());
        list.extend(who.to_le_bytes());
    }
    let name = "system.posix_acl_access";
    if let Err(why) = rustix::fs::setxattr(file.path(), name, &list, XattrFlags::empty()) {
        return skip(&format!("no access lists here: {why}"));
    }
    let shown = fs::metadata(file.path()).unwrap().mode() & 0o777;
    assert_eq!((shown, access_of(file.path()).mode), (0o660, 0o600));
    set_access(file.path(), access_of(file.path()));
    let mut left = [0; 64];
    let left = rustix::fs::getxattr(file.path(), name, &mut left[..]);
    assert!(left.is_err(), "the list is gone");
}

/// Root can set the owner and the group, and the group keeps its rights.
#[test]
fn root_gives_a_file_away() {
    if !geteuid().is_root() {
        return skip("only root gives files to other users");
    }
    let file = tempfile::NamedTempFile::new().unwrap();
    let (owner, group, mode) = (STRANGER, GROUP, 0o664);
    set_access(file.path(), Access { owner, group, mode });
    let there = fs::metadata(file.path()).unwrap();
    let found = (there.uid(), there.gid(), there.mode() & 0o7777);
    assert_eq!(found, (owner, group, mode));
}

/// Another user stays the owner of the file, and the group's rights do not become those of another
/// group.
#[test]
fn another_group_gets_no_rights() {
    if ran_as_nobody("trust::another_group_gets_no_rights") {
        return;
    }
    let file = tempfile::NamedTempFile::new().unwrap();
    let mine = access_of(file.path());
    for (group, expected) in [(GROUP, 0o644), (mine.group, 0o664)] {
        fs::set_permissions(file.path(), Permissions::from_mode(0o600)).unwrap();
        let owner = STRANGER;
        let mode = 0o664;
        set_access(file.path(), Access { owner, group, mode });
        let mode = expected;
        assert_eq!(access_of(file.path()), Access { mode, ..mine });
    }
}
