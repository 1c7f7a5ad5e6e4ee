//! Outputs that cannot be replaced: files that are mounted, in directories that keep their names, or
//! with attributes. They are written in place from a copy, or refused before the sort.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::time::Duration;

use children::Command;
use rustix::process::{Pid, Signal, kill_process};

use crate::common::{Place, RECORD_BYTES, Ran, cases, skip, sorted};

/// A user who is not the one of the tests.
const STRANGER: u32 = 4242;

const OLD: &[u8] = b"the old output";

/// Runs a script in a mount namespace of its own, in which `mounted` is a file that is mounted; `t` is
/// a directory for temporary files. None if nothing can be mounted.
fn with_mounted_file(place: &Place, script: &str) -> Option<Ran> {
    const UNAVAILABLE: &str = "no mounts";
    fs::create_dir_all(place.path("t")).unwrap();
    place.write("source", OLD);
    place.write("mounted", "");
    let script = format!(
        "mount --bind source mounted 2>/dev/null || {{ echo '{UNAVAILABLE}'; exit 0; }}
         export TMPDIR=t; {script}"
    );
    let mut shell = place.shell("exec unshare --mount --map-root-user sh -c \"$SCRIPT\"");
    let ran = Ran::from(shell.env("SCRIPT", script).output().unwrap());
    if ran.err.contains("unshare:") || ran.out.starts_with(UNAVAILABLE.as_bytes()) {
        skip(&format!("files cannot be mounted here: {}", ran.err.trim()));
        return None;
    }
    Some(ran)
}

/// Lines on standard error that name a copy in the directory.
fn told(ran: &Ran) -> usize {
    let lines = ran.err.lines();
    let names = |line: &&str| line.contains("in place") && line.contains("/t/gristmill-copy-");
    lines.filter(names).count()
}

#[test]
fn a_mounted_file_is_written_in_place() {
    let place = Place::with_records(10_000);
    let expected = sorted(&place.read("in"), RECORD_BYTES);
    place.write("gone", &expected);
    std::os::unix::fs::symlink("mounted", place.path("link")).unwrap();
    for script in [
        "gristmill sort --format gensort in -o mounted",
        "gristmill sort --format gensort in -o link -q",
        "cat in | gristmill sort --format gensort -o mounted -T t",
        "gristmill sort --format gensort --plan two-pass -S 16M in -o mounted",
        "gristmill sort --format gensort -m gone -o mounted",
        "cat in >mounted; gristmill sort --format gensort mounted -o mounted",
        "gristmill sort --format gensort in -o mounted --verify",
    ] {
        let Some(ran) = with_mounted_file(&place, script) else {
            return;
        };
        let ran = ran.succeeded();
        assert_eq!(told(&ran), 1, "{script}: {}", ran.err);
        assert!(place.read("source") == expected, "{script}");
        assert_eq!(fs::read_dir(place.path("t")).unwrap().count(), 0);
    }
    let script = "touch z.gz; mount --bind source z.gz; gristmill sort --format gensort in -o z.gz
                  gristmill sort --format gensort z.gz | cmp - gone; gristmill gensort 3 mounted";
    let ran = with_mounted_file(&place, script).unwrap().succeeded();
    assert_eq!((told(&ran), place.read("source").len()), (2, 300));
    let script = "gristmill sort --format gensort in -o mounted --json";
    let warnings = with_mounted_file(&place, script).unwrap().json()["warnings"].clone();
    assert_eq!(warnings[0]["kind"], "in_place", "{warnings}");
}

