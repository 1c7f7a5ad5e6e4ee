//! Bytes that come front to back, stored as a sort stores its output: beside the target, durable, with
//! the access of the old file, and under their name only when all have come.

use std::path::PathBuf;
use std::sync::Arc;

use node::{Buffer, Compress, File, Filled, Node, Pool, Queue, Standard};
use pipeline::{Control, Failure, Pipeline, Worker, sharing};

use crate::error::no_memory;
use crate::files::output::Output;
use crate::job::{IoChoice, Target};
use crate::names::{Phase, StageName};
use crate::records::block::{BLOCK_BYTES, Piece};
use crate::records::size::Sum;
use crate::report::Warning;
use crate::stages::{Tally, Writer, write};
use node::temporary::check_name;

/// Bytes of a request, whole disk blocks.
const UNIT_BYTES: usize = 1 << 20;
const _: () = assert!((UNIT_BYTES as u64).is_multiple_of(BLOCK_BYTES));

const DEPTH: usize = 2;

/// One buffer that is filled, one that waits, and those in flight.
const BUFFERS: usize = 2 + DEPTH;

/// Stores standard input in the file `target`, compressed if asked. Warns if that was
/// written in place.
///
/// # Errors
/// When the input or the disk fails. The target keeps its old content then.
pub async fn store(
    node: &Node,
    target: PathBuf,
    compress: Option<Compress>,
) -> Result<Option<Warning>, Failure> {
    check_name(&target)?;
    let input = node.standard(Standard::Input).await?;
    let mut output = Output::open(node, &Target::Path(target), IoChoice::Auto, &[]).await?;
    output = output.compressed(node, compress).await?;
    let stored = async {
        let bytes = copy(node, input, &output).await?;
        output.finish(node, bytes).await?;
        output.name(node).await
    };
    let stored = stored.await;
    if stored.is_err() {
        output.discard(node).await;
    }
    stored
}

async fn copy(node: &Node, input: File, output: &Output) -> Result<u64, Failure> {
    let control = Control::default();
    control.enter(Phase::Generate.name(), 0);
    let mut pipeline = Pipeline::new(&control);
    let buffers = node
        .buffers(BUFFERS, UNIT_BYTES, Filled::Often)
        .map_err(|cause| no_memory(BUFFERS * UNIT_BYTES, &cause))?;
    let tally = Tally::default();
    let pieces = pipeline.owns(Queue::new(node, "pieces", 1, 1));
    let source = Source {
        input,
        pool: pipeline.owns(Pool::new(node, "write buffers", buffers)),
        out: pieces.clone(),
        tally: tally.clone(),
        is_sequential: output.is_sequential(),
    };
    pipeline.stage(node, StageName::Reader, 1, sharing(source, read));
    let writer = Writer {
        output: Arc::new(output.clone()),
        pieces,
        depth: DEPTH,
    };
    pipeline.stage(node, StageName::Writer, 1, sharing(writer, write));
    pipeline.join(node).await?;
    Ok(tally.records_in().size.bytes)
}

#[derive(Clone)]
struct Source {
    input: File,
    pool: Pool,
    out: Queue<Piece>,
    /// Gets the number of all bytes.
    tally: Tally,
    is_sequential: bool,
}

async fn read(worker: &Worker, source: &Source) -> Result<(), Failure> {
    let mut offset = 0;
    loop {
        let buffer = worker.take(&source.pool).await?;
        let read = source.input.read(&worker.node, offset, UNIT_BYTES, buffer);
        let (buffer, result) = read.wait(&worker.node).await;
        result?;
        let bytes = buffer.len();
        if bytes > 0 {
            worker
                .push(&source.out, source.piece(offset, buffer))
                .await?;
            worker.did(bytes);
        }
        offset += bytes as u64;
        if bytes < UNIT_BYTES {
            break;
        }
    }
    let mut all = Sum::default();
    all.size.bytes = offset;
    source.tally.add_in(all);
    source.out.finish(&worker.node).await;
    Ok(())
}

impl Source {
    /// A file is written in whole disk blocks, and cut to its length at the end.
    fn piece(&self, offset: u64, mut buffer: Buffer) -> Piece {
        let bytes = buffer.len();
        let whole = if self.is_sequential {
            bytes
        } else {
            bytes.next_multiple_of(BLOCK_BYTES as usize)
        };
        buffer.set_len(whole);
        buffer.bytes_mut()[bytes..whole].fill(0);
        Piece {
            file: 0,
            offset,
            range: 0..whole,
            buffer,
            home: self.pool.clone(),
        }
    }
}
