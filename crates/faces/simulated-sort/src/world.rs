//! Drawn sorts: orders, tuning and inputs for tests of the sort, and the naive sort to compare
//! with.

use node::Random;
use record::{Order, Ties};
use sort::{Choice, Framing, Job, Plan, Shape, Target, Tuning};

/// A record format and its keys, as on the command line.
pub type FormatWords = (&'static str, &'static [&'static str]);

/// An order over one of the formats.
///
/// # Panics
/// If a format is wrong.
pub fn drawn_order(formats: &[FormatWords], random: &mut Random) -> Order {
    let (format, keys) = formats[random.below(formats.len())];
    let ties = if random.below(2) == 0 {
        Ties::Record
    } else {
        Ties::Position
    };
    let order = Order::parse(format, keys, ties);
    order.expect("a format of the command line")
}

/// Small units and drawn worker counts, so that few records make many units; at most
/// `most_buckets` buckets.
pub fn drawn_tuning(most_buckets: usize, random: &mut Random) -> Tuning {
    let mut maybe = |most: usize| (random.below(2) == 0).then(|| 1 + random.below(most));
    let (node_distributors, write_tokens) = (maybe(3), maybe(4));
    let (least_write_bytes, most_write_bytes) = (maybe(20_000), maybe(100_000));
    let area_bytes = maybe(60_000).map(|bytes| bytes as u64);
    let spills_all = random.below(4) == 0;
    let mut up_to = |most: usize| Some(1 + random.below(most));
    Tuning {
        node_distributors,
        write_tokens,
        least_write_bytes,
        most_write_bytes,
        area_bytes,
        spills_all,
        readers: up_to(3),
        distributors: up_to(3),
        sorters: up_to(3),
        writers: up_to(3),
        depth: up_to(3),
        unit_records: up_to(90),
        buckets: up_to(most_buckets),
        chunk_bytes: up_to(9000),
        ..Tuning::default()
    }
}

/// The fewest chunks with which a job of `records` spills and works.
///
/// # Panics
/// If no number of chunks is enough.
pub fn least_chunks(job: &Job, order: &Order, records: Option<u64>) -> usize {
    let outputs = match &job.target {
        Target::Directories(directories) => directories.len(),
        _ => 1,
    };
    let temporary = if job.temporary.is_empty() {
        outputs
    } else {
        job.temporary.len()
    };
    let shape = Shape {
        inputs: job.sources.len(),
        bytes: records.map(|records| records * order.record_bytes() as u64),
        is_about: false,
        framing: Framing::fixed(order.record_bytes()),
        sequential_output: false,
        outputs,
        stable: order.ties().are_by_position(),
        temporary,
        sources: Default::default(),
        coding: Default::default(),
        pack: job.pack,
        spill_layout: job.spill_layout,
        stripe: job.stripe,
    };
    let is_enough = |chunks: &usize| {
        let tuning = Tuning {
            chunks: Some(*chunks),
            ..job.tuning
        };
        let plan = match job.plan {
            Choice::Merge => Plan::merge(&shape, &job.resources, &tuning),
            _ => Plan::two_pass(&shape, &job.resources, &tuning),
        };
        plan.is_ok()
    };
    let chunks = (1..10_000).find(is_enough);
    chunks.expect("some number of chunks is enough")
}

/// Cuts the records at random places into inputs of all ranks.
pub fn cut(records: &[u8], record_bytes: usize, ranks: u32, random: &mut Random) -> Vec<Vec<u8>> {
    let count = records.len() / record_bytes;
    let mut cuts: Vec<usize> = (1..ranks)
        .map(|_| random.below(count + 1) * record_bytes)
        .collect();
    cuts.extend([0, records.len()]);
    cuts.sort_unstable();
    let parts = cuts.windows(2).map(|two| records[two[0]..two[1]].to_vec());
    parts.collect()
}

/// The records in order, by the stable sort of the standard library.
pub fn sorted(records: &[u8], order: &Order) -> Vec<u8> {
    let mut each: Vec<&[u8]> = records.chunks_exact(order.record_bytes()).collect();
    each.sort_by(|a, b| order.compare(a, b));
    each.concat()
}

/// The same order with another tie-breaker.
///
/// # Panics
/// Never: the keys fit the records already.
pub fn with_ties(order: &Order, ties: Ties) -> Order {
    let order = Order::new(order.record_bytes(), order.keys(), ties);
    order.expect("the keys of an order")
}

/// The first of each of the sorted records with equal keys, or the last.
pub fn distinct(sorted: &[u8], order: &Order) -> Vec<u8> {
    let mut each: Vec<&[u8]> = sorted.chunks_exact(order.record_bytes()).collect();
    let is_last = order.ties() == Ties::LastPosition;
    each.dedup_by(|next, kept| {
        let is_equal = order.keys_equal(next, kept);
        if is_equal && is_last {
            *kept = next;
        }
        is_equal
    });
    each.concat()
}
