//! Splitters: elements of the total order that divide the buckets.
//!
//! A record's bucket is the number of splitters below it. The eight bytes of the prefix settle that
//! nearly always, by a search without branches ([`Classifier`]). Where splitters share the prefix,
//! the words behind it decide, by the same search, and so on:
//!
//! ```text
//! word 0   | 12 | 47 | 47 | 47 | 80 |        a record with word 0 = 47 goes on to
//! word 1        | 3  | 9  | 9  |             the splitters of that run, with word 1 = 9 to
//!                    |  same   |             splitters that are equal
//! ```
//!
//! A record equal to some splitters may go to any bucket beside them: a number drawn from its
//! position chooses, in the proportions in which the sample's equal records lie beside those
//! splitters. So records that are all the same spread evenly. With `--stable` positions decide, as
//! everywhere.

use std::cmp::Ordering;
use std::ops::Range;

use kernel::Classifier;
use record::{Order, Ties};

use crate::records::contents::{Assignment, Sample};

/// Of 2^64: multiples of it lie evenly, however many there are (Knuth 6.4).
const GOLDEN_RATIO: u64 = 0x9e37_79b9_7f4a_7c15;

/// The splitters of a run.
#[derive(Debug)]
pub struct Splitters {
    /// How many buckets they divide.
    pub buckets: usize,
    root: Level,
    sample: Sample,
}

/// Splitters that are the same up to a word, divided by it.
#[derive(Debug)]
struct Level {
    depth: u32,
    /// Number of the first of these splitters.
    first: usize,
    classifier: Classifier,
    /// What decides among the splitters that share a word, by the number of the first within this
    /// level.
    runs: Vec<Option<Run>>,
}

/// Splitters that share a word.
#[derive(Debug)]
enum Run {
    /// They are equal.
    Same,
    /// A later word divides them.
    Next(Box<Level>),
}

/// A record with its position in the input.
#[derive(Clone, Copy)]
struct Element<'a> {
    record: &'a [u8],
    position: u64,
}

impl Splitters {
    /// At most `buckets - 1` elements of the sample that divide it evenly.
    pub(crate) fn choose(order: &Order, sample: &Sample, buckets: usize) -> Splitters {
        let mut ranks: Vec<usize> = (0..sample.positions.len()).collect();
        ranks.sort_unstable_by(|&a, &b| {
            let (a, b) = (element(order, sample, a), element(order, sample, b));
            order
                .compare(a.record, b.record)
                .then(a.position.cmp(&b.position))
        });
        let buckets = buckets.min(ranks.len() + 1);
        let mut chosen = Sample::default();
        for rank in (1..buckets).map(|bucket| bucket * ranks.len() / buckets) {
            let splitter = element(order, sample, ranks[rank]);
            chosen.records.extend_from_slice(splitter.record);
            chosen.positions.push(match order.ties() {
                Ties::Position => splitter.position,
                Ties::Record => {
                    let against = |&other: &usize| {
                        order.compare(element(order, sample, other).record, splitter.record)
                    };
                    let begin = ranks.partition_point(|other| against(other).is_lt());
                    let end = ranks.partition_point(|other| against(other).is_le());
                    fraction(rank - begin, end - begin)
                }
            });
        }
        Splitters::of(order, chosen)
    }

    /// Those that were chosen elsewhere: the elements of other splitters.
    pub(crate) fn of(order: &Order, chosen: Sample) -> Splitters {
        let buckets = chosen.positions.len() + 1;
        let root = Level::new(order, &chosen, 0..buckets - 1, 0);
        Splitters {
            buckets,
            root,
            sample: chosen,
        }
    }

    /// Whether elements that were chosen elsewhere can be splitters.
    pub(crate) fn are_ascending(order: &Order, chosen: &Sample) -> bool {
        (1..chosen.positions.len()).all(|rank| {
            let (a, b) = (
                element(order, chosen, rank - 1),
                element(order, chosen, rank),
            );
            order
                .compare(a.record, b.record)
                .then(a.position.cmp(&b.position))
                .is_le()
        })
    }

    /// Splitters that divide nothing that is known: for counts, and for one bucket.
    pub(crate) fn even(buckets: usize) -> Splitters {
        let root = Level {
            depth: 0,
            first: 0,
            classifier: Classifier::new(&[]),
            runs: Vec::new(),
        };
        Splitters {
            buckets,
            root,
            sample: Sample::default(),
        }
    }

