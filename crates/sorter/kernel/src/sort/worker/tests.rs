use super::*;

/// A range that fits in the cache gets a bin per entry or per two; a longer one gets buckets
/// that fit.
#[test]
fn the_bits_of_a_pass_depend_on_its_length() {
    let bits = [25, 32, 1000, BUCKET, BUCKET + 1, 1 << 20, 1 << 30].map(bits_for);
    assert_eq!(bits, [4, 5, 9, 15, 2, 6, MOST_BITS]);
}

#[test]
fn one_bin_with_more_than_three_quarters_is_lopsided() {
    assert!(!lopsided(75, 100) && lopsided(76, 100));
    assert!(!lopsided(1, 100) && lopsided(100, 100));
}

/// All entries have one prefix, which only exact bounds can show.
#[test]
fn bounds_of_long_ranges_are_guessed() {
    let task = Task::whole(SAMPLED);
    let range = vec![Entry { prefix: 7, row: 0 }; SAMPLED];
    assert!(
        first_bounds(&task, &range[1..]).single(),
        "a short range is not guessed"
    );
    assert!(
        !first_bounds(&task, &range).single(),
        "a long range is guessed"
    );
    let known = Task {
        bounds: Some(Bounds::exact(&range)),
        ..task
    };
    assert!(
        first_bounds(&known, &range).single(),
        "known bounds are not guessed"
    );
}

#[test]
fn a_range_that_ties_keeps_its_first_word() {
    let tied = Task::whole(9).tied(5);
    assert_eq!((tied.depth, tied.tied, tied.first), (1, true, 5));
    let again = tied.loaded(3).tied(6);
    assert_eq!((again.depth, again.tied, again.first), (4, true, 5));
    assert!(!tied.loaded(3).tied);
    let moved = tied.moved(2, 4, None);
    assert_eq!((moved.start, moved.len, moved.side), (2, 4, Side::Scratch));
    let back = moved.moved(1, 2, None);
    assert_eq!((back.start, back.len, back.side), (3, 2, Side::Entries));
}
