//! The cursor: hands out the units of seekable inputs in order, to the reader that asks next.
//!
//! Units divided among readers in advance would wait for readers that are parked. Handing them out
//! one by one also lets the dial change their size while the input is read.

use std::sync::Arc;

use node::{Guarded, Node};
use pipeline::Worker;

use crate::files::input::{Inputs, ReadUnit};

/// Bytes of the input that were handed out; clones share the count.
#[derive(Clone)]
pub(crate) struct Cursor {
    shared: Arc<Guarded<u64>>,
}

impl Cursor {
    pub(crate) fn new(node: &Node) -> Cursor {
        Cursor {
            shared: Arc::new(Guarded::new(node, "the next unit", 0)),
        }
    }

    /// The next unit, of at most `bytes`; `None` at the end.
    pub(crate) async fn next(
        &self,
        worker: &Worker,
        inputs: &Inputs,
        bytes: usize,
    ) -> Option<ReadUnit> {
        let step = |position: &mut u64| {
            let is_left = *position < inputs.bytes.unwrap_or(0);
            let unit = is_left.then(|| inputs.unit_at(*position, bytes));
            *position += unit.map_or(0, |unit| unit.bytes as u64);
            unit
        };
        self.shared.change(&worker.node, step).await
    }
}
