//! Records pushed and read one by one, in more than memory holds.

use std::io::BufReader;

use gristmill::{Error, Format, Sorter, Watch};

use crate::{SMALL, records};

const RECORDS: u64 = 300_000;

#[test]
fn more_than_memory_comes_back_in_order() {
    let place = tempfile::tempdir().unwrap();
    let watch = Watch::new();
    let sorter = Sorter::new(Format::fixed(100).key("0+8"));
    let sorter = sorter.memory(SMALL).temporary(place.path()).watch(&watch);
    let mut feed = sorter.start().unwrap();
    feed.push_all(records(RECORDS)).unwrap();
    assert!(watch.progress().read > 0);
    let mut sorted = feed.finish().unwrap();
    let (mut count, mut last, mut sum) = (0, 0, 0_u64);
    while let Some(record) = sorted.next().unwrap() {
        let number = |at: usize| u64::from_be_bytes(record[at..at + 8].try_into().unwrap());
        assert!(number(0) >= last);
        (count, last, sum) = (count + 1, number(0), sum + number(8));
    }
    assert_eq!((count, sum), (RECORDS, RECORDS * (RECORDS - 1) / 2));
    let report = sorted.report().unwrap();
    assert!(report.temporary_bytes > 20_000_000, "{report:?}");
    assert!(report.passes > 1);
    assert!(crate::files(place.path()).is_empty());
}

#[test]
fn keys_of_a_function_spill_with_their_records() {
    let sorter = Sorter::new(Format::fixed(100)).memory(SMALL);
    let by_number = |record: &[u8]| {
        let number: [u8; 8] = record[8..16].try_into().unwrap();
        std::cmp::Reverse(u64::from_be_bytes(number))
    };
    let mut feed = sorter.by_key(by_number).start().unwrap();
    feed.push_all(records(RECORDS)).unwrap();
    let all = feed.finish().unwrap().read_to_vec().unwrap();
    let expected: Vec<[u8; 100]> = records(RECORDS).collect();
    let expected: Vec<u8> = expected.into_iter().rev().flatten().collect();
    assert!(all == expected);
}

/// Sorts of one process do not disturb each other.
#[test]
fn several_sorts_run_at_once() {
    let sort = |seed: u64| {
        let mut feed = Sorter::new(Format::lines()).memory(SMALL).start().unwrap();
        let lines = (0..50_000_u64).map(|number| format!("{}", number.wrapping_mul(seed) % 99_991));
        let mut expected: Vec<String> = lines.map(|line| line + "\n").collect();
        feed.push_all(&expected).unwrap();
        expected.sort();
        let all = feed.finish().unwrap().read_to_vec().unwrap();
        assert!(all == expected.concat().into_bytes());
    };
    std::thread::scope(|scope| {
        for seed in 1..6 {
            scope.spawn(move || sort(seed * 7919));
        }
    });
}

#[test]
fn readers_give_records_of_any_cut() {
    struct Slowly<'a>(&'a [u8]);
    impl std::io::Read for Slowly<'_> {
        fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
            let bytes = self.0.len().min(3).min(out.len());
            out[..bytes].copy_from_slice(&self.0[..bytes]);
            self.0 = &self.0[bytes..];
            Ok(bytes)
        }
    }
    let mut feed = Sorter::new(Format::lines()).start().unwrap();
    let long = "x".repeat(700_000);
    let text = format!("dd\nb\n\n{long}\naaaaaaaaaa");
    feed.push_reader(BufReader::new(Slowly(text.as_bytes())))
        .unwrap();
    let all = feed.finish().unwrap().read_to_vec().unwrap();
    assert!(all == format!("\naaaaaaaaaa\nb\ndd\n{long}\n").into_bytes());
    let mut feed = Sorter::new(Format::fixed(4)).start().unwrap();
    let cut = feed.push_reader(&b"abcdefg"[..]).unwrap_err();
    assert_eq!(
        cut.to_string(),
        "record 2: it has another length than the format says"
    );
}

