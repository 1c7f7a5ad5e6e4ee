//! Splitters: elements of the total order that divide the buckets.
//!
//! A record's bucket is the number of splitters below it. The eight bytes of the prefix settle that
//! nearly always, by a search without branches ([`Classifier`]). If splitters share the prefix, the
//! following words decide, by the same search:
//!
//! ```text
//! word 0   | 12 | 47 | 47 | 47 | 80 |        a record with word 0 = 47 goes on to
//! word 1        | 3  | 9  | 9  |             the splitters of that run, with word 1 = 9 to
//!                    |  same   |             splitters that are equal
//! ```
//!
//! Words that all splitters share are left out ([`Lead`]), so that the first word behind them is searched.
//!
//! A record equal to some splitters may go to any bucket next to them. A number drawn from its
//! position chooses, in the proportions in which the sample's equal records lie next to those
//! splitters. So equal records spread evenly. With `--stable` positions decide, as everywhere; where the last
//! record is kept, the latest comes first.

mod level;

use std::cmp::Ordering;
use std::ops::Range;

use record::Ties;

use crate::records::contents::Assignment;
use crate::records::lead::Lead;
use crate::records::order::TotalOrder;
use crate::records::sample::{Element, Sample};
use level::Level;

/// The golden ratio of 2^64: its multiples spread evenly, however many there are (Knuth 6.4).
const GOLDEN_RATIO: u64 = 0x9e37_79b9_7f4a_7c15;

/// The splitters of a set of buckets.
#[derive(Debug)]
pub struct Splitters {
    /// Number of buckets that they divide.
    pub buckets: usize,
    lead: Lead,
    root: Level,
    sample: Sample,
    /// Whether records equal to a splitter stay in one bucket.
    undivided: bool,
}

impl Splitters {
    /// At most `buckets - 1` elements of the sample, which divide it evenly.
    pub(crate) fn choose(order: &impl TotalOrder, sample: &Sample, buckets: usize) -> Splitters {
        let mut elements: Vec<Element<'_>> = sample.elements().collect();
        for element in &mut elements {
            element.position = order.ties().place(element.position);
        }
        elements.sort_unstable_by(|a, b| total(order, a, b));
        let buckets = buckets.min(elements.len() + 1);
        let mut chosen = Sample::default();
        for rank in (1..buckets).map(|bucket| bucket * elements.len() / buckets) {
            let Element { record, position } = elements[rank];
            let position = match order.ties() {
                Ties::Position | Ties::LastPosition => position,
                Ties::Record => {
                    let against = |other: &Element<'_>| order.compare(other.record, record);
                    let begin = elements.partition_point(|other| against(other).is_lt());
                    let end = elements.partition_point(|other| against(other).is_le());
                    fraction(rank - begin, end - begin)
                }
            };
            chosen.push(record, position);
        }
        Splitters::of(order, chosen)
    }

    /// Splitters from the elements of other splitters.
    pub(crate) fn of(order: &impl TotalOrder, chosen: Sample) -> Splitters {
        let buckets = chosen.len() + 1;
        // They are sorted, so the first and the last share what all do.
        let ends = [0, chosen.len().saturating_sub(1)];
        let ends = ends.into_iter().filter(|_| chosen.len() > 1);
        let lead = Lead::of(order, ends.map(|number| chosen.element(number).record));
        let root = Level::new(order, &chosen, 0..buckets - 1, lead.words());
        Splitters {
            buckets,
            lead,
            root,
            sample: chosen,
            undivided: false,
        }
    }

    /// Keeps records with equal keys in one bucket, instead of spreading them.
    pub(crate) fn undivided(self) -> Splitters {
        Splitters {
            undivided: true,
            ..self
        }
    }

    pub(crate) fn are_ascending(order: &impl TotalOrder, chosen: &Sample) -> bool {
        let pairs = chosen.elements().zip(chosen.elements().skip(1));
        pairs.into_iter().all(|(a, b)| total(order, &a, &b).is_le())
    }

    /// Splitters without elements: for counted records, and for one bucket.
    pub(crate) fn even(buckets: usize) -> Splitters {
        Splitters {
            buckets,
            lead: Lead::default(),
            root: Level::none(),
            sample: Sample::default(),
            undivided: false,
        }
    }

