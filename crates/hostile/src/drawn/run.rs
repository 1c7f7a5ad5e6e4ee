//! Runs a drawn sort, and judges its end.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use rustix::process::Resource;

use crate::case::{Case, content, is_own};
use crate::command::{Ran, ended};
use crate::tree::{Kind, Tree};

use super::order::{Order, Record};
use super::texts::Format;
use super::ways::{self, Sink, Source};
use super::{Input, Job, Task};

/// Parts of messages that refuse options or a limit, and not the input.
const REFUSALS: [&str; 10] = [
    "no order is known",
    "at least -S", "--max-line", "leave ", "name an output file", "name one with -o", "name one file with -o",
    "--resume needs", "without --resume", "several ranks sort only files",
];

/// What is said of an input of a merge.
const DISORDER: &str = "out of order, and -m only merges";

/// The longest input that is printed with its case.
const SHOWN_BYTES: usize = 600;

/// A broken promise, and how.
type Broken = Option<(&'static str, String)>;

impl Job {
    /// Runs it in an empty directory.
    pub(super) fn run(&self, case: &mut Case, format: Format) -> io::Result<Broken> {
        case.scene.clear()?;
        let own = case.scene.own("");
        fs::create_dir(own.join("tmp"))?;
        let mut job = self.clone();
        let mut waiting = Vec::new();
        for (number, input) in job.inputs.iter_mut().enumerate() {
            let path = own.join(format!("in{number}"));
            if self.order.locale.is_some() && matches!(self.task, Task::Merge(true) | Task::Check(true)) {
                input.sort_by_language(case, &self.order, format)?;
            }
            let bytes = input.bytes(&self.header, format);
            if input.source == Source::Set {
                input.make_set(case, &format!("in{number}/"), self, format)?;
            }
            waiting.extend(input.source.make(&path, &bytes)?);
            case.lines.push(shown(input, number, &bytes));
        }
        let names: Vec<String> = job.inputs.iter().enumerate().map(|(number, input)| input.name(number, self.by_names)).collect();
        if self.by_names {
            ways::names0(&own.join("names"), &names)?;
        }
        let (reader, file) = self.sink.make(&own.join(self.sink.name()))?;
        let mut words = vec!["sort".to_owned()];
        words.extend(self.words(format));
        words.extend(if self.by_names { vec!["--files0-from".to_owned(), "names".to_owned()] } else { names });
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let mut call = case.call(&words);
        if !self.options.iter().any(|words| words[0].starts_with("-S")) {
            call.limits.push((Resource::As, u64::MAX));
        }
        if self.sink == Sink::Third {
            let program = std::mem::replace(&mut call.program, "sh".into()).into_os_string();
            call.arguments.splice(..0, ["-c".into(), "exec \"$0\" \"$@\" 3>>out".into(), program]);
        }
        let line = call.line();
        case.lines.push(format!("{line} {:?} {:?}", self.sink, self.task));
        let before = Tree::of(&[&own])?;
        let said = case.scene.place.join("said");
        let standard = job.inputs.iter().position(|input| matches!(input.source, Source::Standard(_)));
        let is_file = standard.is_some_and(|number| job.inputs[number].source == Source::Standard(true));
        let stdin = match standard {
            Some(number) if is_file => Stdio::from(fs::File::open(own.join(format!("in{number}")))?),
            Some(_) => Stdio::piped(),
            None => Stdio::null(),
        };
        let stdout = match (&file, self.sink) {
            (Some(file), Sink::Standard(..)) => Stdio::from(file.try_clone()?),
            (_, Sink::Standard(..)) => Stdio::piped(),
            _ => Stdio::null(),
        };
        let mut child = call.start_with(&said, |command| {
            command.stdin(stdin).stdout(stdout).env("TMPDIR", own.join("tmp"));
        })?;
        let writer = child.stdin.take().map(|pipe| {
            let input = &job.inputs[standard.expect("its pipe is there")];
            ways::writer(pipe, input.bytes(&self.header, format))
        });
        let reader = child.stdout.take().map(ways::reader).or(reader);
        let status = ended(&mut child, case.scene.limit)?;
        let pipes = job.inputs.iter().enumerate().filter(|(_, input)| input.source == Source::Fifo);
        pipes.for_each(|(number, _)| ways::release(&own.join(format!("in{number}"))));
        if self.sink == Sink::Fifo {
            ways::release(&own.join(self.sink.name()));
        }
        waiting.into_iter().chain(writer).for_each(|writer| writer.join().expect("a writer ends"));
        let said_out = reader.map(|reader| reader.join().expect("a reader ends"));
        let ran = Ran::of(status, &said);
        let after = Tree::of(&[&own])?;
        let output = self.sink.read(&own, said_out, &self.header, file)?;
        if let Some(broken) = self.touched(&before, &after, &own, &ran) {
            return Ok(Some(broken));
        }
        job.judge(case, format, &ran, output)
    }

    fn words(&self, format: Format) -> Vec<String> {
        let mut words = format.words();
        words.extend(self.order.words());
        words.extend(self.options.iter().flatten().cloned());
        match self.task {
            Task::Sort => {}
            Task::Merge(_) => words.push("-m".to_owned()),
            Task::Check(_) => words.push("-c".to_owned()),
        }
        words.extend(self.sink.words());
        words
    }

    /// A file that is changed, or left behind.
    fn touched(&self, before: &Tree, after: &Tree, own: &Path, ran: &Ran) -> Broken {
        let is_pipe = |path: &PathBuf| after.entries.get(path).is_some_and(|entry| entry.kind == Kind::Other);
        let is_allowed = |path: &Path| {
            let is_done = ran.code() == Some(0) || matches!(self.sink, Sink::Standard(..) | Sink::Third);
            let is_told = ["report", "bad"].iter().any(|name| path == own.join(name));
            let is_kept = self.has("--resume") && is_own(path);
            is_told || is_kept || is_done && self.sink.owns(path, own)
        };
        let change = after.changes_since(before).into_iter().find(|change| !is_pipe(&change.path) && !is_allowed(&change.path))?;
        let what = if change.how == "added" { "left" } else { "touched" };
        Some((what, format!("{} {}: {}", change.path.display(), change.how, ran.last_line())))
    }

    fn judge(&self, case: &mut Case, format: Format, ran: &Ran, output: Option<Vec<u8>>) -> io::Result<Broken> {
        if let Task::Check(_) = self.task {
            return Ok(self.judge_check(ran));
        }
        if ran.code() == Some(2) {
            let is_right = if ran.last_line().contains(DISORDER) { self.task == Task::Merge(false) } else { is_refusal(ran) };
            return Ok((!is_right).then(|| ("refused", ran.last_line())));
        }
        if let Some(broken) = ran.wrong() {
            return Ok(Some(broken));
        }
        let all: Vec<&Record> = self.inputs.iter().flat_map(|input| &input.records).collect();
        let kept = self.order.sorted(&all);
        let output = output.unwrap_or_else(|| b"(no output)".to_vec());
        let mut expected = if self.inputs.iter().any(|input| input.has_header) { self.header.clone() } else { Vec::new() };
        let written = kept.iter().map(|(count, record)| written(*count, record, self.order.is_counted, format)).collect::<Vec<_>>();
        let is_right = match self.order.locale {
            Some(_) => return self.judge_language(case, format, written, &output),
            None => {
                expected.extend(written.concat());
                expected == output
            }
        };
        if !is_right {
            return Ok(Some(("wrong output", difference(&output, &expected))));
        }
        Ok(self.judge_account(case, kept.len(), &all))
    }

    /// The records of the report, and rows that were set aside.
    fn judge_account(&self, case: &Case, kept: usize, all: &[&Record]) -> Broken {
        if self.has("--report") {
            let report: serde_json::Value = content(&case.scene.own("report")).and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default();
            if report["records"].as_u64() != Some(kept as u64) {
                return Some(("account", format!("{} records in the report, {kept} in the output", report["records"])));
            }
        }
        let mut bad: Vec<&[u8]> = all.iter().filter(|record| record.is_bad).map(|record| &record.bytes[..]).collect();
        let aside = content(&case.scene.own("bad")).unwrap_or_default();
        let mut found: Vec<&[u8]> = aside.split_inclusive(|&byte| byte == b'\n').map(|line| line.strip_suffix(b"\n").unwrap_or(line)).collect();
        bad.sort_unstable();
        found.sort_unstable();
        (bad != found).then(|| ("bad rows", format!("{} for {} rows: {}", found.len(), bad.len(), aside.escape_ascii())))
    }

    fn judge_check(&self, ran: &Ran) -> Broken {
        let records: Vec<&Record> = self.inputs[0].records.iter().collect();
        let order = &self.order;
        let mut pairs = records.windows(2);
        let expected = match (&order.locale, order.is_unique) {
            (None, false) => pairs.all(|pair| order.compare(pair[0], pair[1]).is_le()),
            (None, true) => pairs.all(|pair| order.by_keys(pair[0], pair[1]).is_lt()),
            (Some(_), _) if self.task == Task::Check(false) => return None,
            (Some(_), is_unique) => !is_unique || order.sorted(&records).len() == records.len(),
        };
        let is_right = ran.code() == Some(i32::from(!expected)) || ran.code() == Some(2) && is_refusal(ran);
        (!is_right).then(|| ("wrong check", format!("{:?}, not {}: {}", ran.code(), i32::from(!expected), ran.last_line())))
    }

    /// Whether these are the right lines, in an order that the command itself finds right.
    fn judge_language(&self, case: &mut Case, format: Format, mut expected: Vec<Vec<u8>>, output: &[u8]) -> io::Result<Broken> {
        let end = format.end().expect("lines have ends");
        let lines: Vec<&[u8]> = output.split_inclusive(|&byte| byte == end).collect();
        let mut found: Vec<&[u8]> = lines.clone();
        found.sort_unstable();
        expected.sort_unstable();
        let is_right = match self.order.top {
            None => found == expected,
            Some(top) => {
                let mut left = expected.iter();
                found.len() == top.min(expected.len()) && found.iter().all(|line| left.any(|other| other == line))
            }
        };
        if !is_right {
            return Ok(Some(("wrong lines", difference(&found.concat(), &expected.concat()))));
        }
        let skipped = if self.order.is_counted { 8 } else { 0 };
        let text = lines.iter().map(|line| &line[skipped..]).collect::<Vec<_>>().concat();
        fs::write(case.scene.own("sorted"), text)?;
        let order = Order { is_counted: false, top: None, ..self.order.clone() };
        let mut words = vec!["sort".to_owned(), "-c".to_owned(), "--decompress=none".to_owned(), "sorted".to_owned()];
        words.extend(format.words().into_iter().chain(order.words()));
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let ran = case.call(&words).run(&case.scene.place.join("said"), case.scene.limit)?;
        Ok((ran.code() != Some(0)).then(|| ("wrong order", ran.last_line())))
    }
}

impl Input {
    fn name(&self, number: usize, by_names: bool) -> String {
        match self.source {
            Source::Standard(_) => "-".to_owned(),
            Source::Set if !by_names => format!("in{number}/"),
            _ => format!("in{number}"),
        }
    }

    fn bytes(&self, header: &[u8], format: Format) -> Vec<u8> {
        let mut bytes = if self.has_header { header.to_vec() } else { Vec::new() };
        for record in &self.records {
            bytes.extend(written(1, record, false, format));
        }
        // A last line without bytes and without an end is none.
        let has_last = self.records.last().map_or(self.has_header, |record| !record.bytes.is_empty());
        if !self.has_end && has_last && format.end().is_some() {
            bytes.pop();
        }
        bytes
    }

    /// Sorts its records by a language, with the command itself.
    fn sort_by_language(&mut self, case: &Case, order: &Order, format: Format) -> io::Result<()> {
        let plain = Order { is_unique: false, is_counted: false, is_stable: true, top: None, ..order.clone() };
        let path = case.scene.own("unsorted");
        fs::write(&path, Input { has_end: true, ..self.clone() }.bytes(b"", format))?;
        let mut words: Vec<String> = ["sort", "--decompress=none", "unsorted", "-o", "sorted"].map(str::to_owned).to_vec();
        words.extend(format.words().into_iter().chain(if order.is_unique || order.is_stable { plain } else { Order { is_stable: false, ..plain } }.words()));
        run_quietly(case, &words)?;
        let text = content(&case.scene.own("sorted")).unwrap_or_default();
        let mut by_bytes: BTreeMap<Vec<u8>, Vec<Record>> = BTreeMap::new();
        self.records.drain(..).for_each(|record| by_bytes.entry(record.bytes.clone()).or_default().push(record));
        let lines = text.split_inclusive(|&byte| Some(byte) == format.end());
        self.records.extend(lines.filter_map(|line| by_bytes.get_mut(&line[..line.len() - 1])?.pop()));
        // There is none of a language that is refused.
        let _ = (fs::remove_file(path), fs::remove_file(case.scene.own("sorted")));
        Ok(())
    }

    /// Makes a set of it; or leaves a file where that fails.
    fn make_set(&mut self, case: &Case, name: &str, job: &Job, format: Format) -> io::Result<()> {
        if job.order.locale.is_some() || self.records.iter().any(|record| record.is_bad) {
            self.source = Source::File;
            return Ok(());
        }
        let mut words: Vec<String> = ["sort", "unsorted", "--decompress=none", "-S64M", "-o", name].map(str::to_owned).to_vec();
        let plain = Order { is_unique: false, is_counted: false, is_stable: false, top: None, ..job.order.clone() };
        words.extend(format.words().into_iter().chain(plain.words()));
        fs::write(case.scene.own("unsorted"), self.bytes(&job.header, format))?;
        run_quietly(case, &words)?;
        fs::remove_file(case.scene.own("unsorted"))?;
        if case.scene.own(name).is_dir() {
            self.records.sort_by(|a, b| plain.compare(a, b));
        } else {
            self.source = Source::File;
        }
        Ok(())
    }
}

fn is_refusal(ran: &Ran) -> bool {
    REFUSALS.iter().any(|part| ran.last_line().contains(part))
}

/// Runs a command of which only the files matter.
fn run_quietly(case: &Case, words: &[String]) -> io::Result<()> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    case.call(&words).run(&case.scene.place.join("said"), case.scene.limit).map(drop)
}

