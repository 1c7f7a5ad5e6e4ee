//! Inputs that change between two looks of a sort at them: the sort is refused, or it is the sort of one
//! state of the input.
//!
//! ```text
//! in   old              edited in place | replaced by another file | cut | longer
//! sort ... begins .. stops ................................................. continues, or is killed
//!                    at a drawn call on the file                              and resumed
//! ```
//!
//! strace stops a sort at a drawn call on its input; without it only killed ones are tried.

use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::process::Child;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::attacks::has_tracer;
use crate::case::{Case, content, own_names};
use crate::command::{Call, Ran, watched};

/// Calls that look at a file, and about how many of each a small sort makes.
const LOOKS: [(&str, u32); 5] = [
    ("newfstatat", 6),
    ("open", 3),
    ("fstat", 6),
    ("preadv", 10),
    ("close", 2),
];

/// An input of rows or lines: its header, and lines of one length.
struct Text {
    words: &'static [&'static str],
    header: &'static str,
    lines: Vec<String>,
}

impl Text {
    fn draw(case: &mut Case, count: usize) -> Text {
        let (words, header): (&[&str], &str) = case.pick(&[
            (&[][..], ""),
            (&["--format", "csv", "--key", "#1"], "a,b\n"),
            (&["--format", "csv", "--key", "#1"], LONGER),
            (&["--format", "tsv", "--key", "a"], "a\tb\n"),
            (&["--format", "jsonl", "--key", "a"], ""),
        ]);
        let mut text = Text {
            words,
            header,
            lines: Vec::new(),
        };
        text.lines = (0..count).map(|_| text.line(case)).collect();
        text
    }

    fn line(&self, case: &mut Case) -> String {
        let (number, letter) = (case.draw.u32(0..100_000_000), case.pick(&['a', 'b']));
        match self.words.get(1) {
            Some(&"jsonl") => format!("{{\"a\":\"{number:08}\",\"b\":\"{letter}\"}}\n"),
            Some(&"tsv") => format!("{number:08}\t{letter}\n"),
            _ => format!("{number:08},{letter}\n"),
        }
    }

    fn bytes(&self) -> Vec<u8> {
        [self.header, &self.lines.concat()].concat().into_bytes()
    }

    /// Keys of one length are ordered as the lines are.
    fn sorted(&self) -> Vec<u8> {
        let mut lines = self.lines.clone();
        lines.sort_unstable();
        [self.header, &lines.concat()].concat().into_bytes()
    }

    /// Draws another state of the file, and brings it about.
    fn edited(&self, case: &mut Case) -> io::Result<Text> {
        let mut new = Text {
            lines: self.lines.clone(),
            ..*self
        };
        let path = case.scene.own("in");
        let how = case.draw.u32(0..6);
        let middle = case.draw.usize(0..new.lines.len());
        for number in middle..new.lines.len().min(middle + 2000) {
            new.lines[number] = new.line(case);
        }
        if how >= 3 {
            // Another file, of another length and perhaps with another header.
            new.header = match self.header {
                "a,b\n" => LONGER,
                LONGER => "a,b\n",
                other => other,
            };
            let more = case.draw.usize(0..3);
            new.lines.truncate(middle.max(1) + more);
        }
        let bytes = new.bytes();
        if how < 2 {
            let file = OpenOptions::new().write(true).open(&path)?;
            file.write_all_at(&bytes, 0)?;
            case.lines.push("(lines are edited in place)".to_owned());
        } else {
            fs::write(path.with_extension("new"), &bytes)?;
            fs::rename(path.with_extension("new"), &path)?;
            case.lines.push(format!(
                "(another file of {} bytes has its name)",
                bytes.len()
            ));
        }
        Ok(new)
    }
}

/// A header whose end is a row, if its begin is taken for a shorter one.
const LONGER: &str = "aaaaaaaaa,b\n";

/// Stops a sort at a look at its input, edits that, and lets it go on.
pub(super) fn stopped(case: &mut Case) -> io::Result<()> {
    if !has_tracer() {
        return Ok(());
    }
    let count = case.pick(&[1, 5, 5, 100, 3000, 60_000]);
    let mut old = Text::draw(case, count);
    let plan: &[&str] = case.pick(&[
        &["--plan", "two-pass"][..],
        &["--plan", "merge"],
        &["--plan", "one-pass"],
        &["-m"],
        &[],
        &["--top", "7"],
    ]);
    if plan == ["-m"] {
        old.lines.sort_unstable();
    }
    fs::write(case.scene.own("in"), old.bytes())?;
    let mut words = [&["sort", "-S", "16M", "in", "-o", "out"], old.words, plan].concat();
    if case.draw.u32(0..8) == 0 {
        words.push("--verify");
    }
    let call = traced(case, &words)?;
    case.lines.push(call.line());
    let mut child = call.start(&case.scene.place.join("said"))?;
    let stopped = wait_for_stop(case, &mut child)?;
    let new = stopped.map(|_| old.edited(case)).transpose()?;
    // The tracer counts the calls of each thread, so others stop later.
    let status = watched(&mut child, case.scene.limit, |_| {
        stopped.map(|id| kill_process(id, Signal::CONT));
    })?;
    let ran = Ran::of(status, &case.scene.place.join("said"));
    let states: Vec<&Text> = [&old].into_iter().chain(&new).collect();
    judge(case, &ran, &states, plan.contains(&"--top").then_some(7));
    Ok(())
}