/// A file that cannot be written in place either is refused, and stays as it was.
#[test]
fn a_mounted_file_that_cannot_be_written_in_place_is_refused() {
    let place = Place::with_records(100);
    place.write("rows", "a,b\n1,2\n1,x\n");
    for (script, words) in [
        (
            "gristmill sort --format gensort in -o mounted --resume",
            "--resume",
        ),
        (
            "flock mounted gristmill sort --format gensort in -o mounted",
            "locked",
        ),
        (
            "mount -t tmpfs none t; gristmill sort --format gensort in -o mounted",
            "with -T",
        ),
        (
            "TMPDIR=none gristmill sort --format gensort in -o mounted",
            "with -T",
        ),
        (
            "mount --bind -o ro source mounted; mount -o remount,bind,ro mounted
             gristmill sort --format gensort in -o mounted",
            "Read-only",
        ),
        (
            "mkdir -p set; cp source set/manifest.json
             mount --bind source set/manifest.json; gristmill sort --format gensort in -o set/",
            "another directory",
        ),
        (
            "gristmill sim merge-min --cores 4 --trace mounted >report",
            "mounted",
        ),
    ] {
        let Some(ran) = with_mounted_file(&place, script) else {
            return;
        };
        assert_ne!(ran.code, 0, "{script}");
        let line = ran.complaint();
        assert!(
            line.contains(words) && line.contains("replace"),
            "{script}: {line}"
        );
        assert_eq!(place.read("source"), OLD, "{script}");
        assert_eq!(
            fs::read_dir(place.path("t")).unwrap().count(),
            0,
            "{script}"
        );
    }
    let sort = "gristmill sort --format csv --key b:num rows -o out --bad-records mounted";
    let script = format!(": > mounted; {sort}");
    let ran = with_mounted_file(&place, &script).unwrap().succeeded();
    assert_eq!(told(&ran), 1);
    assert!(place.read("source").ends_with(b",\"1,x\"\n"), "{}", ran.err);
}

/// The target needs room beside its copy.
#[test]
fn a_full_disk_of_the_target_is_found_before() {
    let place = Place::with_records(20_000);
    // A compressed output has no length before it is complete, and neither has one of shuffled lines.
    for sort in [
        "--format gensort in",
        "--format gensort --compress-output lz4 in",
        "--shuffle lines",
    ] {
        let script = format!(
            "mkdir -p full; mount -t tmpfs -o size=1m none full; cp source full/out; seq 300000 >lines
             mount --bind full/out full/out; gristmill sort {sort} -o full/out -T t
             code=$?; cat full/out; exit $code"
        );
        let Some(ran) = with_mounted_file(&place, &script) else {
            return;
        };
        let line = ran.complaint();
        assert!(
            line.contains("full/out") && line.contains("free some space"),
            "{sort}: {line}"
        );
        assert_eq!((ran.code, &ran.out[..]), (2, OLD), "{sort}");
    }
}

/// A place whose commands are not root's, with a file in a directory that keeps its names.
fn unwritable(records: u64) -> Place {
    let place = Place::without_privilege(records);
    place
        .run_shell("mkdir t d && cp in d/out && chmod 555 d")
        .succeeded();
    place
}

#[test]
fn a_file_in_a_directory_that_cannot_be_written_is_written_in_place() {
    let place = unwritable(10_000);
    let expected = sorted(&place.read("in"), RECORD_BYTES);
    let inode = fs::metadata(place.path("d/out")).unwrap().ino();
    let ran = place
        .run("sort --format gensort d/out -o d/out -T t")
        .succeeded();
    assert_eq!(told(&ran), 1, "{}", ran.err);
    assert!(place.read("d/out") == expected);
    assert_eq!(fs::metadata(place.path("d/out")).unwrap().ino(), inode);
    place.run_shell("chmod 444 d/out").succeeded();
    for (output, words) in [("d/out", "name another file"), ("d/new", "cannot create")] {
        let ran = place.run(&format!("sort --format gensort in -o {output} -T t"));
        let line = ran.complaint();
        assert!(line.contains(words) && line.contains(output), "{line}");
    }
    assert!(place.read("d/out") == expected);
}

/// A file of another user in a directory with the sticky bit, such as `/tmp`, keeps its owner.
#[test]
fn a_file_of_another_in_a_sticky_directory_is_written_in_place() {
    if !rustix::process::geteuid().is_root() {
        return skip("only root gives files to other users");
    }
    let place = Place::without_privilege(1000);
    place
        .run_shell("mkdir t sticky && cp in sticky/out")
        .succeeded();
    for (name, mode) in [("sticky/out", 0o666), ("sticky", 0o1777)] {
        let path = place.path(name);
        chown(&path, Some(STRANGER), Some(STRANGER)).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
    }
    // Since Linux 4.19 such a file can only be opened to write if none is to be made (O_CREAT).
    let ran = place
        .run("sort --format gensort in -o sticky/out -T t")
        .succeeded();
    assert_eq!(told(&ran), 1, "{}", ran.err);
    assert!(place.read("sticky/out") == sorted(&place.read("in"), RECORD_BYTES));
    assert_eq!(
        fs::metadata(place.path("sticky/out")).unwrap().uid(),
        STRANGER
    );
}

