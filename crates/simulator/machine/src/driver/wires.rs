//! The time of bytes on the links of nodes.
//!
//! ```text
//! a to b   | sends a1 | sends a2 |                 a node sends one letter after the other,
//! c to b   | sends c1 |                            and receives likewise:
//! b        | a1       | c1       | a2 |            c1 waits for a1
//! ```

use std::collections::BTreeMap;

use node::Time;

/// The links of all nodes; they take no time until they are limited.
#[derive(Default)]
pub(super) struct Wires {
    /// Picoseconds per KiB of a node's link.
    ps_per_kib: Option<u64>,
    /// When the link of a node has sent, and received, all that was handed to it.
    sends_until: BTreeMap<u32, Time>,
    receives_until: BTreeMap<u32, Time>,
}

impl Wires {
    pub(super) fn limit(&mut self, ps_per_kib: u64) {
        self.ps_per_kib = Some(ps_per_kib);
    }

    /// Forgets what is on its way, for another run.
    pub(super) fn begin(&mut self) {
        self.sends_until.clear();
        self.receives_until.clear();
    }

    /// The time at which the last byte arrives. It leaves when the link of its sender has sent what was
    /// handed to it before, and arrives as it leaves, unless the link of the receiver has others to take.
    pub(super) fn transfer(&mut self, (from, to): (u32, u32), now: Time, bytes: u64) -> Time {
        let Some(ps_per_kib) = self.ps_per_kib else {
            return now;
        };
        let ps = u128::from(bytes) * u128::from(ps_per_kib) / 1024;
        let ticks = u64::try_from(ps / 1000).unwrap_or(u64::MAX);
        let sends = self.sends_until.entry(from).or_insert(Time(0));
        let begin = now.max(*sends);
        *sends = begin.after(ticks);
        let receives = self.receives_until.entry(to).or_insert(Time(0));
        *receives = begin.max(*receives).after(ticks);
        *receives
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_wait_for_those_before_at_both_ends() {
        let mut wires = Wires::default();
        assert_eq!(
            wires.transfer((0, 1), Time(7), 1 << 20),
            Time(7),
            "no limit"
        );
        wires.limit(1_024_000);
        let mut arrive = |route, bytes| wires.transfer(route, Time(0), bytes).0;
        assert_eq!(arrive((0, 1), 100), 100);
        assert_eq!(arrive((0, 2), 50), 150, "behind the first at its sender");
        assert_eq!(arrive((3, 1), 100), 200, "behind the first at its receiver");
        assert_eq!(arrive((4, 5), 30), 30, "on links of its own");
        wires.begin();
        assert_eq!(wires.transfer((0, 1), Time(5), 10), Time(15));
    }
}
