//! Runs a drawn sort.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus, Stdio};
use std::thread::JoinHandle;

use children::Command;
use std::time::{Duration, Instant};

use super::job::{Input, Job, Task};
use super::judge::written;
use super::order::{Order, Record};
use super::texts::Format;
use super::ways::{self, Sink, Source, content};
use super::{Broken, Case, shown};
use crate::ranks::launch;

/// The longest input that is printed with its case.
const SHOWN_BYTES: usize = 600;

/// A sort that takes longer hangs. Lines of megabytes that are equal to their ends take 30 s in a language, and three
/// times as long on a busy machine.
const PATIENCE: Duration = Duration::from_secs(240);

/// The end of a command.
pub(super) struct Ran {
    /// `None` if it hung.
    status: Option<ExitStatus>,
    said: String,
}

impl Ran {
    pub(super) fn code(&self) -> Option<i32> {
        self.status.and_then(|status| status.code())
    }

    /// Its message; a launcher of ranks goes on.
    pub(super) fn last_line(&self) -> String {
        let is_ours = |line: &&str| line.starts_with("gristmill: ");
        let line = self
            .said
            .lines()
            .rfind(is_ours)
            .or(self.said.lines().last());
        line.unwrap_or("(it said nothing)").to_owned()
    }

    /// An end that no command may have.
    fn wrong(&self) -> Broken {
        let Some(status) = self.status else {
            return Some(("hang", self.last_line()));
        };
        match (status.code(), status.signal()) {
            _ if self.said.contains("panicked at") => Some(("panic", self.said.clone())),
            (Some(0..=2), _) => None,
            (code, signal) => Some(("died", format!("{code:?} {signal:?} {}", self.last_line()))),
        }
    }
}

/// Each name below a directory, with its length, inode and time; pipes and directories have none of these.
fn look(own: &Path) -> BTreeMap<PathBuf, Option<(u64, u64, i64)>> {
    let mut all = BTreeMap::new();
    let mut waiting = vec![own.to_owned()];
    while let Some(path) = waiting.pop() {
        let seen = fs::symlink_metadata(&path).unwrap();
        if seen.is_dir() {
            waiting.extend(
                fs::read_dir(&path)
                    .unwrap()
                    .map(|entry| entry.unwrap().path()),
            );
        }
        let modified = seen.mtime() * 1_000_000_000 + seen.mtime_nsec();
        all.insert(
            path,
            seen.is_file().then(|| (seen.len(), seen.ino(), modified)),
        );
    }
    all
}

/// Waits for the end of a child, or ends it when it takes too long.
fn ended(child: &mut Child) -> Option<ExitStatus> {
    let begin = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return Some(status);
        }
        if begin.elapsed() > PATIENCE {
            child.kill().unwrap();
            child.wait().unwrap();
            return None;
        }
        std::thread::sleep(Duration::from_micros(500));
    }
}

