//! Waiting for another node, which may have died, while one's own run may have ended.

use node::{Closed, Pool, Ticket};
use pipeline::Worker;

/// How often one looks whether the run has ended meanwhile: seldom enough to cost nothing, soon enough for
/// people.
const LOOK_S: f64 = 0.25;

/// The answer of another node, or that the run has ended, which closes the pool.
pub(crate) async fn outlast<T>(
    worker: &Worker,
    ticket: Ticket<T>,
    pool: &Pool,
) -> Result<T, Closed> {
    let node = &worker.node;
    let look = (LOOK_S / node.seconds(1)) as u64;
    let wait = async {
        while !ticket.done_by(node, node.now().after(look)).await {
            if pool.is_closed() {
                return Err(Closed);
            }
        }
        Ok(ticket.wait(node).await)
    };
    worker.starve(wait).await
}
