//! How many keys the bands of a group have: a core's keys are ranked in its band, so it needs to know
//! how many are in the bands before, and in the group.
//!
//! ```text
//!   core of a band --its keys--> first core of the band: adds
//!   that one ------the band's--> the group
//! ```
//!
//! With one group all cores know how many keys that has. Then only this band and those after it are
//! told.

use node::{Group, Message, Node};

use super::sorter::{Sorter, step};
use crate::work;

/// The numbers of keys in bands, as far as this core knows them.
pub struct BandCounts {
    /// Keys of the bands before this core's.
    pub before: u64,
    /// Keys of the group, when no band is missing.
    pub all: u64,
    /// Bands that have not told their keys.
    missing: u32,
    /// If this is the first core of its band: the band's keys, as far as cores have told.
    own_band: u64,
    /// Cores of the band that have not told it.
    uncounted: u32,
}

impl BandCounts {
    pub fn are_known(&self) -> bool {
        self.missing == 0
    }
}

impl Sorter {
    /// Tells the number of this core's keys.
    pub async fn count_band(&mut self, node: &Node, keys: usize) -> BandCounts {
        let shape = self.shape;
        let counter = shape.bands.core(shape.band, 0);
        self.send(node, counter, step::KEYS_OF_CORE, &[keys as u64])
            .await;
        let (all, missing) = if self.knows_all() {
            (self.each * shape.rows.cores, shape.band + 1)
        } else {
            (0, shape.bands.parts)
        };
        BandCounts {
            before: 0,
            all: all.into(),
            missing,
            own_band: 0,
            uncounted: shape.bands.size(shape.band),
        }
    }

    fn knows_all(&self) -> bool {
        self.shape.groups.parts == 1
    }

    /// The first core of a band hears of the keys of another.
    pub async fn keys_of_core(&mut self, node: &Node, counts: &mut BandCounts, message: &Message) {
        work::account(node, 1);
        counts.own_band += message.words[0];
        counts.uncounted -= 1;
        if counts.uncounted == 0 {
            let shape = self.shape;
            let to = if self.knows_all() {
                Group::row(node.rank(), shape.rows.cores - shape.index)
            } else {
                shape.rows.all()
            };
            self.multicast(node, to, step::KEYS_OF_BAND, &[counts.own_band])
                .await;
        }
    }

    /// A core hears of the keys of a band.
    pub fn keys_of_band(&self, node: &Node, counts: &mut BandCounts, message: &Message) {
        // With one group all bands that are heard of are before this one, or it itself.
        work::account(node, if self.knows_all() { 1 } else { 2 });
        if self.shape.bands.place(message.from).0 < self.shape.band {
            counts.before += message.words[0];
        }
        if !self.knows_all() {
            counts.all += message.words[0];
        }
        counts.missing -= 1;
    }
}
