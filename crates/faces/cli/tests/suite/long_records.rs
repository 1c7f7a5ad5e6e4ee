//! Records and headers that are longer than buffers, in every way to the output: they leave once, whole,
//! and in order, and nothing leaves before a sort that begins again.

use std::io::Write as _;

use crate::common::{Place, Ran, cases};
use crate::gnu::draw::Draw;

/// Lengths around reads, write units and the buffers of pipes.
const LENGTHS: [usize; 7] = [5, 65_000, 131_073, 270_000, 524_288, 1_048_577, 3_000_000];

/// Lines, or rows behind a header, in their order.
struct Sorted {
    header: Vec<u8>,
    records: Vec<Vec<u8>>,
}

impl Sorted {
    /// Short records, and a few long ones, some of them with a newline if rows may have one.
    fn drawn(draw: &mut Draw, is_csv: bool) -> Sorted {
        let count = 3 + draw.below(3000);
        let long = 1 + draw.below(3);
        let places: Vec<usize> = (0..long).map(|_| draw.below(count)).collect();
        let record = |number: usize| {
            let comma = if is_csv { "," } else { "" };
            let mut record = format!("{:07}{comma}", number / 2 * 2).into_bytes();
            if places.contains(&number) {
                let length = LENGTHS[draw.below(LENGTHS.len())];
                if is_csv && draw.below(2) == 0 {
                    record.extend(b"\"\n");
                    record.resize(record.len() + length, b'x');
                    record.push(b'"');
                } else {
                    record.resize(record.len() + length, b'x')
                }
            }
            record.push(b'\n');
            record
        };
        let mut records: Vec<Vec<u8>> = (0..count).map(record).collect();
        records.sort();
        let mut header = Vec::new();
        if is_csv {
            header.extend(b"key,");
            header.resize(4 + LENGTHS[draw.below(6)], b'k');
            header.push(b'\n');
        }
        Sorted { header, records }
    }

    fn bytes(&self, records: &[Vec<u8>]) -> Vec<u8> {
        [&self.header[..], &records.concat()].concat()
    }

    /// The records of one of `of` files.
    fn part(&self, number: usize, of: usize) -> Vec<u8> {
        let records = self.records.iter().skip(number).step_by(of).cloned();
        self.bytes(&records.collect::<Vec<_>>())
    }
}

/// The output of a command line, which goes to a file, to standard output or into a pipe.
fn output(place: &Place, draw: &mut Draw, command: &str) -> (Ran, Vec<u8>) {
    let _ = std::fs::remove_file(place.path("out"));
    let (way, read) = [
        ("-o out", true),
        ("> out", true),
        (">> out", true),
        ("| cat", false),
    ][draw.below(4)];
    let ran = place.run_shell(&format!("{command} {way}"));
    let bytes = if read {
        std::fs::read(place.path("out")).unwrap_or_default()
    } else {
        ran.out.clone()
    };
    (ran, bytes)
}