/// A sort under a tracer, which stops it at a drawn call on its input.
fn traced(case: &mut Case, words: &[&str]) -> io::Result<Call> {
    let mut call = case.call(words);
    let (look, most) = case.pick(&LOOKS);
    let when = case.draw.u32(1..=most);
    let trace = case.scene.place.join("trace");
    // Nothing is left of the case before.
    fs::write(&trace, b"")?;
    let before =
        format!("-f -qq -P in -e trace={look} -e inject={look}:signal=SIGSTOP:when={when} -o");
    let before = before.split(' ').map(OsString::from);
    let program = std::mem::replace(&mut call.program, "strace".into());
    let before = before.chain([trace.into(), program.into()]);
    call.arguments.splice(..0, before);
    Ok(call)
}

/// Waits until the tracer has stopped the sort, whose process it returns; none if it has ended.
fn wait_for_stop(case: &Case, tracer: &mut Child) -> io::Result<Option<Pid>> {
    let begin = Instant::now();
    while tracer.try_wait()?.is_none() && begin.elapsed() < case.scene.limit {
        let trace = fs::read_to_string(case.scene.place.join("trace")).unwrap_or_default();
        let is_there = trace.contains("stopped by SIGSTOP");
        if let Some(id) = is_there.then(|| grandchild(tracer)).flatten() {
            return Ok(Some(id));
        }
        sleep(Duration::from_micros(300));
    }
    Ok(None)
}

/// The process that a tracer started.
fn grandchild(tracer: &Child) -> Option<Pid> {
    let id = tracer.id();
    let children = fs::read_to_string(format!("/proc/{id}/task/{id}/children")).ok()?;
    Pid::from_raw(children.split_whitespace().next()?.parse().ok()?)
}

/// Kills a sort with `--resume`, edits its input, and sorts again: the input is the new one then.
pub(super) fn resumed(case: &mut Case) -> io::Result<()> {
    let old = Text::draw(case, 800_000);
    fs::write(case.scene.own("in"), old.bytes())?;
    fs::create_dir(case.scene.own("tmp"))?;
    let words = [
        &[
            "sort", "-S", "16M", "-T", "tmp", "--resume", "in", "-o", "out",
        ],
        old.words,
    ]
    .concat();
    let call = case.call(&words);
    case.lines.push(format!("{} # killed", call.line()));
    let entry = case.pick(&[".epoch-0", ".epoch-1", ".part-0"]);
    let mut child = call.start(&case.scene.place.join("said"))?;
    let tmp = case.scene.own("tmp");
    let begin = Instant::now();
    let is_there = || own_names(&tmp).iter().any(|name| name.ends_with(entry));
    while child.try_wait()?.is_none() && !is_there() && begin.elapsed() < case.scene.limit {
        sleep(Duration::from_micros(200));
    }
    let _ = child.kill();
    child.wait()?;
    if own_names(&tmp).is_empty() {
        // It was faster.
        return Ok(());
    }
    let new = old.edited(case)?;
    let ran = case.run(&call)?;
    let is_done = own_names(&tmp).is_empty();
    let is_right = ran.code() != Some(0) || content(&case.scene.own("out")) == Some(new.sorted());
    if !is_right {
        case.fail(
            "stale",
            format!("the output is not that of the input ({})", ran.last_line()),
        );
    } else if ran.code() == Some(0) && !is_done {
        case.fail("left", own_names(&tmp).join(" "));
    }
    Ok(())
}

/// Whether the output is that of one state, or the sort was refused and left none.
fn judge(case: &mut Case, ran: &Ran, states: &[&Text], top: Option<usize>) {
    let output = content(&case.scene.own("out"));
    let expected = |text: &&Text| {
        let bytes = text.sorted();
        let mut lines: Vec<&[u8]> = bytes.split_inclusive(|&byte| byte == b'\n').collect();
        let header = usize::from(!text.header.is_empty());
        lines.truncate(top.map_or(usize::MAX, |top| top + header));
        lines.concat()
    };
    if let Some((what, detail)) = ran.wrong() {
        return case.fail(what, detail);
    }
    let is_one = states
        .iter()
        .map(expected)
        .any(|bytes| output.as_ref() == Some(&bytes));
    if ran.code() == Some(0) && !is_one {
        let lines = output
            .unwrap_or_default()
            .iter()
            .filter(|&&byte| byte == b'\n')
            .count();
        case.fail("mixed", format!("{lines} lines, of no state of the input"));
    } else if ran.code() == Some(2) && output.is_some() && !is_one {
        case.fail("left", "an output of a refused sort");
    } else if ran.code() == Some(2) && states.len() == 1 && !ran.last_line().contains("at least -S")
    {
        case.fail("refused", ran.last_line());
    }
    for name in own_names(&case.scene.own("")) {
        case.fail("left", name);
    }
}
