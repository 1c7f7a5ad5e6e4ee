//! Cuts the runs of a merge into slices, which several mergers take (docs/decisions/0030).
//!
//! ```text
//! run readers > slicer > slices > mergers > writer
//! ```
//!
//! It compares only some records of each run, and counts the delimiters before the cut. The *border* is the
//! least of the last records that were read of each run that goes on: all records before it are read.

use std::sync::Arc;

use node::Queue;
use pipeline::{Failure, Worker};
use record::Comparison;

use crate::files::output::Output;
use crate::records::part::Part;
use crate::records::size::Size;
use crate::runs::arrivals::ArrivedRead;
use crate::stages::outlet::Outlet;
use crate::stages::slices::{Border, Slice, SliceOfRun, divide, size_of};
use crate::stages::sources::Sources;

#[derive(Clone)]
pub(crate) struct Slicer {
    pub sources: Sources,
    pub order: Comparison,
    /// Bytes of a slice at most, unless a record is longer.
    pub most: u64,
    pub output: Arc<Output>,
    pub file: usize,
    pub slices: Queue<Slice>,
    pub outlet: Outlet,
}

/// Cuts with one worker.
///
/// No deadlock: it waits for reads of a run while it holds no record of that run, or those of one of its
/// two reads alone; then the other one is under way, or with mergers. They wait for units and for the
/// turn of slices before theirs, whose units they have.
pub(crate) async fn slice(worker: &Worker, slicer: &Slicer) -> Result<(), Failure> {
    let sources = &slicer.sources;
    let mut slicing = Slicing {
        worker,
        slicer,
        read: (0..sources.runs).map(SliceOfRun::new).collect(),
        ended: vec![false; sources.runs],
        first: Size::default(),
    };
    sources.ask(worker).await?;
    loop {
        for run in 0..sources.runs {
            slicing.receive(run).await?;
        }
        let runs = slicing.before_border().await?;
        if size_of(&runs).records == 0 {
            break;
        }
        for runs in divide(runs, &slicer.order, slicer.most) {
            slicing.hand_on(runs).await?;
        }
    }
    slicing.end().await
}

struct Slicing<'a> {
    worker: &'a Worker,
    slicer: &'a Slicer,
    /// By run: the records that were read, and are in no slice.
    read: Vec<SliceOfRun>,
    ended: Vec<bool>,
    /// Records in slices.
    first: Size,
}

impl Slicing<'_> {
    /// Takes the reads of a run that have arrived; waits for one if there are no records of it.
    async fn receive(&mut self, run: usize) -> Result<(), Failure> {
        let is_waited_for = self.read[run].is_empty();
        self.receive_more(run, is_waited_for).await
    }

    async fn receive_more(&mut self, run: usize, mut waits: bool) -> Result<(), Failure> {
        let (node, sources) = (&self.worker.node, &self.slicer.sources);
        let framing = sources.contents.framing().records();
        while !self.ended[run] {
            let arrived = sources.arrivals.read_of(node, run, waits);
            match self.worker.starve(arrived).await? {
                ArrivedRead::Chunks(chunks) => {
                    let parts = chunks
                        .into_iter()
                        .map(|chunk| Part::divisible(chunk, framing));
                    self.read[run].add(parts);
                }
                ArrivedRead::Nothing => break,
                ArrivedRead::End => self.ended[run] = true,
            }
            waits = false;
        }
        Ok(())
    }

    /// The records before which no other can come any more. If these are few, it waits for the run that
    /// has no more, as long as its next read is under way.
    async fn before_border(&mut self) -> Result<Vec<SliceOfRun>, Failure> {
        let mut before: Vec<SliceOfRun> = (0..self.read.len()).map(SliceOfRun::new).collect();
        loop {
            let least = self.least_last().map(|(run, last)| (run, last.to_vec()));
            let Some((run, record)) = least else {
                for (before, rest) in before.iter_mut().zip(&mut self.read) {
                    before.append(rest);
                }
                return Ok(before);
            };
            let border = Border {
                order: &self.slicer.order,
                record: &record,
                run,
                bytes: u64::MAX,
            };
            for (before, read) in before.iter_mut().zip(&mut self.read) {
                before.append(&mut read.take_before(&border));
            }
            let is_enough = size_of(&before).bytes >= self.slicer.most / 2;
            if is_enough || !before[run].is_of_one_read() {
                return Ok(before);
            }
            self.receive_more(run, true).await?;
        }
    }

    /// The least of the last records of the runs that have not ended, and its run.
    fn least_last(&self) -> Option<(usize, &[u8])> {
        let open = self.read.iter().filter(|read| !self.ended[read.number()]);
        let lasts = open.map(|read| (read.number(), read.last().expect("a run that goes on")));
        lasts.min_by(|(a, first), (b, second)| {
            let by_key = self.slicer.order.compare(first, second);
            by_key.then(a.cmp(b))
        })
    }

    async fn hand_on(&mut self, runs: Vec<SliceOfRun>) -> Result<(), Failure> {
        let size = size_of(&runs);
        self.worker.did_records(size.records, size.bytes);
        let unit = self.worker.take(&self.slicer.outlet.pool).await?;
        let first = self.first;
        let slice = Slice {
            first,
            size,
            runs,
            unit,
        };
        self.first += size;
        self.worker.push(&self.slicer.slices, slice).await?;
        Ok(())
    }

    /// Ends the output and the run readers.
    async fn end(&self) -> Result<(), Failure> {
        let Slicer {
            sources,
            output,
            outlet,
            ..
        } = self.slicer;
        let node = &self.worker.node;
        if self.first.records > 0 {
            let bytes = sources.contents.header().len() as u64 + self.first.bytes;
            output.set_length(node, self.slicer.file, bytes).await;
            outlet.end(self.worker, self.slicer.file, bytes).await?;
        }
        self.slicer.slices.finish(node).await;
        outlet.out.finish(node).await;
        sources.wants.finish(node).await;
        Ok(())
    }
}
