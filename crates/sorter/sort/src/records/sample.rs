//! Records drawn from the input, each with its position.

use crate::records::framing::Framing;

/// Some records of the input.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Bytes of a record at most: of a longer line its front.
    longest: usize,

    /// The records, one behind the other; empty if records are only counted.
    records: Vec<u8>,
    /// The end of each in `records`.
    ends: Vec<usize>,
    /// The position of each: bytes before it in the whole input.
    positions: Vec<u64>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Element<'a> {
    pub record: &'a [u8],
    pub position: u64,
}

/// Bytes of a record's length and position in [`Sample::to_bytes`].
const HEAD_BYTES: usize = size_of::<u32>() + size_of::<u64>();

impl Default for Sample {
    fn default() -> Sample {
        Sample::of_fronts(usize::MAX)
    }
}

impl Sample {
    /// A sample of at most that many bytes of each record.
    pub(crate) fn of_fronts(longest: usize) -> Sample {
        Sample {
            longest,
            records: Vec::new(),
            ends: Vec::new(),
            positions: Vec::new(),
        }
    }

    /// Adds a line, or its front: that is as good a splitter.
    pub(crate) fn push_line(&mut self, line: &[u8], position: u64, framing: Framing) {
        if line.len() <= self.longest {
            self.push(line, position)
        } else {
            self.push(&framing.records().front(line, self.longest), position)
        }
    }

    /// Bytes of the records.
    pub(crate) fn bytes(&self) -> usize {
        self.records.len()
    }

    pub(crate) fn len(&self) -> usize {
        self.positions.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }

    pub(crate) fn push(&mut self, record: &[u8], position: u64) {
        self.records.extend_from_slice(record);
        self.ends.push(self.records.len());
        self.positions.push(position);
    }

    pub(crate) fn element(&self, number: usize) -> Element<'_> {
        let begin = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        Element {
            record: &self.records[begin..self.ends[number]],
            position: self.positions[number],
        }
    }

    pub(crate) fn elements(&self) -> impl ExactSizeIterator<Item = Element<'_>> {
        (0..self.len()).map(|number| self.element(number))
    }

    pub(crate) fn positions(&self) -> &[u64] {
        &self.positions
    }

    pub(crate) fn add(&mut self, other: &Sample) {
        for Element { record, position } in other.elements() {
            self.push(record, position);
        }
    }

    /// The first of the records, the third, and so on.
    pub(crate) fn every_second(&self) -> Sample {
        let mut half = Sample::of_fronts(self.longest);
        for Element { record, position } in self.elements().step_by(2) {
            half.push(record, position);
        }
        half
    }

    /// At most `most` of the records, evenly spread.
    pub(crate) fn thinned(&self, most: usize) -> Sample {
        let (all, most) = (self.len(), most.min(self.len()));
        let mut thin = Sample::default();
        for number in (0..most).map(|number| number * all / most) {
            let Element { record, position } = self.element(number);
            thin.push(record, position);
        }
        thin
    }

    /// Length, position and bytes of each record, for another rank or a checkpoint.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.records.len() + self.len() * HEAD_BYTES);
        for Element { record, position } in self.elements() {
            bytes.extend_from_slice(&(record.len() as u32).to_le_bytes());
            bytes.extend_from_slice(&position.to_le_bytes());
            bytes.extend_from_slice(record);
        }
        bytes
    }

    /// The sample of [`Sample::to_bytes`]; `None` if it cannot be one of such records.
    pub(crate) fn from_bytes(mut bytes: &[u8], framing: Framing) -> Option<Sample> {
        let mut sample = Sample::default();
        while !bytes.is_empty() {
            let (length, rest) = bytes.split_first_chunk()?;
            let (position, rest) = rest.split_first_chunk()?;
            let length = u32::from_le_bytes(*length) as usize;
            let (record, rest) = rest.split_at_checked(length)?;
            if !framing.is_record(record) {
                return None;
            }
            sample.push(record, u64::from_le_bytes(*position));
            bytes = rest;
        }
        Some(sample)
    }
}