    /// These splitters with elements, of which only the number counts.
    pub(crate) fn with_elements<'s>(
        self,
        elements: impl Iterator<Item = Element<'s>>,
    ) -> Splitters {
        let mut sample = Sample::default();
        elements.for_each(|element| sample.push(element.record, element.position));
        Splitters { sample, ..self }
    }

    /// The elements. Without `--stable`, the position of an element is the fraction (of 2^64) of
    /// its equal records that lie below it.
    pub(crate) fn elements(&self) -> &Sample {
        &self.sample
    }

    /// Divides a sample like records: the part of each bucket.
    pub(crate) fn divide(&self, order: &impl TotalOrder, sample: &Sample) -> Vec<Sample> {
        let mut parts = vec![Sample::default(); self.buckets];
        let mut found = Assignment::default();
        for Element { record, position } in sample.elements() {
            found.prefixes.clear();
            if self.lead.is_none() {
                found.prefixes.push(order.word(record, 0));
            }
            self.assign(order, std::iter::once(record), position, &mut found);
            parts[found.bins[0] as usize].push(record, position);
        }
        parts
    }

    /// Whether buckets are found by the first words of records, which are to be in [`Assignment::prefixes`].
    pub(crate) fn are_by_prefixes(&self) -> bool {
        self.lead.is_none()
    }

    /// Finds the buckets of records, with their prefixes if it is by these. The first record has position
    /// `first`.
    pub(crate) fn assign<'r>(
        &self,
        order: &impl TotalOrder,
        records: impl Iterator<Item = &'r [u8]> + Clone,
        first: u64,
        found: &mut Assignment,
    ) {
        found.beside.clear();
        if !self.lead.is_none() {
            self.find_words(order, records.clone(), found);
        }
        found.bins.resize(found.prefixes.len(), 0);
        let classifier = &self.root.classifier;
        let tied = classifier.classify(&found.prefixes, &mut found.bins);
        for &(number, ordering) in &found.beside {
            let last = self.buckets as u32 - 1;
            found.bins[number] = if ordering.is_lt() { 0 } else { last };
        }
        if tied == 0 {
            return;
        }
        let elements = records.scan(first, |behind, record| {
            let position = *behind;
            *behind += record.len() as u64;
            Some(Element { record, position })
        });
        let mut beside = found.beside.iter().map(|&(number, _)| number).peekable();
        let bins = found.prefixes.iter().zip(&mut found.bins);
        for ((number, element), (&prefix, bin)) in elements.enumerate().zip(bins) {
            if beside.next_if_eq(&number).is_some() {
                continue;
            }
            let ties = classifier.ties(*bin, prefix);
            if ties > 0 {
                *bin = self.among_ties(order, element, (*bin, ties)) as u32;
            }
        }
    }

    /// Finds the words behind those that splitters share, and the records that do not share them.
    fn find_words<'r>(
        &self,
        order: &impl TotalOrder,
        records: impl Iterator<Item = &'r [u8]>,
        found: &mut Assignment,
    ) {
        found.prefixes.clear();
        for (number, record) in records.enumerate() {
            let word = self.lead.behind(order, record).unwrap_or_else(|ordering| {
                found.beside.push((number, ordering));
                0
            });
            found.prefixes.push(word);
        }
    }

    /// The bucket of an element that shares its prefix with `ties` splitters from `bin` on.
    fn among_ties(
        &self,
        order: &impl TotalOrder,
        element: Element<'_>,
        (bin, ties): (u32, u32),
    ) -> usize {
        let (mut level, mut bin, mut ties) = (&self.root, bin, ties);
        loop {
            let run = level.first + bin as usize..level.first + (bin + ties) as usize;
            let equal = level.run(bin);
            let splitter = self.splitter(run.start).record;
            let (ordering, word) = equal.against(order, element.record, splitter);
            let next = match (ordering, &equal.next) {
                (Ordering::Less, _) => return run.start,
                (Ordering::Greater, _) => return run.end,
                (Ordering::Equal, None) => return self.beside_equals(order, element, run),
                (Ordering::Equal, Some(next)) => next,
            };
            let mut found = [0];
            next.classifier.classify(&[word], &mut found);
            (level, bin) = (next, found[0]);
            ties = level.classifier.ties(bin, word);
            if ties == 0 {
                return level.first + bin as usize;
            }
        }
    }

    /// The bucket of an element that is equal to a run of splitters.
    fn beside_equals(
        &self,
        order: &impl TotalOrder,
        element: Element<'_>,
        run: Range<usize>,
    ) -> usize {
        if self.undivided {
            return run.start;
        }
        let place = match order.ties() {
            ties @ (Ties::Position | Ties::LastPosition) => ties.place(element.position),
            // Multiples of a length times the golden ratio would not spread if the length
            // were a Fibonacci number, so this counts records.
            Ties::Record => {
                let number = element.position / element.record.len() as u64;
                number.wrapping_mul(GOLDEN_RATIO)
            }
        };
        let places = &self.sample.positions()[run.clone()];
        run.start + places.partition_point(|&other| other < place)
    }

    fn splitter(&self, number: usize) -> Element<'_> {
        self.sample.element(number)
    }
}

