//! Explanations and warnings beside those of `sort --debug` of GNU.

use std::io::Write;
use std::process::Stdio;

use children::Command;
use record::Ties;
use record::text::{KeyOptions, KeyView, TextOrder, Warning};

use super::draw::{Draw, Options, line};
use super::gnu::{arguments, is_here, salt_file};

/// What GNU prints for one line and its keys: the line, and a line for each key.
fn gnu(options: &Options, salt: &str, line: &[u8]) -> (String, String) {
    use std::os::unix::ffi::OsStringExt;
    let arguments = arguments(options, salt)
        .into_iter()
        .map(std::ffi::OsString::from_vec);
    let mut child = Command::new("sort")
        .arg("--debug")
        .args(arguments)
        .env("LC_ALL", "C")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(line).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr))
}

/// GNU also repeats the key, without its options.
const OBSOLETE: &str = "obsolescent key";

/// GNU puts this behind the blanks at the start of a key, even if the key ends before them.
const NO_MATCH: &str = "^ no match for key";

fn underline(view: &KeyView) -> String {
    if view.read.is_empty() {
        return format!("{NO_MATCH}\n");
    }
    let offset = " ".repeat(view.read.start);
    format!("{offset}{}\n", "_".repeat(view.read.len()))
}

/// The warning as GNU says it.
fn in_their_words(warning: &Warning) -> String {
    match warning {
        Warning::ObsoleteKey { .. } => OBSOLETE.to_owned(),
        Warning::EmptyKey(key) => format!("key {key} has zero width and will be ignored"),
        Warning::LeadingBlanks(key) => {
            format!("leading blanks are significant in key {key}; consider also specifying 'b'")
        }
        Warning::NumberSpansFields(key) => {
            format!("key {key} is numeric and spans multiple fields")
        }
        Warning::SeparatorInNumbers('.') => {
            "field separator '.' is treated as a decimal point in numbers".to_owned()
        }
        Warning::SeparatorInNumbers('-') => {
            "field separator '-' is treated as a minus sign in numbers".to_owned()
        }
        Warning::SeparatorInNumbers(other) => {
            format!("field separator '{other}' is treated as a plus sign in numbers")
        }
        Warning::DecimalPoint => "numbers use '.' as a decimal point in this locale".to_owned(),
        Warning::IgnoredOptions(letters) if letters.len() == 1 => {
            format!("option '-{letters}' is ignored")
        }
        Warning::IgnoredOptions(letters) => format!("options '-{letters}' are ignored"),
        Warning::ReverseOfTiesOnly => {
            "option '-r' only applies to last-resort comparison".to_owned()
        }
    }
}

#[test]
fn keys_are_explained_as_by_gnu() {
    if !is_here() {
        return;
    }
    let salt = salt_file("explained");
    let mut draw = Draw(7);
    for case in 0..600 {
        let mut options = Options::draw(&mut draw);
        options.zero = false;
        let taste = draw.below(5);
        let mut line = line(&mut draw, taste, b'\n');
        line.retain(|byte| byte.is_ascii_graphic() || *byte == b' ');
        let Ok(order) = options.order() else { continue };
        let (marked, warned) = gnu(&options, &salt, &[&line[..], b"\n"].concat());
        let underlines: String = order.explain(&line).iter().map(underline).collect();
        let expected = format!("{}\n{underlines}", String::from_utf8_lossy(&line));
        let marked = marked
            .split_inclusive('\n')
            .map(|line| match line.trim_start() {
                marked if marked.starts_with(NO_MATCH) => marked,
                _ => line,
            });
        let marked: String = marked.collect();
        assert_eq!(expected, marked, "case {case} {options:?}");
        let ours = order.warnings();
        let ours: String = ours
            .iter()
            .map(|warning| format!("sort: {}\n", in_their_words(warning)))
            .collect();
        let theirs = warned
            .lines()
            .skip(1)
            .map(|line| match line.find(OBSOLETE) {
                Some(place) => format!("{}\n", &line[..place + OBSOLETE.len()]),
                None => format!("{}\n", line.replace("note ", "")),
            });
        let theirs: String = theirs.collect();
        assert_eq!(ours, theirs, "case {case} {options:?}");
        assert!(
            order
                .warnings()
                .iter()
                .all(|warning| !warning.to_string().is_empty())
        );
    }
}

#[test]
fn a_general_number_ends_behind_its_exponent() {
    let keys = vec!["1g".parse().unwrap()];
    let order = TextOrder::new(keys, KeyOptions::default(), None, Ties::Record, None).unwrap();
    for (line, bytes) in [
        ("1e5x", 3),
        ("1e+5x", 4),
        ("-1.5e-12x", 8),
        ("1e+x", 1),
        ("0x1p3z", 5),
        ("0x1p-3z", 6),
        ("nan(0x1)y", 8),
        ("infinity", 8),
    ] {
        let read = order.explain(line.as_bytes())[0].read.clone();
        assert_eq!(read, 0..bytes, "{line}");
    }
}
