//! The division of inputs: into parts for ranks and epochs, and into units for readers.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::path::Path;

use crate::files::input::{Input, Inputs};
use crate::records::size::portion;

/// A range of one input: whole records of one length, or bytes in which lines begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReadUnit {
    /// Number of the input.
    pub input: usize,
    /// Offset in that file.
    pub offset: u64,
    pub bytes: usize,
    /// Bytes of that file's header: the first record begins behind them.
    pub header_bytes: u64,
    /// Length of that file.
    pub file_bytes: u64,
    /// Bytes before it in the whole input.
    pub position: u64,
    /// Whether it begins and ends with a record.
    pub is_whole: bool,
    /// Whether it is a line with a quote that is never closed.
    pub is_open: bool,
}

impl Inputs {
    /// Part `number` of `of` equal parts of these records.
    pub(crate) fn part(&self, number: u32, of: u32) -> Inputs {
        let all = self.bytes.unwrap_or(0);
        let upto = |number: u32| self.whole(portion(all, number.into(), of.into()));
        let mut part = self.clone();
        part.narrow(upto(number)..upto(number + 1));
        part.base += self.base;
        part
    }

    /// Keeps the records in a range of bytes: ranks divide an input that all of them name.
    fn narrow(&mut self, range: Range<u64>) {
        for input in &mut self.files {
            let (begin, end) = (input.first, input.first + input.bytes);
            let from = range.start.clamp(begin, end);
            let to = range.end.clamp(from, end);
            (input.skipped, input.bytes) = (input.skipped + from - begin, to - from);
            input.first = from.max(range.start) - range.start;
        }
        self.files.retain(|input| input.bytes > 0);
        (self.base, self.bytes) = (range.start, Some(range.end - range.start));
        // No rank reads all records that are listed.
        self.listed = None;
    }

    /// The positions of the inputs on each device, in the order of its first one.
    pub(crate) fn by_device(&self) -> Vec<VecDeque<Range<u64>>> {
        let mut devices: Vec<(u64, VecDeque<Range<u64>>)> = Vec::new();
        for input in self.files.iter().filter(|input| input.bytes > 0) {
            let device = input.seen.device;
            let known = devices.iter().position(|(known, _)| *known == device);
            let known = known.unwrap_or_else(|| {
                devices.push((device, VecDeque::new()));
                devices.len() - 1
            });
            let range = input.first..input.first + input.bytes;
            match devices[known].1.back_mut() {
                Some(last) if last.end == range.start => last.end = range.end,
                _ => devices[known].1.push_back(range),
            }
        }
        devices.into_iter().map(|(_, ranges)| ranges).collect()
    }

    /// The numbers of equal parts of the inputs, those of each device in turn, so that all of them seek at
    /// the same time.
    pub(crate) fn parts_in_turn(&self, parts: u64) -> Vec<u64> {
        let all = self.bytes.unwrap_or(0);
        let mut devices: BTreeMap<u64, VecDeque<u64>> = BTreeMap::new();
        for number in 0..parts {
            let input = self.files.get(self.number_at(portion(all, number, parts)));
            let device = input.map_or(0, |input| input.seen.device);
            devices.entry(device).or_default().push_back(number);
        }
        let mut in_turn = Vec::with_capacity(parts as usize);
        while in_turn.len() < parts as usize {
            let next = devices.values_mut().filter_map(VecDeque::pop_front);
            in_turn.extend(next);
        }
        in_turn
    }

    /// Devices that the inputs lie on; 1 of those that are read front to back.
    pub(crate) fn devices(&self) -> usize {
        if self.is_seekable() {
            self.by_device().len()
        } else {
            1
        }
    }

    /// The last place at or before a position where these inputs may be cut.
    pub(crate) fn whole(&self, position: u64) -> u64 {
        let input = self.files.get(self.number_at(position));
        match input.and_then(|input| Some((input, input.index.as_ref()?))) {
            Some((input, index)) => {
                let offset = input.skipped + (position - input.first);
                input.first + index.at_or_before(offset) - input.skipped
            }
            None => self.framing.whole(position),
        }
    }

    /// The file that has the byte at `position`; `None` for standard input.
    pub(crate) fn path_at(&self, position: u64) -> Option<&Path> {
        self.files[self.number_at(position)].source.path()
    }

    fn number_at(&self, position: u64) -> usize {
        self.files
            .partition_point(|input| input.first + input.bytes <= position)
    }

    /// The unit of at most `most` bytes that begins at byte `position`, where the inputs may be cut.
    /// One of chained records is longer if the next cut is farther away.
    pub(crate) fn unit_at(&self, position: u64, most: usize) -> ReadUnit {
        let unit = self.place_at(position, most);
        let input = &self.files[unit.input];
        let Some(index) = &input.index else {
            return unit;
        };
        let end = index.end_of_unit(unit.offset, most as u64);
        ReadUnit {
            bytes: (end.min(input.skipped + input.bytes) - unit.offset) as usize,
            is_whole: true,
            is_open: index.is_open_at(unit.offset),
            ..unit
        }
    }

    /// `most` bytes at a position, or before it where the inputs may be cut; fewer at the end of a
    /// file. The last one of chained records is cut anywhere.
    pub(crate) fn place_at(&self, position: u64, most: usize) -> ReadUnit {
        let position = self.whole(position);
        let number = self.number_at(position);
        let input = &self.files[number];
        let before = position - input.first;
        ReadUnit {
            input: number,
            offset: input.skipped + before,
            bytes: most.min((input.bytes - before) as usize),
            header_bytes: input.source.header_bytes(),
            file_bytes: input.seen.length,
            position: self.base + position,
            is_whole: self.framing.is_fixed(),
            is_open: false,
        }
    }
}

impl Input {
    /// Its records as units of at most `most` bytes each. It is input `number`, and its first
    /// record has position `position`.
    pub(crate) fn units(
        &self,
        number: usize,
        position: u64,
        most: usize,
    ) -> impl Iterator<Item = ReadUnit> + use<> {
        let (all, file_bytes, skipped) = (self.bytes, self.seen.length, self.skipped);
        let (header_bytes, is_whole) = (self.source.header_bytes(), self.framing.is_fixed());
        (0..all).step_by(most).map(move |offset| ReadUnit {
            input: number,
            offset: skipped + offset,
            header_bytes,
            bytes: most.min((all - offset) as usize),
            file_bytes,
            position: position + offset,
            is_whole,
            is_open: false,
        })
    }
}
