//! No file that a command writes beside its output is one that it reads, an output, or another of
//! them: under any name, whether it exists or not.

use std::fs;
use std::os::unix::fs::symlink;

use crate::common::{Place, Ran};
use crate::ranks;

/// The command as the only rank of a job, which needs no MPI.
fn as_only_rank(place: &Place, line: &str) -> Ran {
    let mut command = place.command(line);
    Ran::from(command.env("OMPI_COMM_WORLD_SIZE", "1").output().unwrap())
}

/// A place with inputs, links to them, and a set of files.
fn place() -> Place {
    let place = Place::new();
    let shuffled: String = (0..500)
        .map(|line| format!("{}\n", line * 7919 % 500))
        .collect();
    place.write("in", &shuffled);
    place.write("out-0.manifest.json", &shuffled);
    place.write("rows", "a,b\n2,x\n1,y\n");
    place.write("names", b"in\0");
    fs::hard_link(place.path("in"), place.path("hard")).unwrap();
    symlink("in", place.path("soft")).unwrap();
    symlink("not-yet", place.path("dangling")).unwrap();
    place.run("sort in -o set/").succeeded();
    let machine = place.run("sim machine nanopu").succeeded().out;
    place.write("machine.toml", machine);
    let experiment = include_str!("../../../../../experiments/nanosort/figure-2.toml");
    place.write(
        "experiment.toml",
        experiment.replace("\"nanopu\"", "\"machine.toml\""),
    );
    place
}

