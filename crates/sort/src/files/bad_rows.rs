//! The file of rows that are set aside because they have mistakes.
//!
//! Rows come from several blocks at once, so it has them in no order. It gets its name with the
//! output: a sort that fails leaves none.

use std::path::PathBuf;
use std::sync::Arc;

use node::{Buffer, Guarded, Node, Tokens};
use pipeline::{Failure, Worker};

use crate::files::output::Output;
use crate::job::{IoChoice, Target};
use crate::records::size::Size;

/// Rows set aside; clones share the file.
#[derive(Clone)]
pub(crate) struct BadRows {
    path: PathBuf,
    output: Output,
    /// The one who has the token writes.
    turn: Tokens,
    written: Arc<Guarded<Size>>,
}

impl BadRows {
    /// Opens a draft of the file, in one of `places` if it cannot be replaced.
    ///
    /// # Errors
    /// When the path leads to a directory, or the disk refuses.
    pub(crate) async fn open(
        node: &Node,
        path: PathBuf,
        places: &[PathBuf],
    ) -> Result<BadRows, Failure> {
        let target = Target::Path(path.clone());
        let output = Output::open(node, &target, IoChoice::Buffered, places).await?;
        Ok(BadRows {
            path,
            output,
            turn: Tokens::new(node, "the file of bad rows", vec![0]),
            written: Arc::new(Guarded::new(node, "bad rows", Size::default())),
        })
    }

    /// Writes `records` rows.
    ///
    /// # Errors
    /// When the disk refuses.
    pub(crate) async fn add(
        &self,
        worker: &Worker,
        records: u64,
        rows: &[u8],
    ) -> Result<(), Failure> {
        let node = &worker.node;
        let bytes = rows.len();
        let mut buffer = Buffer::heap(bytes);
        buffer.bytes_mut()[..bytes].copy_from_slice(rows);
        buffer.set_len(bytes);
        let token = worker.hold(self.turn.take_any(node, &[0], None)).await?;
        let offset = self.written.look(|written| written.bytes);
        let ticket = self.output.file(0).write(node, offset, buffer, 0..bytes);
        let (_, result) = ticket.wait(node).await;
        let more = Size {
            records,
            bytes: bytes as u64,
        };
        self.written.change(node, |written| *written += more).await;
        if let Some(token) = token {
            self.turn.give(node, token).await;
        }
        Ok(result.map_err(|error| self.output.named(error))?)
    }

    /// The rows set aside so far.
    pub(crate) fn written(&self) -> Size {
        self.written.look(|written| *written)
    }

    pub(crate) fn path(&self) -> &PathBuf {
        &self.path
    }

    /// Makes the file durable and gives it its name.
    ///
    /// # Errors
    /// When the disk refuses.
    pub(crate) async fn commit(&self, node: &Node) -> Result<(), Failure> {
        self.output.finish(node, self.written().bytes).await?;
        self.output.name(node).await.map(drop)
    }

    pub(crate) async fn discard(&self, node: &Node) {
        self.output.discard(node).await;
    }
}
