use super::*;

/// A place for records of no partition.
fn slot(directory: usize, position: f64) -> Slot {
    Slot {
        directory,
        position,
        partition: None,
    }
}

fn take(logs: &mut Logs, directory: usize, position: f64) -> Option<Extent> {
    match logs.take(slot(directory, position), 4096).unwrap() {
        LogRoom::Now(extent) | LogRoom::Reserve(extent, _) => Some(extent),
        LogRoom::Full | LogRoom::Beyond(_) => None,
    }
}

#[test]
fn runs_lie_behind_each_other() {
    let mut logs = Logs::new(&[(1, true), (1, true)], 0);
    let offsets = [0, 4096, 8192].map(|offset| Extent {
        file: 1,
        offset,
        bytes: 4096,
    });
    assert_eq!(
        [0.0, 0.9, 0.3].map(|position| take(&mut logs, 1, position).unwrap()),
        offsets
    );
}

#[test]
fn space_is_reserved_in_steps() {
    let mut logs = Logs::new(&[(1, true)], 0);
    let Some(LogRoom::Reserve(_, range)) = logs.take(slot(0, 0.0), 4096) else {
        panic!()
    };
    logs.reserved(0, range.end);
    let rest = (range.end - 4096) / 4096;
    assert!((0..rest).all(|_| matches!(logs.take(slot(0, 0.0), 4096), Some(LogRoom::Now(_)))));
    assert!(matches!(
        logs.take(slot(0, 0.0), 4096),
        Some(LogRoom::Reserve(..))
    ));
}

/// Nearly all of the limit can be used, reserved space never exceeds it, and released space can
/// be used again.
#[test]
fn a_limit_is_kept() {
    const BLOCK: u64 = 4096;
    for (expected, limit) in [(0, 40 * BLOCK), (1 << 30, 3 << 20), (1 << 30, 4095)] {
        let mut logs = Logs::new(&[(1, true), (1, true)], expected).with_limit(Some(limit));
        let mut extents = Vec::new();
        let beyond = loop {
            match logs.take(slot(extents.len() % 2, 0.0), BLOCK).unwrap() {
                LogRoom::Now(extent) => extents.push(extent),
                LogRoom::Reserve(extent, range) => {
                    logs.reserved(extent.file, range.end);
                    extents.push(extent);
                }
                LogRoom::Beyond(error) => break error,
                LogRoom::Full => panic!("no directory is full"),
            }
        };
        let used = extents.len() as u64 * BLOCK;
        let needed = None;
        assert_eq!(beyond, SortError::TemporaryLimit { needed, limit });
        assert!(used >= limit / BLOCK * BLOCK * 3 / 4, "{used} of {limit}");
        assert!(
            logs.peak_bytes() <= limit,
            "{} of {limit}",
            logs.peak_bytes()
        );
        let Some(first) = extents.first() else {
            continue;
        };
        logs.release(*first);
        assert!(!matches!(
            logs.take(slot(0, 0.0), BLOCK),
            Some(LogRoom::Beyond(_))
        ));
    }
}

#[test]
fn expected_bytes_are_reserved_in_few_steps() {
    let (expected, block) = (1 << 30, 1 << 20);
    let mut logs = Logs::new(&[(1, true)], expected);
    let mut steps = 0;
    for _ in 0..expected / block {
        if let LogRoom::Reserve(_, range) = logs.take(slot(0, 0.0), block).unwrap() {
            logs.reserved(0, range.end);
            steps += 1;
        }
    }
    assert!((1..150).contains(&steps), "{steps} steps");
    assert!(
        logs.peak_bytes() < expected + expected / 64,
        "{}",
        logs.peak_bytes()
    );
}

#[test]
fn a_full_directory_gets_no_runs_until_space_comes_back() {
    let mut logs = Logs::new(&[(1, true), (2, false)], 0);
    let first = take(&mut logs, 0, 0.0).unwrap();
    let full = take(&mut logs, 0, 0.0).unwrap();
    assert!(logs.is_full(full), "the other directory has room");
    assert_eq!(take(&mut logs, 0, 0.9).unwrap().file, 2);
    let other = take(&mut logs, 1, 0.0).unwrap();
    assert!(!logs.is_full(other));
    assert_eq!(take(&mut logs, 1, 0.0), None);
    assert!(!logs.release(first));
    assert_eq!(take(&mut logs, 1, 0.0).unwrap().file, 0);
}

