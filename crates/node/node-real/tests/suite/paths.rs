//! Paths of this machine: kinds of files, free space, links, and unfinished files.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};

use children::Command;
use node::{FileKind, Open};
use node_real::Cluster;
use rustix::io::Errno;

use crate::nobody::ran_as_nobody;

#[test]
fn a_directory_has_its_kind_and_the_space_of_its_file_system() {
    let place = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = place.path().to_owned();
    let space = rustix::fs::statvfs(&path).unwrap();
    let free = space.f_bavail * space.f_frsize;
    let found = Cluster::new(1, 1).run(move |node| {
        let path = path.clone();
        async move {
            let kind = node.metadata(&path).await.unwrap().kind;
            (kind, node.space(&path).await.unwrap())
        }
    });
    let (kind, space) = found[0];
    assert_eq!(kind, FileKind::Directory);
    // Other processes write there meanwhile.
    assert!(
        space.abs_diff(free) < free / 4 + (1 << 30),
        "{space} bytes, not {free}"
    );
}

/// The owner can open a draft again that already has the permissions of a read-only output.
#[test]
fn a_read_only_file_of_an_earlier_run_is_opened_again() {
    if ran_as_nobody("paths::a_read_only_file_of_an_earlier_run_is_opened_again") {
        return;
    }
    let place = tempfile::TempDir::new().unwrap();
    let path = place.path().join("draft");
    fs::write(&path, "records").unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o444)).unwrap();
    Cluster::new(1, 1).run(move |node| {
        let path = path.clone();
        async move {
            let file = node
                .open(&path, Open::Again { direct: false })
                .await
                .unwrap();
            file.truncate(&node, 3).await.unwrap();
        }
    });
    assert_eq!(fs::read(place.path().join("draft")).unwrap(), b"rec");
}

/// A signal removes the files that the run has created or joined, and no others.
#[test]
fn unfinished_files_are_removed() {
    let place = tempfile::TempDir::new().unwrap();
    let path = |name: &str| place.path().join(name);
    let [draft, joined, kept, output] = ["draft", "joined", "kept", "output"].map(path);
    fs::write(&joined, "").unwrap();
    fs::write(&kept, "").unwrap();
    let cluster = Cluster::new(1, 1);
    cluster.run({
        let [draft, joined, kept, output] =
            [&draft, &joined, &kept, &output].map(|path| path.to_owned());
        move |node| {
            let paths = [&draft, &joined, &kept, &output].map(|path| path.to_owned());
            async move {
                let [draft, joined, kept, output] = paths;
                let create = Open::Create {
                    direct: false,
                    mode: 0o600,
                };
                node.open(&draft, create).await.unwrap();
                node.rename(&draft, &output).await.unwrap();
                node.open(&draft, create).await.unwrap();
                let join = Open::Join { direct: false };
                node.open(&joined, join).await.unwrap();
                let again = Open::Again { direct: false };
                node.open(&kept, again).await.unwrap();
            }
        }
    });
    cluster.disks().remove_unfinished();
    assert!(!draft.exists() && !joined.exists());
    assert!(kept.exists() && output.exists());
}

/// A program that the run starts inherits none of its files.
#[test]
fn files_are_closed_in_other_programs() {
    let place = tempfile::TempDir::new().unwrap();
    let directory = place.path().to_owned();
    let listed = Cluster::new(1, 1).run(move |node| {
        let path = directory.join("file");
        async move {
            let (direct, mode) = (false, 0o600);
            let mut files = Vec::new();
            for how in [
                Open::Create { direct, mode },
                Open::Keep { direct, mode },
                Open::Read { direct },
                Open::Regular { direct },
                Open::Again { direct },
                Open::Join { direct },
                Open::Own,
                Open::Append,
            ] {
                files.push(node.open(&path, how).await.unwrap());
            }
            let mut list = Command::new("ls");
            let listed = list.args(["-l", "/proc/self/fd"]).output().unwrap();
            String::from_utf8(listed.stdout).unwrap()
        }
    });
    assert!(listed[0].contains("->"), "{}", listed[0]);
    let name = place.path().file_name().unwrap().to_str().unwrap();
    assert!(!listed[0].contains(name), "{}", listed[0]);
}

/// A link to itself cannot be resolved, neither as an existing nor as a new file.
#[test]
fn a_circle_of_links_is_an_error() {
    let place = tempfile::TempDir::new().unwrap();
    let path = place.path().join("link");
    symlink("link", &path).unwrap();
    let resolved = Cluster::new(1, 1).run(move |node| {
        let path = path.clone();
        async move { node.resolve(&path).await.map_err(|error| error.cause) }
    });
    let cause = resolved.into_iter().next().unwrap().unwrap_err();
    assert_eq!(cause.raw_os_error(), Some(Errno::LOOP.raw_os_error()));
}