/// `some` of `all` as a fraction of 2^64.
fn fraction(some: usize, all: usize) -> u64 {
    (((some as u128) << 64) / all as u128) as u64
}

fn total(order: &impl TotalOrder, a: &Element<'_>, b: &Element<'_>) -> Ordering {
    order
        .compare(a.record, b.record)
        .then(a.position.cmp(&b.position))
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::patterns::{Pattern, draw};
    use record::{Key, Order};

    fn assigned(splitters: &Splitters, order: &Order, records: &[u8]) -> Assignment {
        let records = records.chunks_exact(order.record_bytes());
        let mut found = Assignment::default();
        if splitters.are_by_prefixes() {
            let prefixes = records.clone().map(|record| order.word(record, 0));
            found.prefixes.extend(prefixes);
        }
        splitters.assign(order, records, 0, &mut found);
        found
    }

    /// Every record goes to the bucket that a comparison with all splitters gives, or next to equal
    /// ones.
    fn check(order: &Order, records: &[u8], buckets: usize) {
        let bytes = order.record_bytes();
        let count = records.len() / bytes;
        let sampled = |number: &usize| number.is_multiple_of(3);
        let mut sample = Sample::default();
        for number in (0..count).filter(sampled) {
            let at = number * bytes;
            sample.push(&records[at..][..bytes], at as u64);
        }
        let splitters = Splitters::choose(order, &sample, buckets);
        let found = assigned(&splitters, order, records);
        for (number, &bin) in found.bins.iter().enumerate() {
            let record = &records[number * bytes..][..bytes];
            let compare = |splitter: usize| {
                let other = splitters.splitter(splitter);
                let order_of = order.compare(other.record, record);
                match order.ties() {
                    Ties::Record => order_of,
                    ties => {
                        let place = ties.place((number * bytes) as u64);
                        order_of.then(other.position.cmp(&place))
                    }
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
        assert_eq!(found.bins.len(), count);
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
                for ties in [Ties::Record, Ties::Position, Ties::LastPosition] {
                    let order = Order::parse(format, keys, ties).unwrap();
                    for buckets in [1, 2, 7, 40] {
                        let records = draw(pattern, 1, 200, order.record_bytes());
                        check(&order, &records, buckets);
                    }
                }
            }
        }
    }

    #[test]
    fn later_words_decide() {
        let order = Order::gensort(Ties::Record);
        // In words that are near and that are not, behind the first of equal splitters.
        for differs in [9, 50, 66, 75, 95] {
            let mut records = draw(Pattern::Uniform, 1, 300, 100);
            for record in records.chunks_exact_mut(100) {
                let number = record[0] % 7;
                record[..95].fill(7);
                record[differs] = number % 2;
            }
            check(&order, &records, 20);
        }
    }

    #[test]
    fn equal_records_spread_evenly() {
        // The golden ratio has its worst multiples at Fibonacci numbers, such as 17,711.
        for (length, ties) in [
            (100, Ties::Record),
            (100, Ties::Position),
            (17_711, Ties::Record),
            (17_711, Ties::Position),
        ] {
            let order = Order::new(length, &[Key::plain(0, 10)], ties).unwrap();
            let records = vec![9; length * 1000];
            let mut sample = Sample::default();
            let step = 20 * length as u64;
            (0..50).for_each(|number| sample.push(&records[..length], number * step));
            let splitters = Splitters::choose(&order, &sample, 10);
            let found = assigned(&splitters, &order, &records);
            let mut counts = [0; 10];
            for &bin in &found.bins {
                counts[bin as usize] += 1;
            }
            assert!(
                counts.iter().all(|count| (80..=120).contains(count)),
                "{length}, {ties:?}: {counts:?}"
            );
        }
    }
}
