//! The drawn sort of a trial: inputs, order, resources and the machine, so that seeds differ in
//! kind.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use disk::{DiskModel, Durability};
use kernel::patterns::{Pattern, draw};
use machine::{Back, Driver};
use node::{Costs, Random};
use record::{Order, Ties};
use sort::{
    Bytes, Choice, ExchangeKind, IoChoice, Job, Pack, Packing, Resources, Resume, Source,
    SpillLayout, SplitterChoice, Target,
};

use crate::Trial;
use crate::world::{
    FormatWords, cut, distinct, drawn_order, drawn_tuning, least_chunks, sorted, with_ties,
};

pub(crate) const INPUT: &str = "/in";
pub(crate) const OUTPUT: &str = "/out";

/// Content of an earlier output.
const OLD: &[u8] = b"old";

/// Temporary directories, each a disk.
const TEMPORARY: [&str; 3] = ["/tmp0", "/tmp1", "/tmp2"];

/// Memory of a node. Sorts spill because their chunks are bounded, not because memory is.
const MEMORY_BYTES: u64 = 1 << 30;

/// Record formats. A few hundred of the longest records fill several chunks per node.
const FORMATS: [FormatWords; 4] = [
    ("gensort", &[]),
    ("fixed:7", &["2+3:bytes:desc"]),
    ("fixed:16", &["8+8:f64le"]),
    ("fixed:2000", &["100+10"]),
];
const LONGEST_RECORD: u64 = 2000;

/// Latencies of a request: none, an SSD's, a loaded hard disk's.
const LATENCIES_NS: [u64; 3] = [0, 100_000, 20_000_000];

/// Latencies of the slowest message: a rack, a bad day, a link that drops most packets.
const LATE_NS: [u64; 4] = [1_000_000, 50_000_000, 1_000_000_000, 3_000_000_000];

/// The sort of a trial.
pub(crate) struct Case {
    pub job: Job,
    /// Input of each rank.
    pub parts: Vec<Vec<u8>>,
    /// All records in order, by naive code; in some trials one of those with equal keys.
    pub sorted: Vec<u8>,
    /// Number of records of all inputs.
    pub records: usize,
    /// Whether outputs exist before.
    pub has_old: bool,
    model: DiskModel,
    /// Latency of the slowest message.
    pub late_ns: u64,
}

/// Most bytes of a trial in memory: inputs, outputs, spill files, journals, and the naive sort's
/// copy.
pub fn bytes(nodes: u32, keys: u32) -> u64 {
    const COPIES: u64 = 12;
    u64::from(nodes) * u64::from(keys) * LONGEST_RECORD * COPIES
}

impl Case {
    /// The order of the draws decides what a seed means.
    pub(crate) fn draw(trial: &Trial) -> Case {
        let mut random = Random::new(trial.seed);
        let order = drawn_order(&FORMATS, &mut random);
        // Drawn apart, so that the other draws of a seed stay.
        let mut apart = Random::stream(trial.seed, 1);
        let unique = apart.below(4) == 0;
        let order = match apart.below(2) {
            _ if !unique => order,
            0 => with_ties(&order, Ties::Position),
            _ => with_ties(&order, Ties::LastPosition),
        };
        let records = records(trial, &order, &mut random);
        let shared = random.below(4) == 0;
        let parts = if shared {
            vec![records.clone(); trial.nodes as usize]
        } else {
            cut(&records, order.record_bytes(), trial.nodes, &mut random)
        };
        let mut job = job(&order, &mut random);
        let mut sorted = sorted(&records, &order);
        if unique {
            job.contents = Arc::new(Bytes::new(order.clone()).unique());
            sorted = distinct(&sorted, &order);
        }
        job.shared = shared;
        if random.below(2) == 0 {
            let least = least_chunks(&job, &order, Some(trial.keys.into()));
            job.tuning.chunks = Some(least + random.below(20));
        }
        let model = disk(&mut random);
        let late_ns = LATE_NS[random.below(LATE_NS.len())];
        let has_old = random.below(2) == 0;
        job.exchange = [ExchangeKind::Streams, ExchangeKind::Rounds][random.below(2)];
        if random.below(3) == 0 {
            job.resume = Some(resume(&job));
            job.tuning.steps = Some(1 + random.below(4) as u32);
        }
        Case {
            job,
            parts,
            sorted,
            records: records.len() / order.record_bytes(),
            has_old,
            model,
            late_ns: if trial.faults.late { late_ns } else { 0 },
        }
    }

