//! Records whose ends follow from those before: rows with quotes, and records with lengths.

use record::Ties;
use record::{FieldOrder, Framing, LineKeys, LineOrder, Quoting};

use std::path::Path;
use std::sync::Arc;

use node::{Buffer, Costs, Open, Random, Time};
use pipeline::Failure;
use rehearsal::DiskModel;
use rehearsal::Driver;
use sort::{Choice, Lines, SortError};

use crate::common::chained::{drawn_chained, framing, whole_records};
use crate::common::lines::{LineSort, drawn_tuning, seeds, sorted_lines};
use crate::common::{cluster, put};

fn drawn(seed: u64) -> LineSort {
    let random = &mut Random::new(seed);
    let count = 1 + random.below(3);
    let (files, order) = drawn_chained(count, 200_000, random);
    let mut sort = LineSort::of(files, order);
    sort.pipes
        .iter_mut()
        .for_each(|pipe| *pipe = random.below(4) == 0);
    sort.draw(random);
    if sort.pipes.contains(&true) {
        sort.job.tuning.chunks = None;
    }
    sort
}

#[test]
fn hundreds_of_schedules_sort_chained_records() {
    let (mut divided, mut spilled) = (0, 0);
    for seed in 0..seeds(200, 400) {
        let sort = drawn(seed);
        let report = sort.check(seed);
        let is_divided = !sort.pipes.contains(&true) && report.plan != "merge";
        divided += usize::from(is_divided);
        spilled += usize::from(is_divided && report.passes > 1);
    }
    assert!(
        divided > 30 && spilled > 5,
        "{divided} divided, {spilled} spilled"
    );
}

/// Each rank has its own files, or all divide the same ones.
#[test]
fn ranks_divide_chained_records() {
    let mut shared = 0;
    for seed in 0..seeds(100, 250) {
        let random = &mut Random::new(seed);
        let ranks = 2 + random.below(3) as u32;
        let (files, order) = drawn_chained(ranks as usize, 100_000, random);
        let mut sort = LineSort::of(files.clone(), order.clone());
        sort.job.tuning = drawn_tuning(random);
        sort.job.shared = random.below(2) == 0;
        sort.job.exchange = cluster::KINDS[random.below(2)];
        sort.job.temporary.clear();
        sort.job.resources.memory_bytes = 64 << 20;
        let driver = Driver::new(seed, ranks);
        for (rank, file) in (0..ranks).zip(&files) {
            let there = if sort.job.shared {
                &files[..]
            } else {
                std::slice::from_ref(file)
            };
            for (number, file) in there.iter().enumerate() {
                let path = format!("/in{number}");
                driver.disks(rank).put(path.as_ref(), file.clone());
            }
        }
        if !sort.job.shared {
            sort.job.sources.truncate(1);
        }
        for end in cluster::run(&driver, &sort.job) {
            end.unwrap_or_else(|failure| panic!("seed {seed}: {failure}"));
        }
        let sorted = sorted_lines(&files, &order);
        assert!(cluster::outputs(&driver, ranks) == sorted, "seed {seed}");
        shared += usize::from(sort.job.shared);
    }
    assert!(shared > 30, "only {shared} of them had one input for all");
}

/// Requests take a while, so that a sort has many moments.
const DISK: DiskModel = DiskModel {
    latency_ns: 1000,
    read_ns_per_kib: 10,
    write_ns_per_kib: 10,
};

/// Once the index is made, a length in the file becomes another one: no record is torn without a word.
#[test]
fn a_file_that_changes_behind_its_index_is_refused() {
    let records = b"\x08\0\0\0abcdefgh".repeat(3000);
    let order = LineOrder {
        multiline: None,
        shuffle: None,
        text: whole_records(Ties::Record),
        framing: framing("varlen:u32le"),
        keys: LineKeys::Text,
    };
    let mut sort = LineSort::of(vec![records], order);
    (sort.job.plan, sort.job.tuning.unit_bytes) = (Choice::TwoPass, Some(8192));
    let run_and_change = |at: Option<Time>| {
        let (driver, job) = (Driver::with(7, 1, Costs::default(), DISK), sort.job());
        put(&driver, "/in0", &sort.files[0]);
        let ends = driver.run(move |node| {
            let job = job.clone();
            async move {
                let meddler = node.spawn("meddler", move |node| async move {
                    let Some(at) = at else { return };
                    node.sleep_until(at).await;
                    let again = Open::Again { direct: false };
                    let file = node.open(Path::new("/in0"), again).await.unwrap();
                    let mut length = Buffer::heap(1);
                    length.bytes_mut()[0] = 7;
                    length.set_len(1);
                    file.write(&node, 18_000, length, 0..1)
                        .wait(&node)
                        .await
                        .1
                        .unwrap();
                });
                let end = sort::run(&node, &job).await;
                meddler.wait(&node).await.unwrap();
                end
            }
        });
        let end = ends.unwrap_or_else(|stuck| panic!("{stuck}")).remove(0);
        (end, driver.now())
    };
    let whole = run_and_change(None).1;
    let mut refused = 0;
    for moment in 1..60 {
        let (end, _) = run_and_change(Some(Time(whole.0 * moment / 60)));
        if let Err(failure) = end {
            let said = failure.to_string();
            refused += usize::from(said.contains("the file changed while it was read"));
        }
    }
    assert!(refused > 0, "no change came between index and reading");
}

