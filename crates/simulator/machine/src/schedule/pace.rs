//! The rate of a link.

use super::Ticks;

/// Ticks per flit, in parts of 2^16.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pace(u32);

const BITS: u32 = 16;

impl Pace {
    /// A flit per tick: the rate of links that give none.
    pub const TICK: Pace = Pace(1 << BITS);

    /// The pace of a link of `gbit_s` thousandths of a Gb/s, where a flit has `flit_bytes` and a tick
    /// `tick_fs`. Reading a file has limited them.
    pub fn of(gbit_s: u64, flit_bytes: u32, tick_fs: u64) -> Pace {
        // Bits per Gb/s are nanoseconds, which are 10^6 femtoseconds.
        let femtoseconds = u128::from(flit_bytes) * 8 * 1_000 * 1_000_000;
        let part = (femtoseconds << BITS) / (u128::from(gbit_s) * u128::from(tick_fs));
        Pace(u32::try_from(part).unwrap_or(u32::MAX).max(1))
    }

    /// The time of some flits on the link, in whole ticks.
    #[inline]
    pub fn ticks(self, flits: u64) -> Ticks {
        if self == Pace::TICK {
            return Ticks(flits);
        }
        let parts = u128::from(flits) * u128::from(self.0);
        Ticks(parts.div_ceil(1 << BITS) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_rounded_up() {
        assert_eq!(Pace::TICK.ticks(17), Ticks(17));
        // A flit of 8 bytes per tick of 312.5 ps is 204.8 Gb/s.
        let of = |gbit_s| Pace::of(gbit_s, 8, 312_500);
        assert_eq!(of(204_800), Pace::TICK);
        assert_eq!(of(102_400).ticks(10), Ticks(20));
        assert_eq!(of(409_600).ticks(11), Ticks(6));
        assert_eq!(of(100_000).ticks(1000), Ticks(2048));
        assert_eq!(of(1).ticks(1), Ticks(65_536));
    }
}
