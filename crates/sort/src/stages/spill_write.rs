//! The write of a chain of sealed chunks to a spill file, as one request. Each chunk is stamped with
//! its place there.

use node::{Buffer, ChainTicket, Node};
use pipeline::Failure;

use crate::files::spill::{Extent, Slot, Spill};
use crate::records::block::Chunk;
use crate::records::contents::Contents;
use crate::records::size::Size;
use crate::runs::partition::{Spilled, SpilledRun};

pub(crate) struct SpillWrite {
    ticket: ChainTicket,
    pub to: Slot,
    extent: Extent,
    size: Size,
}

impl SpillWrite {
    /// Begins to write the chunks, at `to` or where there is room.
    pub(crate) async fn begin(
        node: &Node,
        spill: &Spill,
        to: Slot,
        (contents, chunks): (&dyn Contents, Vec<Chunk>),
    ) -> Result<SpillWrite, Failure> {
        let size = chunks.iter().map(|chunk| chunk.size).sum();
        let mut buffers: Vec<Buffer> = chunks.into_iter().map(|chunk| chunk.buffer).collect();
        let bytes = buffers.iter().map(|buffer| buffer.capacity() as u64).sum();
        let extent = spill.extent(node, to, bytes).await?;
        stamp(contents, spill, extent, &mut buffers);
        let ticket = spill.file(extent).write_chain(node, extent.offset, buffers);
        Ok(SpillWrite {
            ticket,
            to,
            extent,
            size,
        })
    }

    pub(crate) fn bytes(&self) -> usize {
        self.extent.bytes as usize
    }

    /// Waits for the write, and returns its place and the buffers.
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
            size,
        } = self;
        loop {
            let (mut buffers, result) = ticket.wait(node).await;
            let Err(error) = result else {
                let run = SpilledRun::new(extent, buffers.len());
                return Ok((Spilled { run, size }, buffers));
            };
            // The directory is full; another one may have room.
            spill.is_full(node, extent, error).await?;
            stamp(contents, spill, extent, &mut buffers);
            extent = spill.extent(node, to, extent.bytes).await?;
            stamp(contents, spill, extent, &mut buffers);
            ticket = spill.file(extent).write_chain(node, extent.offset, buffers);
        }
    }
}

/// Adds the place of each chunk to its checksum, or removes it again.
fn stamp(contents: &dyn Contents, spill: &Spill, extent: Extent, chunks: &mut [Buffer]) {
    let (stamps, mut offset) = (spill.stamps(extent), extent.offset);
    for chunk in chunks {
        contents.stamp(chunk, stamps.at(offset));
        offset += chunk.capacity() as u64;
    }
}
