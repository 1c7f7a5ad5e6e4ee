//! Outputs that are directories: an ordered set of files with a manifest, which appears as a whole.

use std::fs::{self, Permissions};
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};

use crate::common::{Place, RECORD_BYTES, Ran, cases, sealed, sorted};

/// A journal of a run that has ended.
const JOURNAL: &str = ".gristmill-00000000000000aa.journal";

/// Names in a directory of the place.
fn names_in(place: &Place, directory: &str) -> Vec<String> {
    let entries = fs::read_dir(place.path(directory)).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn manifest(place: &Place, directory: &str) -> serde_json::Value {
    serde_json::from_slice(&place.read(&format!("{directory}/manifest.json"))).unwrap()
}

/// The files that a manifest lists, one behind the other.
fn content(place: &Place, directory: &str) -> Vec<u8> {
    let found = manifest(place, directory);
    let paths = found["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| file["path"].as_str().unwrap());
    paths
        .flat_map(|path| fs::read(place.path(directory).join(path)).unwrap())
        .collect()
}

/// Every file in these directories.
fn snapshot(place: &Place, directories: &[&str]) -> Vec<(String, Vec<u8>)> {
    let names = directories.iter().flat_map(|directory| {
        names_in(place, directory)
            .into_iter()
            .map(move |name| format!("{directory}/{name}"))
    });
    names
        .map(|name| (name.clone(), place.read(&name)))
        .collect()
}

#[test]
fn a_set_in_three_directories() {
    let place = Place::with_records(20_000);
    let expected = sorted(&place.read("in"), RECORD_BYTES);
    fs::create_dir(place.path("a")).unwrap();
    fs::create_dir(place.path("b")).unwrap();
    let line = "sort --format gensort in -o a -o b/ -o new/ --verify --json";
    let report = place.run(line).succeeded().json();
    assert_eq!(report["records"], 20_000);
    assert!(content(&place, "a") == expected);
    let found = manifest(&place, "a");
    assert_eq!(found["gristmill_set"], 1);
    assert_eq!(found["keys"], serde_json::json!(["0+10"]));
    assert_eq!(
        (&found["records"], &found["stable"]),
        (&report["records"], &false.into())
    );
    assert_eq!(found["checksum"], report["checksum"]);
    for directory in ["a", "b", "new"] {
        let parts = names_in(&place, directory)
            .into_iter()
            .filter(|name| name != "manifest.json");
        assert_eq!(
            parts.filter(|name| name.starts_with("part-")).count(),
            1,
            "{directory}"
        );
    }
    assert_eq!(
        names_in(&place, "b").len() + names_in(&place, "new").len(),
        2
    );
    // It can be validated, with the reference's lines, and sorted again.
    place.write("sorted", &expected);
    let single = place.run("valsort sorted").succeeded();
    for name in ["a", "a/", "a/manifest.json"] {
        assert_eq!(
            place.run(&format!("valsort {name}")).succeeded().err,
            single.err
        );
    }
    place.run("sort --format gensort a -o again").succeeded();
    assert!(place.read("again") == expected);
}

#[test]
fn a_set_replaces_the_old_one_and_may_be_its_input() {
    let place = Place::with_records(5000);
    place
        .run("sort --format gensort in -o set/ -o beside/")
        .succeeded();
    place.write("set/mine", "not of the set");
    place.write("beside/part-00000-01234567", "not of the set either");
    let expected = content(&place, "set");
    for round in 0..3 {
        let ran = place
            .run("sort --format gensort set/ -o set -o other/")
            .succeeded();
        assert!(content(&place, "set") == expected);
        // No path comes from a manifest: a directory that -o does not name is left alone.
        assert_eq!(
            ran.err
                .contains("files of the old set were not removed (1)"),
            round == 0,
            "{}",
            ran.err
        );
    }
    assert_eq!(names_in(&place, "beside").len(), 2);
    assert_eq!(names_in(&place, "set").len(), 3);
    assert_eq!(names_in(&place, "other").len(), 1);
}

#[test]
fn two_passes_and_a_pipe() {
    let place = Place::with_records(200_000);
    let expected = sorted(&place.read("in"), RECORD_BYTES);
    let report = place
        .run("sort --format gensort in -o a/ -o b/ --plan two-pass -S 16M --parallel 3 --json")
        .succeeded()
        .json();
    // Sampled splitters may leave a partition too large, which takes a third.
    assert!(report["passes"].as_u64().unwrap() >= 2, "{report}");
    assert!(content(&place, "a") == expected);
    // A journal is settled by the run that names the directories of its set, by whatever name.
    place.write("b/part-00000-00000abc", "dead");
    let homes = ["a", "b"].map(|name| place.path(name).canonicalize().unwrap());
    let files = [(1, "part-00000-00000abc")];
    let journal = serde_json::json!({ "directories": homes, "files": files });
    place.write(
        &format!("a/{JOURNAL}"),
        sealed(JOURNAL, &journal.to_string()),
    );
    // The mask of the tests may let others write.
    let private = Permissions::from_mode(0o600);
    fs::set_permissions(place.path(&format!("a/{JOURNAL}")), private).unwrap();
    let line = "sort --format gensort in -o out --plan two-pass -S 16M --parallel 3 -T ./a";
    place.run(line).succeeded();
    assert_eq!(
        (names_in(&place, "a").len(), names_in(&place, "b").len()),
        (3, 2)
    );
    place
        .feed(
            "sort --format gensort --stable -o a/ -o ./a/../b/",
            &place.read("in"),
        )
        .succeeded();
    assert!(content(&place, "a") == expected);
    assert_eq!(manifest(&place, "a")["stable"], true);
    assert_eq!(
        (names_in(&place, "a").len(), names_in(&place, "b").len()),
        (2, 1)
    );
}

#[test]
fn an_empty_set_and_one_record() {
    let place = Place::with_records(1);
    place.write("empty", "");
    place
        .run("sort --format gensort empty -o a/ -o b/ --verify")
        .succeeded();
    assert_eq!(manifest(&place, "a")["files"], serde_json::json!([]));
    assert_eq!(
        (names_in(&place, "a").len(), names_in(&place, "b").len()),
        (1, 0)
    );
    let ran = place.run("valsort a");
    assert_eq!(
        (ran.code, ran.err.as_str()),
        (1, "there must be at least one record to be validated\n")
    );
    place
        .run("sort --format gensort a in -o a -o b --verify")
        .succeeded();
    assert!(content(&place, "a") == place.read("in"));
    assert_eq!(
        (names_in(&place, "a").len(), names_in(&place, "b").len()),
        (2, 0)
    );
}

#[test]
fn a_set_of_any_format_is_validated_in_its_own_order() {
    let place = Place::with_records(1000);
    let line = "sort --format fixed:20 --key 4+8:u64le:desc in -o set/ --verify";
    place.run(line).succeeded();
    let ran = place.run("valsort set").succeeded();
    assert!(ran.err.starts_with("Records: 5000\n"), "{}", ran.err);
    assert_eq!(place.run("valsort -i set").code, 2);
    let ran = place.run("sort --format gensort set -o out");
    assert_eq!(ran.code, 2);
    assert!(
        ran.complaint()
            .contains("set/manifest.json lists records of format fixed:20"),
        "{ran:?}"
    );
}

#[test]
fn valsort_finds_what_is_not_as_listed() {
    let place = Place::with_records(10_000);
    place
        .run("sort --format gensort in -o set/ -o b/")
        .succeeded();
    let name = names_in(&place, "b").pop().unwrap();
    let path = format!("b/{name}");
    let whole = place.read(&path);
    place.write(&path, &whole[..whole.len() - 100]);
    let ran = place.run("valsort set");
    assert_eq!(ran.code, 1);
    assert!(
        ran.err.contains(&name) && ran.err.contains("last key"),
        "{}",
        ran.err
    );
    assert!(!ran.err.contains("SUCCESS"));
    assert_eq!(place.run("valsort -q set").err, "");
    place.write(&path, &whole[..whole.len() - 1]);
    let ran = place.run("valsort set");
    assert!(ran.code == 1 && ran.err.contains(&name), "{ran:?}");
    fs::remove_file(place.path(&path)).unwrap();
    let ran = place.run("valsort set");
    assert!(ran.code == 2 && ran.complaint().contains(&name), "{ran:?}");
    let ran = place.run("valsort b");
    assert!(
        ran.code == 2 && ran.complaint().contains("is not a set of files"),
        "{ran:?}"
    );
}

#[test]
fn bad_outputs_are_refused_and_nothing_is_left() {
    let place = Place::with_records(10);
    place.write("file", "a file");
    place.write("cut", [b'x'; 150]);
    fs::create_dir(place.path("dir")).unwrap();
    fs::create_dir(place.path("foreign")).unwrap();
    place.write("foreign/manifest.json", "{\"name\": \"of somebody else\"}");
    symlink("dir", place.path("link")).unwrap();
    let before = (place.names(), place.snapshot());
    let lines = [
        ("in -o dir -o file", "-o file: not a directory"),
        ("in -o file/", "-o file/: this is a file, not a directory"),
        ("in -o dir -o missing", "end the name in /"),
        ("in -o one -o two", "end the name in /"),
        (
            "in -o missing/new/",
            "-o missing/new/: cannot make this directory",
        ),
        (
            "in -o new/ -o missing/new/",
            "-o missing/new/: cannot make this directory",
        ),
        ("in -o dir -o dir", "-o dir: named twice"),
        ("in -o dir -o ./dir/", "named twice"),
        ("in -o dir -o link", "-o link: named twice"),
        ("in -o new/ -o ./new/", "named twice"),
        (
            "in -o foreign",
            "foreign/manifest.json is not the manifest of a set",
        ),
        (
            "in -o dir --report dir/manifest.json",
            "--report would overwrite",
        ),
        ("in -o dir -o /proc", "/proc"),
        ("dir -o out", "dir is a directory"),
        ("cut -o new/ -o dir", "byte 100"),
        ("missing -o new/", "missing"),
        ("in -o new/ -S 1", "memory"),
    ];
    for (line, part) in lines {
        let ran = place.run(&format!("sort --format gensort {line}"));
        assert_eq!(ran.code, 2, "{line}: {ran:?}");
        assert!(ran.complaint().contains(part), "{line}: {ran:?}");
        assert!(
            (place.names(), place.snapshot()) == before,
            "{line}: {:?}",
            place.names()
        );
        assert_eq!(names_in(&place, "dir").len(), 0, "{line}");
        assert_eq!(names_in(&place, "foreign").len(), 1, "{line}");
    }
    let ran = place.run("gensort 10 dir/");
    assert!(
        ran.code == 2 && ran.complaint().contains("is a directory"),
        "{ran:?}"
    );
}

#[test]
fn a_directory_that_must_not_be_written() {
    let place = Place::without_privilege(10);
    fs::create_dir(place.path("dir")).unwrap();
    fs::set_permissions(place.path("dir"), Permissions::from_mode(0o500)).unwrap();
    let ran = place.run("sort --format gensort in -o new/ -o dir");
    assert_eq!(ran.code, 2);
    assert!(
        ran.complaint().contains("cannot create a file in dir: "),
        "{ran:?}"
    );
    assert_eq!(place.names(), ["dir", "in"]);
}

/// A sort into the set that has begun and waits for its input.
fn waiting(place: &Place) -> std::process::Child {
    let mut command = place.command("sort --format gensort -o set -o b -o new/");
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let is_begun = || {
        let made = place.path("new").is_dir();
        made && names_in(place, "new")
            .iter()
            .any(|name| name.starts_with(".gristmill-"))
    };
    while !is_begun() {
        assert_eq!(
            child.try_wait().unwrap(),
            None,
            "it ended before it began its output"
        );
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    child
}

#[test]
fn a_signal_leaves_the_old_set_and_a_kill_what_the_next_run_sweeps() {
    let place = Place::with_records(3000);
    place
        .run("sort --format gensort in -o set/ -o b/")
        .succeeded();
    let old = snapshot(&place, &["set", "b"]);
    let mut child = waiting(&place);
    child
        .stdin
        .as_mut()
        .unwrap()
        .write_all(&place.read("in"))
        .unwrap();
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert_eq!(Ran::from(child.wait_with_output().unwrap()).code, 128 + 15);
    assert!(snapshot(&place, &["set", "b"]) == old);
    assert_eq!(place.names(), ["b", "in", "set"]);
    let mut child = waiting(&place);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(names_in(&place, "new").len(), 1);
    assert!(place.run("valsort set").code == 0);
    // As if it had been killed while its files got their names.
    let (dead, name) = ("set/part-00000-00000abc", "part-00000-00000abc");
    place.write(dead, "dead");
    let home = place.path("set").canonicalize().unwrap();
    let journal = serde_json::json!({ "directories": [home], "files": [[0, name]] });
    let journal = sealed(JOURNAL, &journal.to_string());
    place.write(&format!("set/{JOURNAL}"), journal);
    // Another run that is alive keeps its files.
    let mut alive = waiting(&place);
    let begun = names_in(&place, "b").len();
    place
        .run("sort --format gensort in -o set/other")
        .succeeded();
    assert!(!place.path(dead).exists());
    assert_eq!(names_in(&place, "b").len(), begun);
    alive
        .stdin
        .take()
        .unwrap()
        .write_all(&place.read("in"))
        .unwrap();
    Ran::from(alive.wait_with_output().unwrap()).succeeded();
    assert!(content(&place, "set") == sorted(&place.read("in"), RECORD_BYTES));
    assert_eq!(names_in(&place, "set").len(), 3);
    assert_eq!(
        (names_in(&place, "b").len(), names_in(&place, "new").len()),
        (1, 1)
    );
}

/// Kills a sort at many instants of its life, most of them near its end: always one whole set is
/// there, and the next run takes away what is no part of it.
#[test]
fn a_kill_at_any_moment_leaves_one_whole_set() {
    let instants = cases(8, 24);
    let place = Place::with_records(100_000);
    place.run("gensort -b 7 1000 few").succeeded();
    let sets = ["in", "few"].map(|name| sorted(&place.read(name), RECORD_BYTES));
    place
        .run("sort --format gensort few -o a/ -o b/")
        .succeeded();
    let line = "sort --format gensort in -o a -o b";
    let begin = std::time::Instant::now();
    place.run(line).succeeded();
    let life = begin.elapsed();
    for instant in 0..instants {
        let mut child = place.command(line).spawn().unwrap();
        let part = if instant % 3 == 0 {
            instant
        } else {
            instants * 3 / 4 + instant / 3
        };
        std::thread::sleep(life * part / instants);
        child.kill().unwrap();
        child.wait().unwrap();
        let now = content(&place, "a");
        assert!(
            sets.contains(&now),
            "instant {instant}: neither the old set nor the new one"
        );
        place.run("sort --format gensort few -o a -o b").succeeded();
        let names = names_in(&place, "a").len() + names_in(&place, "b").len();
        let listed = manifest(&place, "a")["files"].as_array().unwrap().len();
        assert_eq!(names, 1 + listed, "instant {instant}: something is left");
    }
}

/// A set of rows without a row keeps their header, in every way that it is made.
#[test]
fn a_set_without_rows_keeps_its_header() {
    let place = Place::new();
    place.write("none", "b,a\n");
    place.write("crlf", "b,a\r\n");
    place.write("open", "b,a");
    for line in [
        "none -o set/",
        "none none -o set/",
        "crlf -o set/",
        "open -o set/",
        "none -u --key a -o set/ -o set2/",
        "none -m --key b -o set/",
        "open -m --key b -o set/",
        "open open -m --key b -o set/ -o set2/",
        "none --format tsv -o set/",
        "none -S 6M --plan two-pass -o set/",
        "none --plan merge -o set/",
    ] {
        let format = if line.contains("--format") {
            ""
        } else {
            "--format csv"
        };
        place.run(&format!("sort {format} {line}")).succeeded();
        let names = names_in(&place, "set");
        assert_eq!(names.len(), 2, "{line}: {names:?}");
        let format = if line.contains("tsv") { "tsv" } else { "csv" };
        let back = place
            .run(&format!("sort --format {format} set/"))
            .succeeded()
            .out;
        let wanted = place.read(line.split(' ').next().unwrap());
        let end = if wanted.ends_with(b"\n") {
            &b""[..]
        } else {
            b"\n"
        };
        assert_eq!(back, [&wanted[..], end].concat(), "{line}");
        // With rows of another input, and into a set again.
        place.write("rows", "b,a\n1,2\n");
        if !line.contains("crlf") && !line.contains("tsv") {
            place.run("sort --format csv set rows -o both").succeeded();
            assert_eq!(place.read("both"), b"b,a\n1,2\n", "{line}");
        }
        place
            .run(&format!("sort --format {format} set -o set"))
            .succeeded();
        assert_eq!(names_in(&place, "set").len(), 2, "{line}");
        for name in ["set", "set2"] {
            let _ = fs::remove_dir_all(place.path(name));
        }
    }
    // No byte, no header, no file.
    place.write("empty", "");
    place.run("sort --format csv empty -o set/").succeeded();
    assert_eq!(names_in(&place, "set"), ["manifest.json"]);
}

/// A copied directory has its own files alone: those in other directories belong to the original.
#[test]
fn a_copy_of_a_set_leaves_the_files_of_the_original() {
    let place = Place::with_records(200_000);
    place
        .run("sort --format gensort in -o a/ -o d/")
        .succeeded();
    assert!(
        names_in(&place, "d").len() == 1,
        "{:?}",
        names_in(&place, "d")
    );
    let copied = children::Command::new("cp")
        .args(["-r", "a", "b"])
        .current_dir(place.path("."))
        .status();
    assert!(copied.unwrap().success());
    place.run("gensort 500 few").succeeded();
    place
        .run("sort --format gensort few -o b/ -o d/")
        .succeeded();
    place.run("valsort a").succeeded();
    place.run("valsort b").succeeded();
    // The original's own successor removes them.
    place
        .run("sort --format gensort few -o a/ -o d/")
        .succeeded();
    place.run("valsort b").succeeded();
}

/// A copied list of outputs tells nothing of the outputs of the original.
#[test]
fn a_copied_list_warns_of_no_file_of_the_original() {
    let place = Place::new();
    fs::create_dir(place.path("a")).unwrap();
    place.write("a/in", "2\n1\n");
    let sort = |directory: &str| {
        let mut command = place.command("sort in -o out-{rank}");
        command
            .env("OMPI_COMM_WORLD_SIZE", "1")
            .current_dir(place.path(directory));
        crate::common::Ran::from(command.output().unwrap())
            .succeeded()
            .err
    };
    assert_eq!(sort("a"), "");
    // As two ranks leave it.
    let list = String::from_utf8(place.read("a/out-0.manifest.json")).unwrap();
    let mut list: serde_json::Value = serde_json::from_str(&list).unwrap();
    let mut second = list["files"][0].clone();
    let path = second["path"].as_str().unwrap().replace("out-0", "out-1");
    second["path"] = path.into();
    list["files"].as_array_mut().unwrap().push(second);
    place.write("a/out-0.manifest.json", list.to_string());
    place.write("a/out-1", "3\n");
    let copied = children::Command::new("cp")
        .args(["-r", "a", "b"])
        .current_dir(place.path("."))
        .status();
    assert!(copied.unwrap().success());
    assert_eq!(sort("b"), "", "the original's files are good");
    let said = sort("a");
    assert!(
        said.contains("a/out-1: an earlier sort left this file"),
        "{said}"
    );
}
