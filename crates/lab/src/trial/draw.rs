//! What a trial sorts, and on what: drawn, so that seeds differ in kind.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use kernel::patterns::{Pattern, draw};
use machine::{Back, DiskModel, Driver, Durability};
use node::{Costs, Random};
use pipeline::Control;
use record::{Format, Order, Ties};
use sort::{
    Bytes, Choice, ExchangeKind, IoChoice, Job, Plan, Resources, Resume, Shape, Source, Start,
    Target, Tune, Tuning,
};

use super::Trial;

pub(super) const INPUT: &str = "/in";
pub(super) const OUTPUT: &str = "/out";

/// What some outputs hold before.
pub(super) const OLD: &[u8] = b"old";

/// Where what is spilled waits: disks of their own.
const TEMPORARY: [&str; 3] = ["/tmp0", "/tmp1", "/tmp2"];

/// Memory of a node. What makes it spill is a bound on its chunks.
const MEMORY_BYTES: u64 = 1 << 30;

/// Records of all shapes; of long ones a few hundred fill several chunks to each node.
const FORMATS: [(&str, &[&str]); 4] = [
    ("gensort", &[]),
    ("fixed:7", &["2+3:bytes:desc"]),
    ("fixed:16", &["8+8:f64le"]),
    ("fixed:2000", &["100+10"]),
];
const LONGEST_RECORD: u64 = 2000;

/// Requests of a disk: no time at all, an SSD's, a loaded hard disk's.
const LATENCIES_NS: [u64; 3] = [0, 100_000, 20_000_000];

/// What the slowest message takes: a rack, a bad day, a link that drops most of what it is sent.
const LATE_NS: [u64; 4] = [1_000_000, 50_000_000, 1_000_000_000, 3_000_000_000];

/// A trial's sort.
pub(super) struct Case {
    pub job: Job,
    /// The input of each rank.
    pub parts: Vec<Vec<u8>>,
    /// All of them, sorted by naive code.
    pub sorted: Vec<u8>,
    pub has_old: bool,
    model: DiskModel,
    pub late_ns: u64,
}

/// What the runs of so many nodes with so many records hold at most: input, output, spill files,
/// journals, and the oracle's copy.
pub(super) fn bytes(nodes: u32, keys: u32) -> u64 {
    const COPIES: u64 = 12;
    u64::from(nodes) * u64::from(keys) * LONGEST_RECORD * COPIES
}

impl Case {
    pub(super) fn draw(trial: &Trial) -> Case {
        let mut random = Random::new(trial.seed);
        let order = order(&mut random);
        let bytes = order.record_bytes();
        let count = trial.nodes as usize * trial.keys as usize;
        let pattern = Pattern::ALL[random.below(Pattern::ALL.len())];
        let records = draw(pattern, random.next_u64(), count, bytes);
        let shared = random.below(4) == 0;
        let parts = match shared {
            true => vec![records.clone(); trial.nodes as usize],
            false => cut(&records, bytes, trial.nodes, &mut random),
        };
        let mut job = job(&order, &mut random);
        job.shared = shared;
        if random.below(2) == 0 {
            job.tuning.chunks = Some(least_chunks(&job, &order, trial.keys) + random.below(20));
        }
        let sorted = sorted(&records, &order);
        let latency_ns = LATENCIES_NS[random.below(LATENCIES_NS.len())];
        let ns_per_kib = latency_ns / 100;
        let model = DiskModel {
            latency_ns,
            read_ns_per_kib: ns_per_kib,
            write_ns_per_kib: ns_per_kib,
        };
        let late_ns = LATE_NS[random.below(LATE_NS.len())];
        let late_ns = if trial.faults.late { late_ns } else { 0 };
        let has_old = random.below(2) == 0;
        job.exchange = [ExchangeKind::Streams, ExchangeKind::Rounds][random.below(2)];
        if random.below(3) == 0 {
            job.resume = Some(Resume {
                name: OUTPUT.to_owned(),
                sources: job.sources.clone(),
                target: PathBuf::from(OUTPUT),
                temporary: job.temporary.clone(),
            });
            job.tuning.steps = Some(1 + random.below(4) as u32);
        }
        Case {
            job,
            parts,
            sorted,
            has_old,
            model,
            late_ns,
        }
    }

