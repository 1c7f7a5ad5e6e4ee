//! The messages of measurements, and how their receivers verify them.
//!
//! Word 0 names the sender and the message's number; the others follow from it and the seed. A
//! receiver keeps a count and a sum of digests, which a lost, duplicated or changed message alters.

use node::{MESSAGE_BYTES, Random, Rank};
use serde::{Deserialize, Serialize};

use crate::Span;

/// Words of a message of `bytes` bytes.
pub(crate) fn words_of(bytes: u32) -> usize {
    bytes.div_ceil(8) as usize
}

/// An objection to messages that are too long.
pub(crate) fn too_long(bytes: u32) -> Option<String> {
    let most = MESSAGE_BYTES as u32;
    (bytes > most).then(|| format!("a message holds at most {most} bytes, not {bytes}"))
}

/// An objection to sending without another rank.
pub(crate) fn alone(ranks: u32, messages: u32) -> Option<String> {
    (ranks < u32::from(messages > 0) + 1)
        .then(|| "there is no other core: ask for two or more".to_owned())
}

/// Writes the words of a message.
pub(crate) fn fill(words: &mut [u64], seed: u64, from: Rank, number: u32) {
    let Some((name, rest)) = words.split_first_mut() else {
        return;
    };
    *name = (u64::from(from.0) << 32) | u64::from(number);
    let mut random = Random::stream(seed, *name);
    rest.iter_mut().for_each(|word| *word = random.next_u64());
}

/// How many of `messages` belong to number `index` of `others`, which take turns.
pub(crate) fn share(messages: u32, others: u32, index: u32) -> u32 {
    messages / others + u32::from(index < messages % others)
}

/// A hash of words and their order.
#[inline]
pub(crate) fn digest(words: impl Iterator<Item = u64>) -> u64 {
    // The rotation keeps two words that are hashes themselves from cancelling out.
    words.fold(0, |digest: u64, word| {
        Random::new(digest.rotate_left(17) ^ word).next_u64()
    })
}

/// A count and checksum of received messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Taken {
    /// Number of messages.
    pub count: u64,
    /// Sum of their digests, modulo 2^64.
    pub sum: u64,
}

impl Taken {
    /// Adds a message.
    #[inline]
    pub fn take(&mut self, words: &[u64]) {
        self.count += 1;
        self.sum = self.sum.wrapping_add(digest(words.iter().copied()));
    }

    /// How the messages of `rank` differ from the expected ones.
    pub(crate) fn fault(&self, expected: &Taken, rank: usize) -> Option<String> {
        if self.count != expected.count {
            let (count, expected) = (self.count, expected.count);
            return Some(format!(
                "core {rank} received {count} messages of {expected}"
            ));
        }
        (self.sum != expected.sum)
            .then(|| format!("core {rank} received other messages than were sent to it"))
    }
}

/// The answer of a rank that only passes messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Handed {
    /// Count and checksum of the messages that it received.
    pub taken: Taken,
    /// Begin and end by its own clock.
    pub span: Span,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(messages: &[(u32, u32)]) -> Taken {
        let mut taken = Taken::default();
        for &(from, number) in messages {
            let mut words = [0; 3];
            fill(&mut words, 9, Rank(from), number);
            taken.take(&words);
        }
        taken
    }

    #[test]
    fn order_does_not_matter_and_all_else_does() {
        let expected = taken(&[(1, 0), (1, 1), (2, 0)]);
        assert_eq!(taken(&[(2, 0), (1, 1), (1, 0)]), expected);
        let lost = taken(&[(1, 0), (2, 0)]).fault(&expected, 3).unwrap();
        assert_eq!(lost, "core 3 received 2 messages of 3");
        assert!(
            taken(&[(1, 0), (1, 0), (2, 0)])
                .fault(&expected, 3)
                .is_some()
        );
        assert!(
            taken(&[(1, 0), (1, 1), (0, 2)])
                .fault(&expected, 3)
                .is_some()
        );
        assert_eq!(expected.fault(&expected, 3), None);
    }

    /// Neighbours' numbers differ in one bit, and a seed may have that bit alone.
    #[test]
    fn digests_of_neighbours_differ() {
        for seed in [0, 1, 2, 1 << 32] {
            let mut digests = std::collections::BTreeSet::new();
            for (from, number) in (0..40).flat_map(|from| (0..40).map(move |number| (from, number)))
            {
                let mut words = [0; 2];
                fill(&mut words, seed, Rank(from), number);
                digests.insert(digest(words.into_iter()));
            }
            assert_eq!(digests.len(), 1600);
        }
    }

    #[test]
    fn a_changed_word_is_seen() {
        for at in 0..3 {
            let mut words = [0; 3];
            fill(&mut words, 9, Rank(4), 5);
            let (mut right, mut wrong) = (Taken::default(), Taken::default());
            right.take(&words);
            words[at] ^= 1 << 17;
            wrong.take(&words);
            assert_ne!(right, wrong);
        }
    }

    #[test]
    fn shares_add_up() {
        for messages in 0..50 {
            for others in 1..20 {
                let shares = (0..others).map(|index| share(messages, others, index));
                assert_eq!(shares.clone().sum::<u32>(), messages);
                assert!(shares.clone().max().unwrap() - shares.min().unwrap() <= 1);
            }
        }
    }
}
