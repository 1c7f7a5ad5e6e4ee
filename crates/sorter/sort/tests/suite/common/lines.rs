//! Sorts of drawn lines on the driver, and the naive sort to compare with.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use node::Random;
use pipeline::{Control, Failure};
use record::text::{KeyOptions, TextOrder};
use rehearsal::Driver;
use sort::{Choice, IoChoice, Job, Lines, Report, SortError, Target, Tuning};

use super::{get, job, paths, put, run};
use record::{Comparison, Keep, LineOrder, Order, Ties};

/// Lines of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Of 0 to 2 bytes before the delimiter.
    Tiny,
    /// Of up to 200 bytes.
    Usual,
    /// Some are a hundred times as long as most.
    FewLong,
    Equal,
    Empty,
    /// Words, some of them very frequent.
    Words,
    /// They share the first 1200 bytes.
    LongPrefix,
    /// Of all bytes, NUL and 0xff among them.
    Binary,
    /// They end with CR LF.
    CarriageReturn,
    /// Fields, the second a number.
    Fields,
}

impl Shape {
    pub const ALL: [Shape; 10] = [
        Shape::Tiny,
        Shape::Usual,
        Shape::FewLong,
        Shape::Equal,
        Shape::Empty,
        Shape::Words,
        Shape::LongPrefix,
        Shape::Binary,
        Shape::CarriageReturn,
        Shape::Fields,
    ];

    /// Lines of about `bytes` bytes together, each with its delimiter.
    pub fn lines(self, bytes: usize, delimiter: u8, random: &mut Random) -> Vec<u8> {
        let mut lines = Vec::with_capacity(bytes + 4096);
        while lines.len() < bytes {
            let begin = lines.len();
            self.add(random, &mut lines);
            // A delimiter that was drawn makes no line shorter.
            for byte in &mut lines[begin..] {
                if *byte == delimiter {
                    *byte = byte.wrapping_add(1);
                }
            }
            lines.push(delimiter);
        }
        lines
    }

    fn add(self, random: &mut Random, lines: &mut Vec<u8>) {
        let mut letters = |count: usize, random: &mut Random| {
            lines.extend((0..count).map(|_| b'a' + random.below(26) as u8));
        };
        match self {
            Shape::Tiny => letters(random.below(3), random),
            Shape::Usual => letters(random.below(200), random),
            Shape::FewLong => match random.below(100) {
                0 => letters(1000 + random.below(2000), random),
                _ => letters(random.below(30), random),
            },
            Shape::Equal => lines.extend(b"all lines are equal"),
            Shape::Empty => {}
            Shape::Words => {
                let rank = 5000 / (1 + random.below(5000));
                lines.extend(format!("word{rank}").bytes());
            }
            Shape::LongPrefix => {
                lines.extend(vec![b'p'; 1200]);
                lines.extend((0..random.below(9)).map(|_| b'a' + random.below(3) as u8));
            }
            Shape::Binary => {
                let kinds = [0, 0xff, 0x7f, b'\t', b' ', random.below(256) as u8];
                let count = random.below(40);
                lines.extend((0..count).map(|_| kinds[random.below(kinds.len())]));
            }
            Shape::CarriageReturn => {
                letters(random.below(20), random);
                lines.push(b'\r');
            }
            Shape::Fields => {
                let (name, number) = (random.below(9), random.below(2000) as i64 - 1000);
                lines.extend(format!("n{name},{number},{}", random.below(5)).bytes());
            }
        }
    }
}

/// The order of the lines: `-t, -k2,2n`, or of whole lines. If positions break ties, of lines but for
/// their first character: whole lines that are equal need no positions.
pub fn text_order(keyed: bool, ties: Ties) -> TextOrder {
    let keys = match (keyed, ties) {
        (true, _) => vec!["2,2n".parse().unwrap()],
        (false, Ties::Position | Ties::LastPosition) => vec!["1.2".parse().unwrap()],
        (false, Ties::Record) => Vec::new(),
    };
    TextOrder::new(keys, KeyOptions::default(), Some(b','), ties, None).unwrap()
}

pub fn drawn_ties(random: &mut Random) -> Ties {
    [Ties::Record, Ties::Position][random.below(2)]
}

