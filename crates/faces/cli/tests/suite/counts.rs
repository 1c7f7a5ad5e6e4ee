//! `sort -u --count` beside `sort | uniq -c`, and by keys beside a naive count.

use std::collections::BTreeMap;

use children::Command;

use crate::common::{Place, skip};
use crate::gnu::draw::Draw;

/// Lines of few words, so that many are equal.
fn lines(draw: &mut Draw, end: u8) -> Vec<u8> {
    let (count, words) = (draw.below(3000), 1 + draw.below(400));
    let mut text = Vec::new();
    for _ in 0..count {
        text.extend(format!("{} {}", draw.below(words), draw.below(3)).bytes());
        text.push(end);
    }
    if draw.one_in(3) {
        text.pop();
    }
    text
}

#[test]
fn counts_are_those_of_uniq() {
    if Command::new("uniq").arg("--version").output().is_err() {
        skip("no uniq");
        return;
    }
    let (place, draw) = (Place::new(), &mut Draw(7));
    for case in 0..60 {
        let (letter, end) = [("", b'\n'), ("-z", 0)][draw.below(2)];
        let plan = draw.of(&["auto", "one-pass", "two-pass", "merge"]);
        place.write("a", lines(draw, end));
        place.write("b", lines(draw, end));
        let piped = format!("export LC_ALL=C; sort {letter} a b | uniq -c {letter}");
        let expected = place.run_shell(&piped).succeeded().out;
        let to_file = format!("sort -u --count {letter} --plan {plan} a b -o out");
        place.run(&to_file).succeeded();
        assert!(place.read("out") == expected, "case {case}: {to_file}");
        let to_pipe = format!("sort -u --count {letter} --plan {plan} a b");
        let ran = place.run(&to_pipe).succeeded();
        assert!(ran.out == expected, "case {case}: {to_pipe}");
    }
}

#[test]
fn by_keys_the_first_line_is_shown() {
    let (place, draw) = (Place::new(), &mut Draw(8));
    for case in 0..30 {
        let input = lines(draw, b'\n');
        place.write("a", &input);
        let mut groups: BTreeMap<u32, (u32, &str)> = BTreeMap::new();
        let text = std::str::from_utf8(&input).unwrap();
        for line in text.lines() {
            let key = line.split(' ').next().unwrap().parse().unwrap();
            groups.entry(key).or_insert((0, line)).0 += 1;
        }
        let expected: String = groups
            .values()
            .rev()
            .map(|(count, line)| format!("{count:7} {line}\n"))
            .collect();
        place.run("sort -u --count -k1,1nr a -o out").succeeded();
        assert_eq!(place.read("out"), expected.as_bytes(), "case {case}");
    }
}

#[test]
fn the_report_tells_of_counted_lines() {
    let place = Place::new();
    place.write("in", "b\na\nb\nb\n");
    let ran = place.run("sort -u --count in -o out --json").succeeded();
    let report = ran.json();
    assert_eq!(place.read("out"), b"      1 a\n      3 b\n");
    assert_eq!(report["records"], 2);
    assert_eq!(report["bytes"], 20);
}

#[test]
fn counts_are_refused_where_they_stand_in_the_way() {
    let place = Place::new();
    place.write("in", "a\n");
    for (options, hint) in [
        ("in", "add -u"),
        ("-u --top 3 in", "leave --top out"),
        ("-u --debug in", "--debug shows all of them"),
        ("-u --verify in -o out", "--verify reads them again"),
        ("-u in -o out/", "name one file with -o"),
        ("-u in -o out --resume", "--count has no --resume"),
        ("-u in -o out-{rank}", "{rank}"),
        ("-u -c in", "--count has nothing to do"),
        ("-u --format fixed:1 in", "--count is for lines"),
    ] {
        let ran = place.run(&format!("sort --count {options}"));
        assert_eq!(ran.code, 2, "{options}: {}", ran.err);
        assert!(ran.err.contains(hint), "{options}: {}", ran.err);
    }
}

/// The other one of equal lines, and messages for those who have not asked for one.
#[test]
fn the_last_of_equal_lines_is_kept_where_it_can_be() {
    let place = Place::new();
    place.write("in", "b 1\na 2\nb 3\n");
    for (options, kept) in [
        ("-u --keep last", "a 2\nb 3\n"),
        ("-u --keep first", "a 2\nb 1\n"),
        ("-u --keep last --count", "      1 a 2\n      2 b 3\n"),
        ("-m -u --keep last", "a 2\nb 3\n"),
    ] {
        let ran = place.run(&format!("sort {options} -k1,1 in")).succeeded();
        assert_eq!(String::from_utf8_lossy(&ran.out), kept, "{options}");
    }
    let ran = place.run("explain -u --keep last -k1,1 in").succeeded();
    let said = String::from_utf8_lossy(&ran.out);
    assert!(said.contains("only the last is kept"), "{said}");
    for (options, told) in [
        (
            "--keep last in",
            "--keep says which of equal records -u keeps; add -u",
        ),
        (
            "--format csv --key b --bad-records - in",
            "not standard output; name one",
        ),
    ] {
        let ran = place.run(&format!("sort {options}"));
        assert_eq!(ran.code, 2, "{options}: {}", ran.err);
        assert!(ran.err.contains(told), "{options}: {}", ran.err);
    }
    let ran = place.run("sort --header # --header % in").succeeded();
    let told = "no input begins with \"#\" or \"%\"";
    assert!(ran.err.contains(told), "{}", ran.err);
    let ran = place
        .run("sort --format csv --header # --key #1 in")
        .succeeded();
    assert!(
        ran.err.contains("no input begins with \"#\""),
        "{}",
        ran.err
    );
    let ran = place.run("sort --header b in").succeeded();
    assert!(!ran.err.contains("no input begins"), "{}", ran.err);
}
