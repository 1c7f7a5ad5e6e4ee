//! Invariants of every failure: the input is intact, the output is the old one or the complete new
//! one, and no other file is left. And a list of all ways to sort.

use std::path::{Path, PathBuf};

use kernel::patterns::{Pattern, draw};
use node::Random;
use pipeline::Control;
use record::{Order, Ties};
use rehearsal::Driver;
use sort::{Choice, Job, Pack, Source, Target, Tuning};

use super::lines::{LineSort, Shape, text_order};
use super::{get, job, least_chunks, put, sorted, stripe};

const RECORD_BYTES: usize = 100;

/// With that memory lines have 12 KiB at most.
const LINE_MEMORY_BYTES: u64 = 12 << 20;

/// Lines have this many times the bytes of records of one length.
const LINE_TIMES: usize = 4;

/// The old content of the output's name.
const OLD: &[u8] = b"old";

/// The directory of spill files.
const TEMPORARY: [&str; 2] = ["/tmp0", "/tmp1"];

/// A way to sort.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    pub name: &'static str,
    plan: Choice,
    /// Number of passes, with the little memory of tests.
    pub passes: u32,
    buckets: usize,
    /// Number of records with which it takes them.
    pub records: usize,
    /// Chunks beyond the least that works, if it spills.
    spare_chunks: Option<usize>,
    /// Blocks of data in a stripe, if it has stripes.
    stripe: Option<usize>,
}

/// Every way.
pub const WAYS: [Way; 4] = [
    Way {
        name: "one pass",
        plan: Choice::OnePass,
        passes: 1,
        records: 400,
        buckets: 5,
        spare_chunks: None,
        stripe: None,
    },
    Way {
        name: "two passes",
        plan: Choice::TwoPass,
        passes: 2,
        records: 300,
        buckets: 12,
        spare_chunks: Some(4),
        stripe: None,
    },
    Way {
        name: "three passes",
        plan: Choice::TwoPass,
        passes: 3,
        records: 1200,
        buckets: 3,
        spare_chunks: Some(0),
        stripe: None,
    },
    Way {
        name: "merge",
        plan: Choice::Merge,
        passes: 2,
        records: 400,
        buckets: 1,
        spare_chunks: Some(4),
        stripe: None,
    },
];

impl Way {
    /// With stripes of so many blocks.
    pub fn striped(self, blocks: usize) -> Way {
        let stripe = Some(blocks);
        Way { stripe, ..self }
    }

    fn place(self, job: &mut Job) {
        job.temporary = TEMPORARY.map(PathBuf::from).to_vec();
        if let Some(blocks) = self.stripe {
            stripe(job, blocks);
        }
    }
}

/// The expected output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    Old,
    New,
    Either,
}

/// Few workers and small requests.
fn tuning(way: Way, unit_records: usize) -> Tuning {
    Tuning {
        unit_records: Some(unit_records),
        buckets: Some(way.buckets),
        chunk_bytes: way.spare_chunks.map(|_| 4096),
        readers: Some(1),
        distributors: Some(2),
        depth: Some(2),
        ..Tuning::default()
    }
}

/// A sort that is disturbed.
pub struct Case {
    pub way: Way,
    job: Job,
    records: Vec<u8>,
    sorted: Vec<u8>,
    output: &'static str,
}

impl Case {
    /// A sort of `records` records from `/in` to `/out`.
    pub fn new(way: Way, records: usize) -> Case {
        Case::to("/out", way, records, Ties::Record)
    }

    /// A sort of `records` records from `/in` to an output that may be `/in`.
    pub fn to(output: &'static str, way: Way, records: usize, ties: Ties) -> Case {
        let order = Order::gensort(ties);
        let mut job = job(&["/in"], output, &order);
        job.plan = way.plan;
        way.place(&mut job);
        job.tuning = tuning(way, 50);
        if let Some(spare) = way.spare_chunks {
            job.tuning.chunks = Some(least_chunks(&job, &order, Some(records as u64)) + spare);
        }
        let records = draw(Pattern::Uniform, 8, records, RECORD_BYTES);
        let sorted = sorted(&records, &order);
        Case {
            way,
            job,
            records,
            sorted,
            output,
        }
    }