/// The records of all files in order, by the stable sort of the standard library. Each file's last
/// line may lack its delimiter.
pub fn sorted_lines(files: &[Vec<u8>], order: &LineOrder) -> Vec<u8> {
    let whole = |file: &Vec<u8>| {
        let mut file = file.clone();
        let delimiter = order.framing.delimiter();
        file.extend(delimiter.filter(|&byte| file.last().is_some_and(|&last| last != byte)));
        file
    };
    let files: Vec<Vec<u8>> = files.iter().map(whole).collect();
    let mut all: Vec<&[u8]> = files
        .iter()
        .flat_map(|file| order.framing.split(file))
        .collect();
    all.sort_by(|a, b| order.compare(a, b));
    all.concat()
}

/// The first of each of the sorted lines with equal keys, or the last, behind their number.
pub fn distinct_lines<'a>(sorted: &'a [u8], order: &LineOrder) -> Vec<(usize, &'a [u8])> {
    let mut kept: Vec<(usize, &[u8])> = Vec::new();
    for line in order.framing.split(sorted) {
        match kept.last_mut() {
            Some((count, kept)) if order.keys_equal(kept, line) => {
                *count += 1;
                if order.ties() == Ties::LastPosition {
                    *kept = line;
                }
            }
            _ => kept.push((1, line)),
        }
    }
    kept
}

/// The same order with another tie-breaker.
pub fn with_ties(order: &LineOrder, ties: Ties) -> LineOrder {
    let (format, keys) = order.describe();
    match Comparison::parse(&format, &keys, ties) {
        Ok(Comparison::Lines(order)) => order,
        other => panic!("{format} {keys:?}: {other:?}"),
    }
}

/// A sort of lines.
pub struct LineSort {
    pub job: Job,
    pub files: Vec<Vec<u8>>,
    pub order: LineOrder,
    /// Whether the file of that number is a pipe.
    pub pipes: Vec<bool>,
    pub equal: Keep,
}

impl LineSort {
    /// A sort of lines in files to `/out`, with 16 MiB.
    pub fn new(files: Vec<Vec<u8>>, order: TextOrder, delimiter: u8) -> LineSort {
        LineSort::of(files, LineOrder::lines(order, delimiter))
    }

    /// The same of records with any framing.
    pub fn of(files: Vec<Vec<u8>>, order: LineOrder) -> LineSort {
        let mut job = job(&[], "/out", &Order::gensort(Ties::Record));
        let source = |number| sort::Source::Path(PathBuf::from(format!("/in{number}")));
        job.sources = (0..files.len()).map(source).collect();
        job.contents = Arc::new(Lines::new(order.clone()));
        job.resources.memory_bytes = 16 << 20;
        job.temporary = vec![PathBuf::from("/tmp0"), PathBuf::from("/tmp1")];
        let pipes = vec![false; files.len()];
        LineSort {
            job,
            files,
            order,
            pipes,
            equal: Keep::All,
        }
    }

    /// Drops or counts lines with equal keys, by the same keys. The number of chunks is not kept: a
    /// stable sort needs more.
    pub fn keep(&mut self, equal: Keep) {
        self.order = with_ties(&self.order, equal.ties());
        self.equal = equal;
        self.job.contents = Arc::new(Lines::new(self.order.clone()).keeping(equal));
        self.job.tuning.chunks = None;
        self.job.resources.memory_bytes = self.memory_from(self.job.resources.memory_bytes);
    }

    pub fn job(&self) -> Job {
        Job {
            control: Control::default(),
            ..self.job.clone()
        }
    }

    pub fn driver(&self, seed: u64) -> Driver {
        let driver = Driver::new(seed, 1);
        for (number, (file, &pipe)) in self.files.iter().zip(&self.pipes).enumerate() {
            let path = format!("/in{number}");
            if pipe {
                driver.disks(0).put_pipe(Path::new(&path), file.clone())
            } else {
                put(&driver, &path, file)
            }
        }
        if self.job.target == Target::Path(PathBuf::from("/to")) {
            driver.disks(0).put_pipe(Path::new("/to"), Vec::new());
        }
        driver
    }

