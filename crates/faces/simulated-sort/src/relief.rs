//! Sorts on machines with twice as much of something: what would relieve the bottleneck.

use machine::{DiskGroup, Holds};

use crate::prediction::Wish;

impl Wish {
    /// This sort on machines with twice as much of something, by its name.
    pub fn relieved(&self) -> Vec<(&'static str, Wish)> {
        let of = |change: &dyn Fn(&mut Wish)| {
            let mut wish = self.clone();
            change(&mut wish);
            wish
        };
        let holds = |holds: Holds| self.server.disks.iter().any(|disks| disks.holds == holds);
        let twice_as_fast = |holds: Holds| {
            of(&|wish| {
                let disks = wish.server.disks.iter_mut();
                disks
                    .filter(|disks| disks.holds == holds)
                    .for_each(DiskGroup::double);
            })
        };
        let mut all = Vec::new();
        for (name, kind) in [
            ("rate of the disks", Holds::Both),
            ("rate of the disks for files", Holds::Files),
            ("rate of the disks for temporary files", Holds::Temporary),
        ] {
            if holds(kind) {
                all.push((name, twice_as_fast(kind)));
            }
        }
        all.push(("cores", of(&|wish| wish.server.node.cores *= 2)));
        let memory = self.memory_of_a_node().saturating_mul(2);
        all.push(("memory", of(&|wish| wish.memory_bytes = Some(memory))));
        if self.server.nodes > 1 {
            all.push((
                "rate of the links",
                of(&|wish| {
                    if let Some(network) = &mut wish.server.network {
                        network.link_mb_s *= 2.0;
                    }
                }),
            ));
        }
        all
    }
}
