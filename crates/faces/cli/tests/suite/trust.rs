//! Files of others in the directories that a sort works in: it waits for none, believes none, and
//! gives its output the access of the file that it replaces and no more.

use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use children::Command;

use crate::common::{Place, RECORD_BYTES, Ran, sealed, skip, sorted};
use rustix::fs::{CWD, Mode};

/// Longer than any sort here takes, and short enough to be waited for.
const HANG: Duration = Duration::from_secs(30);

/// A user who is not the one of the tests, and a group.
const STRANGER: u32 = 4242;
const GROUP: u32 = 4343;

/// How a command ended, which must not hang.
#[track_caller]
fn ends(mut command: Command) -> Ran {
    command.stdin(Stdio::null()).within(HANG);
    Ran::from(command.output().unwrap())
}

fn fifo(path: &Path) {
    rustix::fs::mkfifoat(CWD, path, Mode::from_raw_mode(0o600)).unwrap();
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o7777
}

fn owners(path: &Path) -> (u32, u32) {
    let there = fs::metadata(path).unwrap();
    (there.uid(), there.gid())
}

/// Whether files may be given away; says that the test is skipped where they may not.
fn is_root(test: &str) -> bool {
    let is_root = rustix::process::geteuid().is_root();
    if !is_root {
        skip(&format!("{test}: only root gives files to other users"));
    }
    is_root
}

#[test]
fn pipes_under_names_of_ours_are_not_waited_for() {
    let place = Place::with_records(1000);
    fs::create_dir(place.path("t")).unwrap();
    let names = [
        ".gristmill-0123456789abcdef.tmp",
        ".gristmill-0123456789abcdef.journal",
    ];
    for name in names {
        fifo(&place.path(name));
        fifo(&place.path("t").join(name));
        symlink(
            "/dev/zero",
            place.path(&format!("{}.tmp", name.trim_end_matches(".tmp"))),
        )
        .ok();
    }
    ends(place.command("sort --format gensort in -o out -T t")).succeeded();
    ends(place.command("sort --format gensort in -o out -T t --resume")).succeeded();
    assert_eq!(place.read("out"), sorted(&place.read("in"), RECORD_BYTES));
    assert!(
        names
            .iter()
            .all(|name| place.path(name).symlink_metadata().is_ok()),
        "they stay"
    );
}

#[test]
fn a_manifest_is_a_regular_file_and_lists_regular_files() {
    let place = Place::with_records(1000);
    fs::create_dir(place.path("set")).unwrap();
    fifo(&place.path("set/manifest.json"));
    for line in [
        "sort --format gensort in -o set/",
        "sort --format gensort set/ -o out",
        "valsort set",
    ] {
        let ran = ends(place.command(line));
        assert!(
            ran.code == 2 && ran.complaint().contains("not a regular file"),
            "{line}: {ran:?}"
        );
    }
    fs::remove_file(place.path("set/manifest.json")).unwrap();
    place.run("sort --format gensort in -o set/").succeeded();
    let manifest = String::from_utf8(place.read("set/manifest.json")).unwrap();
    let part = place
        .path("set")
        .read_dir()
        .unwrap()
        .flatten()
        .map(|entry| entry.file_name());
    let part = part
        .map(|name| name.into_string().unwrap())
        .find(|name| name.starts_with("part-"));
    let part = part.unwrap();
    for device in ["/dev/zero", "../pipe"] {
        if device == "../pipe" {
            fifo(&place.path("pipe"));
        }
        place.write("set/manifest.json", manifest.replace(&part, device));
        for line in ["sort --format gensort set/ -o out", "valsort set"] {
            let ran = ends(place.command(line));
            let said = ran.complaint().contains("not a regular file");
            assert!(ran.code == 2 && said, "{device}, {line}: {ran:?}");
        }
    }
}

