//! Rows as files have them: blank lines, byte order marks, carriage returns, a last row without its
//! newline. Every way to read an input treats them alike.

use crate::common::{Place, cases};
use crate::gnu::draw::Draw;
use crate::ranks;

const MARK: &str = "\u{feff}";

#[derive(Clone, Copy, PartialEq, Debug)]
enum Format {
    Csv,
    NoHeader,
    Tsv,
    JsonLines,
}

impl Format {
    const ALL: [Format; 4] = [
        Format::Csv,
        Format::NoHeader,
        Format::Tsv,
        Format::JsonLines,
    ];

    fn options(self) -> &'static str {
        match self {
            Format::Csv => "--format csv --key id:num",
            Format::NoHeader => "--format csv --no-header --key #1:num",
            Format::Tsv => "--format tsv --key id:num",
            Format::JsonLines => "--format jsonl --key id:num",
        }
    }

    fn header(self) -> &'static str {
        match self {
            Format::Csv => "id,text",
            Format::Tsv => "id\ttext",
            Format::NoHeader | Format::JsonLines => "",
        }
    }

    fn row(self, id: usize, draw: &mut Draw) -> String {
        let text = ["a", "", "bb"][draw.below(3)];
        match self {
            Format::Csv | Format::NoHeader => match draw.below(6) {
                0 => format!("{id},\"{text}\n\n,\""),
                _ => format!("{id},{text}"),
            },
            Format::Tsv => format!("{id}\t{text}"),
            Format::JsonLines => format!("{{\"id\": {id}, \"t\": \"{text}\"}}"),
        }
    }
}

/// A file, and its rows with their keys.
#[derive(Default)]
struct File {
    text: String,
    rows: Vec<(usize, String)>,
    blank: usize,
}

fn draw(format: Format, draw: &mut Draw, (sorted, most): (bool, usize)) -> Vec<File> {
    let end = ["\n", "\r\n"][draw.below(2)];
    let count = 1 + draw.below(3);
    let file = |_| {
        let mut file = File::default();
        if draw.one_in(3) {
            file.text += MARK;
        }
        if !format.header().is_empty() {
            file.text += &format!("{}{end}", format.header());
        }
        let mut ids: Vec<usize> = (0..draw.below(most)).map(|_| draw.below(50)).collect();
        if sorted {
            ids.sort_unstable();
        }
        for id in ids {
            // The first row tells that there are columns.
            if draw.one_in(4) && (format != Format::NoHeader || !file.rows.is_empty()) {
                let blank = draw.below(4);
                file.text += &end.repeat(blank);
                file.blank += blank;
            }
            let row = format.row(id, draw) + end;
            file.text += &row;
            file.rows.push((id, row));
        }
        if end == "\n" && draw.one_in(4) {
            let whole = file.text.trim_end_matches('\n').len();
            file.text.truncate(whole);
        }
        file
    };
    (0..count).map(file).collect()
}

/// The sorted output.
fn expected(format: Format, files: &[File], (stable, unique, top): Kept) -> String {
    let mut rows: Vec<_> = files.iter().flat_map(|file| &file.rows).collect();
    if stable || unique {
        rows.sort_by_key(|(id, _)| *id)
    } else {
        rows.sort()
    }
    if unique {
        rows.dedup_by_key(|(id, _)| *id);
    }
    let marked = |file: &File| file.text.starts_with(MARK);
    // A header is that of the first file.
    let has_mark = match format.header() {
        "" => files.iter().any(marked),
        _ => marked(&files[0]),
    };
    let mut out = String::new();
    if has_mark {
        out += MARK;
    }
    if !format.header().is_empty() {
        let end = if files[0].text.contains("\r\n") {
            "\r\n"
        } else {
            "\n"
        };
        out += &format!("{}{end}", format.header());
    }
    rows.iter().take(top).for_each(|(_, row)| out += row);
    out
}

/// Whether the sort is stable, whether it keeps only the first of equal keys, and how many rows.
type Kept = (bool, bool, usize);

const ALL: usize = usize::MAX;
const HOW: [(&str, Kept); 8] = [
    ("-m -s", (true, false, ALL)),
    ("-s", (true, false, ALL)),
    ("-u", (false, true, ALL)),
    ("--top 3", (false, false, 3)),
    ("--plan two-pass -S 64M", (false, false, ALL)),
    ("--resume -T . -S 32M", (false, false, ALL)),
    ("--plan merge", (false, false, ALL)),
    ("", (false, false, ALL)),
];