/// Records of all framings, cut anywhere, before the sort has begun and while it runs.
#[test]
fn pieces_of_any_size_give_the_same_records() {
    let line = |number: u64| match number % 3 {
        0 => "\"a\nb\"\n".to_owned(),
        _ => format!("{number:0width$}\n", width = (number % 40) as usize),
    };
    let prefixed = |number: u64| {
        let body = number.to_string().repeat((number % 9) as usize);
        [&(body.len() as u16).to_be_bytes(), body.as_bytes()].concat()
    };
    let lines: String = (0..400_000).map(line).collect();
    let bodies: Vec<u8> = (0..400_000).flat_map(prefixed).collect();
    let cases = [
        ("lines", lines.as_bytes()),
        ("csv", lines.as_bytes()),
        ("fixed:8", &bodies[..bodies.len() & !7]),
        ("varlen:u16be", &bodies),
    ];
    for (format, bytes) in cases {
        let sorted = |by: usize| {
            let place = tempfile::tempdir().unwrap();
            let sorter = Sorter::new(Format::named(format)).memory(SMALL);
            let mut feed = sorter.temporary(place.path()).start().unwrap();
            match by {
                0 => feed.push_reader(bytes).unwrap(),
                by => feed
                    .push_reader(BufReader::with_capacity(by, bytes))
                    .unwrap(),
            }
            feed.finish().unwrap().read_to_vec().unwrap()
        };
        let whole = sorted(0);
        assert_eq!(whole.len(), bytes.len(), "{format}");
        for by in [7, 101, 70_001] {
            assert!(sorted(by) == whole, "{format} in pieces of {by} bytes");
        }
    }
}

#[test]
fn a_length_that_no_record_has_is_refused() {
    let mut feed = Sorter::new(Format::named("varlen:u64be")).start().unwrap();
    let refused = feed.push_reader(&[0xff; 20][..]).unwrap_err();
    assert!(
        matches!(refused, Error::Record { number: 1, .. }),
        "{refused}"
    );
}

/// Whether they are merged or distributed, lines may have a 256th of the memory.
#[test]
fn long_lines_fit_whatever_their_order() {
    const MEMORY: u64 = 64 << 20;
    let long = "x".repeat((MEMORY >> 8) as usize - 20);
    for factor in [1, 7919] {
        let line = |number: u64| format!("{:05}{long}\n", number * factor % 100_003);
        let mut feed = Sorter::new(Format::lines()).memory(MEMORY).start().unwrap();
        feed.push_all((0..100).map(line)).unwrap();
        let mut expected: Vec<String> = (0..100).map(line).collect();
        expected.sort();
        let all = feed.finish().unwrap().read_to_vec().unwrap();
        assert!(all == expected.concat().into_bytes(), "factor {factor}");
    }
}

/// The front says that records come in no order, and the others come in order.
#[test]
fn records_that_the_front_does_not_tell_of_are_sorted() {
    const MEMORY: u64 = 64 << 20;
    let mixed = |number: u64| number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    let numbers = || (0..60_000).map(mixed).chain(1 << 30..(1 << 30) + 900_000);
    let record = |number: u64| {
        let mut record = [b'.'; 100];
        record[..8].copy_from_slice(&number.to_be_bytes());
        record
    };
    let place = tempfile::tempdir().unwrap();
    let sorter = Sorter::new(Format::fixed(100)).memory(MEMORY);
    let mut feed = sorter.temporary(place.path()).start().unwrap();
    feed.push_all(numbers().map(record)).unwrap();
    let mut sorted = feed.finish().unwrap();
    let mut expected: Vec<u64> = numbers().collect();
    expected.sort_unstable();
    for number in expected {
        assert_eq!(sorted.next().unwrap(), Some(&record(number)[..]));
    }
    assert_eq!(sorted.next().unwrap(), None);
    assert!(sorted.report().unwrap().temporary_bytes > 0);
}

