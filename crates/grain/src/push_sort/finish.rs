//! From the bands to the cores.
//!
//! ```text
//!   core of a band --merged keys--> half of the band: merges them with its own --ranks--> back
//!   column 0 of a band --number of its keys--> the group
//!   core of a band --places of the keys it was sent--> core of the group --record, place--> its core
//! ```
//!
//! The ranks of a key in its band and of its band in the group tell its core, and its place there: so
//! cores get equally many records, and nothing is sorted at the end.

use std::ops::Range;

use node::{Message, Node, Rank, Time};

use super::bands::merged;
use super::division::Division;
use super::ranking::Ranking;
use super::sorter::{Record, Sorter, step};
use crate::program::Span;
use crate::records::{Part, sum_of, value_of};
use crate::work;

/// Most places in a message, which fit in a segment.
const MOST_PLACES: usize = 120;

/// The share of one core in placing the records of its group.
struct Finish {
    /// The ranks of the keys that came to this core.
    ranking: Ranking,
    /// The cores that sent them.
    senders: Vec<Rank>,
    /// The sender of each, as an index.
    sources: Vec<usize>,
    counts: BandCounts,
    /// The records that wait here, and those of each band among them.
    records: Vec<Record>,
    ranges: Vec<Range<usize>>,
    /// Records that wait here without a place.
    unplaced: usize,
    /// Records of this core in the end, when that is known.
    expected: Option<u64>,
    received: u64,
    part: Part,
}

/// The keys of each band of a group.
struct BandCounts {
    /// By band, as far as known.
    of_bands: Vec<u64>,
    missing: usize,
    /// If this is the first core of its band: the band's keys, as far as cores have told.
    own_band: u64,
    /// Cores of the band that have not told it.
    uncounted: u32,
}

impl Sorter {
    /// Sends the records to their cores, and receives those of this core.
    pub async fn push_to_cores(
        mut self,
        node: &Node,
        begin: Time,
        ranges: Vec<Range<usize>>,
    ) -> Part {
        let mut finish = self.begin_finish(node, ranges).await;
        loop {
            if finish.expected.is_none() && finish.is_ranked() {
                self.place_keys(node, &mut finish).await;
            }
            if finish.unplaced == 0 && finish.expected == Some(finish.received) {
                break;
            }
            let wanted = |of| (step::KEYS_OF_CORE..=step::TO_CORE).contains(&of);
            let (of, message) = self.next_of(node, wanted).await;
            match of {
                step::KEYS_OF_CORE => self.keys_of_core(node, &mut finish.counts, &message).await,
                step::KEYS_OF_BAND => {
                    let band = self.shape.bands.place(message.from).0;
                    finish.counts.of_bands[band as usize] = message.words[0];
                    finish.counts.missing -= 1;
                }
                step::CORE_LIST => {
                    let ranks = finish.ranking.merge(node, &message);
                    self.send(node, message.from, step::RANKS, &ranks).await;
                }
                step::RANKS => finish.ranking.told(node, &message),
                step::PLACES => {
                    let band = self.shape.bands.place(message.from).0;
                    let first = finish.ranges[band as usize].start + message.words[0] as usize;
                    self.push_places(node, &mut finish, first, &message.words[1..])
                        .await;
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
    async fn begin_finish(&mut self, node: &Node, ranges: Vec<Range<usize>>) -> Finish {
        let shape = self.shape;
        let given = self.keys(node, &ranges).await;
        let keys = given.iter().map(|list| list.items.len() as u64).sum();
        let counter = shape.bands.core(shape.band, 0);
        self.send(node, counter, step::KEYS_OF_CORE, &[keys]).await;
        let (items, sources) = merged(node, &given);
        node.stage("cores");
        let cores = shape.bands.size(shape.band);
        let ranking = Ranking::new(items, counter, shape.place, cores);
        for to in ranking.mergers(shape.place) {
            self.multicast_list(node, to, step::CORE_LIST, &ranking.items)
                .await;
        }
        let records = std::mem::take(&mut self.held);
        let bands = shape.bands.parts as usize;
        Finish {
            ranking,
            senders: given.iter().map(|list| list.from).collect(),
            sources,
            counts: BandCounts {
                of_bands: vec![0; bands],
                missing: bands,
                own_band: 0,
                uncounted: cores,
            },
            unplaced: records.len(),
            records,
            ranges,
            expected: None,
            received: 0,
            part: Part::default(),
        }
    }

    /// The first core of a band adds, and tells the group.
    async fn keys_of_core(&mut self, node: &Node, counts: &mut BandCounts, message: &Message) {
        work::account(node, 1);
        counts.own_band += message.words[0];
        counts.uncounted -= 1;
        if counts.uncounted == 0 {
            let group = self.shape.rows.all();
            self.multicast(node, group, step::KEYS_OF_BAND, &[counts.own_band])
                .await;
        }
    }

    /// Tells the places of all keys of this core to the cores that hold their records.
    async fn place_keys(&mut self, node: &Node, finish: &mut Finish) {
        let shape = self.shape;
        let of_bands = &finish.counts.of_bands;
        let before: u64 = of_bands[..shape.band as usize].iter().sum();
        let keys = Division {
            first: 0,
            cores: of_bands.iter().sum::<u64>() as u32,
            parts: shape.rows.cores,
        };
        finish.expected = Some(keys.size(shape.index).into());
        let mut places = vec![Vec::new(); finish.senders.len()];
        for (source, rank) in finish.sources.iter().zip(finish.ranking.ranks()) {
            let (core, place) = keys.place(Rank((before + rank) as u32));
            places[*source].push(u64::from(core) << 32 | u64::from(place));
        }
        // The sums, and for each key, in their order, its two ranks, the step to its core, and its
        // place in the message to its holder.
        work::account(node, of_bands.len() + 4 * finish.sources.len());
        let senders = std::mem::take(&mut finish.senders);
        for (sender, places) in senders.into_iter().zip(&places) {
            if sender == node.rank() {
                let first = finish.ranges[shape.band as usize].start;
                self.push_places(node, finish, first, places).await;
                continue;
            }
            for (part, places) in (0..).zip(places.chunks(MOST_PLACES)) {
                let mut words = vec![part * MOST_PLACES as u64];
                words.extend(places);
                self.send(node, sender, step::PLACES, &words).await;
            }
        }
    }

    /// Pushes the records from a first one on to their places.
    async fn push_places(
        &mut self,
        node: &Node,
        finish: &mut Finish,
        first: usize,
        places: &[u64],
    ) {
        for (record, place) in finish.records[first..].iter().zip(places) {
            let record = Record {
                place: *place as u32,
                ..*record
            };
            let to = Rank(self.shape.rows.first + (place >> 32) as u32);
            self.push(node, to, step::TO_CORE, &record).await;
        }
        work::account(node, places.len());
        finish.unplaced -= places.len();
    }

    fn receive(&mut self, node: &Node, finish: &mut Finish, message: &Message) {
        let record = Record::of(message);
        self.store(node);
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
        self.counts.missing == 0 && self.ranking.is_known()
    }
}
