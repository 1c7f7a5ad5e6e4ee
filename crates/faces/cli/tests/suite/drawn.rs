//! Sorts of which everything is drawn: records, order, options, the ways in and out.
//!
//! ```text
//! seed > taste > records, with their keys beside them > sources  >  the sort  >  sink
//!                     `------------> a naive stable sort  ==  its bytes
//! ```
//!
//! The reference knows the keys from drawing them, and reads no format. The order of a language it does
//! not know: there the records must be the right ones, and `-c` must find them in order. A case that
//! fails is made smaller as long as it fails in the same way, and printed with the commands that make it.
//!
//! `make drawn CASES=100000 SEED=2` tries others, `make drawn FROM=N CASES=1` repeats case N, and
//! `GRISTMILL_BINARY` names another binary to try.

mod job;
mod judge;
mod order;
mod pieces;
mod run;
mod texts;
mod ways;

use std::ffi::OsString;
use std::fs::{self, Permissions};
use std::ops::Range;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use tempfile::TempDir;

use crate::common::{GRISTMILL, cases, skip};
use crate::gnu::draw::Draw;
use job::{Job, Task};
use texts::Taste;

/// The number of sorts that run at the same time.
const WORKERS: u32 = 2;

/// A promise that a sort broke, and how.
type Broken = Option<(&'static str, String)>;

/// Draws with ranges.
struct Rng(Draw);

impl Rng {
    fn usize(&mut self, range: Range<usize>) -> usize {
        range.start + self.0.below(range.len())
    }

    fn u8(&mut self, range: Range<u8>) -> u8 {
        range.start + self.0.below(range.len()) as u8
    }

    fn u16(&mut self, range: Range<u16>) -> u16 {
        range.start + self.0.below(range.len()) as u16
    }

    fn bool(&mut self) -> bool {
        self.0.one_in(2)
    }
}

/// The directory of a worker, and the commands of its case.
struct Case {
    place: TempDir,
    binary: PathBuf,
    lines: Vec<String>,
}

impl Case {
    fn new(binary: PathBuf) -> Case {
        // Syncs of a disk would take most of the time.
        let place = TempDir::new_in("/dev/shm").or_else(|_| TempDir::new());
        Case {
            place: place.unwrap(),
            binary,
            lines: Vec::new(),
        }
    }

    fn own(&self, name: &str) -> PathBuf {
        self.place.path().join("own").join(name)
    }

    /// An empty directory for the next sort.
    fn clear(&mut self) {
        self.lines.clear();
        let _ = fs::remove_dir_all(self.own(""));
        for name in ["tmp", "tmp1", "tmp2", "tmp3"] {
            fs::create_dir_all(self.own(name)).unwrap();
        }
    }
}

/// Cases as the environment says, or a few.
struct Drawn {
    seed: u64,
    from: u32,
    cases: u32,
    is_of_ranks: bool,
    /// Whether the first failure is enough.
    ends_early: bool,
    binary: PathBuf,
}

impl Drawn {
    fn new(usual: u32) -> Drawn {
        let number = |name| {
            std::env::var(name)
                .ok()
                .map(|text: String| text.parse().unwrap())
        };
        Drawn {
            seed: number("GRISTMILL_SEED").unwrap_or(1),
            from: number("GRISTMILL_FROM").unwrap_or(0) as u32,
            cases: number("GRISTMILL_CASES").map_or(usual, |cases| cases as u32),
            is_of_ranks: false,
            ends_early: false,
            binary: std::env::var_os("GRISTMILL_BINARY")
                .unwrap_or_else(|| GRISTMILL.into())
                .into(),
        }
    }

    /// Runs all cases; those that fail, each as a text.
    fn failures(&self) -> Vec<String> {
        let (next, failures) = (AtomicU32::new(self.from), Mutex::new(Vec::new()));
        let work = || {
            let mut case = Case::new(fs::canonicalize(&self.binary).unwrap());
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let is_enough = self.ends_early && !failures.lock().unwrap().is_empty();
                if is_enough || number >= self.from + self.cases {
                    return;
                }
                if let Some((what, how)) = self.run(&mut case, number) {
                    let place = case.place.path().display().to_string();
                    let lines = case.lines.join("\n    ").replace(&place, "");
                    let text = format!(
                        "seed {} case {number}: {what}: {how}\n    {lines}\n",
                        self.seed
                    )
                    .replace(&place, "");
                    eprint!("FAILED {text}");
                    failures.lock().unwrap().push(text);
                }
            }
        };
        std::thread::scope(|scope| (0..WORKERS).for_each(|_| drop(scope.spawn(work))));
        failures.into_inner().unwrap()
    }

    /// Draws a case from the seed and its number, and runs it.
    fn run(&self, case: &mut Case, number: u32) -> Broken {
        let mut draw = Rng(Draw(
            self.seed ^ u64::from(number).wrapping_mul(0x9E37_79B9_7F4A_7C15),
        ));
        draw.0.next();
        let taste = Taste::draw(&mut draw);
        let job = Job::draw(&mut draw, &taste);
        if !self.is_of_ranks {
            return job::tried(case, &taste, job);
        }
        match job.task {
            Task::Check(_) => None,
            _ => job::tried(case, &taste, job.over_ranks(&mut draw)),
        }
    }

    fn assert_none(&self) {
        let failures = self.failures();
        assert!(
            failures.is_empty(),
            "{} of {} cases failed, the first is {}",
            failures.len(),
            self.cases,
            failures[0]
        );
    }
}

