//! Sorts drawn lines with drawn options beside GNU sort, which must give the same bytes.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::Stdio;

use children::Command;
use record::text::TextOrder;

use super::draw::{Draw, Options, SALT, line};

/// The version whose semantics these are. Others order some hidden names differently with `-V`, and
/// other processors have another `long double`.
const VERSION: &str = "(GNU coreutils) 9.1\n";

/// Whether there is a sort to compare with.
pub fn is_here() -> bool {
    let version = Command::new("sort").arg("--version").output();
    let here = cfg!(target_arch = "x86_64")
        && version.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains(VERSION));
    if !here {
        println!("skipped: no sort of GNU coreutils 9.1 on x86_64");
    }
    here
}

/// The command's arguments.
pub fn arguments(options: &Options, salt: &str) -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = Vec::new();
    for key in &options.keys {
        if key.starts_with('+') {
            all.extend(key.split(' ').map(|part| part.as_bytes().to_vec()));
        } else {
            all.push(format!("-k{key}").into_bytes());
        }
    }
    if !options.global.is_empty() {
        all.push(format!("-{}", options.global).into_bytes());
    }
    match options.separator {
        Some(0) => all.push(b"-t\\0".to_vec()),
        Some(byte) => all.push(vec![b'-', b't', byte]),
        None => {}
    }
    let flags = [
        (options.stable, "-s"),
        (options.unique, "-u"),
        (options.zero, "-z"),
    ];
    let given = flags.iter().filter(|(given, _)| *given);
    all.extend(given.map(|(_, flag)| flag.as_bytes().to_vec()));
    all.push(format!("--random-source={salt}").into_bytes());
    all
}

fn gnu(arguments: &[Vec<u8>], input: &[u8]) -> Option<Vec<u8>> {
    use std::os::unix::ffi::OsStrExt;
    let arguments = arguments
        .iter()
        .map(|bytes| std::ffi::OsStr::from_bytes(bytes));
    let mut child = Command::new("sort")
        .args(arguments)
        .env("LC_ALL", "C")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // A sort that refuses its options may close its input first.
    let _ = child.stdin.take().unwrap().write_all(input);
    let output = child.wait_with_output().unwrap();
    output.status.success().then_some(output.stdout)
}

fn ours(order: &TextOrder, options: &Options, lines: &[Vec<u8>]) -> Vec<u8> {
    let mut lines = lines.to_vec();
    lines.sort_by(|a, b| order.compare(a, b));
    if options.unique {
        lines.dedup_by(|b, a| order.keys_equal(a, b));
    }
    let end = options.end();
    lines
        .iter()
        .flat_map(|line| line.iter().copied().chain([end]))
        .collect()
}

/// A file with the salt, for one test.
pub fn salt_file(test: &str) -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("salt-{test}"));
    fs::write(&path, SALT).unwrap();
    path.into_os_string().into_string().unwrap()
}

fn cases() -> u64 {
    let long = std::env::var("GRISTMILL_LONG").is_ok_and(|value| value == "1");
    if long { 10_000 } else { 3_600 }
}

/// GNU 9.1 compares equal NaNs by bytes of memory that nothing has set.
fn spoil_nans(line: &mut [u8]) {
    for at in 2..line.len() {
        if line[at - 2..=at].eq_ignore_ascii_case(b"nan") {
            line[at] = b'm';
        }
    }
}

fn assert_same(seed: u64, salt: &str) -> bool {
    let mut draw = Draw(seed);
    let options = Options::draw(&mut draw);
    let taste = draw.below(5);
    let count = 2 + draw.below(30);
    let mut lines: Vec<_> = (0..count)
        .map(|_| line(&mut draw, taste, options.end()))
        .collect();
    if options.has_floats() {
        lines.iter_mut().for_each(|line| spoil_nans(line));
    }
    assert_same_output(&options, salt, &lines)
}

/// Whether GNU accepted the options; then both sorted to the same lines.
pub fn assert_same_output(options: &Options, salt: &str, lines: &[Vec<u8>]) -> bool {
    let ended = |line: &Vec<u8>| [&line[..], &[options.end()]].concat();
    let input: Vec<u8> = lines.iter().flat_map(ended).collect();
    let expected = gnu(&arguments(options, salt), &input);
    match (options.order(), expected) {
        (Ok(order), Some(expected)) => {
            let result = ours(&order, options, lines);
            assert!(
                result == expected,
                "{options:?}\n GNU {}\nours {}",
                expected.escape_ascii(),
                result.escape_ascii()
            );
            true
        }
        (Err(_), None) => false,
        (ours, _) => panic!("{options:?}: only one refused; ours: {ours:?}"),
    }
}

#[test]
fn drawn_lines_sort_as_with_gnu() {
    if !is_here() {
        return;
    }
    let salt = &salt_file("sorted");
    let half = cases() / 2;
    let sorted: usize = std::thread::scope(|scope| {
        let halves = [0, half].map(|from| {
            scope.spawn(move || {
                let seeds = from..from + half;
                seeds.filter(|&seed| assert_same(seed, salt)).count()
            })
        });
        halves.map(|half| half.join().unwrap()).iter().sum()
    });
    assert!(sorted as u64 > cases() * 3 / 4, "{sorted} were sorted");
}
