//! Selecting pivots, and cutting keys at pivots.
//!
//! Sorted keys are cut into pieces, and the last key of each piece is a pivot. With 8 keys and 4
//! pieces, and with 3 keys and 4 pieces:
//!
//! ```text
//!     keys     10 11 | 12 13 | 14 15 | 16 17        20 | 21 | 21 | 22
//!     pivots      11      13      15      17        20   21   21   22
//! ```
//!
//! The last pivot is the greatest key, so every key lies below a pivot.

use std::ops::Range;

/// The last positions of `pieces` even pieces of `count` keys. With fewer keys than pieces some
/// positions repeat; without keys there are none.
pub fn evenly(count: usize, pieces: usize) -> impl Iterator<Item = usize> {
    let some = if count == 0 { 0 } else { pieces };
    (1..=some).map(move |piece| (piece * count).div_ceil(pieces) - 1)
}

/// The pivots of sorted keys.
pub fn select(sorted: &[u64], pieces: usize) -> Vec<u64> {
    evenly(sorted.len(), pieces)
        .map(|position| sorted[position])
        .collect()
}

/// Cuts sorted keys at boundaries: piece i has the keys above boundary i - 1 up to boundary i, and
/// the last piece all keys behind. Equal keys share a piece.
pub fn cut(sorted: &[u64], boundaries: &[u64], pieces: usize) -> Vec<Range<usize>> {
    let mut begin = 0;
    let piece = |piece| {
        let end = match boundaries.get(piece) {
            Some(boundary) if piece + 1 < pieces => {
                begin + sorted[begin..].partition_point(|key| key <= boundary)
            }
            _ => sorted.len(),
        };
        std::mem::replace(&mut begin, end)..end
    };
    (0..pieces).map(piece).collect()
}

/// The pivots of `all` keys that are in one range of them, whose sorted keys begin at position
/// `before`.
pub fn select_in_range(sorted: &[u64], before: usize, all: usize, pieces: usize) -> Vec<u64> {
    let here = before..before + sorted.len();
    let positions = evenly(all, pieces).filter(|position| here.contains(position));
    positions
        .map(|position| sorted[position - before])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_drawing_is_right() {
        assert_eq!(
            select(&[10, 11, 12, 13, 14, 15, 16, 17], 4),
            [11, 13, 15, 17]
        );
        assert_eq!(select(&[20, 21, 22], 4), [20, 21, 22, 22]);
    }

    /// Pieces differ by one key at most, and the last pivot is the last key.
    #[test]
    fn pieces_are_even() {
        for count in 1..40 {
            for pieces in 1..50 {
                let positions: Vec<_> = evenly(count, pieces).collect();
                assert_eq!(
                    (positions.len(), positions.last()),
                    (pieces, Some(&(count - 1)))
                );
                let ends = std::iter::once(0).chain(positions.iter().map(|position| position + 1));
                let sizes: Vec<_> = ends.clone().zip(ends.skip(1)).map(|(a, b)| b - a).collect();
                let (least, most) = (sizes.iter().min(), sizes.iter().max());
                assert!(
                    most.unwrap() - least.unwrap() <= 1,
                    "{count} in {pieces}: {sizes:?}"
                );
            }
        }
        assert_eq!(evenly(0, 5).count(), 0);
    }

    #[test]
    fn every_key_lies_in_one_piece() {
        let sorted = [1, 3, 3, 3, 5, 9];
        assert_eq!(cut(&sorted, &[0, 3, 4, 8], 4), [0..0, 0..4, 4..4, 4..6]);
        assert_eq!(cut(&sorted, &[3, 3, 9], 3), [0..4, 4..4, 4..6]);
        assert_eq!(cut(&[], &[], 2), [0..0, 0..0]);
        assert_eq!(cut(&sorted, &[2], 1).first(), Some(&(0..6)));
    }

    /// The pivots of the ranges together are those of all keys, wherever the boundaries are.
    #[test]
    fn pivots_of_ranges_are_those_of_all() {
        let all: Vec<u64> = (0..60).map(|key| key / 7).collect();
        for bounds in [vec![3, 8], vec![0, 0, 9], vec![2, 5, 6, 7, 9]] {
            for pieces in [1, 4, 9, 100] {
                let ranges = cut(&all, &bounds, bounds.len());
                let found = ranges.into_iter().flat_map(|range| {
                    select_in_range(&all[range.clone()], range.start, all.len(), pieces)
                });
                assert_eq!(found.collect::<Vec<_>>(), select(&all, pieces));
            }
        }
    }
}
