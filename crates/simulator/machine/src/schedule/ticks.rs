//! Virtual time in ticks of a machine.

use std::fmt;
use std::ops::{Add, AddAssign, Div, Mul, Sub};

/// A time since the start of a run, or a duration, in ticks of the profile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticks(pub u64);

impl Ticks {
    /// Later than every time.
    pub const NEVER: Ticks = Ticks(u64::MAX);

    /// This duration, doubled `times` times.
    #[must_use]
    pub fn doubled(self, times: u8) -> Ticks {
        Ticks(self.0 << times)
    }

    /// The duration from `earlier` to this time; 0 if `earlier` is later.
    #[must_use]
    pub fn since(self, earlier: Ticks) -> Ticks {
        Ticks(self.0.saturating_sub(earlier.0))
    }
}

impl Add for Ticks {
    type Output = Ticks;

    fn add(self, more: Ticks) -> Ticks {
        Ticks(self.0 + more.0)
    }
}

impl AddAssign for Ticks {
    fn add_assign(&mut self, more: Ticks) {
        self.0 += more.0;
    }
}

impl Sub for Ticks {
    type Output = Ticks;

    fn sub(self, less: Ticks) -> Ticks {
        Ticks(self.0 - less.0)
    }
}

impl Mul<u64> for Ticks {
    type Output = Ticks;

    fn mul(self, times: u64) -> Ticks {
        Ticks(self.0 * times)
    }
}

impl Div<u64> for Ticks {
    type Output = Ticks;

    fn div(self, parts: u64) -> Ticks {
        Ticks(self.0 / parts)
    }
}

impl fmt::Display for Ticks {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}
