//! A machine small enough for tests: every limit is near.

use node::Costs;

use crate::{CoreModel, NetworkModel, NicModel, Profile};

impl Profile {
    /// Four NICs a leaf, two ranks a NIC, ticks of a nanosecond.
    pub(crate) fn tiny() -> Profile {
        Profile {
            name: "tiny".to_owned(),
            description: "a machine for tests".to_owned(),
            tick_fs: 1_000_000,
            core: CoreModel {
                per_rank: 1,
                ranks_per_nic: 2,
                costs: Costs::default(),
                notice: 5,
                receive: 7,
                receive_word: 1,
                receive_done: 11,
                send: 5,
                send_word: 1,
                forward: 3,
                transmit_words: 300,
            },
            nic: NicModel {
                receive: 14,
                transmit: 6,
                turn: 1,
                transmit_buffers: 4,
                large_transmit_buffers: 2,
                receive_buffers: 4,
                entry_bytes: 64,
                queue_entries: 33,
                all_entries: 66,
                header_bytes: 64,
                control_bytes: 72,
                segment_bytes: 1024,
                timeout: 20_000,
                mac_ps: 52_000,
            },
            network: NetworkModel {
                layers: 2,
                down: 4,
                up: 4,
                top: 16,
                flit_bytes: 8,
                link: 50,
                switch: 100,
                queue_bytes: None,
            },
            hash: 0,
        }
    }
}