#[test]
fn long_records_and_headers_leave_once_and_whole() {
    let place = Place::new();
    for seed in 0..cases(40, 120) {
        let draw = &mut Draw(u64::from(seed));
        let is_csv = draw.below(2) == 0;
        let sorted = Sorted::drawn(draw, is_csv);
        let files = 1 + draw.below(6);
        let mut inputs = String::new();
        for number in 0..files {
            place.write(&format!("in{number}"), sorted.part(number, files));
            inputs += &format!(" in{number}");
        }
        let format = if is_csv {
            "--format csv --key '#1' --key '#2'"
        } else {
            ""
        };
        let limit = ["", "-S 200M", "-S 1G"][draw.below(3)];
        let (unique, top) = (draw.below(3) == 0, draw.below(3) == 0);
        let mut wanted = sorted.records.clone();
        if unique {
            wanted.dedup();
        }
        let mut options = format!("{format} {limit}");
        if unique {
            options += " -u";
        }
        let most = 1 + draw.below(wanted.len() + 3);
        match top {
            true => {
                options += &format!(" --top {most}");
                wanted.truncate(most);
            }
            false if draw.below(2) == 0 => {
                options += [" -m", " -m --batch-size 2", " -m --batch-size 3"][draw.below(3)];
            }
            false => {}
        }
        let is_piped = draw.below(3) == 0;
        let command = if is_piped {
            format!(
                "cat in0 | \"$GRISTMILL\" sort {options} {}",
                inputs.replacen("in0", "-", 1)
            )
        } else {
            format!("\"$GRISTMILL\" sort {options} {inputs}")
        };
        let (ran, found) = output(&place, draw, &command);
        if found != sorted.bytes(&wanted) {
            // Longer lines of pipes need --max-line, and longer buffers more memory. Then nothing has left.
            let asks = is_piped && ran.err.contains("--max-line")
                || limit == "-S 200M" && ran.err.contains("at least -S");
            assert!(
                asks && found.is_empty(),
                "seed {seed}: {command}: {}",
                ran.err
            );
        }
    }
}

/// The read that reaches the end of the file may miss nothing but the delimiter.
#[test]
fn a_last_line_without_its_end_may_fill_a_read() {
    let place = Place::new();
    let short = "a\n".repeat(131_022);
    for length in [65_535, 65_536, 65_537, 8 << 16] {
        place.write("in", format!("{short}{}", "b".repeat(length)));
        for limit in ["", "-S 500M"] {
            place.run(&format!("sort {limit} in -o out")).succeeded();
            assert!(
                place.read("out") == [&place.read("in")[..], b"\n"].concat(),
                "{length} {limit}"
            );
        }
    }
}

/// Where not all inputs are merged at once, nothing leaves before their longest records are known.
#[test]
fn a_late_long_line_of_many_inputs_leaves_once() {
    let place = Place::new();
    place.write("a", "a\n");
    place.write("b", "b\n");
    let late = format!("{}d{}\n", "c\n".repeat(600_000), "x".repeat(3_000_000));
    place.write("long", &late);
    let wanted = ["a\nb\n", &late].concat();
    for inputs in ["a b long", "a long b", "long a b"] {
        for limit in ["", "-S 500M"] {
            let merge = format!("\"$GRISTMILL\" sort -m --batch-size 2 {limit}");
            let ran = place.run_shell(&format!("{merge} {inputs} | cat"));
            assert!(
                ran.out == wanted.as_bytes(),
                "{inputs} {limit}: {}",
                ran.err
            );
            // A pipe cannot be read again: a merge that has no room is refused as a whole.
            let ran = place.run_shell(&format!("cat long | {merge} a b - | cat"));
            let is_refused = ran.out.is_empty() && ran.err.contains("--max-line");
            assert!(
                is_refused || ran.out == wanted.as_bytes(),
                "{limit}: {}",
                ran.err
            );
        }
    }
}

/// A merge that has written cannot begin again, and does not have to.
#[test]
fn a_merge_writes_a_late_long_line_and_a_late_quote_once() {
    let place = Place::new();
    let mut lines: Vec<String> = (0..300_000)
        .map(|number| format!("{number:07}\n"))
        .collect();
    lines.push(format!("9{}\n", "x".repeat(3_000_000)));
    place.write("long", lines.concat());
    let mut rows = std::fs::File::create(place.path("rows.csv")).unwrap();
    writeln!(rows, "id,text").unwrap();
    for number in 0..90_000 {
        let text = if number > 60_000 { "\"a\nb\"" } else { "abc" };
        writeln!(rows, "{number:07},{text}").unwrap();
    }
    for (input, options) in [("long", ""), ("rows.csv", "--format csv --key id")] {
        for limit in ["-S 64M", "-S 500M", ""] {
            for script in [
                format!("\"$GRISTMILL\" sort -m {options} {limit} {input} > out"),
                format!("\"$GRISTMILL\" sort -m {options} {limit} {input} | cat > out"),
                format!("cat {input} | \"$GRISTMILL\" sort -m {options} {limit} > out"),
                format!("\"$GRISTMILL\" sort -m {options} {limit} {input} -o out"),
            ] {
                place.run_shell(&script).succeeded();
                assert!(place.read("out") == place.read(input), "{script}");
            }
        }
    }
}

