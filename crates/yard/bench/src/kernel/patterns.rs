//! The cost of inputs that are not uniform. The floor here is the uniform input.

use kernel::patterns::{Pattern, draw, entries_of};
use kernel::{Entry, Rows, Slab, WholeRecords, sort_parallel};
use terminal::ending::failure::CliFailure;

use super::pairs::KEY_BYTES;
use crate::buffers::{checked, timed, touch};
use crate::host::threads_in_words;
use crate::race::Race;
use crate::table::Section;

/// Uniform first; then what a sort meets often.
const PATTERNS: [Pattern; 5] = [
    Pattern::Uniform,
    Pattern::Skewed,
    Pattern::Equal,
    Pattern::Sorted,
    Pattern::Reversed,
];

/// Bytes of memory for each pair: all patterns are held at once, as they take turns; then what is
/// sorted, and scratch.
pub(super) const BYTES_EACH: u64 = {
    let entry = size_of::<Entry>();
    (PATTERNS.len() * (KEY_BYTES + entry) + 2 * entry) as u64
};

/// Measures our sort of `count` pairs of each pattern.
pub(super) fn measure_on(runs: u16, count: usize, threads: usize) -> Result<Section, CliFailure> {
    const SEED: u64 = 4;
    let mut race = Race::new();
    for pattern in PATTERNS {
        let keys = draw(pattern, SEED, count, KEY_BYTES);
        let entries = entries_of(&keys, KEY_BYTES);
        let command = format!("kernel::sort_parallel, kernel::patterns {}", pattern.name());
        let sort = move |(sorted, scratch): &mut (Slab<Entry>, Slab<Entry>)| {
            let chunks = [&keys[..]];
            let words = WholeRecords(Rows::new(&chunks, KEY_BYTES));
            sorted.copy_from_slice(&entries);
            let seconds = timed(|| sort_parallel(sorted, scratch, &words, threads));
            let is_sorted = sorted.is_sorted_by_key(|entry| entry.prefix);
            checked(seconds, is_sorted, "our sort")
        };
        race.enter(pattern.name(), command, sort);
    }
    let mut memory = (touch(Slab::new(count))?, touch(Slab::new(count))?);
    let rows = race.run(runs, &mut memory)?;
    let threads = threads_in_words(threads);
    let title = format!("patterns, {threads}; the ratio is to uniform");
    Ok(Section::new(title, (count as u64, "pair"), rows))
}