/// A link under the name of a journal or an entry leads to a file that is not read.
#[test]
fn links_are_not_followed() {
    const NAME: &str = ".gristmill-0123456789abcdef.journal";
    let place = Place::with_records(1000);
    place.write("part-00000-deadbeef", "precious");
    let home = place.path("").canonicalize().unwrap();
    let text = serde_json::json!({ "directories": [home], "files": [[0, "part-00000-deadbeef"]] });
    place.write("real", sealed(NAME, &text.to_string()));
    symlink("real", place.path(NAME)).unwrap();
    place.run("sort --format gensort in -o out").succeeded();
    assert_eq!(place.read("part-00000-deadbeef"), b"precious");
    // Under its own name the file is believed, so this test can fail.
    fs::remove_file(place.path(NAME)).unwrap();
    fs::rename(place.path("real"), place.path(NAME)).unwrap();
    set_mode(&place.path(NAME), 0o620);
    place.run("sort --format gensort in -o out").succeeded();
    assert!(
        place.path("part-00000-deadbeef").exists(),
        "others could write the journal"
    );
    set_mode(&place.path(NAME), 0o600);
    fs::hard_link(place.path(NAME), place.path("other name")).unwrap();
    place.run("sort --format gensort in -o out").succeeded();
    assert!(
        place.path("part-00000-deadbeef").exists(),
        "the journal had another name"
    );
    fs::remove_file(place.path("other name")).unwrap();
    place.run("sort --format gensort in -o out").succeeded();
    assert!(!place.path("part-00000-deadbeef").exists() && !place.path(NAME).exists());
}

#[test]
fn files_of_other_users_are_not_believed() {
    const NAME: &str = ".gristmill-0123456789abcdef.journal";
    if !is_root("files_of_other_users_are_not_believed") {
        return;
    }
    let place = Place::with_records(1000);
    let home = place.path("").canonicalize().unwrap();
    place.write("part-00000-deadbeef", "precious");
    let text = serde_json::json!({ "directories": [home], "files": [[0, "part-00000-deadbeef"]] });
    place.write(NAME, sealed(NAME, &text.to_string()));
    chown(place.path(NAME), Some(STRANGER), None).unwrap();
    place.run("sort --format gensort in -o out").succeeded();
    assert_eq!(place.read("part-00000-deadbeef"), b"precious");
    // A planted checkpoint stops a sort that would resume; its text does not matter.
    let output = place.path("").canonicalize().unwrap().join("out");
    let job = kernel::block_crc(output.as_os_str().as_bytes());
    let begun = format!(".gristmill-{job:08x}-0.begun");
    place.write(&begun, "{}");
    chown(place.path(&begun), Some(STRANGER), None).unwrap();
    let ran = place.run("sort --format gensort in -o out --resume");
    let said = ran.complaint();
    assert!(
        ran.code == 2 && said.contains("belongs to user 4242, not to user 0"),
        "{ran:?}"
    );
}

/// A resumable sort into a name that is not UTF-8, which is killed and resumed.
#[test]
fn any_name_can_be_resumed() {
    let place = Place::with_records(200_000);
    let name = std::ffi::OsStr::from_bytes(b"out-\xff\\x");
    let sort = || {
        let mut command = place.command("sort --format gensort in -S 16M --resume -o");
        command.arg(name);
        command
    };
    let mut child = sort().spawn().unwrap();
    let begin = Instant::now();
    while place.unfinished_bytes().is_empty() && child.try_wait().unwrap().is_none() {
        assert!(begin.elapsed() < HANG);
    }
    child.kill().unwrap();
    child.wait().unwrap();
    ends(sort()).succeeded();
    assert!(
        fs::read(place.path("").join(name)).unwrap() == sorted(&place.read("in"), RECORD_BYTES)
    );
    assert!(
        place.unfinished_bytes().is_empty(),
        "{:?}",
        place.unfinished_bytes()
    );
}

#[test]
fn a_replaced_output_keeps_its_rights_and_no_set_id_bit() {
    let place = Place::with_records(1000);
    for (old, new) in [
        (0o600, 0o600),
        (0o4755, 0o755),
        (0o2750, 0o750),
        (0o1666, 0o666),
        (0o444, 0o444),
    ] {
        place.write("out", "old");
        set_mode(&place.path("out"), old);
        place.run("sort --format gensort in -o out").succeeded();
        assert_eq!(mode(&place.path("out")), new, "{old:o}");
        place
            .run("sort --format gensort in -o out --resume")
            .succeeded();
        assert_eq!(mode(&place.path("out")), new, "{old:o}, --resume");
        fs::remove_file(place.path("out")).unwrap();
    }
    place.run("sort --format gensort in -o fresh").succeeded();
    place
        .run("sort --format gensort in -o resumed --resume")
        .succeeded();
    assert_eq!(mode(&place.path("fresh")), mode(&place.path("resumed")));
}

