//! Merges slices into their units, as one of several mergers.
//!
//! Slices have their places in the output, so mergers write them in any order; into an output that is
//! written front to back, one after the other, when they are merged.

use pipeline::{Failure, Worker};

use crate::records::block::Destination;
use crate::records::span::Span;
use crate::stages::carry::Carry;
use crate::stages::merge::{Merge, UnitRoom};
use crate::stages::outlet::{Handed, Outlet};
use crate::stages::slices::Slice;
use crate::stages::sources::Sources;
use crate::stages::{Tally, Turn};
use node::Queue;

#[derive(Clone)]
pub(crate) struct SliceMerger {
    pub sources: Sources,
    pub slices: Queue<Slice>,
    pub unit_bytes: usize,
    pub file: usize,
    pub outlet: Outlet,
    /// The order of slices, for outputs that are written front to back.
    pub turn: Option<Turn>,
    pub tally: Tally,
}

pub(crate) async fn merge_slices(worker: &Worker, merger: &SliceMerger) -> Result<(), Failure> {
    while let Some(slice) = worker.pop(&merger.slices).await? {
        merge_slice(worker, merger, slice).await?;
    }
    merger.outlet.out.finish(&worker.node).await;
    merger.sources.wants.finish(&worker.node).await;
    Ok(())
}

/// No deadlock: slices get their units in their order, so the first that is not written has one. One that
/// needs more takes units that writers give back; where the output is written front to back, it waits for its
/// turn first.
async fn merge_slice(worker: &Worker, merger: &SliceMerger, slice: Slice) -> Result<(), Failure> {
    let (sources, outlet) = (&merger.sources, &merger.outlet);
    let header = sources.contents.header();
    let is_first = slice.first.bytes == 0;
    let (mut at, mut carry) = if is_first {
        (0, Carry::of(header))
    } else {
        (header.len() as u64 + slice.first.bytes, Carry::default())
    };
    let to = Destination {
        file: merger.file,
        offset: at,
        // The end of the file is not known yet.
        file_bytes: u64::MAX,
    };
    let end = at + carry.len() as u64 + slice.size.bytes;
    let mut unit = Some(slice.unit);
    let mut waits = merger.turn.as_ref();
    let turn = slice.first.bytes;
    let runs = (slice.runs, slice.first.records);
    let mut merge = Merge::of_slice(worker, sources, runs).await?;
    // Before it waits for its turn: mergers work at the same time.
    worker.did_records(slice.size.records, slice.size.bytes);
    while at < end {
        let begin = outlet.begin(at);
        let limit = (merger.unit_bytes as u64).min(end - begin) as usize;
        let start = (at - begin) as usize;
        let mut buffer = match unit.take() {
            Some(unit) => unit,
            None => worker.take(&outlet.pool).await?,
        };
        let room = UnitRoom {
            start,
            limit,
            until: slice.size.bytes,
        };
        let filled = merge.fill_unit(&mut buffer, &mut carry, room).await?;
        assert_eq!(filled, limit, "a slice has the bytes that it was cut with");
        buffer.set_len(limit);
        if let Some(order) = waits.take() {
            worker.hold(order.wait(&worker.node, turn)).await?;
        }
        let handed = Handed {
            to,
            begin,
            range: start..limit,
            buffer,
        };
        outlet.hand_on(worker, handed).await?;
        at = begin + limit as u64;
    }
    if let Some(order) = &merger.turn {
        order.pass(&worker.node, turn + slice.size.bytes).await;
    }
    let span = Span {
        begin: slice.first,
        size: merge.done,
        file: merger.file,
        sum: merge.sum,
        first: merge.edges.first,
        last: merge.edges.last,
    };
    Ok(merger.tally.add_out(span, &*sources.contents)?)
}