#[test]
fn without_holes_a_file_is_emptied_once_nothing_in_it_is_live() {
    let mut logs = Logs::new(&[(2, false)], 0);
    let [a, b] = [0.1, 0.2].map(|position| take(&mut logs, 0, position).unwrap());
    assert_eq!((a.file, b.file, b.offset), (0, 0, 4096));
    assert!(!logs.release(b) && logs.release(a));
    assert!(
        logs.take(slot(0, 0.1), 4096).is_none(),
        "it is being emptied"
    );
    assert_eq!(take(&mut logs, 0, 0.7).unwrap().file, 1);
    logs.emptied(0);
    assert_eq!(take(&mut logs, 0, 0.1).unwrap().offset, 0);
    assert_eq!(logs.peak_bytes(), 3 * 4096);
}

fn reserve(logs: &mut Logs, bytes: u64) -> Option<Range<u64>> {
    match logs.take(slot(0, 0.0), bytes).unwrap() {
        LogRoom::Reserve(_, range) => {
            logs.reserved(0, range.end);
            Some(range)
        }
        _ => None,
    }
}

/// Small files grow by the smallest step, large ones by a part of their length, up to the
/// largest step.
#[test]
fn a_step_grows_with_its_file() {
    const MIB: u64 = 1 << 20;
    for (begin, step) in [(0, 256 << 10), (128 * MIB, MIB), (1 << 40, 64 * MIB)] {
        let mut logs = Logs::new(&[(1, true)], 0);
        logs.begins_at(0, begin);
        // The step is a part of the file's length with the run in it.
        let end = begin + 4096;
        let range = reserve(&mut logs, 4096).unwrap();
        assert_eq!(range.start, begin, "{begin}");
        assert!(
            (step..step + 128).contains(&(range.end - end)),
            "{begin}: {range:?}"
        );
        assert_eq!(logs.live_bytes(), end);
        assert_eq!(logs.peak_bytes(), range.end);
    }
}

#[test]
fn a_step_follows_the_expected_bytes_and_the_free_space() {
    const MIB: u64 = 1 << 20;
    let step = |begin: u64, expected: u64, most: Option<u64>| {
        let mut logs = Logs::new(&[(1, true)], expected + MIB);
        logs.begins_at(0, begin - MIB);
        if let Some(most) = most {
            logs.is_tight(0, most);
        }
        reserve(&mut logs, MIB).unwrap().end - begin
    };
    assert_eq!(
        step(160 * MIB, 100 * MIB, None),
        10 * MIB,
        "a sixteenth of what it has"
    );
    assert_eq!(
        step(160 * MIB, 10 * MIB, None),
        5 * MIB,
        "half of what is expected"
    );
    assert_eq!(step(160 * MIB, 100 * MIB, Some(3 * MIB)), 3 * MIB);
}

#[test]
fn spare_space_is_returned_once() {
    let mut logs = Logs::new(&[(3, true)], 1 << 20);
    let range = reserve(&mut logs, 8192).unwrap();
    assert!(range.end > 8192);
    take(&mut logs, 0, 0.5).unwrap();
    logs.reserved(1, 4096);
    logs.is_tight(2, 4096);
    assert_eq!(logs.spare(), [(0, 8192), (2, 0)]);
    logs.is_tight(0, 4096);
    let full = take(&mut logs, 0, 0.0).unwrap();
    assert_eq!(
        (full.offset, logs.spare()),
        (8192, vec![(0, 12_288), (2, 0)])
    );
}

/// With holes, a file takes the space of its live ranges; without, that of all ranges it ever
/// had.
#[test]
fn a_file_takes_its_live_ranges_or_all_of_it() {
    for (holes, peak) in [(true, 4096 * 2), (false, 4096 * 3)] {
        let mut logs = Logs::new(&[(1, holes)], 0);
        logs.reserved(0, 4096 * 2);
        let first = take(&mut logs, 0, 0.0).unwrap();
        take(&mut logs, 0, 0.0).unwrap();
        logs.release(first);
        take(&mut logs, 0, 0.0).unwrap();
        assert_eq!((logs.has_holes(0), logs.live_bytes()), (holes, 4096 * 2));
        assert_eq!(logs.peak_bytes(), peak, "holes: {holes}");
    }
}

