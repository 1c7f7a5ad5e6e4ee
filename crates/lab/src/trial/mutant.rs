//! Machines that are broken where the sort relies on them: each is what the sort would be without
//! one of its safeguards, and trials must find it out.
//!
//! ```text
//! fsync        a disk says it has synced, and has not: as if nobody had asked
//! credits      a network gives buffers back before the receiver had room: as if nobody waited for credits
//! credit       a network loses some buffers: as if their credits were never given back
//! heartbeat    a network loses the words "I am here": as if nobody said them
//! watch        a network carries these words over cut links: as if nobody looked for those who are silent
//! ```
//!
//! The sort stays as it is: that a wrapper around the machine can take a safeguard away is what
//! makes it one.

use machine::{Back, Driver, Durability, Passage};
use node::{Address, Message};
use sort::protocol::{HERE, WATCH};

/// What is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutant {
    /// The sync of a file does nothing.
    Sync,
    /// Nobody waits for credits.
    Credits,
    /// Some credits do not come back.
    LostCredit,
    /// Nobody says that it is alive.
    Heartbeat,
    /// Nobody looks for those who are silent.
    Watch,
}

/// One shipment in so many is never given back: few, so that the sort gets to the exchange, and
/// some there.
const LOST: u64 = 5;

impl Mutant {
    /// All of them.
    pub const ALL: [Mutant; 5] = [
        Mutant::Sync,
        Mutant::Credits,
        Mutant::LostCredit,
        Mutant::Heartbeat,
        Mutant::Watch,
    ];

    /// Breaks the machine.
    pub(super) fn break_it(self, driver: &Driver, nodes: u32) {
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

/// How the words "I am here" go; others as usual.
fn here(to: Address, message: &Message, passage: Passage) -> Passage {
    let is_here = to.port == WATCH && message.words.first() == Some(&HERE);
    if is_here { passage } else { Passage::Usual }
}
