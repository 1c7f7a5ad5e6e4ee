//! Pivots by arithmetic: which keys stand for many, and where others lie among them.
//!
//! Keys in order are cut into as many pieces as there are cores, and the last key of each piece is
//! a pivot. With 8 keys and 4 pieces, or with 3 keys and 4 pieces:
//!
//! ```text
//!     keys     10 11 | 12 13 | 14 15 | 16 17        20 | 21 | 21 | 22
//!     pivots      11      13      15      17        20   21   21   22
//! ```
//!
//! The last pivot is the greatest key, so whatever is cut by pivots lies below one of them.

use std::ops::Range;

/// Places of the last ones of `pieces` pieces of `count` keys, as alike as can be; of fewer keys
/// than pieces some come again, and of none there are none.
pub fn evenly(count: usize, pieces: usize) -> impl Iterator<Item = usize> {
    let some = if count == 0 { 0 } else { pieces };
    (1..=some).map(move |piece| (piece * count).div_ceil(pieces) - 1)
}

/// Pivots of keys in order.
pub fn pick(sorted: &[u64], pieces: usize) -> Vec<u64> {
    evenly(sorted.len(), pieces)
        .map(|place| sorted[place])
        .collect()
}

/// Where keys in order lie among bounds: piece i are those up to bound i, and above the one before.
/// Equal keys lie in one piece. What lies above all bounds is with the last.
pub fn cut(sorted: &[u64], bounds: &[u64], pieces: usize) -> Vec<Range<usize>> {
    let mut begin = 0;
    (0..pieces)
        .map(|piece| {
            let end = match bounds.get(piece) {
                Some(bound) if piece + 1 < pieces => {
                    begin + sorted[begin..].partition_point(|key| key <= bound)
                }
                _ => sorted.len(),
            };
            std::mem::replace(&mut begin, end)..end
        })
        .collect()
}

/// Those of the pivots of all `all` ones that are here: `sorted` are some neighbours among all in
/// order, and `before` are less.
pub fn pick_among(sorted: &[u64], before: usize, all: usize, pieces: usize) -> Vec<u64> {
    let here = before..before + sorted.len();
    let places = evenly(all, pieces).filter(|place| here.contains(place));
    places.map(|place| sorted[place - before]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_drawing_is_right() {
        assert_eq!(pick(&[10, 11, 12, 13, 14, 15, 16, 17], 4), [11, 13, 15, 17]);
        assert_eq!(pick(&[20, 21, 22], 4), [20, 21, 22, 22]);
    }

    /// Pieces differ by one key at most, and the last pivot is the last key.
    #[test]
    fn pieces_are_alike() {
        for count in 1..40 {
            for pieces in 1..50 {
                let places: Vec<_> = evenly(count, pieces).collect();
                assert_eq!((places.len(), places.last()), (pieces, Some(&(count - 1))));
                let ends = std::iter::once(0).chain(places.iter().map(|place| place + 1));
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

    /// However all are cut, the pieces together have what a look at all of them has.
    #[test]
    fn pivots_of_pieces_are_those_of_all() {
        let all: Vec<u64> = (0..60).map(|key| key / 7).collect();
        for bounds in [vec![3, 8], vec![0, 0, 9], vec![2, 5, 6, 7, 9]] {
            for pieces in [1, 4, 9, 100] {
                let ranges = cut(&all, &bounds, bounds.len());
                let found = ranges.into_iter().flat_map(|range| {
                    pick_among(&all[range.clone()], range.start, all.len(), pieces)
                });
                assert_eq!(found.collect::<Vec<_>>(), pick(&all, pieces));
            }
        }
    }
}
