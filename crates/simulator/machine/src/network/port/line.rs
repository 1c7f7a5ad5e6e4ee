//! The packets of a window at a port.

use super::full::Queues;
use super::lanes::Lanes;
use super::priorities::Priorities;
use crate::network::arrival::Arrival;
use crate::schedule::Ticks;

/// The packets of a window at a port, each by its position: first those that wait since earlier
/// windows, control before data, then the arrivals in their order. All ports of a thread use one.
#[derive(Debug, Default)]
pub struct Line {
    pub arrivals: Vec<Arrival>,
    start: Ticks,
    /// The number of those from earlier windows, which are in the slab.
    pub kept: usize,
    /// Control and data, for a link that is run through.
    pub lanes: Lanes,
    /// The same for a link that is run arrival by arrival.
    pub queues: Queues,
    /// The same for a link with priorities.
    pub priorities: Priorities,
    /// The packets that start in this window, in order.
    pub leaving: Vec<Leaving>,
    /// Those that do not, control before data.
    pub staying: Vec<u32>,
    /// Those that are trimmed to their headers.
    pub trimmed: Vec<u32>,
    /// Those without room even for their headers.
    pub refused: Vec<u32>,
}

/// A packet that leaves: its position in the line, and its moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaving {
    pub position: u32,
    /// The tick of the window at which it starts.
    pub tick: u32,
}

impl Line {
    /// Begins a window; returns whether all packets fit in a queue of `most` flits, and none is a
    /// header.
    #[inline]
    pub fn begin(&mut self, start: Ticks, kept: &[Arrival], due: &[Arrival], most: u64) -> bool {
        self.start = start;
        self.arrivals.clear();
        self.arrivals.extend_from_slice(kept);
        self.arrivals.extend_from_slice(due);
        self.kept = kept.len();
        self.leaving.clear();
        for positions in [&mut self.staying, &mut self.trimmed, &mut self.refused] {
            positions.clear();
        }
        let has_header = self.arrivals.iter().any(|next| next.is_header());
        self.lanes.fill(&self.arrivals) <= most && !has_header
    }

    /// A packet starts at a time of the window.
    pub fn leave(&mut self, position: u32, start: Ticks) {
        let tick = (start - self.start).0 as u32;
        self.leaving.push(Leaving { position, tick });
    }

    /// Whether a packet is from an earlier window.
    #[inline]
    pub fn is_kept(&self, position: u32) -> bool {
        (position as usize) < self.kept
    }

    #[inline]
    pub fn at(&self, position: u32) -> Arrival {
        self.arrivals[position as usize]
    }
}