#[test]
fn an_extent_without_space_was_not_written() {
    let mut logs = Logs::new(&[(1, true), (1, true)], 1 << 20);
    take(&mut logs, 0, 0.0).unwrap();
    let full = take(&mut logs, 0, 0.0).unwrap();
    take(&mut logs, 1, 0.0).unwrap();
    assert_eq!(
        (logs.written(), logs.live_bytes()),
        (vec![8192, 4096], 4096 * 3)
    );
    logs.is_full(full);
    assert_eq!(
        (logs.written(), logs.live_bytes()),
        (vec![4096, 4096], 4096 * 2)
    );
}

/// A run for which a directory has no space goes to the emptiest of the others.
#[test]
fn a_new_generation_goes_to_new_files() {
    let mut logs = Logs::new(&[(1, true), (2, true)], 0);
    take(&mut logs, 0, 0.0).unwrap();
    logs.keep(2);
    logs.next_generation(&[(1, true), (2, true)]);
    let files = [(0, 0.0), (1, 0.0), (1, 0.49), (1, 0.5), (1, 1.0)];
    let files = files.map(|(directory, position)| take(&mut logs, directory, position));
    assert_eq!(files.map(|extent| extent.unwrap().file), [2, 3, 3, 4, 4]);
    assert_eq!(logs.written(), [8192, 4 * 4096]);
    let full = take(&mut logs, 0, 0.0).unwrap();
    assert!(logs.is_full(full));
    assert_eq!(take(&mut logs, 0, 0.0).unwrap().file, 3);
}

/// Places of partition 7 in directory 0, which has areas of three blocks.
fn areas() -> (Logs, Slot) {
    const BLOCK: u64 = 4096;
    let logs = Logs::new(&[(1, true), (1, true)], 100 * BLOCK).with_areas(Some(3 * BLOCK));
    let to = Slot {
        partition: Some(7),
        ..slot(0, 0.0)
    };
    (logs, to)
}

#[test]
fn runs_of_a_partition_lie_in_its_area() {
    let (mut logs, to) = areas();
    let other = Slot {
        partition: Some(8),
        ..to
    };
    let mut place = |to: Slot| match logs.take(to, 4096).unwrap() {
        LogRoom::Now(extent) | LogRoom::Reserve(extent, _) => extent.offset / 4096,
        LogRoom::Full | LogRoom::Beyond(_) => panic!("there is room"),
    };
    // A partition that is larger than expected goes on in small areas.
    let places = [to, other, to, to, to, other].map(&mut place);
    assert_eq!(places, [0, 3, 1, 2, 6, 4]);
    assert_eq!(logs.live_bytes(), 6 * 4096);
    assert_eq!(logs.written(), [6 * 4096, 0]);
    // Five blocks of areas are idle, and count until the files are gone.
    assert!(logs.peak_bytes() >= 7 * 4096);
}

#[test]
fn a_full_directory_ends_all_areas() {
    const BLOCK: u64 = 4096;
    let (mut logs, to) = areas();
    let first = take_of(&mut logs, to);
    assert_eq!(logs.without_areas(), [(0, BLOCK..3 * BLOCK)]);
    assert!(logs.is_full(first), "the holes have some");
    let next = take_of(&mut logs, to);
    assert_eq!((next.file, next.offset), (0, 3 * BLOCK));
    assert!(logs.is_full(next), "the other directory has some");
    assert_eq!(take_of(&mut logs, to).file, 1);
    assert_eq!(logs.written(), [0, BLOCK]);
}

#[test]
fn a_limit_or_a_new_generation_has_no_areas() {
    let (logs, to) = areas();
    let mut limited = logs.with_limit(Some(1 << 20));
    let (mut later, _) = areas();
    later.next_generation(&[(1, true), (1, true)]);
    for logs in [&mut limited, &mut later] {
        let begin = take_of(logs, to);
        let other = Slot {
            partition: Some(8),
            ..to
        };
        assert_eq!(take_of(logs, other).offset, begin.offset + 4096);
    }
}

fn take_of(logs: &mut Logs, to: Slot) -> Extent {
    match logs.take(to, 4096).unwrap() {
        LogRoom::Now(extent) | LogRoom::Reserve(extent, _) => extent,
        LogRoom::Full | LogRoom::Beyond(_) => panic!("there is room"),
    }
}
