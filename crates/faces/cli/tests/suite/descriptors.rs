//! Names of open descriptors, such as `/dev/stdout`: the output goes on where they stand, and what a
//! script printed before and prints afterwards stays.

use std::os::unix::fs::symlink;

use crate::common::Place;

const LINES: &str = "pear\napple\nfig\n";
const SORTED: &str = "apple\nfig\npear\n";

/// A place with an input, its sorted form, and links to descriptors.
fn place() -> Place {
    let place = Place::new();
    place.write("in", LINES);
    place.write("sorted", SORTED);
    symlink("/dev/stdout", place.path("link")).unwrap();
    symlink("link", place.path("link2")).unwrap();
    symlink("/dev/fd", place.path("fds")).unwrap();
    place
}

/// Runs a command between two lines that go to a file through descriptor `number`; `>` begins the
/// file, and `>>` goes on in it.
#[track_caller]
fn between(place: &Place, command: &str, number: u32, redirection: &str) -> Vec<u8> {
    place.write("log", "old\n");
    let script = format!(
        "{{ echo before >&{number}; {command}; echo after >&{number}; }} {number}{redirection} log"
    );
    let ran = place.run_shell(&script);
    let log = place.read("log");
    let text = String::from_utf8_lossy(&log);
    let old = if redirection == ">" { "" } else { "old\n" };
    assert!(
        text.starts_with(&format!("{old}before\n")),
        "{command}: {text:?}, {ran:?}"
    );
    assert!(text.ends_with("after\n"), "{command}: {text:?}, {ran:?}");
    log[old.len() + "before\n".len()..log.len() - "after\n".len()].to_vec()
}

#[test]
fn an_output_goes_on_where_its_descriptor_stands() {
    let place = place();
    for (output, number) in [
        ("/dev/stdout", 1),
        ("/dev/stderr", 2),
        ("/dev/fd/1", 1),
        ("/dev/fd/3", 3),
        ("/proc/self/fd/4", 4),
        ("/proc/self/../self/fd/4", 4),
        ("/proc/thread-self/fd/1", 1),
        ("link", 1),
        ("link2", 1),
        ("fds/5", 5),
    ] {
        for redirection in [">", ">>"] {
            for command in [
                "sort in",
                "sort -u in",
                "sort -m sorted",
                "sort -S 16M in in -u",
            ] {
                let command = format!("$GRISTMILL {command} -o {output}");
                let got = between(&place, &command, number, redirection);
                assert_eq!(String::from_utf8_lossy(&got), SORTED, "{command}");
            }
        }
    }
    let names = place.names();
    assert_eq!(names, ["fds", "in", "link", "link2", "log", "sorted"]);
}

/// Every command that writes a file by its name.
#[test]
fn every_file_that_is_named_may_be_a_descriptor() {
    let place = place();
    place.write("rows.csv", "a,b\n1,2\nwrong\n");
    let records = between(&place, "$GRISTMILL gensort 200 /dev/stdout", 1, ">");
    place.run("gensort 200 records").succeeded();
    assert!(records == place.read("records"));
    let report = "$GRISTMILL sort in -o out --report /dev/fd/3 2>/dev/null";
    let report: serde_json::Value =
        serde_json::from_slice(&between(&place, report, 3, ">>")).unwrap();
    assert_eq!(report["records"], 3);
    let bad =
        "$GRISTMILL sort --format csv --key a rows.csv -o out --bad-records /dev/fd/3 2>/dev/null";
    let aside =
        "file,line,reason,row\n\"rows.csv\",\"3\",\"1 column, the header has 2\",\"wrong\"\n";
    assert_eq!(
        String::from_utf8(between(&place, bad, 3, ">")).unwrap(),
        aside
    );
    let packed = "$GRISTMILL sort in --compress-output gzip -o /dev/stdout";
    place.write("packed", between(&place, packed, 1, ">"));
    assert_eq!(place.run("sort packed").succeeded().out, SORTED.as_bytes());
    place
        .run("sort --format gensort records -o records")
        .succeeded();
    place.run("valsort -q -o sum records").succeeded();
    let sum = between(&place, "$GRISTMILL valsort -q -o /dev/fd/3 records", 3, ">");
    assert!(!sum.is_empty() && sum == place.read("sum"));
    let sim = "sim merge-min --cores 4";
    place.run(&format!("{sim} --trace trace")).succeeded();
    let traced = format!("$GRISTMILL {sim} --trace /dev/fd/3 > /dev/null");
    assert!(between(&place, &traced, 3, ">") == place.read("trace"));
}