/// A record with its end.
fn written(count: usize, record: &Record, is_counted: bool, format: Format) -> Vec<u8> {
    let mut bytes = if is_counted { format!("{count:7} ").into_bytes() } else { Vec::new() };
    bytes.extend(&record.bytes);
    bytes.extend(format.end());
    bytes
}

/// The first place where two outputs differ.
fn difference(found: &[u8], expected: &[u8]) -> String {
    let at = found.iter().zip(expected).take_while(|(a, b)| a == b).count();
    let part = |bytes: &[u8]| bytes[at.min(bytes.len())..].iter().take(60).copied().collect::<Vec<u8>>();
    format!(
        "{} bytes for {}, from byte {at}: \"{}\" for \"{}\"",
        found.len(), expected.len(), part(found).escape_ascii(), part(expected).escape_ascii()
    )
}

/// An input as a shell makes it.
fn shown(input: &Input, number: usize, bytes: &[u8]) -> String {
    let text = match bytes.len() <= SHOWN_BYTES {
        true => bytes.iter().map(|&byte| match byte {
            b'\n' => "\\n".to_owned(),
            b'\\' | b'%' | b'\'' | 0..b' ' | 127.. => format!("\\{byte:03o}"),
            byte => char::from(byte).to_string(),
        }).collect::<String>().replace("\\045", "%%"),
        false => format!("({} bytes, {} records, lengths {:?})", bytes.len(), input.records.len(),
            input.records.iter().map(|record| record.bytes.len()).take(20).collect::<Vec<_>>()),
    };
    format!("printf '{text}' >in{number} # {:?}", input.source)
}
