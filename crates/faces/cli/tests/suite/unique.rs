//! `sort -u` into sets and with `--resume`, beside GNU sort.

use std::process::Stdio;

use children::Command;
use rustix::process::{Pid, Signal, kill_process};

use crate::common::{Place, skip};
use crate::gnu::draw::Draw;

/// Lines of a few words and numbers, so that many have equal keys.
fn lines(draw: &mut Draw, count: usize, end: u8) -> Vec<u8> {
    let words = 1 + draw.below(400);
    let mut text = Vec::new();
    for _ in 0..draw.below(count) {
        let (word, letter) = (draw.below(words), [b'a', b'A', b'b'][draw.below(3)]);
        text.extend(format!("{word} {} ", draw.below(3)).bytes());
        text.extend([letter, end]);
    }
    text
}

fn is_without_sort() -> bool {
    let is_missing = Command::new("sort").arg("--version").output().is_err();
    if is_missing {
        skip("no sort");
    }
    is_missing
}

const OPTIONS: [&str; 7] = ["", "-n", "-r", "-f", "-k2,2", "-k1,1nr -k3", "-sk3"];

/// The files of a set, one behind the other.
fn content(place: &Place, directory: &str) -> Vec<u8> {
    let text = place.read(&format!("{directory}/manifest.json"));
    let manifest: serde_json::Value = serde_json::from_slice(&text).unwrap();
    let files = manifest["files"].as_array().unwrap().iter();
    let path = |file: &serde_json::Value| match file["path"].as_str().unwrap() {
        name if name.starts_with('/') => name.to_owned(),
        name => format!("{directory}/{name}"),
    };
    files.flat_map(|file| place.read(&path(file))).collect()
}

#[test]
fn sets_have_the_lines_of_gnu_sort() {
    if is_without_sort() {
        return;
    }
    let (place, draw) = (Place::new(), &mut Draw(11));
    for case in 0..40 {
        let (letter, end) = [("", b'\n'), ("-z", 0)][draw.below(2)];
        let options = draw.of(&OPTIONS);
        let plan = draw.of(&["auto", "one-pass", "two-pass", "merge"]);
        place.write("a", lines(draw, 4000, end));
        place.write("b", lines(draw, 4000, end));
        let expected = format!("export LC_ALL=C; sort -u {letter} {options} a b");
        let expected = place.run_shell(&expected).succeeded().out;
        let line = format!("sort -u {letter} {options} --plan {plan} a b -o s/ -o t/ --verify");
        place.run(&line).succeeded();
        assert!(content(&place, "s") == expected, "case {case}: {line}");
        // A set is an input: of a merge, too.
        let merged = format!("sort -m -u {letter} {options} s a -o out");
        let ran = place.run(&merged);
        assert!(
            ran.code == 0 || ran.err.contains("a:"),
            "case {case}: {}",
            ran.err
        );
        let merged = format!("sort -m -u {letter} {options} s s -o m/");
        place.run(&merged).succeeded();
        assert!(content(&place, "m") == expected, "case {case}: {merged}");
    }
}

#[test]
fn rows_have_their_header_in_each_file_of_a_set() {
    let place = Place::new();
    let rows: String = (0..3000)
        .map(|row| format!("{},\"{row}\n\"\n", row % 70))
        .collect();
    place.write("in", format!("number,text\n{rows}"));
    let line = "sort -u --format csv --key number:num in -o s/ -o t/";
    place.run(line).succeeded();
    let text = String::from_utf8(content(&place, "s")).unwrap();
    let expected: String = (0..70).map(|row| format!("{row},\"{row}\n\"\n")).collect();
    assert_eq!(text.replace("number,text\n", ""), expected);
    let text = String::from_utf8(place.read("s/manifest.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&text).unwrap();
    let files = manifest["files"].as_array().unwrap().len();
    let headers = String::from_utf8(content(&place, "s")).unwrap();
    assert_eq!(headers.matches("number,text\n").count(), files);
}

/// Killed when it has written a part of its output, the sort drops no line and keeps none twice.
#[test]
fn a_killed_sort_continues() {
    if is_without_sort() {
        return;
    }
    let place = Place::new();
    let count = 1_500_000_u64;
    let mut text = Vec::new();
    for line in 0..count {
        let word = line.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        text.extend(format!("{:08} and some more bytes {}\n", word % 700_000, line % 2).bytes());
    }
    place.write("in", text);
    let line = "sort -u -k1,1 in -o out -S 16M --resume";
    let expected = place.run_shell("LC_ALL=C sort -u -k1,1 in").succeeded().out;
    let mut killed = 0;
    for end in [".epoch-1", ".part-0", ".part-3"] {
        let mut child = place.command(line).stderr(Stdio::piped()).spawn().unwrap();
        let has = |name: &String| name.ends_with(end);
        while !place.unfinished().iter().any(has) && child.try_wait().unwrap().is_none() {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        let _ = kill_process(Pid::from_child(&child), Signal::KILL);
        killed += usize::from(!child.wait().unwrap().success());
    }
    let ran = place.run(&format!("{line} --verify --json")).succeeded();
    assert!(place.read("out") == expected);
    assert_eq!(ran.json()["bytes"], expected.len());
    assert!(place.unfinished().is_empty(), "{:?}", place.unfinished());
    assert!(killed > 0, "every sort was done before it was killed");
}
