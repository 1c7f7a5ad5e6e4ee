//! Dials: numbers that somebody turns while others run by them.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A number that workers look at each time they need it, so that it can be turned while they run:
/// requests in flight, bytes of a unit. Clones share it.
///
/// It stays within its range for ever. Whoever makes room for its most (buffers, queues) never
/// needs more, however it is turned; whoever needs at least its least always gets that.
#[derive(Clone, Debug)]
pub struct Dial {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    value: AtomicUsize,
    range: RangeInclusive<usize>,
}

impl Dial {
    /// A dial that can be turned within `range`, and begins at what of it is nearest to `start`.
    ///
    /// # Panics
    /// When the range is empty.
    pub fn new(range: RangeInclusive<usize>, start: usize) -> Dial {
        assert!(!range.is_empty(), "a dial has at least one position");
        let value = AtomicUsize::new(start.clamp(*range.start(), *range.end()));
        Dial {
            shared: Arc::new(Shared { value, range }),
        }
    }

    /// A dial that nobody can turn.
    pub fn fixed(value: usize) -> Dial {
        Dial::new(value..=value, value)
    }

    /// Where it stands.
    pub fn get(&self) -> usize {
        // It guards nothing: a worker that sees it a little later does a little later what it says.
        self.shared.value.load(Ordering::Relaxed)
    }

    /// Turns it to what of its range is nearest to `value`: where it stands then.
    pub fn set(&self, value: usize) -> usize {
        let value = value.clamp(self.least(), self.most());
        self.shared.value.store(value, Ordering::Relaxed);
        value
    }

    /// The least it can stand at.
    pub fn least(&self) -> usize {
        *self.shared.range.start()
    }

    /// The most it can stand at.
    pub fn most(&self) -> usize {
        *self.shared.range.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dial_stays_within_its_range() {
        let dial = Dial::new(2..=8, 1);
        let seen = dial.clone();
        assert_eq!(seen.get(), 2);
        assert_eq!((dial.set(5), seen.get()), (5, 5));
        assert_eq!((dial.set(9), seen.get()), (8, 8));
        assert_eq!((dial.set(0), seen.get()), (2, 2));
        assert_eq!(Dial::fixed(3).set(7), 3);
    }
}
