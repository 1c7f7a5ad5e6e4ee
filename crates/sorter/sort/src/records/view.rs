//! Files of records of several lines: a record ends with a NUL where it is read, and with a newline in its file.

use std::io;
use std::sync::Arc;

use node::{Stretch, View};
use record::Multiline;

#[derive(Debug)]
struct SeveralLines(Arc<Multiline>);

impl View for SeveralLines {
    fn is_local(&self) -> bool {
        self.0.is_local()
    }

    fn show(&self, stretch: Stretch<'_>) -> io::Result<()> {
        let Stretch {
            offset,
            bytes,
            ahead,
            kept,
        } = stretch;
        let ended = self.0.end_records((offset, bytes), ahead, kept);
        ended.map_err(|mistake| io::Error::new(io::ErrorKind::InvalidInput, mistake))
    }

    fn hide(&self, bytes: &mut [u8]) {
        Multiline::end_lines(bytes);
    }
}

/// How the bytes of files with such records look; `None` if as they are.
pub fn view_of(multiline: Option<&Arc<Multiline>>) -> Option<Arc<dyn View>> {
    let records = SeveralLines(Arc::clone(multiline?));
    Some(Arc::new(records))
}
