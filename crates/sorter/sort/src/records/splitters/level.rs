//! Splitters that share words: which words, and the next one that divides them.

use std::cmp::Ordering;
use std::ops::Range;

use kernel::Classifier;

use crate::records::lead::NEAR_WORDS;
use crate::records::order::TotalOrder;
use crate::records::sample::Sample;

/// Splitters that are equal up to a word, divided by that word.
#[derive(Debug)]
pub(super) struct Level {
    /// Number of the first of these splitters.
    pub(super) first: usize,
    pub(super) classifier: Classifier,
    /// The rule for splitters that share a word, by the number of the first one in this level.
    runs: Vec<Option<EqualSplitters>>,
}

/// Splitters that share a word: equal ones, or a later word divides them.
#[derive(Debug)]
pub(super) struct EqualSplitters {
    /// The words that they share behind that of their level, unless those are too many.
    shared: Option<Vec<u64>>,
    /// The first of these words, and the one behind them.
    words: Range<u32>,
    pub(super) next: Option<Box<Level>>,
}

impl Level {
    /// Divides the splitters `range`, which are equal before word `depth`, by that word.
    pub(super) fn new(
        order: &impl TotalOrder,
        sample: &Sample,
        range: Range<usize>,
        depth: u32,
    ) -> Level {
        let word = |number: usize| order.word(sample.element(number).record, depth);
        let words: Vec<u64> = range.clone().map(word).collect();
        let mut runs = Vec::new();
        runs.resize_with(words.len(), || None);
        let mut begin = 0;
        for run in words.chunk_by(|a, b| a == b) {
            let splitters = range.start + begin..range.start + begin + run.len();
            runs[begin] = Some(EqualSplitters::new(order, sample, splitters, depth));
            begin += run.len();
        }
        Level {
            first: range.start,
            classifier: Classifier::new(&words),
            runs,
        }
    }

    /// No splitters.
    pub(super) fn none() -> Level {
        Level {
            first: 0,
            classifier: Classifier::new(&[]),
            runs: Vec::new(),
        }
    }

    /// The run that begins with a splitter of this level.
    pub(super) fn run(&self, bin: u32) -> &EqualSplitters {
        let run = self.runs[bin as usize].as_ref();
        run.expect("a run begins with the first of its splitters")
    }
}

impl EqualSplitters {
    fn new(
        order: &impl TotalOrder,
        sample: &Sample,
        range: Range<usize>,
        depth: u32,
    ) -> EqualSplitters {
        // They are sorted, so the first and the last differ in the first word in which any two do.
        let first = sample.element(range.start).record;
        let last = sample.element(range.end - 1).record;
        let from = depth + 1;
        let all = order.most_words(first.len().max(last.len()));
        let differ = order.first_difference(first, last, from..all);
        let mut shared = vec![0; NEAR_WORDS + 1];
        let there = order.words_from(first, from, &mut shared);
        let until = differ.unwrap_or(from + there as u32);
        let words = (until - from) as usize;
        shared.truncate(words);
        EqualSplitters {
            shared: (words <= NEAR_WORDS).then_some(shared),
            words: from..until,
            next: differ.map(|depth| Box::new(Level::new(order, sample, range, depth))),
        }
    }

    /// Compares a record with the words that these share with `splitter`, which is one of them. Returns
    /// the record's next word, too, which divides them.
    pub(super) fn against(
        &self,
        order: &impl TotalOrder,
        record: &[u8],
        splitter: &[u8],
    ) -> (Ordering, u64) {
        if let Some(shared) = &self.shared {
            let mut words = [0; NEAR_WORDS + 1];
            let words = &mut words[..=shared.len()];
            order.words_from(record, self.words.start, words);
            let (next, words) = words.split_last().expect("one more than are shared");
            return (words.cmp(shared), *next);
        }
        if self.next.is_none() {
            return (order.compare(record, splitter), 0);
        }
        match order.first_difference(record, splitter, self.words.clone()) {
            Some(depth) => {
                let [word, other] = [record, splitter].map(|record| order.word(record, depth));
                (word.cmp(&other), 0)
            }
            None => (Ordering::Equal, order.word(record, self.words.end)),
        }
    }
}
