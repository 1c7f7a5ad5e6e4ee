//! What inputs cost that are not uniform: the floor here is the uniform input.

use kernel::patterns::{Pattern, draw, entries_of};
use kernel::{Entry, Rows, Slab, WholeRecords, sort_parallel};

use super::pairs::KEY_BYTES;
use crate::host::threads_in_words;
use crate::measure::{Subject, measure, timed, touch, wrong};
use crate::table::Section;
use cli::failure::CliFailure;

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

struct Input {
    keys: Vec<u8>,
    entries: Vec<Entry>,
}

/// Measures our sort of `count` pairs of each pattern.
pub(super) fn measure_on(runs: u16, count: usize, threads: usize) -> Result<Section, CliFailure> {
    const SEED: u64 = 4;
    let input = |&pattern: &Pattern| {
        let keys = draw(pattern, SEED, count, KEY_BYTES);
        let entries = entries_of(&keys, KEY_BYTES);
        Input { keys, entries }
    };
    let inputs: Vec<Input> = PATTERNS.iter().map(input).collect();
    let mut sorted = touch(Slab::<Entry>::new(count))?;
    let mut scratch = touch(Slab::<Entry>::new(count))?;
    let subjects = PATTERNS.iter().zip(&inputs);
    let subjects = subjects.map(|(pattern, input)| {
        let command = format!("kernel::sort_parallel, kernel::patterns {}", pattern.name());
        Subject::new(pattern.name(), command, input)
    });
    let rows = measure(runs, subjects.collect(), |input: &Input| {
        let chunks = [&input.keys[..]];
        let words = WholeRecords(Rows::new(&chunks, KEY_BYTES));
        sorted.copy_from_slice(&input.entries);
        let seconds = timed(|| sort_parallel(&mut sorted, &mut scratch, &words, threads));
        let sound = sorted.is_sorted_by_key(|entry| entry.prefix);
        if sound {
            Ok(seconds)
        } else {
            Err(wrong("our sort"))
        }
    })?;
    let title = format!(
        "patterns, {}; the ratio is to uniform",
        threads_in_words(threads)
    );
    Ok(Section::new(title, (count as u64, "pair"), rows))
}
