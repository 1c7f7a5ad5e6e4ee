//! A small machine for tests, whose limits are near.

use node::Costs;

use crate::profile::Nanoseconds;
use crate::schedule::Ticks;
use crate::{CoreModel, NetworkModel, NicModel, Profile};

impl Profile {
    /// A nanoPU with four NICs per leaf, two ranks per NIC, and ticks of a nanosecond.
    pub(crate) fn tiny() -> Profile {
        let nanopu = Profile::named("nanopu").expect("it is built in");
        Profile {
            tick_fs: 1_000_000,
            core: CoreModel {
                ranks_per_nic: 2,
                transmit_words: 300,
                ..nanopu.core
            },
            work: Costs::default(),
            nic: NicModel {
                transmit_buffers: 4,
                large_transmit_buffers: 2,
                receive_buffers: 4,
                queue_entries: 33,
                all_entries: 66,
                timeout_cycles: Ticks(20_000),
                ..nanopu.nic
            },
            network: NetworkModel {
                down_links: 4,
                up_links: 4,
                top_links: 16,
                link_ns: Nanoseconds::of(50.0),
                switch_ns: Nanoseconds::of(100.0),
                queue_bytes: None,
                ..nanopu.network
            },
            ..nanopu
        }
    }
}
