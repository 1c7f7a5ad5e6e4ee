//! Writes pieces where they belong, several in flight.

use std::collections::VecDeque;
use std::sync::Arc;

use node::{DiskTicket, Pool, Queue};
use pipeline::{Dial, Failure, Worker};

use crate::files::output::Output;
use crate::records::block::Piece;

/// What writers share.
#[derive(Clone)]
pub(crate) struct Writer {
    pub output: Arc<Output>,
    pub pieces: Queue<Piece>,
    /// Requests in flight of each.
    pub depth: Dial,
}

/// A writer's work. It never waits for a piece while a write is in flight: the buffers of finished
/// writes are what everybody upstream waits for.
pub(crate) async fn write(worker: &Worker, writer: &Writer) -> Result<(), Failure> {
    // Requests in flight together are not kept in order, and a pipe has no other place for them.
    let depth = || {
        if writer.output.is_sequential() {
            1
        } else {
            writer.depth.get()
        }
    };
    let mut in_flight = VecDeque::new();
    loop {
        while in_flight.len() >= depth() {
            give_back_oldest(worker, writer, &mut in_flight).await?;
        }
        let next = match worker.try_pop(&writer.pieces).await {
            Some(next) => next?,
            None if in_flight.is_empty() => worker.pop(&writer.pieces).await?,
            None => {
                give_back_oldest(worker, writer, &mut in_flight).await?;
                continue;
            }
        };
        let Some(piece) = next else { break };
        let bytes = piece.range.len();
        let file = writer.output.file(piece.file);
        let ticket = file.write(&worker.node, piece.offset, piece.buffer, piece.range);
        in_flight.push_back((ticket, piece.home, bytes));
    }
    while !in_flight.is_empty() {
        give_back_oldest(worker, writer, &mut in_flight).await?;
    }
    Ok(())
}

async fn give_back_oldest(
    worker: &Worker,
    writer: &Writer,
    in_flight: &mut VecDeque<(DiskTicket, Pool, usize)>,
) -> Result<(), Failure> {
    let (ticket, home, bytes) = in_flight.pop_front().expect("a write is in flight");
    let (buffer, result) = ticket.wait(&worker.node).await;
    result.map_err(|error| writer.output.named(error))?;
    home.give(&worker.node, buffer).await;
    worker.did(bytes);
    Ok(())
}