/// The mask of an access control list shows as the group's bits; the owning group may have less.
#[test]
fn an_access_list_grants_the_group_no_more() {
    let place = Place::with_records(1000);
    place.write("out", "old");
    // Version 2; owner rw, user 4242 rw, owning group nothing, mask rw, others nothing
    // (linux/posix_acl_xattr.h).
    let mut list = 2_u32.to_le_bytes().to_vec();
    for (tag, rights, who) in [
        (1, 6, u32::MAX),
        (2, 6, STRANGER),
        (4, 0, u32::MAX),
        (16, 6, u32::MAX),
        (32, 0, u32::MAX),
    ] {
        list.extend([u16::to_le_bytes(tag), u16::to_le_bytes(rights)].concat());
        list.extend(who.to_le_bytes());
    }
    let flags = rustix::fs::XattrFlags::empty();
    let name = "system.posix_acl_access";
    if let Err(why) = rustix::fs::setxattr(place.path("out"), name, &list, flags) {
        return skip(&format!(
            "an_access_list_grants_the_group_no_more: no access lists here: {why}"
        ));
    }
    assert_eq!(mode(&place.path("out")), 0o660, "the mask shows");
    place.run("sort --format gensort in -o out").succeeded();
    assert_eq!(mode(&place.path("out")), 0o600);
}

#[test]
fn a_replaced_set_keeps_its_rights() {
    let place = Place::with_records(1000);
    let files = || -> Vec<PathBuf> {
        place
            .path("set")
            .read_dir()
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect()
    };
    place.run("sort --format gensort in -o set/").succeeded();
    files().iter().for_each(|path| set_mode(path, 0o600));
    place.run("sort --format gensort in -o set/").succeeded();
    assert!(files().iter().all(|path| mode(path) == 0o600));
    // The manifest says which files go: others than its owner never get to write it.
    files().iter().for_each(|path| set_mode(path, 0o664));
    let ran = place.run("sort --format gensort in -o set/").succeeded();
    assert!(
        ran.err.contains("files of the old set were not removed"),
        "{}",
        ran.err
    );
    assert_eq!(mode(&place.path("set/manifest.json")) & 0o022, 0);
    // A manifest that is not believed may take rights of the new set away, and give none.
    let narrow = place.path("set/manifest.json");
    set_mode(&narrow, 0o660);
    place.run("sort --format gensort in -o set/").succeeded();
    assert_eq!(mode(&narrow), 0o600);
    let listed = fs::read_to_string(&narrow).unwrap();
    let is_new = |path: &&PathBuf| listed.contains(path.file_name().unwrap().to_str().unwrap());
    assert!(
        files()
            .iter()
            .filter(is_new)
            .all(|path| mode(path) == 0o600)
    );
}

#[test]
fn root_keeps_the_owner() {
    if !is_root("root_keeps_the_owner") {
        return;
    }
    let place = Place::with_records(1000);
    place.write("out", "old");
    chown(place.path("out"), Some(STRANGER), Some(GROUP)).unwrap();
    set_mode(&place.path("out"), 0o6755);
    place.run("sort --format gensort in -o out").succeeded();
    assert_eq!(
        (owners(&place.path("out")), mode(&place.path("out"))),
        ((STRANGER, GROUP), 0o755)
    );
    // The owner of a directory that no other user writes is believed about it, and old sets do not
    // pile up.
    place.run("sort --format gensort in -o set/").succeeded();
    let files = || {
        place
            .path("set")
            .read_dir()
            .unwrap()
            .map(|entry| entry.unwrap().path())
    };
    let count = files().count();
    for path in files().chain([place.path("set")]) {
        chown(path, Some(STRANGER), Some(GROUP)).unwrap();
    }
    for _ in 0..3 {
        place.run("sort --format gensort in -o set/").succeeded();
        assert!(files().all(|path| owners(&path) == (STRANGER, GROUP)));
        assert_eq!(files().count(), count);
    }
    // In a directory that anybody may write, a planted manifest decides neither owner nor rights.
    fs::create_dir(place.path("shared")).unwrap();
    set_mode(&place.path("shared"), 0o1777);
    for path in files() {
        let planted = place.path("shared").join(path.file_name().unwrap());
        fs::copy(&path, &planted).unwrap();
        set_mode(&planted, 0o666);
        chown(&planted, Some(STRANGER), Some(GROUP)).unwrap();
    }
    place.run("sort --format gensort in -o shared/").succeeded();
    let manifest = place.path("shared/manifest.json");
    assert_eq!((owners(&manifest).0, mode(&manifest) & 0o022), (0, 0));
    let listed = fs::read_to_string(&manifest).unwrap();
    let new = place
        .path("shared")
        .read_dir()
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let is_new = |path: &PathBuf| listed.contains(path.file_name().unwrap().to_str().unwrap());
    assert!(new.filter(is_new).all(|path| owners(&path).0 == 0));
}
