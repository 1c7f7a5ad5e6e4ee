//! Memory of sorts of lines on threads and real files: the resident set stays within the limit and
//! 32 MiB for the program, also where lines are shorter than those that the survey sees.
//!
//! Each sort has a process of its own, since the resident set of a process never falls.

use std::fs;
use std::io::{Write as _, stderr};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use children::Command;

use crate::common::job;
use crate::common::lines::{seeds, text_order};
use node::Random;
use node_real::{Cluster, peak_rss_bytes};
use record::LineOrder;
use record::{Order, Ties};
use sort::{Choice, Lines};

const INPUT_BYTES: usize = 20 << 20;
const PROGRAM_BYTES: u64 = 32 << 20;

/// Tells the test below what to sort.
const WISH: &str = "GRISTMILL_LINE_SORT";

const PLANS: [Choice; 3] = [Choice::Auto, Choice::TwoPass, Choice::Merge];

/// Directory, memory in MiB, number of the plan, and whether ties keep their order.
fn wish(directory: &Path, memory_mib: u64, plan: usize, stable: bool) -> String {
    format!("{memory_mib} {plan} {stable} {}", directory.display())
}

#[test]
#[ignore = "the other tests of this file run it, each time in a process of its own"]
fn sort_as_wished() {
    let Ok(wish) = std::env::var(WISH) else {
        return;
    };
    let mut words = wish.splitn(4, ' ');
    let mut word = || words.next().expect("four words");
    let memory_mib: u64 = word().parse().unwrap();
    let plan: usize = word().parse().unwrap();
    let ties = ties(word() == "true");
    let directory = PathBuf::from(word());
    let paths = ["in", "out"].map(|name| directory.join(name).to_str().unwrap().to_owned());
    let mut job = job(&[&paths[0]], &paths[1], &Order::gensort(Ties::Record));
    job.contents = Arc::new(Lines::new(LineOrder {
        multiline: None,
        shuffle: None,
        text: text_order(false, ties),
        framing: record::Framing::Delimited(b'\n'),
        keys: record::LineKeys::Text,
    }));
    job.plan = PLANS[plan];
    job.may_begin_again = true;
    job.resources.memory_bytes = memory_mib << 20;
    let ends = Cluster::new(1, 1).run(move |node| {
        let job = job.clone();
        async move { sort::run(&node, &job).await }
    });
    for end in ends {
        let report = end.unwrap_or_else(|failure| panic!("{failure}"));
        println!("{} of {} passes", report.plan, report.passes);
    }
    println!("peak {}", peak_rss_bytes());
}

fn ties(is_stable: bool) -> Ties {
    if is_stable {
        Ties::Position
    } else {
        Ties::Record
    }
}

/// The end of a process that could start no program. qemu-user loses the error itself.
const NOT_STARTED: i32 = 127;

/// Sorts in another process. Returns its greatest resident set and its words; none where an emulator runs
/// this one alone.
fn resident(wish: &str) -> Option<(u64, String)> {
    let this = std::env::current_exe().unwrap();
    let mut command = Command::new(this);
    command.args([
        "line_memory::sort_as_wished",
        "--exact",
        "--ignored",
        "--nocapture",
    ]);
    let ended = command.env(WISH, wish).output().unwrap();
    if ended.status.code() == Some(NOT_STARTED) {
        return None;
    }
    let said = String::from_utf8_lossy(&[ended.stdout, ended.stderr].concat()).into_owned();
    assert!(ended.status.success(), "{wish}: {said}");
    let peak = said.lines().find_map(|line| line.strip_prefix("peak "));
    let peak = peak.unwrap_or_else(|| panic!("{said}")).parse().unwrap();
    Some((peak, said))
}

fn letters(count: usize, random: &mut Random, file: &mut Vec<u8>) {
    file.extend((0..count).map(|_| b'a' + random.below(26) as u8));
    file.push(b'\n');
}

fn of_lines(bytes: usize, mut length: impl FnMut(usize, &mut Random) -> usize) -> Vec<u8> {
    let (mut file, mut random) = (Vec::with_capacity(bytes + 2000), Random::new(5));
    while file.len() < bytes {
        let length = length(file.len(), &mut random);
        letters(length, &mut random, &mut file);
    }
    file
}

/// Sorts under this plan, or under every plan in `make test-long`, and checks the resident set and
/// the output.
fn check(file: &[u8], memory_mib: u64, usual: Choice) {
    match seeds(0, 1) {
        0 => check_plans(file, memory_mib, &[usual]),
        _ => check_plans(file, memory_mib, &PLANS),
    }
}

fn check_plans(file: &[u8], memory_mib: u64, wanted: &[Choice]) {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("in"), file).unwrap();
    let sorted = |is_stable| {
        let order = text_order(false, ties(is_stable));
        let mut lines: Vec<&[u8]> = file.split_inclusive(|&byte| byte == b'\n').collect();
        lines.sort_by(|a, b| order.compare(&a[..a.len() - 1], &b[..b.len() - 1]));
        lines.concat()
    };
    let wanted = |(_, plan): &(usize, &Choice)| wanted.contains(plan);
    for (number, plan) in PLANS.iter().enumerate().filter(wanted) {
        let is_stable = number == 1;
        let wish = wish(place.path(), memory_mib, number, is_stable);
        let Some((peak, said)) = resident(&wish) else {
            // Past the test runner's capture: a skip is never silent.
            let _ = writeln!(stderr(), "skipped: an emulator starts no program");
            return;
        };
        let output = fs::read(place.path().join("out")).unwrap();
        assert!(output == sorted(is_stable), "{plan:?}");
        let here = format!("{plan:?}, {memory_mib} MiB: {peak} bytes resident; {said}");
        println!("{plan:?}, {memory_mib} MiB: {} MiB resident", peak >> 20);
        assert!(peak <= (memory_mib << 20) + PROGRAM_BYTES, "{here}");
    }
}

#[test]
fn lines_of_a_few_bytes_keep_the_limit() {
    check(
        &of_lines(INPUT_BYTES, |_, random| random.below(8)),
        24,
        Choice::Auto,
    );
}

/// One half of the file has 500 times as many lines as the other.
#[test]
fn halves_of_long_and_short_lines_keep_the_limit() {
    let half = INPUT_BYTES / 2;
    let length = |at, _: &mut Random| if at < half { 999 } else { 1 };
    check(&of_lines(INPUT_BYTES, length), 24, Choice::TwoPass);
}

/// Lines are long in all places that the survey looks at, and empty or short elsewhere.
#[test]
fn lines_that_mislead_the_survey_keep_the_limit() {
    let place = INPUT_BYTES / 64;
    let length = |at: usize, random: &mut Random| {
        if at % place < 10_000 {
            999
        } else {
            random.below(3)
        }
    };
    check(&of_lines(INPUT_BYTES, length), 24, Choice::Merge);
}

/// Not every buffer has room for the longest line.
#[test]
fn one_long_line_keeps_the_limit() {
    let mut file = of_lines(100 << 10, |_, random| random.below(99));
    file.extend([vec![b'm'; 10_000_000], b"\n".to_vec()].concat());
    file.extend(of_lines(100 << 10, |_, random| random.below(99)));
    check_plans(&file, 64, &[Choice::Auto]);
}

/// Lines become longer and longer.
#[test]
fn lines_of_growing_length_keep_the_limit() {
    let length = |at: usize, random: &mut Random| random.below(2 + at / 10_000);
    check(&of_lines(INPUT_BYTES, length), 24, Choice::TwoPass);
}
