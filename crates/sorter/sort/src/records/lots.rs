//! The lots of records that are shuffled: a sort by them gives each record the same chance of each place.

use std::sync::Arc;

use node::{Heading, Lots};
use record::{Head, Headed};

use crate::records::contents::Contents;

#[derive(Debug)]
struct LinesOnTop(Headed);

impl Heading for LinesOnTop {
    fn bytes(&self, front: &[u8], is_whole: bool) -> Option<usize> {
        let mark = self.0.mark_of(front);
        let last = self
            .0
            .head()
            .last_line(self.0.framing(), &front[mark..], is_whole);
        match last {
            Ok(None) if front.len() <= Head::LONGEST_BYTES => None,
            Ok(Some(last)) => Some(mark + last.end),
            // The reader of the head says that it is too long, or too short.
            _ => Some(front.len()),
        }
    }
}

/// The lots of an input's records; `None` if they are sorted by their own bytes.
pub(crate) fn lots_of(contents: &dyn Contents, headed: Option<&Headed>) -> Option<Lots> {
    let heading = |headed: &Headed| -> Arc<dyn Heading> { Arc::new(LinesOnTop(headed.clone())) };
    Some(Lots {
        seed: contents.shuffle()?,
        file: 0,
        delimiter: contents.framing().records().delimiter()?,
        heading: headed.map(heading),
    })
}
