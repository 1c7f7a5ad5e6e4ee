//! Whole sorts of long lines: the steps that keys take grow as the input does, not as its square.
//!
//! The driver runs all tasks on this thread, so the steps of its thread are those of the sort.

use std::sync::Arc;

use record::rows::{Dialect, RowOrder};
use record::text::{KeyOptions, Locale, TextOrder};
use record::{Keep, LineOrder, Ties, steps};
use sort::{Choice, Lines, LongestLine};

use crate::common::lines::LineSort;

/// Bytes of a long line, of which the inputs have one or two; another sort has four times as many.
const BYTES: usize = 15_000;

fn text(tag: Option<&str>, keys: &[&str]) -> LineOrder {
    let keys = keys.iter().map(|key| key.parse().unwrap()).collect();
    let options = KeyOptions::default();
    let order = TextOrder::new(keys, options, None, Ties::Position, None).unwrap();
    let order = match tag {
        Some(tag) => order.with_locale(Locale::new(tag).unwrap()).unwrap(),
        None => order,
    };
    LineOrder::lines(order, b'\n')
}

fn rows(dialect: Dialect, key: &str) -> LineOrder {
    let keys = [key.parse().unwrap()];
    LineOrder::rows(RowOrder::new(dialect, None, &keys, Ties::Position).unwrap())
}

/// A line of about so many bytes, lines of which it begins with, or that lack its key, and their order.
struct Case {
    name: &'static str,
    order: LineOrder,
    long: fn(usize) -> String,
    short: fn(usize) -> String,
}

fn cases() -> Vec<Case> {
    let digits = |number| format!("{number}");
    vec![
        Case {
            name: "a field behind",
            order: text(None, &["2"]),
            long: |bytes| "x".repeat(bytes),
            short: digits,
        },
        Case {
            name: "a field far behind",
            order: text(None, &["3,3n", "2,2"]),
            long: |bytes| format!("{} b 7", "x".repeat(bytes)),
            short: |number| format!("{number} b 7"),
        },
        Case {
            name: "a field with a long front",
            order: text(None, &["2,2"]),
            long: |bytes| format!("1 {}", "ab".repeat(bytes / 2)),
            short: |number| format!("{number} abababab"),
        },
        Case {
            name: "-V",
            order: text(None, &["1V"]),
            long: |bytes| "a1.".repeat(bytes / 3),
            short: |_| "a1.a1.a1.a1".to_owned(),
        },
        Case {
            name: "de",
            order: text(Some("de"), &["1,1"]),
            long: |bytes| "straße".repeat(bytes / 7),
            short: |_| "straßestraße".to_owned(),
        },
        Case {
            name: "de, characters that it ignores",
            order: text(Some("de"), &["1,1"]),
            long: |bytes| format!("straßestraße{}", "\u{1}".repeat(bytes)),
            short: |number| format!("straßestraße{}", "\u{1}".repeat(number % 5)),
        },
        Case {
            name: "CSV",
            order: rows(Dialect::CSV, "#3"),
            long: |bytes| format!("\"{}\",b,c", "x, ".repeat(bytes / 3)),
            short: |number| format!("{number},b,c"),
        },
        Case {
            name: "natural",
            order: rows(Dialect::CSV, "#2:natural"),
            long: |bytes| format!("1,{}", "b2".repeat(bytes / 2)),
            short: |number| format!("{number},b2b2b2b2b2"),
        },
        Case {
            name: "TSV",
            order: rows(Dialect::Tsv, "#9:num"),
            long: |bytes| format!("{}3", "x\t".repeat(bytes / 2)),
            short: |number| format!("{number}\t\t\t\t\t\t\t\t3"),
        },
        Case {
            name: "JSON",
            order: rows(Dialect::JsonLines, "b"),
            long: |bytes| format!("{{\"a\": [{}0], \"b\": \"x\"}}", "1, ".repeat(bytes / 3)),
            short: |number| format!("{{\"a\": {number}, \"b\": \"x\"}}"),
        },
        Case {
            name: "JSON, with escapes",
            order: rows(Dialect::JsonLines, "$.a.b"),
            long: |bytes| format!("{{\"a\": {{\"b\": \"{}\"}}}}", "\\u00e9".repeat(bytes / 6)),
            short: |_| format!("{{\"a\": {{\"b\": \"{}\"}}}}", "\\u00e9".repeat(9)),
        },
    ]
}

