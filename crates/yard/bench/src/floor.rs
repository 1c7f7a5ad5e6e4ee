//! The floor of a pass: one file is read while another of the same length is written.
//!
//! ```text
//! reader    | 4 MiB | 4 MiB | ...    direct, four in flight
//! writer    | 4 MiB | 4 MiB | ...    direct, four in flight, then sync
//! ```
//!
//! No sort that reads everything and writes everything in a pass takes less on this disk; one of
//! two passes takes twice that. The two sides share nothing but the disk: it is not a copy.

use std::path::{Path, PathBuf};
use std::time::Instant;

use node::{Node, Open, Requests, Way};
use pipeline::Failure;

use crate::host::on_node;
use terminal::ending::failure::CliFailure;

/// Requests of this size reach the disk's rate.
const BLOCK_BYTES: usize = 4 << 20;

/// Requests in flight on each side: as many as the sort's readers and writers have.
const DEPTH: usize = 4;

/// Only the benchmark reads it.
const MODE: u32 = 0o600;

const WRITER: &str = "floor writer";

/// The least time of a pass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Floor {
    /// From the file's creation to its sync.
    pub seconds: f64,
    /// Whether both sides bypassed the page cache.
    pub direct: bool,
}

/// Reads `input` and writes as much to `output`, a new file, at once; `output` is removed.
///
/// # Errors
/// A file that cannot be read or written.
pub fn read_and_write(input: &Path, output: &Path) -> Result<Floor, CliFailure> {
    let paths = (input.to_owned(), output.to_owned());
    on_node(move |node| {
        let (input, output) = paths.clone();
        async move { at_once(&node, input, output).await }
    })
}

async fn at_once(node: &Node, input: PathBuf, output: PathBuf) -> Result<Floor, Failure> {
    let from = node.open(&input, Open::Read { direct: true }).await?;
    let bytes = from.metadata().length;
    let offsets = move || (0..bytes).step_by(BLOCK_BYTES);
    let reads = Requests::new(node, Way::Read, BLOCK_BYTES, DEPTH)?;
    let writes = Requests::new(node, Way::Write, BLOCK_BYTES, DEPTH)?;
    let begin = Instant::now();
    let into = node
        .open(
            &output,
            Open::Create {
                direct: true,
                mode: MODE,
            },
        )
        .await?;
    into.preallocate(node, 0..bytes).await?;
    let target = into.clone();
    let writer = node.try_spawn(WRITER, move |node| async move {
        writes.run(&node, &target, offsets()).await?;
        target.sync(&node).await.map_err(Failure::from)
    });
    let writer = writer.map_err(|cause| Failure::NoThread {
        stage: WRITER,
        cause,
    })?;
    let read = reads.run(node, &from, offsets()).await;
    let written = writer.wait(node).await;
    let seconds = begin.elapsed().as_secs_f64();
    let floor = Floor {
        seconds,
        direct: from.is_direct() && into.is_direct(),
    };
    node.remove(&output).await?;
    read?;
    written.map_err(|panic| Failure::Panic {
        stage: WRITER,
        message: panic.0,
    })??;
    Ok(floor)
}
