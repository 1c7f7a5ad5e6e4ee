//! A drawn sort: its parts, and how it becomes smaller.

use super::order::{Order, Record};
use super::texts::{self, Taste};
use super::ways::{Sink, Source};
use super::{Broken, Case, Rng};

/// The most runs that make a failing case smaller, and the most records in them together.
const MOST_TRIES: usize = 100;
const MOST_RECORDS: usize = 400_000;

/// A piece of the input.
#[derive(Clone)]
pub(super) struct Input {
    pub source: Source,
    pub records: Vec<Record>,
    /// Whether its last line ends.
    pub has_end: bool,
    pub has_header: bool,
}

/// The command that is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Task {
    Sort,
    /// Whether its inputs are in order.
    Merge(bool),
    Check(bool),
}

/// A drawn sort.
#[derive(Clone)]
pub(super) struct Job {
    pub task: Task,
    pub order: Order,
    pub header: Vec<u8>,
    pub inputs: Vec<Input>,
    /// Options that change no byte of the output.
    pub options: Vec<Vec<String>>,
    pub sink: Sink,
    pub by_names: bool,
}

/// Runs a job, and makes it smaller while it fails in the same way.
pub(super) fn tried(case: &mut Case, taste: &Taste, mut job: Job) -> Broken {
    let mut broken = job.run(case, taste.format)?;
    let (mut tries, mut records) = (0, 0);
    loop {
        let mut found = None;
        for change in job.changes(taste) {
            tries += 1;
            records += job
                .inputs
                .iter()
                .map(|input| input.records.len())
                .sum::<usize>();
            if tries > MOST_TRIES || records > MOST_RECORDS {
                break;
            }
            let mut smaller = job.clone();
            change(&mut smaller);
            let same = smaller.run(case, taste.format);
            if let Some(same) = same.filter(|(what, _)| *what == broken.0) {
                found = Some((smaller, same));
                break;
            }
        }
        let Some(smaller) = found else { break };
        (job, broken) = smaller;
    }
    job.run(case, taste.format);
    Some(broken)
}

/// A step that makes a job smaller.
type Change = Box<dyn Fn(&mut Job)>;

/// How many records, and how long they are.
enum Size {
    /// Inputs without a row, of all kinds.
    Nothing,
    Few,
    /// Some as long as buffers.
    Long,
    /// More than a buffer holds, the odd ones last.
    Bulk,
    /// More than memory holds.
    Loads,
}

impl Job {
    pub(super) fn draw(draw: &mut Rng, taste: &Taste) -> Job {
        let task = match draw.u8(0..12) {
            0 => Task::Check(draw.bool()),
            1..4 => Task::Merge(draw.u8(0..10) > 0),
            _ => Task::Sort,
        };
        let size = match draw.usize(0..400) {
            0 => Size::Loads,
            1..9 => Size::Bulk,
            9..40 => Size::Long,
            40..65 => Size::Nothing,
            _ => Size::Few,
        };
        let is_long = matches!(size, Size::Long);
        let header = taste.header(if is_long && draw.bool() {
            texts::edge(draw)
        } else {
            1
        });
        let is_check = matches!(task, Task::Check(_));
        let count = if is_check {
            1
        } else {
            [1, 1, 1, 2, 2, 3, 5, 12][draw.usize(0..8)]
        };
        let mut job = Job {
            task,
            order: taste.order.clone(),
            header,
            inputs: Vec::new(),
            options: options(draw, task, &size),
            sink: if is_check {
                Sink::Standard(None, false)
            } else {
                Sink::draw(draw)
            },
            by_names: !is_check && draw.u8(0..12) == 0,
        };
        if is_check {
            (job.order.top, job.order.is_counted, job.order.sum) = (None, false, None);
        }
        let has_bad = taste.may_be_bad() && !is_check && draw.u8(0..5) == 0;
        if matches!(
            taste.format,
            texts::Format::Fixed { .. } | texts::Format::Gensort
        ) && draw.bool()
        {
            job.options
                .push(vec!["--splitters".to_owned(), "even".to_owned()]);
        }
        if has_bad {
            job.options
                .push(vec!["--bad-records".to_owned(), "bad".to_owned()]);
        }
        for _ in 0..count {
            let mut records = job.records(draw, taste, &size, count);
            if has_bad && draw.bool() {
                records.insert(draw.usize(0..records.len() + 1), taste.bad_row(draw));
            }
            let is_empty = records.is_empty();
            job.inputs.push(Input {
                source: Source::draw(draw),
                records,
                has_end: draw.u8(0..4) > 0,
                has_header: taste.has_header() && !(is_empty && draw.u8(0..3) == 0),
            });
        }
        job.settle(draw);
        job
    }

