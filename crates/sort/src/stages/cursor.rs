//! The cursor: hands out the units of seekable inputs in order, to whichever reader asks next.
//!
//! Units that were divided among readers beforehand would wait for readers that are parked. And
//! their size may change while the input is read: each is as large as the dial says when it is
//! handed out.

use std::sync::Arc;

use node::{Guarded, Node};
use pipeline::Worker;

use crate::files::input::{Inputs, ReadUnit};

/// How far an input has been handed out, in records; clones share it.
#[derive(Clone)]
pub(crate) struct Cursor {
    shared: Arc<Guarded<u64>>,
}

impl Cursor {
    /// At the beginning.
    pub(crate) fn new(node: &Node) -> Cursor {
        Cursor {
            shared: Arc::new(Guarded::new(node, "the next unit", 0)),
        }
    }

    /// The next unit, of at most `records` records; `None` at the end.
    pub(crate) async fn next(
        &self,
        worker: &Worker,
        inputs: &Inputs,
        records: usize,
    ) -> Option<ReadUnit> {
        let step = |position: &mut u64| {
            let is_left = *position < inputs.records.unwrap_or(0);
            let unit = is_left.then(|| inputs.unit_at(*position, records));
            *position += unit.map_or(0, |unit| unit.records as u64);
            unit
        };
        self.shared.change(&worker.node, step).await
    }
}