impl Case {
    /// A command in the directory.
    fn command(&self, words: &[String]) -> Command {
        let mut command = Command::new(&self.binary);
        command
            .args(words)
            .current_dir(self.own(""))
            .env("TMPDIR", self.own("tmp"));
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    /// Runs a command of which only the files matter; whether it succeeded.
    pub(super) fn run_quietly(&self, words: &[String]) -> bool {
        self.command(words).status().unwrap().success()
    }
}

impl Job {
    /// Runs it in an empty directory.
    pub(super) fn run(&self, case: &mut Case, format: Format) -> Broken {
        case.clear();
        let own = case.own("");
        let mut job = self.clone();
        let mut pipes = Vec::new();
        let is_ordered = matches!(self.task, Task::Merge(true) | Task::Check(true));
        for (number, input) in job.inputs.iter_mut().enumerate() {
            if self.order.locale.is_some() && is_ordered {
                input.sort_by_language(case, self, format);
            }
            let bytes = format.file(input.bytes(&self.header, format));
            if input.source == Source::Set {
                input.make_set(case, &format!("in{number}/"), self, format);
            }
            pipes.extend(input.source.make(&own.join(format!("in{number}")), &bytes));
            case.lines.push(made(input, number, &bytes));
        }
        let numbered = job.inputs.iter().enumerate();
        let mut names: Vec<String> = numbered
            .map(|(number, input)| input.name(number, self.by_names))
            .collect();
        if self.by_names {
            ways::names0(&own.join("names"), &names);
            names = ["--files0-from", "names"].map(str::to_owned).to_vec();
        }
        let (reader, file) = self.sink.make(&own.join(self.sink.name()));
        let words = [vec!["sort".to_owned()], self.words(format), names].concat();
        let all: Vec<OsString> = words.iter().map(OsString::from).collect();
        case.lines.push(format!(
            "gristmill {} # {:?} {:?}",
            shown(&all),
            self.sink,
            self.task
        ));
        let before = look(&own);
        let mut command = self.launched(case, &words);
        let standard = job
            .inputs
            .iter()
            .position(|input| matches!(input.source, Source::Standard(_)));
        if let Some(number) = standard {
            let is_file = job.inputs[number].source == Source::Standard(true);
            let open = || fs::File::open(own.join(format!("in{number}"))).unwrap();
            command.stdin(if is_file {
                Stdio::from(open())
            } else {
                Stdio::piped()
            });
        }
        if let Sink::Standard(..) = self.sink {
            command.stdout(
                file.as_ref()
                    .map_or_else(Stdio::piped, |file| file.try_clone().unwrap().into()),
            );
        }
        let said = case.place.path().join("said");
        command.stderr(fs::File::create(&said).unwrap());
        let mut child = command.spawn().unwrap();
        let writer = child.stdin.take().map(|pipe| {
            let input = &job.inputs[standard.expect("its pipe is there")];
            ways::writer(pipe, format.file(input.bytes(&self.header, format)))
        });
        let reader = child.stdout.take().map(ways::reader).or(reader);
        let status = ended(&mut child);
        let fifos = job
            .inputs
            .iter()
            .enumerate()
            .filter(|(_, input)| input.source == Source::Fifo);
        let fifos = fifos.map(|(number, _)| own.join(format!("in{number}")));
        let to = (self.sink == Sink::Fifo).then(|| own.join(self.sink.name()));
        let fifos: Vec<PathBuf> = fifos.chain(to).collect();
        pipes.extend(writer);
        ways::release(&fifos, || {
            let is_read = reader.as_ref().is_none_or(JoinHandle::is_finished);
            is_read && pipes.iter().all(JoinHandle::is_finished)
        });
        pipes.into_iter().for_each(|writer| writer.join().unwrap());
        let piped = reader.map(|reader| reader.join().unwrap());
        let said = String::from_utf8_lossy(&fs::read(said).unwrap()).into_owned();
        let ran = Ran { status, said };
        let touched = self.touched(&before, &own, &ran);
        let output = self.sink.read(&own, piped, &self.header, file);
        let output = output.map(|file| format.records(file));
        ran.wrong()
            .or(touched)
            .or_else(|| job.judge(case, format, &ran, output))
    }

    /// The command, by a shell or a launcher where the sink needs that.
    fn launched(&self, case: &Case, words: &[String]) -> Command {
        let command = case.command(words);
        let mut outer = match self.sink {
            Sink::Third => {
                let mut shell = Command::new("sh");
                shell
                    .args(["-c", "exec \"$0\" \"$@\" 3>>out"])
                    .stdin(Stdio::null())
                    .stdout(Stdio::null());
                shell
            }
            Sink::Ranks(count, _) => {
                launch::launcher(count as u32, "drawn sorts").expect("there is MPI")
            }
            _ => return command,
        };
        outer
            .arg(&case.binary)
            .args(words)
            .current_dir(case.own(""))
            .env("TMPDIR", case.own("tmp"));
        if let Sink::Ranks(..) = self.sink {
            outer.stdout(Stdio::null());
        }
        outer
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
    fn touched(
        &self,
        before: &BTreeMap<PathBuf, Option<(u64, u64, i64)>>,
        own: &Path,
        ran: &Ran,
    ) -> Broken {
        let is_done =
            ran.code() == Some(0) || matches!(self.sink, Sink::Standard(..) | Sink::Third);
        let is_allowed = |path: &Path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let is_told = ["report", "bad"].iter().any(|name| path == own.join(name));
            let is_kept =
                self.has("--resume") && name.starts_with(".gristmill-") && ran.code() != Some(0);
            is_told || is_kept || is_done && self.sink.owns(path, own)
        };
        let after = look(own);
        let left = after
            .keys()
            .find(|path| !before.contains_key(*path) && !is_allowed(path));
        let touched = before
            .iter()
            .find(|(path, seen)| after.get(*path) != Some(seen) && !is_allowed(path));
        let told = |path: &Path| format!("{}: {}", path.display(), ran.last_line());
        left.map(|path| ("left", told(path)))
            .or_else(|| touched.map(|(path, _)| ("touched", told(path))))
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
        let mut bytes = if self.has_header {
            header.to_vec()
        } else {
            Vec::new()
        };
        for record in &self.records {
            bytes.extend(written(1, record, false, format));
        }
        // A last line without bytes and without an end is none.
        let has_last = self.records.last().map_or(self.has_header, |record| {
            !record.bytes.is_empty() && format.may_end_open(&record.bytes)
        });
        if !self.has_end && has_last && format.end().is_some() {
            bytes.pop();
        }
        bytes
    }