#[test]
fn the_page_of_an_experiment_goes_to_a_descriptor() {
    let place = place();
    let page = "$GRISTMILL lab run figure-2 -o /dev/fd/3 --csv /dev/fd/4 4>table >/dev/null 2>&1";
    let page = between(&place, page, 3, ">");
    assert!(page.starts_with(b"<!") && !place.read("table").is_empty());
}

/// A descriptor is written in place, so it must not be an input whose content is there alone.
#[test]
fn an_input_is_not_written_over_through_a_descriptor() {
    let place = place();
    for (command, name) in [
        ("sort in -o /dev/stdout 1<> in", "in"),
        ("sort in 1<> in", "in"),
        ("sort sorted -m -o /dev/fd/3 3<> sorted", "sorted"),
        ("sort -m sorted 1<> sorted", "sorted"),
        ("sort in in -u -o /dev/fd/3 3<> in", "in"),
        ("sort < in 1<> in", "in"),
        ("sort -m - in < sorted >> sorted", "sorted"),
        // The ninth is opened again each time, and must not have grown.
        (
            "sort -m sorted sorted sorted sorted sorted sorted sorted sorted sorted >> sorted",
            "sorted",
        ),
    ] {
        let before = place.snapshot();
        let ran = place.run_shell(&format!("$GRISTMILL {command}"));
        assert_eq!(ran.code, 2, "{command}: {ran:?}");
        let line = ran.complaint();
        let says = line.contains("is the input") && line.contains("-o");
        assert!(
            says && (line.contains(name) || line.contains("standard input")),
            "{line}"
        );
        assert!(place.snapshot() == before, "{command}");
    }
    // Added bytes stand behind the input.
    for command in [
        "sort in >> in",
        "sort < in >> in",
        "sort -m in -o /dev/stdout >> in",
    ] {
        place.write("in", SORTED);
        place
            .run_shell(&format!("$GRISTMILL {command}"))
            .succeeded();
        assert_eq!(
            place.read("in"),
            [SORTED, SORTED].concat().as_bytes(),
            "{command}"
        );
    }
}

#[test]
fn a_descriptor_that_cannot_be_written_is_refused_before_the_sort() {
    let place = place();
    // The command opens descriptors of its own, which a shell does not know.
    let not_open = (3..10).map(|number| format!("sort in -o /dev/fd/{number}"));
    let read_only = "sort in -o /dev/fd/3 3< sorted".to_owned();
    for command in not_open.chain([read_only, "sort in -o out --report /dev/fd/3".to_owned()]) {
        let ran = place.run_shell(&format!("$GRISTMILL {command}"));
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.complaint().contains("/dev/fd/"), "{ran:?}");
        assert_eq!(place.read("sorted"), SORTED.as_bytes());
    }
    let ran = place.run_shell("$GRISTMILL sort in --verify -o /dev/fd/3 3> log");
    assert!(ran.complaint().contains("--verify reads"), "{ran:?}");
}

/// As with GNU sort, whose `-` goes on where the stream stands, and whose `/dev/stdin` opens the file.
#[test]
fn inputs_that_are_descriptors_are_read_as_gnu_sort_does() {
    let place = place();
    for (name, expected) in [
        ("-", "apple\nfig\n"),
        ("/dev/stdin", SORTED),
        ("/dev/fd/0", SORTED),
        ("/proc/self/fd/0", SORTED),
    ] {
        for program in ["$GRISTMILL sort", "LC_ALL=C sort"] {
            let script = format!("{{ read first; {program} {name}; }} < in");
            let ran = place.run_shell(&script).succeeded();
            assert_eq!(String::from_utf8_lossy(&ran.out), expected, "{script}");
        }
    }
    let ran = place
        .run_shell("cat in | $GRISTMILL sort /dev/stdin")
        .succeeded();
    assert_eq!(ran.out, SORTED.as_bytes());
}
