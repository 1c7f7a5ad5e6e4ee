//! How long a chain must be to be written before memory is full.
//!
//! A fixed minimum fails where disks are fast: there is always a write token, so every write is as
//! small as it may be (TritonSort 5.3). So the minimum follows how often there was one: when disks
//! are idle, larger writes cost nothing; when they are busy, chains grow by themselves.

/// Requests for a token between two changes.
const ASKED: u32 = 16;

/// More of them granted than this: disks wait for us.
const IDLE: u32 = 14;

/// Fewer granted than this: we wait for disks.
const BUSY: u32 = 8;

/// The least chunks of a write that is not forced.
#[derive(Debug)]
pub(crate) struct WriteSize {
    least: usize,
    first: usize,
    most: usize,
    asked: u32,
    granted: u32,
    /// After a step back it does not grow for so many looks, each time for twice as many: where it
    /// is between two sizes, it does not swing for ever.
    rest: u32,
    resting: u32,
}

impl WriteSize {
    /// From `first` chunks up to `most`.
    pub(crate) fn new(first: usize, most: usize) -> WriteSize {
        let first = first.clamp(1, most.max(1));
        WriteSize {
            least: first,
            first,
            most,
            asked: 0,
            granted: 0,
            rest: 1,
            resting: 0,
        }
    }

    pub(crate) fn least(&self) -> usize {
        self.least
    }

    /// A token was asked for. What the least was, and why it is another now.
    pub(crate) fn asked(&mut self, granted: bool) -> Option<(usize, &'static str)> {
        self.asked += 1;
        self.granted += u32::from(granted);
        if self.asked < ASKED {
            return None;
        }
        let (before, granted) = (self.least, self.granted);
        (self.asked, self.granted) = (0, 0);
        if granted > IDLE && self.resting > 0 {
            self.resting -= 1;
            return None;
        }
        let (least, why) = match granted {
            granted if granted > IDLE => ((2 * before).min(self.most), "disks wait"),
            granted if granted < BUSY => ((before / 2).max(self.first), "disks are busy"),
            _ => return None,
        };
        if least < before {
            self.rest = self.rest.saturating_mul(2);
            self.resting = self.rest;
        }
        self.least = least;
        (least != before).then_some((before, why))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_grow_while_disks_are_idle_and_shrink_when_they_are_busy() {
        let mut size = WriteSize::new(4, 50);
        let mut after = |granted: bool| {
            let moved = (0..ASKED).filter_map(|_| size.asked(granted)).count();
            assert!(moved <= 1);
            size.least()
        };
        assert_eq!(
            [true, true, true, true, true].map(&mut after),
            [8, 16, 32, 50, 50]
        );
        assert_eq!([false, false, false, false].map(&mut after), [25, 12, 6, 4]);
    }

    #[test]
    fn it_does_not_swing_for_ever() {
        let mut size = WriteSize::new(4, 50);
        let mut moves = 0;
        for _ in 0..10_000 {
            let granted = size.least() < 16;
            moves += (0..ASKED).filter_map(|_| size.asked(granted)).count();
        }
        assert!((5..40).contains(&moves), "{moves} moves");
    }

    #[test]
    fn a_write_has_at_least_one_chunk() {
        assert_eq!(WriteSize::new(0, 0).least(), 1);
        assert_eq!(WriteSize::new(9, 3).least(), 3);
    }
}