    /// Sorts its records by a language, with the command itself.
    fn sort_by_language(&mut self, case: &Case, job: &Job, format: Format) {
        let order = &job.order;
        let is_stable = order.is_unique || order.is_stable;
        self.records.retain(|record| !record.is_bad);
        let plain = Order {
            is_unique: false,
            is_counted: false,
            sum: None,
            is_stable,
            top: None,
            ..order.clone()
        };
        let whole = Input {
            has_end: true,
            has_header: true,
            ..self.clone()
        };
        let bytes = format.file(whole.bytes(&job.header, format));
        fs::write(case.own("unsorted"), bytes).unwrap();
        let mut words = ["sort", "--decompress=none", "unsorted", "-o", "sorted"]
            .map(str::to_owned)
            .to_vec();
        words.extend(format.words().into_iter().chain(plain.words()));
        case.run_quietly(&words);
        let text = format.records(content(&case.own("sorted")).unwrap_or_default());
        let text = text.strip_prefix(&*job.header).unwrap_or(&text);
        let mut by_bytes: BTreeMap<Vec<u8>, Vec<Record>> = BTreeMap::new();
        self.records.drain(..).for_each(|record| {
            by_bytes
                .entry(record.bytes.clone())
                .or_default()
                .push(record)
        });
        let lines = text.split_inclusive(|&byte| Some(byte) == format.end());
        self.records
            .extend(lines.filter_map(|line| by_bytes.get_mut(&line[..line.len() - 1])?.pop()));
        // There is none of a language that is refused.
        let _ = (
            fs::remove_file(case.own("unsorted")),
            fs::remove_file(case.own("sorted")),
        );
    }

    /// Makes a set of it; or leaves a file where that fails.
    fn make_set(&mut self, case: &Case, name: &str, job: &Job, format: Format) {
        self.source = Source::File;
        if job.order.locale.is_some() || self.records.iter().any(|record| record.is_bad) {
            return;
        }
        let plain = Order {
            is_unique: false,
            is_counted: false,
            sum: None,
            is_stable: false,
            top: None,
            ..job.order.clone()
        };
        let mut words = ["sort", "unsorted", "--decompress=none", "-S64M", "-o", name]
            .map(str::to_owned)
            .to_vec();
        words.extend(format.words().into_iter().chain(plain.words()));
        let bytes = format.file(self.bytes(&job.header, format));
        fs::write(case.own("unsorted"), bytes).unwrap();
        if case.run_quietly(&words) {
            self.source = Source::Set;
            self.records.sort_by(|a, b| plain.compare(a, b));
        }
        if self.source == Source::File {
            let _ = fs::remove_dir_all(case.own(name));
        }
        fs::remove_file(case.own("unsorted")).unwrap();
    }
}

/// An input as a shell makes it.
fn made(input: &Input, number: usize, bytes: &[u8]) -> String {
    let text = if bytes.len() <= SHOWN_BYTES {
        bytes
            .iter()
            .map(|&byte| match byte {
                b'\n' => "\\n".to_owned(),
                b'\\' | b'%' | b'\'' | 0..b' ' | 127.. => format!("\\{byte:03o}"),
                byte => char::from(byte).to_string(),
            })
            .collect::<String>()
            .replace("\\045", "%%")
    } else {
        format!(
            "({} bytes, {} records, lengths {:?})",
            bytes.len(),
            input.records.len(),
            input
                .records
                .iter()
                .map(|record| record.bytes.len())
                .take(20)
                .collect::<Vec<_>>()
        )
    };
    format!("printf '{text}' >in{number} # {:?}", input.source)
}