/// Sets an attribute; says that the test is skipped where that is not possible.
fn has_set(place: &Place, change: &str) -> bool {
    let mut chattr = Command::new("chattr");
    let (attribute, name) = change.split_once(' ').unwrap();
    let ran = chattr.arg(attribute).arg(place.path(name)).output();
    let is_set = ran.is_ok_and(|ran| ran.status.success());
    if !is_set {
        skip(&format!("chattr {change}: not possible here"));
    }
    is_set
}

#[test]
fn attributes_are_found_before_the_sort() {
    let place = Place::with_records(1000);
    fs::create_dir(place.path("t")).unwrap();
    for attribute in ["i", "a"] {
        fs::create_dir(place.path("d")).unwrap();
        place.write("d/out", OLD);
        if !has_set(&place, &format!("+{attribute} d/out")) {
            return;
        }
        let ran = place.run("sort --format gensort in -o d/out -T t");
        assert!(has_set(&place, &format!("-{attribute} d/out")));
        let line = ran.complaint();
        assert!(line.contains("d/out") && line.contains("chattr"), "{line}");
        assert_eq!(place.read("d/out"), OLD);

        assert!(has_set(&place, &format!("+{attribute} d")));
        let written = place.run("sort --format gensort in -o d/out -T t");
        let refused = ["d/new", "d/"]
            .map(|output| place.run(&format!("sort --format gensort in -o {output} -T t")));
        assert!(has_set(&place, &format!("-{attribute} d")));
        assert_eq!(told(&written.succeeded()), 1);
        assert!(place.read("d/out") == sorted(&place.read("in"), RECORD_BYTES));
        for ran in refused {
            assert!(ran.complaint().contains("another place"), "{ran:?}");
        }
        assert_eq!(fs::read_dir(place.path("d")).unwrap().count(), 1);
        fs::remove_dir_all(place.path("d")).unwrap();
    }
}

/// Until the target is whole again, a copy whose name was printed has all records.
#[test]
fn a_death_while_the_target_is_written_leaves_the_copy() {
    // 40 MB take long enough to be met.
    let place = unwritable(400_000);
    let (old, mut met) = (place.read("in"), 0);
    let expected = sorted(&old, RECORD_BYTES);
    for case in 0..cases(8, 40) {
        place.run_shell("cat in >d/out; rm -f t/*").succeeded();
        let signal = [Signal::KILL, Signal::TERM][case as usize % 2];
        let mut child = place
            .command("sort --format gensort d/out -o d/out -T t")
            .spawn()
            .unwrap();
        let is_copy = |entry: std::io::Result<fs::DirEntry>| {
            entry
                .unwrap()
                .file_name()
                .to_string_lossy()
                .starts_with("gristmill-copy-")
        };
        let begun = || fs::read_dir(place.path("t")).unwrap().any(is_copy);
        while !begun() && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        // Up to 40 ms, over which a copy is made and the target written.
        let delay = u64::from(case * 40 / cases(8, 40));
        std::thread::sleep(Duration::from_millis(delay));
        // It may have ended.
        let _ = kill_process(Pid::from_child(&child), signal);
        let ran = Ran::from(child.wait_with_output().unwrap());
        let output = place.read("d/out");
        if output == expected || output == old {
            continue;
        }
        met += 1;
        assert_ne!(ran.code, 0);
        let copy = ran
            .err
            .lines()
            .find_map(|line| line.split_once("all records are in "));
        let (_, copy) = copy.unwrap_or_else(|| panic!("no copy was told: {ran:?}"));
        assert!(fs::read(copy).unwrap() == expected, "{case}");
    }
    assert!(met > 0, "no death met the writing");
}