/// A file that is opened again for its index is shorter by then.
#[test]
fn a_file_that_shrinks_before_its_index_is_refused() {
    let rows = b"a,\"b\n\"\n".repeat(20_000);
    let order = LineOrder {
        multiline: None,
        shuffle: None,
        text: whole_records(Ties::Record),
        framing: Framing::Quoted(Quoting::CSV),
        keys: LineKeys::Text,
    };
    let sort = LineSort::of(vec![rows; 10], order);
    let mut refused = 0;
    for moment in 1..40 {
        let driver = Driver::with(7, 1, Costs::default(), DISK);
        for (number, file) in sort.files.iter().enumerate() {
            put(&driver, &format!("/in{number}"), file);
        }
        let job = sort.job();
        let ends = driver.run(move |node| {
            let job = job.clone();
            async move {
                let meddler = node.spawn("meddler", move |node| async move {
                    node.sleep_until(Time(moment * 2000)).await;
                    let file = node.open(Path::new("/in9"), Open::Append).await.unwrap();
                    file.truncate(&node, 700).await.unwrap();
                });
                let end = sort::run(&node, &job).await;
                meddler.wait(&node).await.unwrap();
                end
            }
        });
        let end = ends.unwrap_or_else(|stuck| panic!("{stuck}")).remove(0);
        refused += usize::from(end.is_err_and(|failure| failure.to_string().contains("/in9 ")));
    }
    assert!(refused > 0, "it shrank too early or too late");
}

/// The message of a sort that fails.
fn refusal(framing: Framing, file: &[u8]) -> String {
    let text = whole_records(Ties::Record);
    let sort = LineSort::of(
        vec![file.to_vec()],
        LineOrder {
            multiline: None,
            shuffle: None,
            text,
            framing,
            keys: LineKeys::Text,
        },
    );
    match sort.failure(1) {
        Failure::Program(error) => {
            let error = error.downcast::<SortError>().expect("an error of the sort");
            assert_eq!(error.kind(), "bad_record", "{error}");
            error.to_string()
        }
        other => panic!("{other}"),
    }
}

#[test]
fn records_that_cannot_be_are_named() {
    let csv = Framing::Quoted(Quoting::CSV);
    let said = refusal(csv, b"a,b\n\"c\"\"\nd\n");
    assert_eq!(
        said,
        "/in0: the record at byte 4: a quote in this row is never closed"
    );
    let lengths = framing("varlen:u32le");
    let said = refusal(lengths, b"\x01\0\0\0a\x05\0\0\0bcd");
    assert!(
        said.starts_with("/in0: the record at byte 5: the file ends"),
        "{said}"
    );
    let said = refusal(framing("rdw"), b"\0\x05\0\0a\0\x03\0\0");
    assert!(
        said.starts_with("/in0: the record at byte 5: 3 is no length"),
        "{said}"
    );
    // All of that at the end of every read, too.
    let long = [&b"\0\x05\0\0a".repeat(500_000)[..], b"\0\x06\x01\0ab"].concat();
    let said = refusal(framing("rdw"), &long);
    assert!(
        said.starts_with("/in0: the record at byte 2500000: 6 is no"),
        "{said}"
    );
}

#[test]
fn a_record_that_is_too_short_for_a_key_is_named() {
    let records = b"\x03\0\0\0abc\x02\0\0\0ab";
    let fields = FieldOrder::parse("varlen:u32le", &["1+2"], Ties::Record);
    let fields = fields.unwrap().unwrap();
    let mut sort = LineSort::of(vec![records.to_vec()], LineOrder::fields(fields.clone()));
    sort.job.contents = Arc::new(Lines::fields(fields));
    let Failure::Program(error) = sort.failure(1) else {
        panic!("a refusal")
    };
    let said = error.to_string();
    let expected =
        "/in0: the record at byte 7: it has 2 bytes, and the keys need 3; shorten the keys";
    assert_eq!(said, expected);
}