    /// The same over several ranks, which take plain files.
    pub(super) fn over_ranks(mut self, draw: &mut Rng) -> Job {
        for input in &mut self.inputs {
            input.source = Source::File;
            input.records.retain(|record| !record.is_bad);
        }
        let refused = ["--plan", "--bad-records", "-T", "--stripe"];
        self.options.retain(|words| !refused.contains(&&*words[0]));
        (self.order.is_counted, self.order.sum) = (false, None);
        (self.order.top, self.by_names) = (None, false);
        let has_own = self.order.is_unique || draw.bool();
        self.sink = Sink::Ranks(draw.usize(1..5), has_own);
        self
    }

    fn records(&self, draw: &mut Rng, taste: &Taste, size: &Size, inputs: usize) -> Vec<Record> {
        let count = match size {
            Size::Nothing => 0,
            Size::Few => [0, 1, 2, 3, 8, 20, 60][draw.usize(0..7)],
            Size::Long => draw.usize(0..30),
            Size::Bulk => draw.usize(5_000..20_000),
            Size::Loads => draw.usize(60_000..150_000) / inputs,
        };
        let rate = draw.usize(1..12);
        let odd = count - draw.usize(0..count.min(20) + 1);
        let mut drawn = |number| {
            let length = match size {
                Size::Nothing | Size::Few => 0,
                Size::Long if draw.usize(0..rate) == 0 => texts::edge(draw),
                Size::Bulk if number == odd && draw.bool() => texts::edge(draw),
                Size::Long => 0,
                Size::Bulk | Size::Loads => draw.usize(0..80),
            };
            taste.record(draw, length)
        };
        let is_plain = |record: &Record| !record.bytes.contains(&b'"');
        let mut records: Vec<Record> = (0..count)
            .map(|number| (number, drawn(number)))
            .filter(|(number, record)| {
                !matches!(size, Size::Bulk) || *number >= odd || is_plain(record)
            })
            .map(|(_, record)| record)
            .collect();
        if matches!(self.task, Task::Merge(true) | Task::Check(true)) {
            records.sort_by(|a, b| self.order.compare(a, b));
        }
        records
    }

    /// Makes it a sort that is mostly not refused: one input is standard input, outputs of some options are
    /// files.
    fn settle(&mut self, draw: &mut Rng) {
        if self.has("--stripe") {
            self.options.retain(|words| words[0] != "-T");
        }
        let mut has_standard = self.by_names;
        for input in &mut self.inputs {
            if matches!(input.source, Source::Standard(_))
                && std::mem::replace(&mut has_standard, true)
            {
                input.source = Source::File;
            }
        }
        let is_plain = draw.u8(0..8) > 0;
        let is_input = matches!(self.sink, Sink::Input(_));
        if is_input && self.inputs[0].source != Source::File {
            self.sink = Sink::File(true);
        }
        if !is_plain {
            return;
        }
        if self.has("--json") && matches!(self.sink, Sink::Standard(..)) {
            self.options.retain(|words| words[0] != "--json");
        }
        if !matches!(
            self.sink,
            Sink::File(_) | Sink::Input(_) | Sink::Set(_) | Sink::Packed(..)
        ) {
            self.options.retain(|words| words[0] != "--verify");
        }
        if self.has("--progress=json") {
            self.options.retain(|words| words[0] != "-q");
        }
        if self.order.shuffle.is_some() {
            self.task = Task::Sort;
            self.options
                .retain(|words| !["--resume", "--verify"].contains(&&*words[0]));
            for input in &mut self.inputs {
                if input.source == Source::Set {
                    input.source = Source::File;
                }
            }
            if matches!(self.sink, Sink::Set(_)) {
                self.sink = Sink::File(false);
            }
        }
        if self.has("--resume") {
            self.options.retain(|words| words[0] != "--stripe");
            (self.order.is_counted, self.order.sum) = (false, None);
            (self.order.top, self.sink) = (None, Sink::File(draw.bool()));
            self.task = Task::Sort;
            self.inputs
                .iter_mut()
                .for_each(|input| input.source = Source::File);
            self.options.retain(|words| {
                !["--plan", "--max-line", "--bad-records", "--tmp-limit=1G"].contains(&&*words[0])
            });
            self.inputs
                .iter_mut()
                .for_each(|input| input.records.retain(|record| !record.is_bad));
        }
        if self.order.top.is_some() || matches!(self.task, Task::Merge(_)) {
            self.options.retain(|words| words[0] != "--plan");
        }
        let joins = self.order.is_counted || self.order.sum.is_some();
        if joins {
            self.order.top = None;
            self.options.retain(|words| words[0] != "--verify");
        }
        if (joins || self.order.top.is_some()) && matches!(self.sink, Sink::Set(_)) {
            self.sink = Sink::File(false);
        }
    }

