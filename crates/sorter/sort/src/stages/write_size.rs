//! The least length of a chain that is written before memory is full.
//!
//! A fixed minimum fails where disks are fast: a write token is always there, so every write is as
//! small as allowed (TritonSort 5.3). So the minimum follows how often a token is there at once.
//! When disks are idle, larger writes cost nothing; when they are busy, chains grow by themselves.

/// Requests for a token between two changes.
const ASKED: u32 = 16;

/// Above this number of granted tokens, disks are idle.
const IDLE: u32 = 14;

/// Below this number of granted tokens, disks are busy.
const BUSY: u32 = 8;

/// Adapts the least number of chunks of a write that is not forced.
#[derive(Debug)]
pub(crate) struct WriteSize {
    least: usize,
    first: usize,
    most: usize,
    asked: u32,
    granted: u32,
    /// Periods without growth after a step back. They double with each step back, so the size does
    /// not oscillate for ever between two values.
    rest: u32,
    resting: u32,
}

impl WriteSize {
    /// Begins with `first` chunks and grows up to `most`.
    pub(crate) fn new(first: usize, most: usize) -> WriteSize {
        let most = most.max(1);
        let first = first.clamp(1, most);
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

    /// Notes a request for a token.
    pub(crate) fn asked(&mut self, granted: bool) {
        self.asked += 1;
        self.granted += u32::from(granted);
        if self.asked < ASKED {
            return;
        }
        let (before, granted) = (self.least, self.granted);
        (self.asked, self.granted) = (0, 0);
        if granted > IDLE && self.resting > 0 {
            self.resting -= 1;
            return;
        }
        let least = match granted {
            granted if granted > IDLE => (2 * before).min(self.most),
            granted if granted < BUSY => (before / 2).max(self.first),
            _ => return,
        };
        if least < before {
            self.rest = self.rest.saturating_mul(2);
            self.resting = self.rest;
        }
        self.least = least;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_grow_while_disks_are_idle_and_shrink_when_they_are_busy() {
        let mut size = WriteSize::new(4, 50);
        let mut after = |granted: bool| {
            (0..ASKED).for_each(|_| size.asked(granted));
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
            let before = size.least();
            (0..ASKED).for_each(|_| size.asked(before < 16));
            moves += usize::from(size.least() != before);
        }
        assert!((5..40).contains(&moves), "{moves} moves");
    }

    #[test]
    fn a_write_has_at_least_one_chunk() {
        let mut size = WriteSize::new(0, 0);
        (0..ASKED).for_each(|_| size.asked(true));
        assert_eq!(size.least(), 1);
        assert_eq!(WriteSize::new(9, 3).least(), 3);
    }
}