#[test]
fn blank_lines_and_marks_are_no_rows_however_they_are_read() {
    for seed in 0..cases(60, 250) {
        let random = &mut Draw(seed.into());
        let format = Format::ALL[random.below(4)];
        let (extra, kept) = HOW[random.below(HOW.len())];
        let most = [3, 30, 3000][random.below(3)];
        let files = draw(format, random, (extra.contains("-m"), most));
        let place = Place::new();
        let mut line = format!("sort {} {extra}", format.options());
        for (number, file) in files.iter().enumerate() {
            place.write(&format!("in{number}"), &file.text);
            line += &format!(" in{number}");
        }
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        let report = place.run(&format!("{line} -o out --json"));
        assert_eq!(report.code, 0, "seed {seed}: {line}: {}", report.err);
        let out = text(place.read("out"));
        assert_eq!(out, expected(format, &files, kept), "seed {seed}: {line}");
        let blank: usize = files.iter().map(|file| file.blank).sum();
        assert_eq!(report.json()["blank_lines"], blank, "seed {seed}: {line}");
        let stable = if kept.0 { "-s" } else { "" };
        let check = format!("check {} {stable} out", format.options());
        place.run(&check).succeeded();
        if !extra.contains("--resume") {
            let line = format!("sort {} {extra}", format.options());
            let piped = place.feed(&line, files[0].text.as_bytes()).succeeded();
            let one = expected(format, &files[..1], kept);
            assert_eq!(text(piped.out), one, "seed {seed}: {line}, from a pipe");
        }
    }
}

#[test]
fn ranks_skip_blank_lines() {
    let place = Place::new();
    let rows = |from: usize| {
        let row = |id: usize| format!("{},x\n\n\r\n", (id * 7919 + from) % 10_007);
        format!("{MARK}id,x\n{}", (0..5000).map(row).collect::<String>())
    };
    place.write("in0", rows(0));
    place.write("in1", rows(5));
    let line = "sort --format csv --key id:num in{rank} -o out{rank} --report report";
    let Some(ran) = ranks::run(&place, 2, line) else {
        return;
    };
    ran.succeeded();
    let report: serde_json::Value = serde_json::from_slice(&place.read("report")).unwrap();
    assert_eq!(
        (&report["records"], &report["blank_lines"]),
        (&10_000.into(), &20_000.into())
    );
    let all = [place.read("out0"), place.read("out1")].concat();
    assert_eq!(all.iter().filter(|&&byte| byte == b'\n').count(), 10_002);
}

/// A message names a row by the line on which it begins, wherever it comes from.
#[test]
fn rows_are_named_by_their_first_line() {
    let place = Place::new();
    let text = "\u{feff}a,\"b\n\"\n1,\"x\n\n\"\n\n2,y\n\n\"1\n\",z\nw,1\n";
    place.write("in", text);
    let csv = "--format csv --key a:num";
    let bad = "\"w\" in column a is not a number";
    for (line, from) in [("in", "in"), ("< in", "standard input"), ("-m in", "in")] {
        let ran = place.run_shell(&format!("$GRISTMILL sort {csv} {line}"));
        let expected = format!("gristmill: {from}, line 11: {bad}");
        assert!(
            ran.complaint().starts_with(&expected),
            "{line}: {}",
            ran.err
        );
    }
    let piped = place.feed(&format!("sort {csv}"), text.as_bytes());
    assert!(piped.complaint().contains(", line 11: "), "{}", piped.err);
    let sound = text.replace("w,1\n", "");
    place.write("in", &sound);
    let merged = place.run(&format!("sort -m {csv} in"));
    let order = "gristmill: in: line 9 is out of order, ";
    assert!(merged.err.starts_with(order), "{}", merged.err);
    for ran in [
        place.run(&format!("sort -c {csv} in")),
        place.feed(&format!("check {csv}"), sound.as_bytes()),
    ] {
        assert!(ran.err.contains(":9: disorder"), "{}", ran.err);
    }
    place.write("in", "a,b\n1,2\n\n\n2,2\n");
    place.run(&format!("sort -c {csv} in")).succeeded();
    let explained = place.run(&format!("explain {csv} in")).succeeded().err;
    assert!(explained.contains("a blank line is no row"), "{explained}");
    assert!(!explained.contains("a sort ends here"), "{explained}");
}

#[test]
fn a_blank_line_is_a_row_of_one_column() {
    let place = Place::new();
    for (options, text, expected) in [
        ("--format csv --key a:num", "a\n2\n\n1\n", "a\n\n1\n2\n"),
        ("--format tsv --key a", "a\nb\n\na\n", "a\n\na\nb\n"),
        ("--format csv --no-header --key #1", "b\n\na\n", "\na\nb\n"),
        (
            "--format csv --no-header --key #1",
            "b,1\n\na,1\n",
            "a,1\nb,1\n",
        ),
        (
            "--format csv --no-header --key #2",
            "b\n\na,1\n",
            "b\na,1\n",
        ),
    ] {
        place.write("in", text);
        for ran in [
            place.run(&format!("sort {options} in")),
            place.feed(&format!("sort {options}"), text.as_bytes()),
        ] {
            let out = String::from_utf8(ran.succeeded().out).unwrap();
            assert_eq!(out, expected, "{options}");
        }
    }
}

