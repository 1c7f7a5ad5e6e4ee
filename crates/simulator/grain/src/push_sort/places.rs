//! The places of keys, told to the cores that hold their records.
//!
//! ```text
//!   core of a band --ranks in the group of all its keys--> the cores that sent it keys
//!   each: finds its own, and pushes those records to their places
//! ```
//!
//! One multicast tells all of them, and cores that sent no key hear it, too. A message to each sender
//! would wait for a transmit buffer of the NIC.

use std::ops::Range;

use node::{Message, Node, Rank};

use super::division::Division;
use super::finish::Finish;
use super::item::MOST_WORDS;
use super::parts::Parts;
use super::sorter::{Record, Sorter, step};
use crate::work;

impl Sorter {
    /// Tells the ranks of all keys of this core.
    pub async fn place_keys(&mut self, node: &Node, finish: &mut Finish) {
        let shape = self.shape;
        let before = finish.counts.before;
        let all = finish.counts.all as u32;
        finish.expected = Some(self.places(all).size(shape.index).into());
        let in_band: Vec<u64> = finish.ranking.ranks().collect();
        let senders = std::mem::take(&mut finish.senders);
        let ranks_of = |sender: Rank| {
            let list = senders.iter().find(|(from, _)| *from == sender);
            let (_, places) = list.expect("a list, perhaps empty, came from each sender");
            places.iter().map(|place| before + in_band[*place])
        };
        if shape.bands.parts == 1 {
            let ranks: Vec<_> = ranks_of(node.rank()).collect();
            work::account(node, 2 * ranks.len());
            finish.untold = 0;
            self.push_places(node, finish, 0, (all, &ranks)).await;
            return;
        }
        for (bands, to) in shape.senders() {
            let parts = Parts::new(bands.end - bands.start, all.into());
            let of_parts = (0..).zip(to.members());
            let ranks: Vec<(u32, u64)> = of_parts
                .flat_map(|(part, sender)| ranks_of(sender).map(move |rank| (part, rank)))
                .collect();
            // For each key the sum of its two ranks.
            work::account(node, 2 * ranks.len() + parts.units(ranks.len()));
            if parts.fit(ranks.len()) {
                let mut words = vec![all.into()];
                words.extend(parts.pack(&ranks));
                self.multicast(node, to, step::PLACES, &words).await;
                continue;
            }
            for sender in to.members() {
                let ranks: Vec<_> = ranks_of(sender).collect();
                for offset in (0..ranks.len().max(1)).step_by(MOST_WORDS) {
                    let end = ranks.len().min(offset + MOST_WORDS);
                    let mut words = vec![u64::from(all) | (offset as u64) << 32];
                    words.extend(&ranks[offset..end]);
                    self.send(node, sender, step::PLACES_OF_LIST, &words).await;
                }
            }
        }
    }

    /// The keys of the group, divided among its cores.
    fn places(&self, all: u32) -> Division {
        Division {
            first: 0,
            cores: all,
            parts: self.shape.rows.cores,
        }
    }

    /// Takes the ranks of the keys that this core and others sent.
    pub async fn take_places(&mut self, node: &Node, finish: &mut Finish, message: &Message) {
        let (all, words) = (message.words[0] as u32, &message.words[1..]);
        let alike = self.shape.bands_alike();
        let parts = Parts::new(alike.end - alike.start, all.into());
        let ranks = parts.of_part(words, self.shape.band - alike.start);
        work::account(node, 1);
        finish.untold -= 1;
        let first = self.keys_for(finish, message.from).start;
        self.push_places(node, finish, first, (all, &ranks)).await;
    }

    /// Takes the ranks of keys that only this core sent, and of which there are many.
    pub async fn take_places_of_list(
        &mut self,
        node: &Node,
        finish: &mut Finish,
        message: &Message,
    ) {
        let (all, offset) = (message.words[0] as u32, message.words[0] >> 32);
        let (ranks, keys) = (&message.words[1..], self.keys_for(finish, message.from));
        // Messages may overtake each other. The last one of a list counts for the band.
        finish.untold -= u32::from(offset as usize + ranks.len() == keys.len());
        let first = keys.start + offset as usize;
        self.push_places(node, finish, first, (all, ranks)).await;
    }

    /// The records whose keys went to a core.
    fn keys_for(&self, finish: &Finish, to: Rank) -> Range<usize> {
        finish.ranges[self.shape.bands.place(to).0 as usize].clone()
    }

    /// Pushes the records from a first one on to the cores of their ranks, among the keys of the group.
    async fn push_places(
        &mut self,
        node: &Node,
        finish: &mut Finish,
        first: usize,
        (all, ranks): (u32, &[u64]),
    ) {
        let places = self.places(all);
        for (record, rank) in finish.records[first..].iter().zip(ranks) {
            let (core, place) = places.place(Rank(*rank as u32));
            let record = Record { place, ..*record };
            let to = Rank(self.shape.rows.first + core);
            // The record, and the step to its core.
            work::account(node, 2);
            self.push(node, to, step::TO_CORE, &record).await;
        }
        finish.unplaced -= ranks.len();
    }
}
