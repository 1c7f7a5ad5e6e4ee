//! One kit for every sort: generated patterns, lengths around thresholds, tiny inputs exhaustively,
//! and a sort of the whole records as the oracle.

#[macro_use]
mod kit;

use kernel::patterns::{Pattern, draw, entries_of};
use kernel::{Entry, Rows, WholeRecords, sort, sort_parallel};

kit!(one_thread, |entries, scratch, words| sort(
    entries, scratch, words
));
kit!(one_of_one, |entries, scratch, words| sort_parallel(
    entries, scratch, words, 1
));
kit!(two_threads, |entries, scratch, words| sort_parallel(
    entries, scratch, words, 2
));
kit!(five_threads, |entries, scratch, words| sort_parallel(
    entries, scratch, words, 5
));
#[test]
fn scratch_may_be_longer_but_not_shorter() {
    let records = draw(Pattern::Uniform, 1, 100, 8);
    let chunks = [&records[..]];
    let words = WholeRecords(Rows::new(&chunks, 8));
    let mut entries = entries_of(&records, 8);
    sort(&mut entries, &mut vec![Entry::default(); 300], &words);
    assert!(entries.is_sorted_by_key(|entry| entry.prefix));
    let short = std::panic::catch_unwind(move || {
        sort(&mut entries, &mut [Entry::default(); 99], &words);
    });
    assert!(short.is_err());
}

proptest::proptest! {
    #![proptest_config(kit::config())]

    #[test]
    fn tables_of_words_are_sorted(
        codes in proptest::collection::vec([0..8usize, 0..8, 0..8], 0..300),
        threads in 1..4usize,
    ) {
        kit::table_sorts(&codes, sort);
        kit::table_sorts(&codes, |entries, scratch, table| {
            sort_parallel(entries, scratch, table, threads);
        });
    }
}
