//! The exchange as streams: all pairs at once, each limited to its fair share (TritonSort 4.1).
//!
//! ```text
//!          rank 0   rank 1   rank 2
//! rank 0      .     2 ==>    2 ==>       each arrow: at most a window of chunks in flight, so the data of
//! rank 1    2 ==>     .      2 ==>       one pair do not queue up in front of another's
//! rank 2    2 ==>   2 ==>      .
//! ```
//!
//! TritonSort limits each flow by its socket's receive window; here credits do that. A chunk goes as
//! soon as its rank has a credit.

use pipeline::{Failure, Worker};

use crate::stages::sender::{Sender, Waiting};

/// Sends all chunks of the distributors.
pub(super) async fn send_all(worker: &Worker, sender: &Sender) -> Result<(), Failure> {
    let mut waiting = Waiting::new();
    while waiting.more || !waiting.is_empty() {
        // All chunks are taken first: some may go to a rank that has a credit.
        waiting.fill(worker, sender).await?;
        if !waiting.is_empty() {
            let wanted: Vec<u32> = waiting.chunks.keys().copied().collect();
            waiting.send_one(worker, sender, &wanted).await?;
        } else if waiting.more {
            waiting.add(worker.pop(&sender.chunks).await?);
        }
    }
    Ok(())
}
