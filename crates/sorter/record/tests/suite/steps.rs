//! Work grows as the input does: steps are counted at some length and at four times that.

use record::Ties;
use record::rows::{Dialect, Header, RowOrder};
use record::steps;
use record::text::{KeyOptions, Locale, TextOrder};

/// Lines of this length, and of four times that.
const BYTES: usize = 20_000;

/// Steps that `work` takes, which is called with a number.
fn steps(number: usize, work: impl Fn(usize)) -> u64 {
    let before = steps::taken();
    work(number);
    steps::taken() - before
}

/// Four times as much takes about four times as many steps, and at least `least` for each byte.
#[track_caller]
fn assert_linear(name: &str, work: impl Fn(usize)) {
    let (few, many) = (steps(BYTES, &work), steps(4 * BYTES, &work));
    assert!(few > BYTES as u64 / 8, "{name}: nothing was counted, {few}");
    // The last front of a key may be eight times as long as needed.
    assert!(many < 6 * few, "{name}: {few} steps, then {many}");
    assert!(
        few < 100 * BYTES as u64,
        "{name}: {few} steps for {BYTES} bytes"
    );
}

#[test]
fn names_of_a_header_are_found_once() {
    for (dialect, name) in [
        (Dialect::CSV, "a,"),
        (Dialect::CSV, "\"a\"\"b\","),
        (Dialect::Tsv, "a\t"),
    ] {
        assert_linear(name, |bytes| {
            let columns = bytes / name.len();
            let row = format!("{}z", name.repeat(columns));
            let header = Header::parse(dialect, row.as_bytes()).unwrap();
            assert_eq!(header.columns(), columns + 1);
            assert_eq!(header.find("z"), Ok(columns));
        });
    }
}

fn order(tag: Option<&str>, keys: &[&str], options: &str) -> TextOrder {
    let keys = keys.iter().map(|key| key.parse().unwrap()).collect();
    let options: KeyOptions = options.parse().unwrap();
    let order = TextOrder::new(keys, options, Some(b','), Ties::Position, Some([7; 16])).unwrap();
    match tag {
        Some(tag) => order.with_locale(Locale::new(tag).unwrap()).unwrap(),
        None => order,
    }
}

fn rows(kind: &str) -> TextOrder {
    let key = format!("#2:{kind}").parse().unwrap();
    let order = RowOrder::new(Dialect::CSV, None, &[key], Ties::Position);
    order.unwrap().text()
}

/// Orders, a text of which a key may consist, and its end.
fn orders() -> Vec<(&'static str, TextOrder, &'static str, [&'static str; 2])> {
    vec![
        ("whole", order(None, &[], ""), "ab", ["x", "y"]),
        ("field", order(None, &["2,2"], ""), "ab", ["x", "y"]),
        ("-f", order(None, &["2,2f"], ""), "aB", ["x", "y"]),
        ("-d", order(None, &["2,2d"], ""), "a-b", ["x", "y"]),
        ("-V", order(None, &["2,2V"], ""), "a1.", ["2", "3"]),
        (
            "-V, one number",
            order(None, &["2,2V"], ""),
            "1",
            ["2", "3"],
        ),
        ("-n", order(None, &["2,2n"], ""), "1", ["2", "3"]),
        ("-h", order(None, &["2,2h"], ""), "1", ["2", "3"]),
        ("-R", order(None, &["2,2R"], ""), "ab", ["x", "y"]),
        (
            "de",
            order(Some("de"), &["2,2"], ""),
            "\u{f6}l ",
            ["x", "y"],
        ),
        (
            "ja",
            order(Some("ja"), &["2,2"], ""),
            "\u{30ab}\u{3099}",
            ["x", "y"],
        ),
        ("kn", order(Some("en-u-kn"), &["2,2"], ""), "1", ["2", "3"]),
        (
            "ignored",
            order(Some("de"), &["2,2"], ""),
            "\u{1}",
            ["x", "y"],
        ),
        ("CSV", rows("str"), "ab", ["x", "y"]),
        ("natural", rows("natural"), "a1", ["2", "3"]),
        ("natural, one number", rows("natural"), "1", ["2", "3"]),
        ("num", rows("num"), "1", ["2", "3"]),
    ]
}

/// Two long lines that differ at their ends only, as a sort compares them: window by window.
#[test]
fn long_keys_are_made_a_few_times() {
    for (name, order, text, ends) in orders() {
        assert_linear(name, |bytes| {
            let line =
                |end: &str| format!("k,{}{end},9", text.repeat(bytes / text.len())).into_bytes();
            let [a, b] = ends.map(line);
            let most = order.most_words(a.len());
            let (mut from, mut window) = (0, 8);
            let word = loop {
                let until = most.min(from + window);
                let found = order.first_difference(&a, &b, from, until);
                if found < until || until == most {
                    break found;
                }
                (from, window) = (until, 2 * window);
            };
            assert!(
                name == "-R" || order.word(&a, word) < order.word(&b, word),
                "{name}"
            );
            assert!(name == "-R" || order.compare(&a, &b).is_lt(), "{name}");
        });
    }
}

/// A long line among many short ones of equal keys or fronts: none of them looks for its key again.
#[test]
fn a_long_line_is_read_once_for_many() {
    for (name, order, text, ends) in orders() {
        assert_linear(name, |bytes| {
            let long = format!("k,{}{},9", text.repeat(bytes / text.len()), ends[0]).into_bytes();
            let short = format!("k,{},9", text.repeat(12 / text.len())).into_bytes();
            let mut seen = 0;
            order.against(&long, 0..order.most_words(long.len()), |difference| {
                seen = (0..bytes / short.len())
                    .filter(|_| difference(&short).is_some())
                    .count();
                seen == 0
            });
            let is_equal = order.compare(&long, &short).is_eq();
            assert_eq!(is_equal, seen == 0, "{name}");
        });
    }
}
