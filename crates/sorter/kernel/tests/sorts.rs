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

/// Rows of as many words as there are rows, of which row `n` differs from those behind it in word `n`
/// first. Words must be looked for, so that any look at a row costs all of its words.
struct Stairs {
    rows: u32,
    cost: std::cell::Cell<u64>,
}

impl Stairs {
    fn look(&self) {
        self.cost.set(self.cost.get() + u64::from(self.rows));
    }
}

impl kernel::Words for Stairs {
    fn words(&self) -> u32 {
        self.rows + 2
    }

    fn word(&self, row: u64, depth: u32) -> u64 {
        self.look();
        // Every third row is there twice.
        let step = row / 4 * 3 + (row % 4).min(2);
        u64::from(u64::from(depth) != step + 1)
    }

    fn first_difference(&self, left: u64, right: u64, from: u32, until: u32) -> u32 {
        let before = self.cost.get();
        let mut words = from..until;
        let found = words.find(|&depth| self.word(left, depth) != self.word(right, depth));
        self.cost.set(before);
        self.look();
        found.unwrap_or(until)
    }
}

/// A run that words divide row by row is divided by pivots: the looks at rows grow as the rows do, and
/// a logarithm, and not as their square.
#[test]
fn rows_that_part_one_by_one_are_looked_at_seldom() {
    let cost = |rows: u32| {
        let stairs = Stairs {
            rows,
            cost: std::cell::Cell::new(0),
        };
        let row = |place: u64| place * 7919 % u64::from(rows);
        let entry = |place| Entry {
            prefix: 1,
            row: row(place),
        };
        let mut entries: Vec<Entry> = (0..u64::from(rows)).map(entry).collect();
        let mut scratch = entries.clone();
        sort(&mut entries, &mut scratch, &stairs);
        let steps = |entry: &Entry| entry.row / 4 * 3 + (entry.row % 4).min(2);
        assert!(
            entries.is_sorted_by_key(steps),
            "a row that differs early is less"
        );
        assert!(entries.iter().all(|entry| entry.prefix == 1));
        let mut all: Vec<u64> = entries.iter().map(|entry| entry.row).collect();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..u64::from(rows)));
        stairs.cost.get()
    };
    // Four times the rows have sixteen times the words.
    let (few, many) = (cost(500), cost(2_000));
    assert!(many < 28 * few, "{few}, {many}");
    assert!(few < 150 * 500 * 500, "{few}");
}
