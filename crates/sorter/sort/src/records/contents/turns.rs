//! Turns of the sources of a merge of counted records.

use node::Random;

/// The order in which parts of counted records end. Parts of equal length end in an order that their keys
/// decide: another one in each round.
#[derive(Debug, Default)]
pub(super) struct Turns {
    order: Vec<usize>,
    next: usize,
    rounds: u64,
}

impl Turns {
    /// The source whose turn it is, of those that have a part.
    pub(super) fn next(
        &mut self,
        seed: u64,
        sources: usize,
        has_part: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        // The rest of a round, and a whole one: each source has been asked.
        for _ in 0..2 * sources {
            if self.next >= self.order.len() {
                self.shuffle(seed, sources);
            }
            let source = self.order[self.next];
            if has_part(source) {
                return Some(source);
            }
            self.end();
        }
        None
    }

    /// Ends the turn.
    pub(super) fn end(&mut self) {
        self.next += 1;
    }

    fn shuffle(&mut self, seed: u64, sources: usize) {
        let mut random = Random::stream(seed, self.rounds);
        self.order = (0..sources).collect();
        for last in (1..sources).rev() {
            self.order.swap(last, random.below(last + 1));
        }
        (self.next, self.rounds) = (0, self.rounds + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_source_has_a_turn_in_each_round() {
        let rounds = |seed: u64, with_part: &[usize]| -> [Vec<usize>; 3] {
            let mut turns = Turns::default();
            [(); 3].map(|()| {
                let round = with_part.iter().map(|_| {
                    let turn = turns.next(seed, 9, |source| with_part.contains(&source));
                    turns.end();
                    turn.unwrap()
                });
                round.collect()
            })
        };
        let all: Vec<usize> = (0..9).collect();
        for with_part in [&all[..], &[2, 3, 7]] {
            let orders = rounds(1, with_part);
            for order in &orders {
                let mut sorted = order.clone();
                sorted.sort_unstable();
                assert_eq!(sorted, with_part);
            }
        }
        let orders = rounds(1, &all);
        assert!(orders[0] != orders[1] && orders[1] != orders[2]);
        assert_eq!(orders, rounds(1, &all));
        assert_ne!(orders, rounds(2, &all));
        assert_eq!(Turns::default().next(1, 9, |_| false), None);
        assert_eq!(Turns::default().next(1, 0, |_| true), None);
    }
}