/// One after the other: behind a line that is set aside, quotes are read anew.
#[test]
fn lines_of_unclosed_quotes_are_set_aside_each() {
    let text = "id,name\n\"1,Ann\n\"2\",\"Rome\n3,Cy\n1,Bo\n2,Di\n";
    let place = Place::new();
    place.write("in", text);
    for options in ["", "--top 9", "-S 32M --plan two-pass", "--plan merge"] {
        for piped in [false, true] {
            let line = format!("sort --format csv --key id:num --bad-records bad {options}");
            let ran = if piped {
                place.feed(&line, text.as_bytes())
            } else {
                place.run(&format!("{line} in"))
            };
            let out = String::from_utf8(ran.succeeded().out).unwrap();
            assert_eq!(out, "id,name\n1,Bo\n2,Di\n3,Cy\n", "{options}, {piped}");
            let aside = String::from_utf8(place.read("bad")).unwrap();
            let lines = ["\"2\"", "\"3\""].map(|line| aside.contains(line));
            assert_eq!(lines, [true; 2], "{aside}");
        }
    }
}

/// The line on which an unclosed quote begins is set aside, and rows go on behind it, also beside rows
/// over several lines.
#[test]
fn the_line_of_an_unclosed_quote_is_set_aside() {
    let many: String = (0..30_000)
        .map(|id| format!("{},\"t\n\n\"\n", id % 101))
        .collect();
    let rows = "7,\"\"\n3,a\"\"b\n".to_owned();
    for (before, open, behind) in [
        ("", "5,\"un\n", "1,y\n"),
        ("2,x\n", "5,\"un\n", "1,y\n"),
        ("2,\"x\n,\"\n", "5,\"un\r\n", rows.as_str()),
        ("2,x\n", "5,\"un", ""),
        (many.as_str(), "5,\"un\n", "1,y\n"),
        ("2,x\n", "\"5\n", many.replace("\"t\n\n\"", "t").as_str()),
    ] {
        let text = format!("a,b\n{before}{open}{behind}");
        let line = 2 + before.matches('\n').count();
        let mut good: Vec<String> = Vec::new();
        for part in [before, behind] {
            let mut row = String::new();
            for piece in part.split_inclusive('\n') {
                row += piece;
                if row.matches('"').count().is_multiple_of(2) {
                    good.push(std::mem::take(&mut row));
                }
            }
        }
        let key = |row: &String| row.split(',').next().unwrap().parse::<u32>().unwrap();
        good.sort_by_key(|row| (key(row), row.clone()));
        let all = format!("a,b\n{}", good.concat());
        let place = Place::new();
        place.write("in", &text);
        let csv = "--format csv --key a:num --bad-records bad";
        for options in [
            "",
            "--top 1000000",
            "-m",
            "-S 32M --plan two-pass",
            "--plan merge",
        ] {
            for piped in [false, true] {
                let line_of = format!("sort {csv} {options} -o out");
                let ran = if piped {
                    place.feed(&line_of, text.as_bytes())
                } else {
                    place.run(&format!("{line_of} in"))
                };
                let shown = format!("{options}, piped {piped}, line {line}: {}", ran.err);
                assert_eq!(ran.code, 0, "{shown}");
                assert!(
                    ran.err.contains(&format!(", line {line}: column ")),
                    "{shown}"
                );
                assert_eq!(
                    String::from_utf8(place.read("out")).unwrap(),
                    all,
                    "{shown}"
                );
                let aside = String::from_utf8(place.read("bad")).unwrap();
                assert_eq!(aside.lines().count(), 2, "{aside}");
                assert!(aside.contains(&format!("\"{line}\"")), "{aside}");
            }
        }
        // Without a file for them the message names the line and the cure.
        for ran in [
            place.run("sort --format csv --key a:num in"),
            place.feed("sort --format csv --key a:num", text.as_bytes()),
        ] {
            assert_eq!(ran.code, 2, "{}", ran.err);
            let expected = format!(", line {line}: column {}: ", open.find('"').unwrap() + 1);
            assert!(ran.err.contains(&expected), "{}", ran.err);
            assert!(ran.err.contains("--bad-records FILE"), "{}", ran.err);
        }
    }
}