#[test]
fn nothing_is_written_over_an_input_or_another_file() {
    let place = place();
    let part = fs::read_dir(place.path("set"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name());
    let part = part
        .map(|name| name.into_string().unwrap())
        .find(|name| name.starts_with("part-"));
    let part = part.unwrap();
    let before = (place.names(), place.snapshot());
    let lines = [
        ("sort in -o out --report in", "--report"),
        ("sort in -o out --report hard", "--report"),
        (
            "sort --format csv rows -o new/ --bad-records new/manifest.json",
            "--bad-records",
        ),
        (
            "sort --format csv rows -o new/ --bad-records ./new/../new/manifest.json",
            "--bad-records",
        ),
        ("lab run experiment.toml -o machine.toml", "--output"),
        ("lab report experiment.toml -o machine.toml", "--output"),
        ("sort in -o out --report soft", "--report"),
        ("sort in -o out --report out", "--report"),
        ("sort in -o out --report ./set/../out", "--report"),
        // The output is what the link leads to, and does not exist yet.
        ("sort in -o dangling --report not-yet", "--report"),
        ("sort in -o not-yet --report dangling", "--report"),
        ("sort --files0-from names -o out --report names", "--report"),
        (
            "sort -R --random-source rows in -o out --report rows",
            "--report",
        ),
        ("sort set -o out --report set/manifest.json", "--report"),
        ("sort set -o out --report set/PART", "--report"),
        ("sort in -o set --report set/manifest.json", "--report"),
        (
            "sort --format csv rows -o out --bad-records rows",
            "--bad-records",
        ),
        (
            "sort --format csv rows -o out --bad-records out",
            "--bad-records",
        ),
        (
            "sort --format csv rows -o out --bad-records b --report b",
            "--report",
        ),
        (
            "sort --format csv rows -o set --bad-records set/manifest.json",
            "--bad-records",
        ),
        ("sort set/manifest.json -o set", "the manifest"),
        (
            "sort out-0.manifest.json -o out-{rank}",
            "the list of all outputs",
        ),
        (
            "sort in -o out-{rank} --report out-0.manifest.json",
            "--report",
        ),
        (
            "sort --format csv rows -o out-{rank} --bad-records out-0.manifest.json",
            "--bad-records",
        ),
        ("valsort -o in in", "-o would overwrite in"),
        ("valsort -o soft in,buf", "-o would overwrite"),
        ("valsort -o set/manifest.json set", "-o would overwrite"),
        ("valsort -o set/PART set/", "-o would overwrite"),
        ("valsort -s -o hard in", "-o would overwrite"),
        (
            "sim loopback --machine machine.toml --trace ./machine.toml",
            "--trace would overwrite machine.toml",
        ),
        ("lab run in --output soft", "--output would overwrite"),
        ("lab run in --csv in", "--csv would overwrite"),
        (
            "lab run nanosort-figure-9 --output page --csv page",
            "would overwrite",
        ),
        ("lab report in --output hard", "--output would overwrite"),
    ];
    for (line, what) in lines {
        let line = line.replace("PART", &part);
        let ran = as_only_rank(&place, &line);
        assert_eq!(ran.code, 2, "{line}: {ran:?}");
        assert!(
            ran.err.contains(what) && ran.err.contains("would overwrite"),
            "{line}: {ran:?}"
        );
        assert!((place.names(), place.snapshot()) == before, "{line}");
    }
}

/// Streams may be redirected files.
#[test]
fn nothing_is_written_over_a_stream() {
    let place = place();
    let before = place.snapshot();
    for line in [
        "sort --report in -o out < in",
        "sort --report soft -o out rows - < in",
        "sort --format csv --key a --bad-records rows -o out < rows",
        "sort --format csv --key a --bad-records kept rows >> kept",
    ] {
        let ran = place.run_shell(&format!("$GRISTMILL {line}"));
        assert!(
            ran.code == 2 && ran.complaint().contains("would overwrite"),
            "{line}: {ran:?}"
        );
        let _ = fs::remove_file(place.path("kept"));
        assert!(place.snapshot() == before, "{line}");
    }
}

/// An output may still be an input, and a set may be sorted in place.
#[test]
fn outputs_may_be_inputs() {
    let place = place();
    let whole = place.run("sort in").succeeded().out;
    place.run("sort in -o in --report report").succeeded();
    assert!(place.read("in") == whole);
    place.run("sort set -o set --report set/report").succeeded();
    assert!(place.run("sort set").succeeded().out == whole);
    place.run("sort in -o out --report /dev/null").succeeded();
    let rows = "sort --format csv rows -o out --bad-records /dev/null --report /dev/null";
    place.run(rows).succeeded();
    as_only_rank(&place, "sort in -o list-{rank}").succeeded();
    place.run("gensort 9 records").succeeded();
    place
        .run("sort --format gensort records -o sorted/")
        .succeeded();
    place.run("valsort -o in.sum sorted").succeeded();
}

/// A sort removes what a killed one has left, so it does not read such files.
#[test]
fn a_temporary_file_is_no_input() {
    let place = place();
    let name = ".gristmill-0123456789abcdef.tmp";
    place.write(name, "2\n1\n");
    let ran = place.run(&format!("sort {name} -o out"));
    assert!(
        ran.code == 2 && ran.complaint().contains("rename it first"),
        "{ran:?}"
    );
    assert_eq!(place.read(name), b"2\n1\n");
    for line in ["sort in -o NAME", "sort in -o out --report NAME"] {
        let ran = place.run(&line.replace("NAME", name));
        assert!(ran.complaint().contains("rename it first"), "{ran:?}");
        assert_eq!(place.read(name), b"2\n1\n");
    }
    place.run("sort in -o .gristmill-mine").succeeded();
}

/// Rank 0 looks at the files of all ranks.
#[test]
fn ranks_write_over_no_file_of_another() {
    let place = place();
    fs::copy(place.path("in"), place.path("in-0")).unwrap();
    symlink("out-0.manifest.json", place.path("in-1")).unwrap();
    let before = (place.names(), place.snapshot());
    for (line, what) in [
        (
            "sort out-0.manifest.json -o out-{rank}",
            "the list of all outputs",
        ),
        ("sort in-{rank} -o out-{rank}", "the list of all outputs"),
        ("sort in -o new-{rank} --report new-1", "--report"),
        ("sort in-{rank} -o new-{rank} --report report-{rank}", ""),
    ] {
        if what.is_empty() {
            symlink("in-0", place.path("report-1")).unwrap();
        }
        let Some(ran) = ranks::run(&place, 2, line) else {
            return;
        };
        let said = ranks::lines(&ran);
        assert!(ran.code == 2 && said.len() == 1, "{line}: {ran:?}");
        assert!(
            said[0].contains(what) && said[0].contains("would overwrite"),
            "{line}: {said:?}"
        );
        let _ = fs::remove_file(place.path("report-1"));
        assert!((place.names(), place.snapshot()) == before, "{line}");
    }
}
