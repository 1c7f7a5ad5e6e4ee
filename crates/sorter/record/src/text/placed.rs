//! Lines with the places of their keys: a merge compares a line many times, and finds its keys once.

use std::cmp::Ordering;

use super::order::TextOrder;
use super::part::Part;
use super::row::{Found, FoundAt};

/// Where the keys of a line are, so that they need not be sought at each of many comparisons.
#[derive(Clone, Debug)]
pub struct KeyPlaces(Vec<FoundAt>);

/// A line, and the places of its keys if they are known.
#[derive(Clone, Copy, Debug)]
pub struct PlacedLine<'l> {
    /// Without its delimiter.
    pub bytes: &'l [u8],
    /// As [`TextOrder::places`] found them.
    pub places: Option<&'l KeyPlaces>,
}

impl<'l> PlacedLine<'l> {
    /// The key of a part of the order, which has this number.
    fn find(self, part: &Part, number: usize) -> Found<'l> {
        match self.places {
            Some(places) => places.0[number].of(self.bytes),
            None => part.find(self.bytes),
        }
    }
}

impl TextOrder {
    /// The places of all keys of a line.
    #[must_use]
    pub fn places(&self, line: &[u8]) -> KeyPlaces {
        KeyPlaces(self.all().map(|part| part.place(line)).collect())
    }

    /// As [`TextOrder::compare`], without a search for keys whose places are known.
    #[must_use]
    pub fn compare_placed(&self, a: PlacedLine<'_>, b: PlacedLine<'_>) -> Ordering {
        let mut by_part = self
            .all()
            .enumerate()
            .map(|(number, part)| part.compare_found(a.find(part, number), b.find(part, number)));
        by_part
            .find(|ordering| ordering.is_ne())
            .unwrap_or(Ordering::Equal)
    }
}