    /// Nodes with their inputs, and some with outputs of an earlier sort.
    pub(super) fn driver(&self, trial: &Trial) -> Driver {
        let driver = Driver::with(trial.seed, trial.nodes, Costs::default(), self.model);
        driver.delay(self.late_ns);
        driver.give_back(Back::Usual);
        for (rank, part) in (0..).zip(&self.parts) {
            let disks = driver.disks(rank);
            disks.set_durability(Durability::Synced);
            self.job
                .temporary
                .iter()
                .for_each(|path| disks.mount(path, self.model));
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

    /// The output of each rank, if it is a new one.
    pub(super) fn outputs(&self, driver: &Driver) -> Vec<Option<Vec<u8>>> {
        let of = |rank| driver.disks(rank).get(Path::new(OUTPUT));
        let ranks = 0..self.parts.len() as u32;
        ranks
            .map(|rank| of(rank).filter(|bytes| !self.has_old || bytes != OLD))
            .collect()
    }
}

fn order(random: &mut Random) -> Order {
    let (format, keys) = FORMATS[random.below(FORMATS.len())];
    let ties = if random.below(2) == 0 {
        Ties::Record
    } else {
        Ties::Position
    };
    Format::parse(format, keys, ties)
        .expect("one of ours")
        .order
}

/// Inputs of all ranks together; one is cut at random places.
fn cut(records: &[u8], bytes: usize, ranks: u32, random: &mut Random) -> Vec<Vec<u8>> {
    let count = records.len() / bytes;
    let mut cuts: Vec<usize> = (1..ranks)
        .map(|_| random.below(count + 1) * bytes)
        .collect();
    cuts.extend([0, records.len()]);
    cuts.sort_unstable();
    cuts.windows(2)
        .map(|pair| records[pair[0]..pair[1]].to_vec())
        .collect()
}

/// The standard library's stable sort.
fn sorted(records: &[u8], order: &Order) -> Vec<u8> {
    let mut each: Vec<&[u8]> = records.chunks_exact(order.record_bytes()).collect();
    each.sort_by(|a, b| order.compare(a, b));
    each.concat()
}

fn job(order: &Order, random: &mut Random) -> Job {
    let disks = 1 + random.below(TEMPORARY.len());
    let io = [IoChoice::Direct, IoChoice::Buffered][random.below(2)];
    Job {
        sources: vec![Source::Path(PathBuf::from(INPUT))],
        target: Target::Path(PathBuf::from(OUTPUT)),
        contents: Arc::new(Bytes::new(order.clone())),
        resources: Resources {
            cores: 1 + random.below(3),
            memory_bytes: MEMORY_BYTES,
            io,
        },
        shared: false,
        temporary: TEMPORARY[..disks].iter().map(PathBuf::from).collect(),
        plan: Choice::TwoPass,
        tuning: tuning(random),
        resume: None,
        listing: None,
        exchange: ExchangeKind::default(),
        control: Control::default(),
    }
}

/// Small units and drawn worker counts, so that few records make many units.
fn tuning(random: &mut Random) -> Tuning {
    let mut up_to = |most: usize| Some(1 + random.below(most));
    Tuning {
        readers: up_to(3),
        distributors: up_to(3),
        sorters: up_to(3),
        writers: up_to(3),
        depth: up_to(3),
        unit_records: up_to(90),
        buckets: up_to(12),
        chunk_bytes: up_to(9000),
        start: if random.below(2) == 0 {
            Start::Derived
        } else {
            Start::Worst
        },
        tune: if random.below(2) == 0 {
            Tune::Auto
        } else {
            Tune::Off
        },
        ..Tuning::default()
    }
}

/// The fewest chunks with which a node with so many records spills and works.
fn least_chunks(job: &Job, order: &Order, records: u32) -> usize {
    let shape = Shape {
        inputs: job.sources.len(),
        records: Some(records.into()),
        record_bytes: order.record_bytes(),
        sequential_output: false,
        outputs: 1,
        stable: order.ties() == Ties::Position,
        temporary: job.temporary.len(),
    };
    let is_enough = |chunks: &usize| {
        let tuning = Tuning {
            chunks: Some(*chunks),
            ..job.tuning
        };
        Plan::two_pass(&shape, &job.resources, &tuning).is_ok()
    };
    (1..)
        .find(is_enough)
        .expect("some number of chunks is enough")
}