/// Memory of a long line is used again when the line has been written: inputs that have ended keep none.
#[test]
fn long_last_lines_of_many_inputs_take_memory_one_after_the_other() {
    let place = Place::new();
    let mut inputs = String::new();
    for number in 10..28 {
        let short = format!("{number}abcdefg\n").repeat(300_000);
        place.write(
            &format!("in{number}"),
            format!("{short}{number}{}\n", "x".repeat(4_000_000)),
        );
        inputs += &format!(" in{number}");
    }
    let merge = format!("sort -m -S 64M {inputs} -o out --json");
    let report = place.run(&merge).succeeded().json();
    let resident = report["peak_rss_bytes"].as_u64().unwrap();
    assert!(resident < 96 << 20, "{resident}");
}

/// Only one writer writes the header of an output without a row.
#[test]
fn a_header_without_rows_is_written_once() {
    let place = Place::new();
    place.write("some.csv", "a,b\n");
    place.write("none.csv", "");
    for format in [
        "--format csv",
        "--format tsv",
        "--format csv -u",
        "--format csv --top 3",
    ] {
        let key = if format.contains("tsv") { "'#1'" } else { "a" };
        for plan in [
            "",
            "-m",
            "--plan merge",
            "--plan one-pass",
            "--plan two-pass",
        ] {
            if format.contains("--top") && plan.contains("pass") {
                continue;
            }
            for source in [
                "some.csv",
                "< some.csv",
                "some.csv some.csv",
                "none.csv some.csv none.csv",
                "- some.csv none.csv < some.csv",
                "- some.csv < none.csv",
            ] {
                for target in ["", "-o out", "| cat"] {
                    let script = format!(
                        "\"$GRISTMILL\" sort {format} --key {key} {plan} {source} {target}"
                    );
                    let ran = place.run_shell(&script);
                    let found = match target {
                        "-o out" => place.read("out"),
                        _ => ran.out.clone(),
                    };
                    assert!(ran.code == 0 && found == b"a,b\n", "{script}: {ran:?}");
                }
            }
        }
    }
}

/// Those that read an output again know records as long as it has.
#[test]
fn long_records_are_read_again() {
    let place = Place::new();
    for length in [100, 70_000, 131_072, 600_000, 3_000_000] {
        let long = "x".repeat(length);
        place.write("lines", format!("b\n{long}\na\n"));
        place.write("rows.csv", format!("k\nb\n\"{long}\n\"\na\n"));
        let lengths = |body: &str| {
            let bytes = (body.len() as u32).to_le_bytes();
            [&bytes[..], body.as_bytes()].concat()
        };
        let records = ["bbbb", &long, "aaaa"].map(lengths).concat();
        place.write("lengths", records);
        for (input, options) in [
            ("lines", ""),
            ("lines", "-u"),
            ("rows.csv", "--format csv --key k"),
            ("lengths", "--format varlen:u32le --key 0+4"),
        ] {
            for output in ["out", "out.gz", "set/"] {
                std::fs::create_dir_all(place.path("set")).unwrap();
                let line = format!("sort {options} {input} --verify -o {output}");
                place.run(&line).succeeded();
            }
            place.run("valsort set/").succeeded();
            let format = options.replace("-u", "");
            for output in ["out", "out.gz"] {
                place.run(&format!("check {format} {output}")).succeeded();
                place
                    .run_shell(&format!("cat {output} | \"$GRISTMILL\" check {format}"))
                    .succeeded();
            }
        }
    }
}
