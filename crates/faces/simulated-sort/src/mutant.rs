//! Mutants: machines that lack what a safeguard of the sort relies on. Trials must notice each.
//!
//! ```text
//! fsync        a disk reports a sync that it has not done: a sort that does not sync
//! credits      a network returns buffers before the receiver has room: a sort without credits
//! credit       a network loses some buffers: a sort that loses credits
//! heartbeat    a network drops heartbeats: a sort without them
//! watch        a network carries heartbeats over cut links: a sort that does not detect failures
//! ```
//!
//! The sort itself is unchanged: a wrapper around the machine takes the safeguard away.

use disk::Durability;
use machine::{Back, Driver, Passage};
use node::{Address, Message};
use sort::protocol::{HEARTBEATS, HERE};

/// A machine that lacks a safeguard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutant {
    /// The sync of a file does nothing.
    Sync,
    /// Senders need no credits.
    Credits,
    /// Some credits are lost.
    LostCredit,
    /// The network loses heartbeats.
    Heartbeat,
    /// Heartbeats pass cut links.
    Watch,
}

/// One shipment in this many is lost: few enough that the sort reaches the exchange.
const LOST: u64 = 5;

impl Mutant {
    /// All mutants, for tests that try each.
    pub const ALL: [Mutant; 5] = [
        Mutant::Sync,
        Mutant::Credits,
        Mutant::LostCredit,
        Mutant::Heartbeat,
        Mutant::Watch,
    ];

    pub(crate) fn break_it(self, driver: &Driver, nodes: u32) {
        match self {
            Mutant::Sync => {
                (0..nodes).for_each(|rank| driver.disks(rank).set_durability(Durability::Never));
            }
            Mutant::Credits => driver.give_back(Back::AtOnce),
            Mutant::LostCredit => driver.give_back(Back::NeverEach(LOST)),
            Mutant::Heartbeat => driver.carry(|to, message| here(to, message, Passage::Lost)),
            Mutant::Watch => driver.carry(|to, message| here(to, message, Passage::Through)),
        }
    }
}

/// The passage of a heartbeat; other messages pass as usual.
fn here(to: Address, message: &Message, passage: Passage) -> Passage {
    let is_here = to.port == HEARTBEATS && message.words.first() == Some(&HERE);
    if is_here { passage } else { Passage::Usual }
}
