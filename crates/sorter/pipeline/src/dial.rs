//! Dials: settings that change while workers run.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A number that workers read whenever they need it, such as the requests in flight or the bytes of
/// a unit, so that it can change while they run. Clones share it.
///
/// It never leaves its range. So buffers and queues for its most are always enough, and a stage can
/// rely on its least.
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
    /// A dial with this range, set to `start` or to the end of the range nearest to it.
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

    /// A dial that always stands at `value`.
    pub fn fixed(value: usize) -> Dial {
        Dial::new(value..=value, value)
    }

    /// The current value.
    pub fn get(&self) -> usize {
        // Relaxed: it guards no other memory, and a worker may see a change a little later.
        self.shared.value.load(Ordering::Relaxed)
    }

    /// Sets it to `value`, or to the end of the range nearest to it, and returns the new value.
    pub fn set(&self, value: usize) -> usize {
        let value = value.clamp(self.least(), self.most());
        self.shared.value.store(value, Ordering::Relaxed);
        value
    }

    /// The lower end of the range.
    pub fn least(&self) -> usize {
        *self.shared.range.start()
    }

    /// The upper end of the range.
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
