//! A sort of our own on NanoSort's machine: records are pushed to their places, in two trips.
//!
//! ```text
//!   splitters   16 samples of each group --list--> all groups: rank --> splitters to all cores
//!   groups      records --------------------> their group, any core
//!               samples of them first ------> leaders --list--> rankers --> splitters of bands
//!   bands       keys alone -----------------> their band, merged there
//!   cores       merged keys --list----------> half of the band: ranks --> places of the records
//!               records --------------------> their place
//! ```
//!
//! It is faster than NanoSort for these reasons:
//!
//! * No shuffle. The samples of a group come from all of it, so records need not be mixed first.
//! * Splitters of all groups at once. Each core ranks one sample in 16 lists, by binary search, and
//!   16 ranks are added: so all samples of all groups are ranked exactly without a sort of more
//!   than 16 keys anywhere.
//! * No core waits for an empty message to know that it has all its records. Counts travel behind
//!   the records, summed by row, and tell each core how many to expect ([`counting`]). At the end
//!   the ranks tell it.
//! * Keys run ahead of their records. Each key of a group is ranked exactly while the records wait,
//!   two lists merged by one of their two cores ([`ranking`]). So the cores of a group end with
//!   equally many records, and each record arrives at its place in the order.
//! * One multicast tells counts or ranks to all that need some of them, and each picks its own
//!   ([`parts`]). Messages to one core after the other would wait for transmit buffers.
//! * Values are pushed with their keys. No core asks for one.
//! * All traffic but samples, splitters, counts and one trip of each record stays in a group.
//!
//! A core takes messages as they come, whatever their step: a later step's message waits in the
//! reorder buffer at its price. Equal keys are told apart by the numbers of their records
//! ([`item`]). `docs/papers/faster.md` has the measurements.

mod band_counts;
mod band_splitters;
mod bands;
mod counting;
mod division;
mod finish;
mod gather;
mod item;
mod lanes;
mod options;
mod parts;
mod places;
mod program;
mod ranking;
mod sampling;
mod search;
mod shape;
mod sorter;

pub use self::options::PushSort;

use node::Node;

use self::sorter::Sorter;
use crate::records::Part;

impl PushSort {
    /// Sorts this core's records together with those of all cores, which hold equally many.
    pub async fn sort(self, node: Node, keys: Vec<u64>) -> Part {
        let begin = node.now();
        if keys.is_empty() {
            return Part::default();
        }
        let mut sorter = Sorter::new(&self, &node, &keys);
        let has_groups = sorter.shape.groups.parts > 1;
        if has_groups {
            node.stage("splitters");
            let splitters = sorter.group_splitters(&node).await;
            node.stage("groups");
            sorter.push_to_groups(&node, &splitters).await;
        } else {
            node.stage("groups");
        }
        let splitters = sorter.gather(&node, has_groups).await;
        node.stage("bands");
        let cuts = sorter.cut(&node, &splitters);
        sorter.push_to_cores(&node, begin, cuts).await
    }
}