    pub fn expected(&self) -> Vec<u8> {
        let sorted = sorted_lines(&self.files, &self.order);
        let counts = self.equal.counts();
        let written = |(count, kept): &(usize, &[u8])| {
            let count = if counts {
                format!("{count:7} ")
            } else {
                String::new()
            };
            [count.as_bytes(), kept].concat()
        };
        let kept = if self.equal.is_unique() {
            distinct_lines(&sorted, &self.order)
                .iter()
                .flat_map(written)
                .collect()
        } else {
            sorted
        };
        let top = self.job.top.unwrap_or(u64::MAX) as usize;
        let first = self.order.framing.split(&kept).take(top);
        first.flatten().copied().collect()
    }

    /// Sorts, and checks the output and that no other file is left.
    pub fn check(&self, seed: u64) -> Report {
        let driver = self.driver(seed);
        let report =
            run(&driver, &self.job()).unwrap_or_else(|failure| panic!("seed {seed}: {failure}"));
        let Target::Path(output) = &self.job.target else {
            panic!("one output")
        };
        let output = get(&driver, output.to_str().unwrap()).expect("an output");
        let expected = self.expected();
        assert!(
            output == expected,
            "seed {seed}: the output differs, {} bytes of {}",
            output.len(),
            expected.len()
        );
        assert_eq!(report.bytes, expected.len() as u64, "seed {seed}");
        let left = paths(&driver).len();
        assert_eq!(left, self.files.len() + 1, "seed {seed}: a file is left");
        report
    }

    /// The failure of a sort that leaves no file behind.
    pub fn failure(&self, seed: u64) -> Failure {
        let driver = self.driver(seed);
        let failure = run(&driver, &self.job()).expect_err("a sort that fails");
        let left = paths(&driver).len();
        let pipe = self.job.target == Target::Path(PathBuf::from("/to"));
        assert_eq!(
            left,
            self.files.len() + usize::from(pipe),
            "seed {seed}: a file is left"
        );
        failure
    }

    /// Gives it few more chunks than the least that works, with which it may spill. False if memory
    /// has no room for any number that works.
    pub fn with_few_chunks(&mut self, more: usize) -> bool {
        let is_enough = |chunks: usize| {
            let mut job = self.job();
            job.tuning.chunks = Some(chunks);
            // A file that is not there ends each run that a plan was found for.
            job.target = Target::Path(PathBuf::from("/nowhere/but/here/out"));
            !too_little(&run(&self.driver(0), &job))
        };
        let (mut few, mut enough) = (0, 1);
        while !is_enough(enough) {
            // Twice as many might be more than there is memory for.
            (few, enough) = (enough, enough + 1 + enough / 8);
            if enough > 1 << 12 {
                return false;
            }
        }
        while few + 1 < enough {
            let middle = few.midpoint(enough);
            if is_enough(middle) {
                enough = middle
            } else {
                few = middle
            }
        }
        let chunks = Some(enough + more).filter(|&chunks| is_enough(chunks));
        self.job.tuning.chunks = chunks.or(Some(enough));
        true
    }

    /// Memory that is enough, as refusals name it from `memory` bytes on.
    pub fn memory_from(&self, memory: u64) -> u64 {
        let mut job = self.job();
        job.target = Target::Path(PathBuf::from("/nowhere/but/here/out"));
        job.resources.memory_bytes = memory;
        // The run fails, since the directory is not there.
        let _ = run_with_enough(|| self.driver(0), &mut job);
        job.resources.memory_bytes
    }
}

/// Refusals that name more memory than this mean that no memory is enough.
const MOST_MEMORY: u64 = 1 << 40;

/// Runs a job, each time on a new driver, until no refusal asks for more memory: with more memory
/// longer lines are allowed, which need more again.
pub fn run_with_enough(
    driver: impl Fn() -> Driver,
    job: &mut Job,
) -> (Driver, Result<Report, Failure>) {
    loop {
        let driver = driver();
        let end = run(&driver, job);
        let Some(more) = end.as_ref().err().and_then(needed) else {
            return (driver, end);
        };
        // Of a set more chunks are open than of the file that their number was found for.
        if let Some(chunks) = job.tuning.chunks.filter(|_| more > MOST_MEMORY) {
            job.tuning.chunks = Some(chunks + 1);
            continue;
        }
        assert!(more > job.resources.memory_bytes, "{end:?}");
        job.resources.memory_bytes = more;
        job.control = Control::default();
    }
}

fn needed(failure: &Failure) -> Option<u64> {
    match failure {
        Failure::Program(error) => match error.downcast_ref() {
            Some(SortError::TooLittleMemory { needed, .. }) => Some(*needed),
            _ => None,
        },
        _ => None,
    }
}

