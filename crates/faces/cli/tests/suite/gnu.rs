//! `gristmill sort` beside GNU sort in the C locale: the same bytes, the same exit codes.

pub mod draw;
mod table;

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::process::{Output, Stdio};

use children::Command;

use crate::common::{GRISTMILL, Place, cases, skip};
use draw::{Case, Draw};

/// The version whose semantics these are.
const VERSION: &str = "(GNU coreutils) 9.1\n";

/// Whether there is a sort to compare with.
fn is_here() -> bool {
    let version = Command::new("sort").arg("--version").output();
    let is_it = |output: Output| String::from_utf8_lossy(&output.stdout).contains(VERSION);
    let here = cfg!(target_arch = "x86_64") && version.is_ok_and(is_it);
    if !here {
        skip("no sort of GNU coreutils 9.1 on x86_64");
    }
    here
}

/// How both commands ended, in the same place.
struct Both {
    ours: Output,
    gnu: Output,
}

impl Both {
    fn run(place: &Place, arguments: &[OsString], input: &[u8]) -> Both {
        let of = |mut command: Command| {
            command.args(arguments).env("LC_ALL", "C");
            command.current_dir(place.path(""));
            let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped());
            let mut child = pipes.stderr(Stdio::piped()).spawn().unwrap();
            // A command that refuses its options may close its input first.
            let _ = child.stdin.take().unwrap().write_all(input);
            child.wait_with_output().unwrap()
        };
        let mut ours = Command::new(GRISTMILL);
        ours.arg("sort");
        Both {
            ours: of(ours),
            gnu: of(Command::new("sort")),
        }
    }

    /// Their differences.
    fn difference(&self) -> Option<String> {
        let (ours, gnu) = (&self.ours, &self.gnu);
        if ours.status.code() != gnu.status.code() {
            return Some("the exit code".to_owned());
        }
        let is_empty_key = self.warns() && contains(&gnu.stderr, b"has zero width");
        let placed = |out: &[u8]| {
            if is_empty_key {
                without_places(out)
            } else {
                out.to_vec()
            }
        };
        if placed(&ours.stdout) != placed(&gnu.stdout) {
            return Some("standard output".to_owned());
        }
        // Of disorder both tell in the same words; of errors in their own.
        let told = |err: &[u8], name: &[u8]| err.strip_prefix(name).map(<[u8]>::to_vec);
        let [said, expected] = [told(&ours.stderr, b"gristmill"), told(&gnu.stderr, b"sort")];
        match gnu.status.code() {
            Some(0 | 1) if said != expected && !self.warns() => Some("standard error".to_owned()),
            Some(2) if said.is_none() || ours.stderr.split(|&byte| byte == b'\n').count() < 2 => {
                Some("an error without a line".to_owned())
            }
            _ => None,
        }
    }

    /// Whether there are warnings of `--debug`, which have their own words. GNU's first line says
    /// what the locale is.
    fn warns(&self) -> bool {
        let lines = |err: &[u8]| err.iter().filter(|&&byte| byte == b'\n').count();
        let count = lines(&self.gnu.stderr);
        count == lines(&self.ours.stderr) && self.gnu.stderr.starts_with(b"sort: text ordering")
    }

    #[track_caller]
    fn assert_same(&self, what: impl FnOnce() -> String) {
        if let Some(difference) = self.difference() {
            let (ours, gnu) = (&self.ours, &self.gnu);
            panic!(
                "{difference} differs: {}\n GNU {:?} {}\n  err {}\nours {:?} {}\n  err {}",
                what(),
                gnu.status.code(),
                gnu.stdout.escape_ascii(),
                gnu.stderr.escape_ascii(),
                ours.status.code(),
                ours.stdout.escape_ascii(),
                ours.stderr.escape_ascii(),
            );
        }
    }
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

/// The view of `--debug`, without the places of empty keys: GNU looks for a number behind the end of
/// a key that ends before it starts, and we do not.
fn without_places(out: &[u8]) -> Vec<u8> {
    let place = |line: &[u8]| match line.trim_ascii_start() {
        b"^ no match for key" => b"^".to_vec(),
        _ => line.to_vec(),
    };
    let lines = out.split(|&byte| byte == b'\n').map(place);
    lines.collect::<Vec<_>>().join(&b'\n')
}

/// Words of a command line as it would be typed.
fn words(line: &str) -> Vec<OsString> {
    line.split_whitespace().map(OsString::from).collect()
}

fn shown(arguments: &[OsString]) -> String {
    let shown = arguments.iter().map(|word| format!("{word:?}"));
    shown.collect::<Vec<_>>().join(" ")
}

fn run_case(place: &Place, seed: u64) {
    let case = Case::draw(&mut Draw(seed));
    for (name, bytes) in ["a", "b", "c"].iter().zip(&case.files) {
        place.write(name, bytes);
    }
    if let Some(order) = &case.merge {
        for name in ["a", "b", "c"] {
            let mut sort = Command::new("sort");
            sort.args(order.iter().map(|word| os(word)));
            let sort = sort.args(["-o", name, name]).env("LC_ALL", "C");
            // Wrong options are refused below, too.
            sort.current_dir(place.path("")).output().unwrap();
        }
    }
    let arguments: Vec<OsString> = case.words.iter().map(|word| os(word)).collect();
    let both = Both::run(place, &arguments, &case.input);
    both.assert_same(|| {
        let files = case.files.iter().chain([&case.input]);
        let files: Vec<String> = files.map(|file| file.escape_ascii().to_string()).collect();
        format!("case {seed}: sort {} of {files:#?}", shown(&arguments))
    });
}

fn os(word: &[u8]) -> OsString {
    OsStr::from_bytes(word).to_owned()
}

fn run_drawn(part: u64) {
    if !is_here() {
        return;
    }
    let place = Place::new();
    place.write("salt", b"sixteen salty bytes");
    let all = u64::from(cases(300, 1200));
    for number in 0..all {
        run_case(&place, part * 1_000_000 + number);
    }
}

#[test]
fn drawn_commands_do_as_gnu_sort_does() {
    run_drawn(0);
}

#[test]
fn more_drawn_commands_do_as_gnu_sort_does() {
    run_drawn(1);
}