/// For a file of another user, the system reports every page as resident, to hide what others read.
#[test]
fn only_files_of_the_caller_are_resident() {
    if ran_as_nobody("paths::only_files_of_the_caller_are_resident") {
        return;
    }
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), [1; 4096]).unwrap();
    let paths = [file.path().to_owned(), "/bin/sh".into()];
    let found = Cluster::new(1, 1).run(move |node| {
        let paths = paths.clone();
        async move {
            let mut resident = Vec::new();
            for path in &paths {
                let file = node.open(path, Open::Read { direct: false }).await.unwrap();
                resident.push(file.resident(&node, 0..4096).await.unwrap());
            }
            resident
        }
    });
    assert_eq!(found, [[4096, 0]]);
}

/// The variable that names the place of the scene below.
const MOVES: &str = "GRISTMILL_MOVES";

/// The current directory is that of the whole process, so this runs in one of its own.
#[test]
#[ignore = "the scene of the next test"]
fn scene_of_moves() {
    let Some(place) = std::env::var_os(MOVES).map(std::path::PathBuf::from) else {
        return;
    };
    std::env::set_current_dir(place.join("a")).unwrap();
    let cluster = Cluster::new(1, 1);
    cluster.run(move |node| {
        let place = place.clone();
        async move {
            let create = Open::Create {
                direct: false,
                mode: 0o600,
            };
            for name in ["removed", "./draft", "left"] {
                node.open(name.as_ref(), create).await.unwrap();
            }
            fs::rename(place.join("a"), place.join("b")).unwrap();
            std::env::set_current_dir(&place).unwrap();
            node.remove("removed".as_ref()).await.unwrap();
            let named = node.rename("./draft".as_ref(), "./named".as_ref()).await;
            let error = named.unwrap_err().to_string();
            assert!(
                error.contains("cannot keep in its place ./named"),
                "{error}"
            );
        }
    });
    cluster.disks().remove_unfinished();
}

/// A program may go to another directory, or rename one, while it has files by relative paths.
#[test]
fn files_are_renamed_and_removed_where_they_were_made() {
    let place = tempfile::TempDir::new().unwrap();
    fs::create_dir(place.path().join("a")).unwrap();
    let mut scene = Command::new(std::env::current_exe().unwrap());
    scene.args(["--exact", "paths::scene_of_moves", "--ignored"]);
    let ran = scene.env(MOVES, place.path()).output().unwrap();
    assert!(
        ran.status.success(),
        "{}",
        String::from_utf8_lossy(&ran.stdout)
    );
    let list = |path: &std::path::Path| {
        let entries = fs::read_dir(path).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.collect::<Vec<_>>()
    };
    assert_eq!(list(place.path()), ["b"]);
    assert_eq!(list(&place.path().join("b")), ["named"]);
}

/// The question removes neither a file nor an empty directory, and agrees with a rename.
#[test]
fn a_name_that_its_directory_keeps_is_an_obstacle() {
    if ran_as_nobody("paths::a_name_that_its_directory_keeps_is_an_obstacle") {
        return;
    }
    let place = tempfile::TempDir::new().unwrap();
    let path = |name: &str| place.path().join(name);
    fs::create_dir_all(path("d/empty")).unwrap();
    fs::write(path("d/file"), "records").unwrap();
    symlink("empty", path("d/link")).unwrap();
    let names = ["d/file", "d/empty", "d/link", "d/missing"];
    for (mode, is_kept) in [(0o755, false), (0o555, true), (0o755, false)] {
        fs::set_permissions(path("d"), Permissions::from_mode(mode)).unwrap();
        let found = names.map(|name| node_real::obstacle(&path(name)).is_some());
        assert_eq!(found, [is_kept, false, false, false], "{mode:o}");
        fs::write(path("new"), "records").unwrap();
        assert_eq!(fs::rename(path("new"), path("d/file")).is_err(), is_kept);
    }
    assert!(path("d/empty").is_dir() && path("d/link").symlink_metadata().is_ok());
}

/// A copy of records there would not survive a power failure.
#[test]
fn files_in_memory_do_not_last() {
    let found = Cluster::new(1, 1).run(|node| async move {
        let shm = node.is_lasting("/dev/shm".as_ref()).await.ok();
        (node.is_lasting("/proc".as_ref()).await.unwrap(), shm)
    });
    let kind = rustix::fs::statfs("/dev/shm").map(|found| found.f_type);
    let in_memory = kind.is_ok_and(|kind| kind == 0x0102_1994);
    assert_eq!(found, [(true, kind.ok().map(|_| !in_memory))]);
}
