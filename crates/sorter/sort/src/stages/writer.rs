//! Writes pieces to their places in the output, several in flight.

use std::sync::Arc;

use node::{DiskTicket, Pool, Queue};
use pipeline::{Failure, Step, Window, Worker};

use crate::files::output::Output;
use crate::records::block::Piece;

#[derive(Clone)]
pub(crate) struct Writer {
    pub output: Arc<Output>,
    pub pieces: Queue<Piece>,
    /// Requests in flight of each worker.
    pub depth: usize,
}

pub(crate) async fn write(worker: &Worker, writer: &Writer) -> Result<(), Failure> {
    // Requests in flight may end in any order, which a pipe cannot take.
    let depth = if writer.output.is_sequential() {
        1
    } else {
        writer.depth
    };
    let mut writes = Window::new(depth);
    while let Some(step) = writes.pop(worker, &writer.pieces).await? {
        match step {
            Step::Begin(piece) => writes.push(begin(worker, writer, piece)),
            Step::Finish(write) => finish(worker, writer, write).await?,
        }
    }
    Ok(())
}

struct Write {
    ticket: DiskTicket,
    bytes: usize,
    home: Pool,
}

fn begin(worker: &Worker, writer: &Writer, piece: Piece) -> Write {
    let bytes = piece.range.len();
    let file = writer.output.file(piece.file);
    Write {
        ticket: file.write(&worker.node, piece.offset, piece.buffer, piece.range),
        bytes,
        home: piece.home,
    }
}

async fn finish(worker: &Worker, writer: &Writer, write: Write) -> Result<(), Failure> {
    let (buffer, result) = write.ticket.wait(&worker.node).await;
    result.map_err(|error| writer.output.named(error))?;
    write.home.give(&worker.node, buffer).await;
    worker.did(write.bytes);
    Ok(())
}