    pub(super) fn has(&self, option: &str) -> bool {
        self.options.iter().any(|words| words[0] == option)
    }

    /// Ways to make it smaller, the largest steps first.
    fn changes(&self, taste: &Taste) -> Vec<Change> {
        let mut all: Vec<Change> = Vec::new();
        let mut with = |change: Change| all.push(change);
        for number in 0..self.inputs.len() {
            if self.inputs.len() > 1 && self.sink != Sink::Input(number) {
                with(Box::new(move |job| drop(job.inputs.remove(number))));
            }
            let length = self.inputs[number].records.len();
            let mut part = length.div_ceil(2);
            while part > 0 {
                for begin in (0..length).step_by(part).take(16) {
                    with(Box::new(move |job| {
                        drop(
                            job.inputs[number]
                                .records
                                .drain(begin..length.min(begin + part)),
                        )
                    }));
                }
                part = if part == 1 { 0 } else { part.div_ceil(4) };
            }
            if self.inputs[number].source != Source::File {
                with(Box::new(move |job| {
                    job.inputs[number].source = Source::File
                }));
            }
        }
        for number in 0..self.options.len() {
            with(Box::new(move |job| drop(job.options.remove(number))));
        }
        if self.sink != Sink::File(false)
            && !matches!(
                (self.task, self.sink),
                (Task::Check(_), _) | (_, Sink::Ranks(..))
            )
        {
            with(Box::new(move |job| job.sink = Sink::File(false)));
        }
        if self.by_names {
            with(Box::new(move |job| job.by_names = false));
        }
        if self.header.len() > 10 {
            let header = taste.header(1);
            with(Box::new(move |job| job.header = header.clone()));
        }
        if self.order.top.is_some() {
            with(Box::new(move |job| job.order.top = None));
        }
        if self.order.is_stable {
            with(Box::new(move |job| job.order.is_stable = false));
        }
        all
    }
}

/// Draws options that change no byte of the output.
fn options(draw: &mut Rng, task: Task, size: &Size) -> Vec<Vec<String>> {
    let memory: &[&str] = match size {
        Size::Loads => &["-S5M", "-S6M", "-S8M"],
        Size::Nothing | Size::Few => &["-S8M", "-S16M", "-S64M"],
        Size::Long | Size::Bulk => &["-S6M", "-S8M", "-S16M", "-S64M", "-S100M", "-S500M", "-S1G"],
    };
    let all: [(u8, &[&str]); 19] = [
        (if matches!(size, Size::Loads) { 1 } else { 2 }, memory),
        (3, &["--parallel=1", "--parallel=2", "--parallel=3"]),
        (6, &["--io=direct", "--io=buffered"]),
        (
            2,
            &[
                "--plan one-pass",
                "--plan two-pass",
                "--plan merge",
                "--plan auto",
            ],
        ),
        (
            10,
            &["--compress=lz4", "--compress=zstd", "--compress=none"],
        ),
        (10, &["--max-line=64K", "--max-line=1M", "--max-line=5M"]),
        (6, &["--verify"]),
        (10, &["--batch-size=2", "--batch-size=3"]),
        (8, &["--resume"]),
        (4, &["-T tmp"]),
        (
            4,
            &[
                "--stripe 1+1 -T tmp -T tmp1",
                "--stripe 3+1 -T tmp -T tmp1 -T tmp2 -T tmp3",
            ],
        ),
        (10, &["--tmp-limit=1G"]),
        (4, &["--report report"]),
        (10, &["-q"]),
        (20, &["--progress=json"]),
        (20, &["--json"]),
        (20, &["--decompress=auto"]),
        (12, &["--exchange=rounds"]),
        (12, &["--shares=auto"]),
    ];
    let most = if matches!(task, Task::Check(_)) {
        3
    } else {
        all.len()
    };
    let mut options = Vec::new();
    for (rarity, words) in &all[..most] {
        if draw.u8(0..*rarity) == 0 {
            let words = words[draw.usize(0..words.len())];
            options.push(words.split(' ').map(str::to_owned).collect());
        }
    }
    options
}
