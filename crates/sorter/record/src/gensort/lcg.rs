//! The random numbers of gensort: a 128-bit linear congruential generator that can jump.
//!
//! `X(0) = 0`, `X(i+1) = A X(i) + C mod 2^128`. A record is a function of its number: record `n`
//! starts from `X(n+1)`. So any machine can make any part of a data set, if it can jump to `X(n)`.
//!
//! The jump: `i` steps are one map `x -> a x + c`, and so are `2i` steps, with `a' = a a` and
//! `c' = a c + c`. The maps of 1, 2, 4, 8 .. steps are powers of one map, so they commute. Those
//! for the binary digits of `i`, applied to zero, give `X(i)` in at most 128 rounds.
//!
//! Constants: gensort 1.5.

const MULTIPLIER: u128 = 0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645;

/// Its upper ten bytes spell "JimGrayRIP", which is therefore the first key of every data set.
const INCREMENT: u128 = 0x4a69_6d47_7261_7952_4950_2020_2020_2001;

/// The sequence at one of its states.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lcg {
    state: u128,
}

impl Lcg {
    /// The sequence at `X(index)`.
    pub(super) const fn at(mut index: u128) -> Lcg {
        let mut state: u128 = 0;
        let (mut multiplier, mut increment) = (MULTIPLIER, INCREMENT);
        while index != 0 {
            if index & 1 == 1 {
                state = multiplier.wrapping_mul(state).wrapping_add(increment);
            }
            increment = multiplier.wrapping_mul(increment).wrapping_add(increment);
            multiplier = multiplier.wrapping_mul(multiplier);
            index >>= 1;
        }
        Lcg { state }
    }

    /// The sequence at the state that the key of record `number` is taken from.
    pub(super) const fn of_record(number: u128) -> Lcg {
        Lcg::at(number.wrapping_add(1))
    }

    /// Returns the current state, and steps to the next.
    #[inline]
    pub(super) const fn draw(&mut self) -> u128 {
        let drawn = self.state;
        self.state = MULTIPLIER.wrapping_mul(drawn).wrapping_add(INCREMENT);
        drawn
    }
}

#[cfg(test)]
mod tests {
    use super::Lcg;

    #[test]
    fn jumping_is_walking() {
        let mut walker = Lcg::at(0);
        for index in 0..5_000 {
            assert_eq!(walker.draw(), Lcg::at(index).state, "X({index})");
        }
    }

    #[test]
    fn jumps_across_two_to_the_64_and_around_two_to_the_128() {
        let mut walker = Lcg::at((1 << 64) - 3);
        for step in 0..6 {
            assert_eq!(walker.draw(), Lcg::at((1 << 64) - 3 + step).state);
        }
        let mut last = Lcg::at(u128::MAX);
        last.draw();
        assert_eq!(last.draw(), 0, "the period is 2^128, so zero comes again");
    }
}
