//! Where the bytes of files lie on a disk whose places differ.
//!
//! ```text
//! a reserved range   one stretch, where it fits, as far outside as there is room
//! bytes appended     the same, write by write, so that files which grow together are interleaved
//! ```

use std::collections::BTreeMap;
use std::ops::Range;

/// Bytes that lie one behind the other on a disk: address and number.
pub(super) type Stretch = (u64, u64);

#[derive(Debug)]
pub(super) struct Placement {
    /// By file and offset in it.
    placed: BTreeMap<(u64, u64), Stretch>,
    /// Free stretches, by their first address.
    free: BTreeMap<u64, u64>,
}

impl Placement {
    /// An empty disk.
    pub(super) fn new(bytes: u64) -> Placement {
        Placement {
            placed: BTreeMap::new(),
            free: (bytes > 0).then_some((0, bytes)).into_iter().collect(),
        }
    }

    /// The stretches of a range of a file; places those of its bytes that have none. On a full disk these
    /// lie at its end.
    pub(super) fn of(&mut self, file: u64, range: Range<u64>) -> Vec<Stretch> {
        let mut found = Vec::new();
        let mut at = range.start;
        while at < range.end {
            let stretch = match self.there(file, at) {
                Some((address, bytes)) => (address, bytes.min(range.end - at)),
                None => self.place(file, at, self.until_placed(file, at, range.end) - at),
            };
            at += stretch.1;
            join(&mut found, stretch);
        }
        found
    }

    /// Frees the places of a range of a file.
    pub(super) fn release(&mut self, file: u64, range: Range<u64>) {
        let mut at = range.start;
        while at < range.end {
            let Some((address, bytes)) = self.there(file, at) else {
                at = self.until_placed(file, at, range.end);
                continue;
            };
            let taken = bytes.min(range.end - at);
            self.cut(file, at);
            self.cut(file, at + taken);
            self.placed.remove(&(file, at));
            self.give(address, taken);
            at += taken;
        }
    }

    /// Lets others have the places of a file, which keeps them.
    pub(super) fn share(&mut self, file: u64) {
        let places = self.placed.range((file, 0)..=(file, u64::MAX));
        let places: Vec<Stretch> = places.map(|(_, stretch)| *stretch).collect();
        places
            .into_iter()
            .for_each(|(address, bytes)| self.give(address, bytes));
    }

    /// The place of the byte at an offset, with the bytes behind it.
    fn there(&self, file: u64, at: u64) -> Option<Stretch> {
        let (&(_, offset), &(address, bytes)) =
            self.placed.range((file, 0)..=(file, at)).next_back()?;
        let behind = at - offset;
        (behind < bytes).then(|| (address + behind, bytes - behind))
    }

    /// The first offset from `at` on that has a place, or `end`.
    fn until_placed(&self, file: u64, at: u64, end: u64) -> u64 {
        let next = self.placed.range((file, at)..(file, end)).next();
        next.map_or(end, |(&(_, offset), _)| offset)
    }

    /// Places bytes at an offset: all of them in the first stretch that has room, or else as many as the
    /// first one has.
    fn place(&mut self, file: u64, at: u64, bytes: u64) -> Stretch {
        let fits = self.free.iter().find(|(_, room)| **room >= bytes);
        let Some((&address, &room)) = fits.or_else(|| self.free.iter().next()) else {
            return (u64::MAX - bytes, bytes);
        };
        let taken = bytes.min(room);
        self.free.remove(&address);
        if taken < room {
            self.free.insert(address + taken, room - taken);
        }
        let before = self.placed.range((file, 0)..(file, at)).next_back();
        match before {
            Some((&key, &(begin, long))) if key.1 + long == at && begin + long == address => {
                self.placed.insert(key, (begin, long + taken));
            }
            _ => {
                self.placed.insert((file, at), (address, taken));
            }
        }
        (address, taken)
    }

    /// Lets a stretch begin at an offset that lies inside of one.
    fn cut(&mut self, file: u64, at: u64) {
        let Some((address, behind)) = self.there(file, at) else {
            return;
        };
        let before = self.placed.range_mut((file, 0)..(file, at)).next_back();
        if let Some((&(_, offset), stretch)) = before
            && offset + stretch.1 > at
        {
            stretch.1 = at - offset;
            self.placed.insert((file, at), (address, behind));
        }
    }

    fn give(&mut self, mut address: u64, mut bytes: u64) {
        if let Some((&before, &room)) = self.free.range(..address).next_back()
            && before + room == address
        {
            self.free.remove(&before);
            (address, bytes) = (before, room + bytes);
        }
        if let Some(behind) = self.free.remove(&(address + bytes)) {
            bytes += behind;
        }
        self.free.insert(address, bytes);
    }
}

/// Adds a stretch, as a part of the last one if it lies behind it.
fn join(found: &mut Vec<Stretch>, (address, bytes): Stretch) {
    match found.last_mut() {
        Some((begin, long)) if *begin + *long == address => *long += bytes,
        _ => found.push((address, bytes)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserved_ranges_are_whole_and_appended_ones_interleaved() {
        let mut placement = Placement::new(1000);
        assert_eq!(placement.of(1, 0..100), [(0, 100)]);
        for at in 0..5 {
            placement.of(2, at * 10..at * 10 + 10);
            placement.of(3, at * 10..at * 10 + 10);
        }
        assert_eq!(placement.of(1, 20..60), [(20, 40)]);
        let interleaved: Vec<Stretch> = (0..5).map(|at| (110 + at * 20, 10)).collect();
        assert_eq!(placement.of(3, 0..50), interleaved);
    }

    #[test]
    fn a_file_that_gives_way_is_still_read_where_it_was() {
        let mut placement = Placement::new(1000);
        placement.of(1, 0..400);
        placement.share(1);
        assert_eq!(placement.of(2, 0..300), [(0, 300)]);
        assert_eq!(placement.of(1, 100..400), [(100, 300)]);
    }

    #[test]
    fn released_places_are_used_again_from_the_outside() {
        let mut placement = Placement::new(1000);
        placement.of(1, 0..400);
        placement.of(2, 0..400);
        placement.release(1, 100..300);
        assert_eq!(placement.of(3, 0..150), [(100, 150)]);
        assert_eq!(placement.of(1, 0..100), [(0, 100)]);
        assert_eq!(placement.of(1, 250..400), [(250, 150)], "a hole is filled");
        placement.release(1, 0..u64::MAX);
        placement.release(2, 0..u64::MAX);
        placement.release(3, 0..u64::MAX);
        assert_eq!(
            placement.of(4, 0..1000),
            [(0, 1000)],
            "all is one stretch again"
        );
        assert_eq!(placement.of(5, 0..10)[0].1, 10, "a full disk");
    }
}