/// A caller that must not wait sees every record once, whichever call takes or gives it.
#[test]
fn records_pass_without_waiting_where_they_can() {
    for format in [Format::fixed(100), Format::named("varlen:u16be")] {
        let mut feed = Sorter::new(format).memory(SMALL).start().unwrap();
        let (mut at_once, mut expected) = (0, Vec::new());
        for mut record in records(RECORDS) {
            // A length for the format that has one.
            record[..2].copy_from_slice(&98_u16.to_be_bytes());
            if feed.try_push(&record).unwrap() {
                at_once += 1
            } else {
                feed.push(&record).unwrap()
            }
            expected.push(record);
        }
        expected.sort_unstable();
        assert!(at_once > RECORDS / 2, "{at_once}");
        let (mut sorted, mut at_once) = (feed.finish().unwrap(), 0);
        for record in &expected {
            if let Some(found) = sorted.try_next().unwrap() {
                assert!(found == record);
                at_once += 1;
            } else {
                assert!(sorted.next().unwrap() == Some(record));
            }
        }
        assert!(at_once > RECORDS / 2, "{at_once}");
        assert_eq!(sorted.next().unwrap(), None);
        assert_eq!(sorted.try_next().unwrap(), None);
    }
}

/// A record that is refused, or that must wait, has no number and no key.
#[test]
fn a_record_that_is_not_taken_leaves_no_trace() {
    let calls = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let seen = std::sync::Arc::clone(&calls);
    let sorter = Sorter::new(Format::fixed(2)).by_key(move |record| {
        seen.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        record.to_vec()
    });
    let mut feed = sorter.start().unwrap();
    for _ in 0..2 {
        let refused = feed.try_push(b"abc").map(|taken| assert!(!taken));
        let refused = refused.and_then(|()| feed.push(b"abc"));
        assert!(matches!(refused, Err(Error::Record { number: 1, .. })));
    }
    feed.push(b"ab").unwrap();
    assert_eq!(calls.load(std::sync::atomic::Ordering::SeqCst), 1);
    assert_eq!(feed.finish().unwrap().read_to_vec().unwrap(), b"ab");
}

/// Each way to take records goes on where the one before has stopped, within a record, too: a long one
/// comes in pieces, of which `try_next` takes those that are there.
#[test]
fn ways_to_take_records_are_mixed_at_any_moment() {
    let place = tempfile::tempdir().unwrap();
    let random = &mut crate::drawn::Random(1);
    let lengths = [10, 6 << 20, 40, 5 << 20, 0, 700_000, 3];
    let lines = lengths.iter().enumerate();
    let lines = lines.map(|(number, &length)| format!("{number}{}\n", "x".repeat(length)));
    let lines: Vec<String> = lines.collect();
    for case in 0..24 {
        let mut sorter = Sorter::new(Format::lines())
            .memory(1 << 30)
            .longest(7 << 20);
        if case % 6 == 5 {
            sorter = sorter.by_key(|line| line[0]);
        }
        let mut feed = sorter.start().unwrap();
        feed.push_all(lines.iter().rev()).unwrap();
        let mut sorted = feed.finish().unwrap();
        let mut all = Vec::new();
        // From now on pieces come. Most cases stop within the long line behind the first one.
        all.extend_from_slice(sorted.next().unwrap().unwrap());
        for _ in 0..1 + case % 6 {
            std::thread::sleep(std::time::Duration::from_micros(200));
            if let Some(record) = sorted.try_next().unwrap() {
                all.extend_from_slice(record);
            }
        }
        let out = place.path().join("out");
        let (rest, report) = crate::drawn::drain(sorted, &out, random).unwrap();
        all.extend(rest);
        let expected = lines.concat();
        assert!(
            all == expected.as_bytes(),
            "case {case}: {} bytes of {}",
            all.len(),
            expected.len()
        );
        assert_eq!(report.records, lines.len() as u64);
    }
}
