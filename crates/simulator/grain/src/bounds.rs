//! Axis-aligned boxes and their bounds, for a bounding volume hierarchy.
//!
//! A record of a sort is a box. Its key is the Morton code of its centre, whose bits are those of
//! the three coordinates in turn, and the first word of its value has its size.

use serde::{Deserialize, Serialize};

/// Words of bounds: one for each axis.
pub(crate) const WORDS: u32 = 3;

/// Half a box is smaller than 2^14 of the scene's 2^22, an axis by itself.
const HALF_BITS: u32 = 14;

/// The least and the greatest coordinate on each axis; both are inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bounds {
    axes: [(i32, i32); 3],
}

impl Bounds {
    /// The bounds of no box.
    pub(crate) const NONE: Bounds = Bounds {
        axes: [(i32::MAX, i32::MIN); 3],
    };

    /// The box of a record.
    pub(crate) fn of(key: u64, value: &[u64]) -> Bounds {
        let axis = |axis: u32| {
            // The first axis has 22 bits of 64, and the others have 21.
            let bit = |at: u32| (key >> (3 * at + axis) & 1) << at;
            let centre: u64 = (0..22 - u32::from(axis > 0)).map(bit).sum();
            let centre = (centre << u32::from(axis > 0)) as i32;
            let half = (value[0] >> (axis * HALF_BITS)) as i32 & ((1 << HALF_BITS) - 1);
            (centre - half, centre + half)
        };
        Bounds {
            axes: [axis(0), axis(1), axis(2)],
        }
    }

    /// The bounds of both.
    pub(crate) fn and(self, other: Bounds) -> Bounds {
        let both = |axis: usize| {
            let ((least, most), other) = (self.axes[axis], other.axes[axis]);
            (least.min(other.0), most.max(other.1))
        };
        Bounds {
            axes: [both(0), both(1), both(2)],
        }
    }

    /// The bounds of all.
    pub(crate) fn around(all: impl Iterator<Item = Bounds>) -> Bounds {
        all.fold(Bounds::NONE, Bounds::and)
    }

    pub(crate) fn words(self) -> [u64; WORDS as usize] {
        let word =
            |(least, most): (i32, i32)| u64::from(least as u32) << 32 | u64::from(most as u32);
        self.axes.map(word)
    }

    pub(crate) fn from_words(words: &[u64]) -> Bounds {
        let axis = |axis: usize| ((words[axis] >> 32) as i32, words[axis] as i32);
        Bounds {
            axes: [axis(0), axis(1), axis(2)],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_morton_code_has_the_bits_of_its_axes_in_turn() {
        let point = |key| Bounds::of(key, &[0]).axes.map(|(least, _)| least);
        assert_eq!(point(0b001_001), [3, 0, 0]);
        assert_eq!(point(0b010_100), [0, 4, 2]);
        assert_eq!(
            point(u64::MAX),
            [(1 << 22) - 1, (1 << 22) - 2, (1 << 22) - 2]
        );
        let sizes = 5 | 6 << HALF_BITS | 7 << (2 * HALF_BITS);
        assert_eq!(Bounds::of(0, &[sizes]).axes, [(-5, 5), (-6, 6), (-7, 7)]);
    }

    #[test]
    fn bounds_are_around_all_and_survive_a_message() {
        let boxes = [9, 1 << 40, u64::MAX - 7].map(|key| Bounds::of(key, &[key ^ 0x1234_5678]));
        let all = Bounds::around(boxes.into_iter());
        assert!(boxes.iter().all(|one| all.and(*one) == all && *one != all));
        assert_eq!(Bounds::from_words(&all.words()), all);
        assert_eq!(Bounds::around(std::iter::empty()).and(all), all);
    }
}
