//! The exchange as streams: all pairs at once, each limited to its fair share (TritonSort 4.1).
//!
//! ```text
//!          rank 0   rank 1   rank 2
//! rank 0      .     2 ==>    2 ==>       each arrow: at most a window of chunks on their way, so that no
//! rank 1    2 ==>     .      2 ==>       pair's data queue up in front of another's
//! rank 2    2 ==>   2 ==>      .
//! ```
//!
//! TritonSort limits each flow by its socket's receive window, since all of them are equal; here
//! credits do it. Each chunk goes as soon as its rank has one.

use pipeline::{Failure, Worker};

use crate::stages::sender::{Sender, Waiting};

/// Sends all that distributors have.
pub(super) async fn send_all(worker: &Worker, sender: &Sender) -> Result<(), Failure> {
    let mut waiting = Waiting::new();
    while waiting.more || !waiting.is_empty() {
        // All there is comes first: it may go elsewhere.
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