    /// A sort of lines of several times as many bytes as the records have. Chunks have room for a
    /// line at the limit, so they are larger.
    pub fn of_lines(output: &'static str, way: Way, records: usize, ties: Ties) -> Case {
        let mut random = Random::new(8);
        let bytes = LINE_TIMES * records * RECORD_BYTES;
        let mut lines = Shape::Usual.lines(bytes, b'\n', &mut random);
        lines.pop();
        let mut sort = LineSort::new(vec![lines.clone()], text_order(false, ties), b'\n');
        sort.job.plan = way.plan;
        sort.job.resources.memory_bytes = LINE_MEMORY_BYTES;
        way.place(&mut sort.job);
        sort.job.tuning = tuning(way, 1);
        if let Some(spare) = way.spare_chunks {
            assert!(sort.with_few_chunks(spare), "{}", way.name);
        }
        let job = Job {
            sources: vec![Source::Path(PathBuf::from("/in"))],
            target: Target::Path(PathBuf::from(output)),
            ..sort.job()
        };
        Case {
            way,
            job,
            records: lines,
            sorted: sort.expected(),
            output,
        }
    }

    /// The same sort with chunks that are packed so.
    pub fn packed(mut self, pack: Pack) -> Case {
        self.job.pack = pack;
        self
    }

    /// The same sort of records of one length and of lines.
    pub fn both(output: &'static str, way: Way, records: usize, ties: Ties) -> [Case; 2] {
        [
            Case::to(output, way, records, ties),
            Case::of_lines(output, way, records, ties),
        ]
    }

    /// The job, to be run once: after a failure its control ends every later run.
    pub fn job(&self) -> Job {
        Job {
            control: Control::default(),
            ..self.job.clone()
        }
    }

    /// A driver with the input and an old output.
    pub fn driver(&self, seed: u64) -> Driver {
        let driver = Driver::new(seed, 1);
        put(&driver, self.output, OLD);
        put(&driver, "/in", &self.records);
        driver
    }

    /// Checks that the input is intact and the output is as expected. Returns which output it is,
    /// or what is wrong.
    pub fn check(&self, driver: &Driver, expected: Output) -> Result<Output, String> {
        if self.output != "/in" && get(driver, "/in").as_ref() != Some(&self.records) {
            return Err("the input is not intact".into());
        }
        let old = if self.output == "/in" {
            &self.records
        } else {
            OLD
        };
        let found = match get(driver, self.output) {
            Some(bytes) if bytes == self.sorted => Output::New,
            Some(bytes) if bytes == old => Output::Old,
            Some(bytes) => return Err(format!("the output is neither: {} bytes", bytes.len())),
            None => return Err("there is no output".into()),
        };
        if expected == Output::Either || expected == found {
            return Ok(found);
        }
        Err(format!("the output is {found:?}, not {expected:?}"))
    }

    /// Whether these bytes are the whole output.
    pub fn is_sorted(&self, bytes: &[u8]) -> bool {
        bytes == self.sorted
    }

    /// Checks that there is no other file.
    pub fn check_alone(&self, driver: &Driver) -> Result<(), String> {
        let others = self.others(driver);
        if others.is_empty() {
            Ok(())
        } else {
            Err(format!("left behind: {others:?}"))
        }
    }

    /// Checks that the next sort will sweep all other files, by their names and directories.
    /// Returns their number.
    pub fn check_swept(&self, driver: &Driver) -> Result<usize, String> {
        let is_ours = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let directory = path.parent().unwrap_or(Path::new(""));
            let looked_at = TEMPORARY.map(Path::new).contains(&directory);
            let looked_at = directory == Path::new("/") || self.spills() && looked_at;
            looked_at && name.starts_with(".gristmill-") && name.ends_with(".tmp")
        };
        let others = self.others(driver);
        match others.iter().find(|path| !is_ours(path)) {
            Some(path) => Err(format!("no run sweeps {}", path.display())),
            None => Ok(others.len()),
        }
    }

    /// Whether it makes spill files.
    pub fn spills(&self) -> bool {
        self.way.spare_chunks.is_some()
    }

    /// Whether a file is in a directory for spill files.
    pub fn is_spilled(path: &Path) -> bool {
        TEMPORARY
            .iter()
            .any(|directory| path.starts_with(directory))
    }

    /// Whether an error names a file or directory of the sort.
    pub fn names_a_place(&self, words: &str) -> bool {
        ["/in", self.output]
            .iter()
            .chain(&TEMPORARY)
            .any(|place| words.contains(place))
    }

    fn others(&self, driver: &Driver) -> Vec<PathBuf> {
        let mut paths = driver.disks(0).paths();
        paths.retain(|path| path != Path::new("/in") && path != Path::new(self.output));
        paths
    }
}