fn too_little(end: &Result<Report, Failure>) -> bool {
    end.as_ref()
        .err()
        .is_some_and(|failure| needed(failure).is_some())
}

/// Whether a sort failed because a line is too long.
pub fn is_long_line(failure: &Failure) -> bool {
    long_line(failure).is_some()
}

/// Position and limit of a line that is too long.
pub fn long_line(failure: &Failure) -> Option<(u64, u64)> {
    match failure {
        Failure::Program(error) => match error.downcast_ref() {
            Some(SortError::LongLine {
                position, limit, ..
            }) => Some(((*position)?, *limit)),
            _ => None,
        },
        _ => None,
    }
}

/// A few files of drawn lines: some are empty, and some lack the last delimiter.
pub fn drawn_files(
    shape: Shape,
    (most, delimiter): (usize, u8),
    random: &mut Random,
) -> Vec<Vec<u8>> {
    let count = [1, 1, 2, 5][random.below(4)];
    let mut one = || {
        if random.below(5) == 0 {
            return Vec::new();
        }
        let bytes = random.below(most / count) + 1;
        let mut file = shape.lines(bytes, delimiter, random);
        if random.below(3) == 0 {
            file.pop();
        }
        file
    };
    (0..count).map(|_| one()).collect()
}

/// Workers and units of any size, and few buckets.
pub fn drawn_tuning(random: &mut Random) -> Tuning {
    let unit = [None, Some(1), Some(2), Some(5)][random.below(4)];
    Tuning {
        unit_records: unit,
        buckets: Some(1 + random.below(12)),
        ..super::drawn_tuning(random)
    }
}

/// A sort of lines whose input, order, plan, workers and memory are drawn.
pub fn drawn_sort(seed: u64, most_bytes: usize) -> (Shape, LineSort) {
    let random = &mut Random::new(seed);
    let shape = Shape::ALL[seed as usize % Shape::ALL.len()];
    let delimiter = [b'\n', b'\n', 0, b',', 0xff][random.below(5)];
    let keyed = shape == Shape::Fields && delimiter != b',';
    let order = text_order(keyed, drawn_ties(random));
    let files = drawn_files(shape, (most_bytes, delimiter), random);
    let mut sort = LineSort::new(files, order, delimiter);
    sort.draw(random);
    (shape, sort)
}

impl LineSort {
    /// Draws plan, workers and memory.
    pub fn draw(&mut self, random: &mut Random) {
        self.job.plan = [
            Choice::Auto,
            Choice::OnePass,
            Choice::TwoPass,
            Choice::Merge,
        ][random.below(4)];
        self.job.resources.io = [IoChoice::Direct, IoChoice::Buffered][random.below(2)];
        self.job.resources.cores = 1 + random.below(3);
        self.job.temporary.truncate(1 + random.below(2));
        self.job.tuning = drawn_tuning(random);
        self.job.spill_layout = super::drawn_layout(random);
        super::draw_stripes(&mut self.job, random);
        if random.below(4) == 0 {
            self.job.target = Target::Path(PathBuf::from("/to"));
        }
        let spills =
            matches!(self.job.plan, Choice::TwoPass | Choice::Merge) && random.below(4) > 0;
        self.job.resources.memory_bytes = (20 << 20) + random.below(30 << 20) as u64;
        if spills {
            self.job.tuning.load_chunks = [None, Some(1), Some(2)][random.below(3)];
            self.job.tuning.mergers = [None, Some(1), Some(2), Some(5)][random.below(4)];
        }
        if !spills || !self.with_few_chunks(random.below(12)) {
            let least = 1 << (20 + random.below(6));
            self.job.resources.memory_bytes = self.memory_from(least);
            if self.job.plan == Choice::OnePass {
                // How many chunks lines fill is not known before.
                self.job.resources.memory_bytes += 32 << 20;
                self.job.resources.memory_bytes = self.memory_from(self.job.resources.memory_bytes);
            }
        }
    }
}

/// Seeds of a drawn test: more in `make test-long`.
pub fn seeds(usual: u64, long: u64) -> u64 {
    let is_long = std::env::var_os("GRISTMILL_LONG").is_some_and(|value| value == "1");
    if is_long { long } else { usual }
}