    /// The elements themselves. In the place of a position is, without `--stable`, which part of
    /// the records that are equal to it lies below it.
    pub(crate) fn elements(&self) -> &Sample {
        &self.sample
    }

    /// Divides a sample as its records will be: what of it falls into each bucket.
    pub(crate) fn divide(&self, order: &Order, sample: &Sample) -> Vec<Sample> {
        let mut parts = vec![Sample::default(); self.buckets];
        let mut found = Assignment::default();
        let records = sample.records.chunks_exact(order.record_bytes());
        for (record, &position) in records.zip(&sample.positions) {
            self.assign(order, record, position, &mut found);
            let part = &mut parts[found.bins[0] as usize];
            part.records.extend_from_slice(record);
            part.positions.push(position);
        }
        parts
    }

    /// Finds the buckets of `records`, the first of which has position `first`.
    pub(crate) fn assign(&self, order: &Order, records: &[u8], first: u64, found: &mut Assignment) {
        let each = records.chunks_exact(order.record_bytes());
        found.prefixes.resize(each.len(), 0);
        found.bins.resize(each.len(), 0);
        order.prefixes(records, &mut found.prefixes);
        let tied = self
            .root
            .classifier
            .classify(&found.prefixes, &mut found.bins);
        if tied > 0 {
            let elements = each
                .zip(first..)
                .map(|(record, position)| Element { record, position });
            for ((element, &prefix), bin) in elements.zip(&found.prefixes).zip(&mut found.bins) {
                let ties = self.root.classifier.ties(*bin, prefix);
                if ties > 0 {
                    *bin = self.among_ties(order, element, (*bin, ties)) as u32;
                }
            }
        }
        found.counts.clear();
        found.counts.resize(self.buckets, 0);
        for &bin in &found.bins {
            found.counts[bin as usize] += 1;
        }
    }

    /// The bucket of an element that shares its prefix with `ties` splitters from `bin` on.
    fn among_ties(&self, order: &Order, element: Element<'_>, (bin, ties): (u32, u32)) -> usize {
        let (mut level, mut bin, mut ties) = (&self.root, bin, ties);
        loop {
            let run = level.first + bin as usize..level.first + (bin + ties) as usize;
            let next = match &level.runs[bin as usize] {
                Some(Run::Next(next)) => next,
                _ => return self.beside_equals(order, element, run),
            };
            // The words between the two levels are the same for all splitters of the run.
            let splitter = self.splitter(order, run.start).record;
            for depth in level.depth + 1..next.depth {
                match order
                    .word(element.record, depth)
                    .cmp(&order.word(splitter, depth))
                {
                    Ordering::Less => return run.start,
                    Ordering::Greater => return run.end,
                    Ordering::Equal => {}
                }
            }
            let word = order.word(element.record, next.depth);
            let mut found = [0];
            next.classifier.classify(&[word], &mut found);
            (level, bin) = (next, found[0]);
            ties = level.classifier.ties(bin, word);
            if ties == 0 {
                return level.first + bin as usize;
            }
        }
    }

    /// The bucket of an element beside a run of splitters that are equal.
    fn beside_equals(&self, order: &Order, element: Element<'_>, run: Range<usize>) -> usize {
        match order.compare(element.record, self.splitter(order, run.start).record) {
            Ordering::Less => run.start,
            Ordering::Greater => run.end,
            Ordering::Equal => {
                let place = match order.ties() {
                    Ties::Position => element.position,
                    Ties::Record => element.position.wrapping_mul(GOLDEN_RATIO),
                };
                let places = &self.sample.positions[run.clone()];
                run.start + places.partition_point(|&other| other < place)
            }
        }
    }

    fn splitter(&self, order: &Order, number: usize) -> Element<'_> {
        element(order, &self.sample, number)
    }
}

impl Level {
    /// Divides the splitters `range`, which are the same before word `depth`, by that word.
    fn new(order: &Order, sample: &Sample, range: Range<usize>, depth: u32) -> Level {
        let word = |number: usize| order.word(element(order, sample, number).record, depth);
        let words: Vec<u64> = range.clone().map(word).collect();
        let mut runs = Vec::new();
        runs.resize_with(words.len(), || None);
        let mut begin = 0;
        for run in words.chunk_by(|a, b| a == b) {
            let splitters = range.start + begin..range.start + begin + run.len();
            runs[begin] = Some(Run::new(order, sample, splitters, depth));
            begin += run.len();
        }
        Level {
            depth,
            first: range.start,
            classifier: Classifier::new(&words),
            runs,
        }
    }
}

