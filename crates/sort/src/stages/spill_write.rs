//! A chain of sealed chunks on its way to a spill file, as one request: each is stamped with its
//! place there.

use node::{Buffer, ChainTicket, Node};
use pipeline::Failure;

use crate::files::spill::{Extent, Slot, Spill};
use crate::records::block::Chunk;
use crate::records::contents::Contents;
use crate::runs::partition::{Run, Spilled};

/// A write under way.
pub(crate) struct SpillWrite {
    ticket: ChainTicket,
    pub to: Slot,
    extent: Extent,
    records: u64,
}

impl SpillWrite {
    /// Asks the disk to write these chunks, there or where there is room.
    pub(crate) async fn begin(
        node: &Node,
        spill: &Spill,
        to: Slot,
        (contents, chunks): (&dyn Contents, Vec<Chunk>),
    ) -> Result<SpillWrite, Failure> {
        let records = chunks.iter().map(|chunk| u64::from(chunk.records)).sum();
        let mut buffers: Vec<Buffer> = chunks.into_iter().map(|chunk| chunk.buffer).collect();
        let bytes = buffers.iter().map(|buffer| buffer.capacity() as u64).sum();
        let extent = spill.extent(node, to, bytes).await?;
        stamp(contents, spill, extent, &mut buffers);
        let ticket = spill.file(extent).write_chain(node, extent.offset, buffers);
        Ok(SpillWrite {
            ticket,
            to,
            extent,
            records,
        })
    }

    /// The bytes that are written.
    pub(crate) fn bytes(&self) -> usize {
        self.extent.bytes as usize
    }

    /// Waits until they are on a disk: where, and the buffers back.
    pub(crate) async fn end(
        self,
        node: &Node,
        spill: &Spill,
        contents: &dyn Contents,
    ) -> Result<(Spilled, Vec<Buffer>), Failure> {
        let SpillWrite {
            mut ticket,
            to,
            mut extent,
            records,
        } = self;
        loop {
            let (mut buffers, result) = ticket.wait(node).await;
            let Err(error) = result else {
                let run = Run::new(extent, buffers.len());
                return Ok((Spilled { run, records }, buffers));
            };
            // That directory is full; another may have room.
            spill.is_full(node, extent, error).await?;
            stamp(contents, spill, extent, &mut buffers);
            extent = spill.extent(node, to, extent.bytes).await?;
            stamp(contents, spill, extent, &mut buffers);
            ticket = spill.file(extent).write_chain(node, extent.offset, buffers);
        }
    }
}

/// Makes the place of each chunk part of its checksum, or takes it out again.
fn stamp(contents: &dyn Contents, spill: &Spill, extent: Extent, chunks: &mut [Buffer]) {
    let (stamps, mut offset) = (spill.stamps(extent), extent.offset);
    for chunk in chunks {
        contents.stamp(chunk, stamps.at(offset));
        offset += chunk.capacity() as u64;
    }
}