    /// A driver whose nodes have their inputs and, in some trials, earlier outputs.
    pub(crate) fn driver(&self, trial: &Trial) -> Driver {
        let driver = Driver::with(trial.seed, trial.nodes, Costs::default(), self.model);
        driver.delay(self.late_ns);
        driver.give_back(Back::Usual);
        for (rank, part) in (0..).zip(&self.parts) {
            let disks = driver.disks(rank);
            disks.set_durability(Durability::Synced);
            let temporary = self.job.temporary.iter();
            temporary.for_each(|path| disks.mount(path, self.model));
            disks.put(Path::new(INPUT), part.clone());
            if self.has_old {
                disks.put(Path::new(OUTPUT), OLD.to_vec());
            }
        }
        if let Some(mutant) = trial.mutant {
            mutant.break_it(&driver, trial.nodes);
        }
        driver
    }

    /// The new output of each rank that has one.
    pub(crate) fn outputs(&self, driver: &Driver) -> Vec<Option<Vec<u8>>> {
        let ranks = 0..self.parts.len() as u32;
        let outputs = ranks.map(|rank| driver.disks(rank).get(Path::new(OUTPUT)));
        let is_new = |bytes: &Vec<u8>| !self.has_old || bytes != OLD;
        outputs.map(|output| output.filter(is_new)).collect()
    }
}

fn records(trial: &Trial, order: &Order, random: &mut Random) -> Vec<u8> {
    let count = trial.nodes as usize * trial.keys as usize;
    let pattern = Pattern::ALL[random.below(Pattern::ALL.len())];
    draw(pattern, random.next_u64(), count, order.record_bytes())
}

fn disk(random: &mut Random) -> DiskModel {
    let latency_ns = LATENCIES_NS[random.below(LATENCIES_NS.len())];
    let ns_per_kib = latency_ns / 100;
    DiskModel {
        latency_ns,
        read_ns_per_kib: ns_per_kib,
        write_ns_per_kib: ns_per_kib,
    }
}

fn resume(job: &Job) -> Resume {
    Resume {
        name: OUTPUT.to_owned(),
        sources: job.sources.clone(),
        target: PathBuf::from(OUTPUT),
        temporary: job.temporary.clone(),
    }
}

fn job(order: &Order, random: &mut Random) -> Job {
    let disks = 1 + random.below(TEMPORARY.len());
    let io = [IoChoice::Direct, IoChoice::Buffered][random.below(2)];
    let cores = 1 + random.below(3);
    let tuning = drawn_tuning(12, random);
    let spill_layout = [SpillLayout::Log, SpillLayout::Preallocated][random.below(2)];
    let splitters = [SplitterChoice::Sampled, SplitterChoice::Even][random.below(2)];
    let resources = Resources {
        cores,
        memory_bytes: MEMORY_BYTES,
        io,
    };
    let sources = vec![Source::Path(PathBuf::from(INPUT))];
    let target = Target::Path(PathBuf::from(OUTPUT));
    let contents = Arc::new(Bytes::new(order.clone()));
    Job {
        temporary: TEMPORARY[..disks].iter().map(PathBuf::from).collect(),
        plan: Choice::TwoPass,
        pack: [Pack::Never, Pack::In(Packing::Lz4), Pack::In(Packing::Zstd)][cores - 1],
        spill_layout,
        splitters,
        tuning,
        may_begin_again: false,
        ..Job::of_contents(sources, contents, target, resources)
    }
}