/// A long line among as many bytes of short ones, and the same twice: in two files, each of which ends
/// with its long line or begins with it.
fn sort_of(case: &Case, bytes: usize) -> LineSort {
    let long = (case.long)(bytes) + "\n";
    let short = |file: usize| -> String {
        let each = (0..).map(|number| (case.short)(2 * number + file) + "\n");
        let mut left = bytes;
        let fits = |line: &String| {
            left = left.saturating_sub(line.len());
            left > 0
        };
        each.take_while(fits).collect()
    };
    let files = vec![long.clone() + &short(0), short(1) + &long];
    let files = files.into_iter().map(String::into_bytes).collect();
    let mut sort = LineSort::of(files, case.order.clone());
    sort.job.resources.memory_bytes = 64 << 20;
    sort.job.longest_line = LongestLine::AtLeast(2 * long.len() + 1000);
    sort
}

/// A schedule decides whether a long line is a splitter, which others are compared with, so that it is looked at
/// four times as often: the most of several is no chance.
const SCHEDULES: [u64; 4] = [1, 2, 3, 4];

fn steps(sort: &LineSort, schedule: u64) -> u64 {
    let driver = sort.driver(schedule);
    let before = steps::taken();
    crate::common::run(&driver, &sort.job()).unwrap_or_else(|failure| panic!("{failure}"));
    steps::taken() - before
}

#[test]
fn steps_of_a_sort_grow_as_its_lines_do() {
    for case in cases() {
        for plan in [Choice::OnePass, Choice::TwoPass, Choice::Merge] {
            for equal in [Keep::All, Keep::First, Keep::Counted] {
                if equal == Keep::Counted && case.order.dialect().is_some() {
                    continue;
                }
                let steps = |bytes| {
                    let mut sort = sort_of(&case, bytes);
                    sort.job.plan = plan;
                    if equal != Keep::All {
                        let lines = Lines::new(case.order.clone());
                        sort.equal = equal;
                        sort.job.contents = Arc::new(lines.keeping(equal));
                    }
                    if bytes == BYTES {
                        sort.check(1);
                    }
                    SCHEDULES
                        .map(|seed| steps(&sort, seed))
                        .into_iter()
                        .max()
                        .unwrap()
                };
                let (few, many) = (steps(BYTES), steps(4 * BYTES));
                let context = format!("{}, {plan:?}, {equal:?}: {few}, {many}", case.name);
                // A sort by comparison takes a little more than four times as many. Thirty looks at a
                // long line, or fewer, are no trend yet.
                let least = few.max(30 * BYTES as u64);
                assert!(few > 0 && many < 7 * least, "{context}");
                assert!(few < 300 * BYTES as u64, "{context}");
            }
        }
    }
}

/// Lines that part one after the other, each a word behind the one before.
#[test]
fn many_long_lines_take_few_steps_each() {
    let orders = [
        ("de", text(Some("de"), &["1,1"])),
        ("-V", text(None, &["1V"])),
        ("a field", text(None, &["2"])),
    ];
    for (name, order) in orders {
        let steps = |lines: usize| {
            let line = |number: usize| {
                let (front, rest) = ("a".repeat(20 * number), "c".repeat(20 * (lines - number)));
                format!("1 {front}b{rest}\n")
            };
            let line = |number| match name {
                "a field" => line(number),
                _ => line(number)[2..].to_owned(),
            };
            let file: String = (0..lines).map(line).collect();
            let mut sort = LineSort::of(vec![file.into_bytes()], order.clone());
            sort.job.resources.memory_bytes = 64 << 20;
            sort.check(1);
            steps(&sort, SCHEDULES[0])
        };
        // Twice as many lines are four times as many bytes.
        let (few, many) = (steps(200), steps(400));
        assert!(few > 0 && many < 7 * few, "{name}: {few}, {many}");
    }
}
