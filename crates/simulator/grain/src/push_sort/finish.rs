//! From the bands to the cores.
//!
//! ```text
//!   core of a band --merged keys--> half of the band: merges them with its own --ranks--> back
//!   core of a band --ranks of the keys it was sent--> core of the group --record, place--> its core
//! ```
//!
//! The ranks of a key in its band and of its band in the group tell its core, and its place there: so
//! cores get equally many records, and nothing is sorted at the end.

use std::ops::Range;

use node::{Message, Node, Rank, Time};

use super::band_counts::BandCounts;
use super::bands::{Cut, merged};
use super::ranking::Ranking;
use super::sorter::{Record, Sorter, step};
use crate::program::Span;
use crate::records::{Part, store_value, sum_of, value_of};

/// The share of one core in placing the records of its group.
pub struct Finish {
    /// The ranks of the keys that came to this core.
    pub ranking: Ranking,
    /// The cores that sent them, and the places of their keys among them.
    pub senders: Vec<(Rank, Vec<usize>)>,
    pub counts: BandCounts,
    /// The records that wait here, and those of each band among them.
    pub records: Vec<Record>,
    pub ranges: Vec<Range<usize>>,
    /// Records that wait here without a place.
    pub unplaced: usize,
    /// Bands that have not told the ranks of the keys they were sent. A band that was sent none tells,
    /// too.
    pub untold: u32,
    /// Records of this core in the end, when that is known.
    pub expected: Option<u64>,
    pub received: u64,
    pub part: Part,
}

impl Sorter {
    /// Sends the records to their cores, and receives those of this core.
    pub async fn push_to_cores(mut self, node: &Node, begin: Time, cuts: Vec<Cut>) -> Part {
        let mut finish = self.begin_finish(node, cuts).await;
        loop {
            if finish.expected.is_none() && finish.is_ranked() {
                self.place_keys(node, &mut finish).await;
            }
            let has_told = finish.unplaced == 0 && finish.untold == 0;
            if has_told && finish.expected == Some(finish.received) {
                break;
            }
            let wanted = |of| (step::KEYS_OF_CORE..=step::TO_CORE).contains(&of);
            let (of, message) = self.next_of(node, wanted).await;
            match of {
                step::KEYS_OF_CORE => self.keys_of_core(node, &mut finish.counts, &message).await,
                step::KEYS_OF_BAND => self.keys_of_band(node, &mut finish.counts, &message),
                step::CORE_LIST => {
                    let ranks = finish.ranking.merge(node, &message);
                    self.send(node, message.from, step::RANKS, &ranks).await;
                }
                step::RANKS => finish.ranking.told(node, &message),
                step::PLACES => self.take_places(node, &mut finish, &message).await,
                step::PLACES_OF_LIST => {
                    self.take_places_of_list(node, &mut finish, &message).await;
                }
                _ => self.receive(node, &mut finish, &message),
            }
        }
        Part {
            by_keys: self.sent,
            span: Span::since(begin, node),
            ..finish.part
        }
    }

    /// Collects the keys of this core, and tells the band.
    async fn begin_finish(&mut self, node: &Node, cuts: Vec<Cut>) -> Finish {
        let shape = self.shape;
        let given = self.keys(node, &cuts).await;
        let count = given.iter().map(|list| list.items.len()).sum();
        let counts = self.count_band(node, count).await;
        let (keys, places) = merged(node, &given);
        node.stage("cores");
        let cores = shape.bands.size(shape.band);
        let ranking = Ranking::new(keys, shape.bands.core(shape.band, 0), shape.place, cores);
        for to in ranking.mergers(shape.place) {
            self.multicast_keys(node, to, step::CORE_LIST, &ranking.keys)
                .await;
        }
        let records = std::mem::take(&mut self.held);
        Finish {
            ranking,
            senders: given.iter().map(|list| list.from).zip(places).collect(),
            counts,
            unplaced: records.len(),
            untold: shape.bands.parts,
            records,
            ranges: cuts.into_iter().map(|cut| cut.keys).collect(),
            expected: None,
            received: 0,
            part: Part::default(),
        }
    }

    fn receive(&mut self, node: &Node, finish: &mut Finish, message: &Message) {
        let record = Record::of(message);
        store_value(node);
        let part = &mut finish.part;
        let value = value_of(record.item.key, self.origin(record.item));
        part.wrong += u32::from(record.value != value);
        part.values = part.values.wrapping_add(sum_of(&record.value));
        // A record may come before this core knows how many it gets.
        let place = record.place as usize;
        part.keys.resize(part.keys.len().max(place + 1), 0);
        part.keys[place] = record.item.key;
        finish.received += 1;
    }
}

impl Finish {
    /// Whether the ranks of this core's keys in the group are known.
    fn is_ranked(&self) -> bool {
        self.counts.are_known() && self.ranking.is_known()
    }
}
