use super::LoadSizes;

const SIZES: LoadSizes = LoadSizes {
    most: 100,
    first: 10,
    sorters: 2,
    fit: 4,
    exceeds: false,
};

/// The sizes of as many loads, and how many of those before are on disk when each begins.
fn begun(sizes: LoadSizes, count: usize) -> Vec<(usize, u64)> {
    let (mut before, mut begun) = (Vec::new(), Vec::new());
    for number in 0..count {
        begun.push((sizes.of(number), sizes.sent_by(&before)));
        before.push(sizes.of(number));
    }
    begun
}

#[test]
fn loads_grow_and_stay_in_memory_until_it_is_full() {
    let expected = [
        (10, 0),
        (10, 0),
        (20, 0),
        (20, 0),
        (40, 0),
        (40, 0),
        (80, 0),
        (80, 0),
        // 300 and this one would fill memory: those that stay leave room for a load.
        (100, 0),
        (100, 7),
    ];
    assert_eq!(begun(SIZES, 10), expected);
}

#[test]
fn of_equal_loads_two_go_when_memory_is_full() {
    let equal = LoadSizes {
        first: 100,
        ..SIZES
    };
    let sent = |sizes| -> Vec<u64> { begun(sizes, 7).into_iter().map(|load| load.1).collect() };
    assert_eq!(sent(equal), [0, 0, 0, 0, 2, 3, 4]);
    let exceeds = true;
    assert_eq!(sent(LoadSizes { exceeds, ..equal }), [0, 0, 0, 1, 2, 3, 4]);
    // It is known that they do not fit: sorters need no small ones.
    assert_eq!(sent(LoadSizes { exceeds, ..SIZES }), [0, 0, 0, 1, 2, 3, 4]);
}

/// Loads in memory, with a whole one that is freed, never take more than memory has.
#[test]
fn the_loads_that_stay_leave_room_for_one() {
    for first in 1..=100 {
        for (sorters, fit) in [(1, 3), (2, 4), (3, 5), (5, 9)] {
            let sizes = LoadSizes {
                first,
                sorters,
                fit,
                ..SIZES
            };
            let mut before = Vec::new();
            for number in 0..60 {
                let sent = sizes.sent_by(&before) as usize;
                let kept: usize = before[sent..].iter().sum();
                let all = kept + sizes.of(number);
                let room = if sent > 0 { (fit - 1) * 100 } else { fit * 100 };
                assert!(all <= room, "{first}, {sorters}, {fit}: {all} at {number}");
                before.push(sizes.of(number));
            }
        }
    }
}
