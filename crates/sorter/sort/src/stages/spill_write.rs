//! The write of a chain of sealed chunks to a spill file, as one request, packed or as they are.
//! Each chunk is stamped with its place there.

use node::{Buffer, ChainTicket, Node};
use pipeline::Failure;

use crate::files::spill::packing::{self, Form};
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
    form: Form,
    chunk_bytes: usize,
}

impl SpillWrite {
    /// Begins to write the chunks, at `to` or where there is room.
    pub(crate) async fn begin(
        node: &Node,
        spill: &Spill,
        to: Slot,
        (contents, mut chunks): (&dyn Contents, Vec<Chunk>),
    ) -> Result<SpillWrite, Failure> {
        let size = chunks.iter().map(|chunk| chunk.size).sum();
        let chunk_bytes = chunks[0].buffer.capacity();
        let form = spill.pack(node, &mut chunks);
        let mut buffers: Vec<Buffer> = chunks.into_iter().map(|chunk| chunk.buffer).collect();
        let bytes = buffers.iter().map(|buffer| buffer.capacity() as u64).sum();
        let extent = spill.extent(node, to, bytes).await?;
        stamp(contents, spill, (extent, form), &mut buffers);
        spill.mix(node, extent, &buffers).await?;
        let ticket = spill.file(extent).write_chain(node, extent.offset, buffers);
        Ok(SpillWrite {
            ticket,
            to,
            extent,
            size,
            form,
            chunk_bytes,
        })
    }

    /// Bytes on disk.
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
            form,
            chunk_bytes,
        } = self;
        loop {
            let begin = node.now();
            let (mut buffers, result) = ticket.wait(node).await;
            let Err(error) = result else {
                let bytes = (buffers.len() * chunk_bytes) as u64;
                spill.wrote(form, bytes, node.now().since(begin));
                let run = SpilledRun::new(extent, buffers.len(), form.units);
                for buffer in &mut buffers {
                    buffer.set_capacity(chunk_bytes);
                }
                return Ok((Spilled { run, size }, buffers));
            };
            // The directory is full, or lost; another one may have room.
            spill.is_full(node, extent, error).await?;
            stamp(contents, spill, (extent, form), &mut buffers);
            extent = spill.extent(node, to, extent.bytes).await?;
            stamp(contents, spill, (extent, form), &mut buffers);
            spill.mix(node, extent, &buffers).await?;
            ticket = spill.file(extent).write_chain(node, extent.offset, buffers);
        }
    }
}

/// Adds the place of each chunk to its checksum, or removes it again.
fn stamp(
    contents: &dyn Contents,
    spill: &Spill,
    (extent, form): (Extent, Form),
    chunks: &mut [Buffer],
) {
    let (stamps, mut offset) = (spill.stamps(extent), extent.offset);
    for chunk in chunks {
        match form.units {
            0 => contents.stamp(chunk, stamps.at(offset)),
            _ => packing::stamp(chunk, stamps.at(offset)),
        }
        offset += chunk.capacity() as u64;
    }
}