#[test]
fn drawn_sorts_are_those_of_the_reference() {
    Drawn::new(300).assert_none();
}

#[test]
fn drawn_sorts_of_ranks_are_those_of_the_reference() {
    if crate::ranks::launch::launcher(1, "drawn sorts of ranks").is_none() {
        return;
    }
    let mut drawn = Drawn::new(cases(4, 30));
    drawn.is_of_ranks = true;
    if std::env::var_os("GRISTMILL_CASES").is_some() {
        // Starting ranks takes a second.
        drawn.cases = drawn.cases.div_ceil(200);
    }
    drawn.assert_none();
}

/// Scripts around the command that break one promise each.
#[test]
fn broken_promises_are_found() {
    let place = TempDir::new().unwrap();
    let binary = place.path().join("script");
    for (script, what) in [
        (
            "[ $code = 0 ] && [ -s out ] && truncate -s -1 out",
            "wrong ",
        ),
        ("[ $code = 0 ] && [ -f out ] && echo more >>out", "wrong "),
        ("touch tmp/.gristmill-1.tmp", "left: "),
        ("[ -f in0 ] && touch in0", "touched: "),
        (
            "[ $code = 0 ] && echo 'gristmill: no' >&2 && code=2",
            "gristmill: no",
        ),
        ("[ $code = 1 ] && code=0", "wrong check: "),
    ] {
        let text = format!("#!/bin/sh\n\"{GRISTMILL}\" \"$@\"\ncode=$?\n{script}\nexit $code\n");
        fs::write(&binary, text).unwrap();
        fs::set_permissions(&binary, Permissions::from_mode(0o755)).unwrap();
        let drawn = Drawn {
            seed: 1,
            from: 0,
            cases: 200,
            is_of_ranks: false,
            ends_early: true,
            binary: binary.clone(),
        };
        let failures = drawn.failures();
        let is_found = failures.iter().any(|text| text.contains(what));
        assert!(is_found, "{script}: {failures:?}");
    }
}

/// A command line as a shell reads it.
fn shown(words: &[OsString]) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:+=,".contains(c);
    let word = |word: &OsString| match word.to_str() {
        Some(text) if !text.is_empty() && text.chars().all(plain) => text.to_owned(),
        _ => format!("{word:?}"),
    };
    words.iter().map(word).collect::<Vec<_>>().join(" ")
}

/// Says what is skipped for want of a program.
fn is_missing(program: &str) -> bool {
    let is_missing = children::Command::new(program)
        .arg("--version")
        .output()
        .is_err();
    if is_missing {
        skip(&format!("drawn sorts with {program}, which is missing"));
    }
    is_missing
}