impl Run {
    fn new(order: &Order, sample: &Sample, range: Range<usize>, depth: u32) -> Run {
        // They are sorted: a word in which any two differ, the first and the last differ in.
        let first = element(order, sample, range.start).record;
        let last = element(order, sample, range.end - 1).record;
        let differ = |&depth: &u32| order.word(first, depth) != order.word(last, depth);
        match (depth + 1..order.words()).find(differ) {
            Some(depth) => Run::Next(Box::new(Level::new(order, sample, range, depth))),
            None => Run::Same,
        }
    }
}

/// So many of all, of 2^64.
fn fraction(some: usize, all: usize) -> u64 {
    (((some as u128) << 64) / all as u128) as u64
}

fn element<'a>(order: &Order, sample: &'a Sample, number: usize) -> Element<'a> {
    let bytes = order.record_bytes();
    let record = &sample.records[number * bytes..][..bytes];
    Element {
        record,
        position: sample.positions[number],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::patterns::{Pattern, draw};
    use record::Format;

    /// Every record goes to the bucket that comparing it with all splitters gives, or beside
    /// equals.
    fn check(order: &Order, records: &[u8], buckets: usize) {
        let bytes = order.record_bytes();
        let count = records.len() / bytes;
        let sampled = |number: &usize| number.is_multiple_of(3);
        let mut sample = Sample::default();
        for number in (0..count).filter(sampled) {
            sample
                .records
                .extend_from_slice(&records[number * bytes..][..bytes]);
            sample.positions.push(number as u64);
        }
        let splitters = Splitters::choose(order, &sample, buckets);
        let mut found = Assignment::default();
        splitters.assign(order, records, 0, &mut found);
        for (number, &bin) in found.bins.iter().enumerate() {
            let record = &records[number * bytes..][..bytes];
            let compare = |splitter: usize| {
                let other = splitters.splitter(order, splitter);
                let order_of = order.compare(other.record, record);
                match order.ties() {
                    Ties::Record => order_of,
                    Ties::Position => order_of.then(other.position.cmp(&(number as u64))),
                }
            };
            let below = (0..splitters.buckets - 1)
                .filter(|&at| compare(at).is_lt())
                .count();
            let upto = (0..splitters.buckets - 1)
                .filter(|&at| compare(at).is_le())
                .count();
            assert!(
                (below..=upto).contains(&(bin as usize)),
                "{bin} of {below}..={upto}"
            );
        }
        assert_eq!(found.counts.iter().sum::<u32>() as usize, count);
    }

    #[test]
    fn buckets_are_those_of_plain_comparison() {
        let formats: [(&str, &[&str]); 5] = [
            ("gensort", &[]),
            ("fixed:100", &["0+9"]),
            ("fixed:3", &[]),
            ("fixed:30", &["20+10", "3+2:u16le:desc"]),
            ("fixed:64", &["8+8:i64le"]),
        ];
        for pattern in Pattern::ALL {
            for (format, keys) in formats {
                for ties in [Ties::Record, Ties::Position] {
                    let order = Format::parse(format, keys, ties).unwrap().order;
                    for buckets in [1, 2, 7, 40] {
                        let records = draw(pattern, 1, 200, order.record_bytes());
                        check(&order, &records, buckets);
                    }
                }
            }
        }
    }

    #[test]
    fn words_far_behind_the_prefix_decide() {
        let order = Order::gensort(Ties::Record);
        let mut records = draw(Pattern::Uniform, 1, 300, 100);
        for record in records.chunks_exact_mut(100) {
            let number = record[0] % 7;
            record[..95].fill(7);
            record[50] = number % 2;
        }
        check(&order, &records, 20);
    }

    #[test]
    fn equal_records_spread_evenly() {
        for ties in [Ties::Record, Ties::Position] {
            let order = Order::gensort(ties);
            let records = vec![9; 100 * 1000];
            let positions = (0..50).map(|number| number * 20).collect();
            let sample = Sample {
                records: vec![9; 100 * 50],
                positions,
            };
            let splitters = Splitters::choose(&order, &sample, 10);
            let mut found = Assignment::default();
            splitters.assign(&order, &records, 0, &mut found);
            assert!(
                found
                    .counts
                    .iter()
                    .all(|&count| (80..=120).contains(&count)),
                "{ties:?}"
            );
        }
    }
}
