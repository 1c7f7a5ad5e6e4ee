//! Turning platters: the rate of a zone, the time of a seek, and the turn that follows it.
//!
//! ```text
//! outermost track   the fastest: as many more bytes as it is longer        address 0
//! innermost track   `inner` of that rate                                   address `bytes`
//!
//! a request elsewhere    | seek by distance | part of a turn | transfer at the zone's rate |
//! one that goes on       |                                   | transfer                    |
//! ```
//!
//! Tracks are equally far apart and hold bytes in proportion to their radius, so the outer half of a disk
//! holds more than half of its bytes. The time of a seek over a part `f` of the tracks is
//! `least + a sqrt(f) + b f`, with `a` and `b` from the mean over pairs of tracks and the full stroke (Lee
//! and Katz, "An Analytic Performance Model of Disk Arrays", SIGMETRICS 1993). Left out: switches of heads
//! and cylinders, which a sustained rate contains, and a cache of reads.

use node::Random;

/// The times of seeks, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Seek {
    /// To the next track.
    pub least_ns: u64,
    /// The mean over all pairs of tracks.
    pub mean_ns: u64,
    /// From the outermost track to the innermost.
    pub most_ns: u64,
}

impl Seek {
    /// The time of a seek over a part of the tracks.
    fn ns(&self, part: f64) -> f64 {
        if part == 0.0 {
            return 0.0;
        }
        let [least, mean, most] = [self.least_ns, self.mean_ns, self.most_ns].map(|ns| ns as f64);
        // Over pairs of tracks, sqrt(f) has the mean 8/15 and f has 1/3.
        let a = 5.0 * (mean - least) - 5.0 / 3.0 * (most - least);
        let b = most - least - a;
        least + a * part.sqrt() + b * part
    }
}

/// The platters of a disk.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Platter {
    /// Bytes that fit on it.
    pub bytes: u64,
    /// The rate of the innermost track, as a part of that of the outermost.
    pub inner: f64,
    /// Time of a turn in nanoseconds.
    pub turn_ns: u64,
    /// Seeks before a read.
    pub read_seek: Seek,
    /// Seeks before a write, which wait until the head is still.
    pub write_seek: Seek,
}

/// The kind of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Transfer {
    Read,
    Write,
}

/// The head of a disk.
#[derive(Debug)]
pub(super) struct Head {
    /// The address behind the last byte that it passed.
    at: u64,
    turn: Random,
}

impl Head {
    /// A head at the outermost track. The number of its disk draws how far platters must turn.
    pub(super) fn new(disk: u64) -> Head {
        Head {
            at: 0,
            turn: Random::stream(disk, u64::from(u32::MAX)),
        }
    }

    /// Whether it need not move to an address.
    pub(super) fn is_at(&self, address: u64) -> bool {
        self.at == address
    }

    /// Moves to an address over a part of the way; returns the time until its first byte passes, in nanoseconds.
    pub(super) fn reach(
        &mut self,
        platter: &Platter,
        address: u64,
        transfer: Transfer,
        part: f64,
    ) -> f64 {
        if self.is_at(address) {
            return 0.0;
        }
        let tracks = (platter.radius(address) - platter.radius(self.at)).abs();
        let seek = match transfer {
            Transfer::Read => platter.read_seek,
            Transfer::Write => platter.write_seek,
        };
        let turn = self.turn.below(platter.turn_ns.max(1) as usize) as f64;
        seek.ns(part * tracks / (1.0 - platter.inner)) + turn
    }

    /// Passes over bytes from an address on, at this time per KiB on the outermost track; returns the time
    /// in nanoseconds.
    pub(super) fn pass(&mut self, platter: &Platter, (address, bytes): (u64, u64), ns: u64) -> f64 {
        self.at = address + bytes;
        let zone = platter.radius(address + bytes / 2);
        bytes as f64 / 1024.0 * ns as f64 / zone
    }
}

impl Platter {
    /// The radius of an address's track, and so its rate, over that of the outermost.
    fn radius(&self, address: u64) -> f64 {
        let part = address.min(self.bytes) as f64 / self.bytes as f64;
        (1.0 - part * (1.0 - self.inner * self.inner)).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A 500 GB drive of 2.5 inches and 7,200 turns a minute, by its manual.
    const DRIVE: Platter = Platter {
        bytes: 500_000_000_000,
        inner: 0.55,
        turn_ns: 8_333_333,
        read_seek: Seek {
            least_ns: 500_000,
            mean_ns: 8_000_000,
            most_ns: 17_350_000,
        },
        write_seek: Seek {
            least_ns: 700_000,
            mean_ns: 8_400_000,
            most_ns: 17_820_000,
        },
    };

    /// Bytes a microsecond over a part of the disk, of a drive of 92.3 on its outermost track.
    fn rate_over(from: f64, to: f64) -> f64 {
        let mut head = Head::new(0);
        let ns_per_kib = 1024.0 * 1000.0 / 92.3;
        let address = |part: f64| (part * DRIVE.bytes as f64) as u64;
        let steps = 1000;
        let mut ns = 0.0;
        for step in 0..steps {
            let at = |step: i32| from + (to - from) * f64::from(step) / f64::from(steps);
            let bytes = address(at(step + 1)) - address(at(step));
            ns += head.pass(&DRIVE, (address(at(step)), bytes), ns_per_kib as u64);
        }
        (address(to) - address(from)) as f64 / ns * 1000.0
    }

    /// TritonSort (NSDI 2011, 4.3): 84 MB/s on exterior cylinders, 64 on interior ones.
    #[test]
    fn outer_zones_are_faster() {
        let (outer, inner) = (rate_over(0.0, 0.48), rate_over(0.48, 0.96));
        assert!((83.5..84.3).contains(&outer), "{outer}");
        assert!((63.5..64.7).contains(&inner), "{inner}");
    }

    #[test]
    fn seeks_have_the_least_mean_and_most_of_the_manual() {
        let seek = DRIVE.read_seek;
        assert!((seek.ns(1.0) - 17_350_000.0).abs() < 1.0);
        let tracks = 200;
        let pairs = (0..tracks).flat_map(|a| (0..tracks).map(move |b| (a, b)));
        let all =
            pairs.map(|(a, b): (i32, i32)| seek.ns(f64::from((a - b).abs()) / f64::from(tracks)));
        let mean = all.sum::<f64>() / f64::from(tracks * tracks);
        assert!((7_900_000.0..8_050_000.0).contains(&mean), "{mean}");
        assert!(seek.ns(1e-6) < 520_000.0);
    }

    #[test]
    fn a_request_that_goes_on_waits_for_nothing() {
        let mut head = Head::new(3);
        head.pass(&DRIVE, (0, 1 << 20), 11_000);
        assert_eq!(head.reach(&DRIVE, 1 << 20, Transfer::Write, 1.0), 0.0);
        assert!(head.is_at(1 << 20));
        let waits: Vec<f64> = (1..1000)
            .map(|number| {
                let next = if number % 2 == 0 { 0 } else { DRIVE.bytes };
                let waited = head.reach(&DRIVE, next, Transfer::Write, 1.0);
                head.pass(&DRIVE, (next, 0), 11_000);
                waited
            })
            .collect();
        let mean = waits.iter().sum::<f64>() / waits.len() as f64;
        let expected = 17_820_000.0 + 8_333_333.0 / 2.0;
        assert!((mean - expected).abs() < 300_000.0, "{mean}: half a turn");
    }
}
