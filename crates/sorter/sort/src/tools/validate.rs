//! valsort on a node: all cores validate blocks, and the summaries are joined in order.

use std::collections::BTreeMap;
use std::sync::Arc;

use node::{Decompress, Mutex, Node};
use pipeline::{Control, Failure, Pipeline, Worker, sharing};
use record::{Comparison, Summary, Validator};

use crate::files::input::Inputs;
use crate::job::{IoChoice, ReadOptions, Source, naming_source};
use crate::names::{Phase, StageName};
use crate::plan::unit;
use crate::records::framing::Framing;
use crate::records::view::view_of;
use crate::tools::block_readers::{BlockReaders, DEPTH, ReadBlocks, read_buffers};

/// Options of valsort.
#[derive(Clone)]
pub struct Validated {
    /// The inputs, in order.
    pub sources: Vec<Source>,
    /// The expected order.
    pub comparison: Comparison,
    /// Whether to read past the page cache.
    pub io: IoChoice,
    /// The inputs to decompress.
    pub decompress: Decompress,
    /// Cores to use.
    pub cores: usize,
    /// To watch and stop it.
    pub control: Control,
}

/// Memory of which a decompressor may take a part. The other buffers are few and small.
const MEMORY_BYTES: u64 = 128 << 20;

/// Validates records.
///
/// # Errors
/// When the input cannot be read. Disorder is a result, not an error.
pub async fn validate(node: &Node, job: &Validated) -> Result<Summary, Failure> {
    let framing = Framing::ending(job.comparison.framing());
    let reading = ReadOptions {
        io: job.io,
        decompress: job.decompress,
        cores: job.cores,
        cores_of_pipe: job.cores,
        memory_bytes: MEMORY_BYTES,
        view: view_of(job.comparison.multiline()),
        ..ReadOptions::default()
    };
    let inputs = Inputs::open(node, &job.sources, framing, reading).await?;
    job.control
        .enter(Phase::Validate.name(), inputs.bytes.unwrap_or(0));
    let mut pipeline = Pipeline::new(&job.control);
    let unit = unit(inputs.bytes, framing);
    // Each reader's requests in flight, one buffer for each validator, and one that waits for it.
    let count = BlockReaders::count(&inputs) * DEPTH + 2 * job.cores;
    let (framing, buffers) = read_buffers(node, (count, unit), framing, longest(&inputs))?;
    let readers = BlockReaders {
        inputs,
        framing,
        unit,
        buffers,
        sifter: None,
    };
    let found = Found::default();
    let checker = Checker {
        comparison: job.comparison.clone(),
        read: readers.start(node, &mut pipeline, job.cores),
        found: found.clone(),
    };
    pipeline.stage(
        node,
        StageName::Validator,
        job.cores,
        sharing(checker, check),
    );
    let joined = pipeline.join(node).await;
    joined.map_err(|failure| naming_source(failure, &job.sources))?;
    Ok(found.joined(&job.comparison))
}

/// The most bytes that a record of these inputs may have.
fn longest(inputs: &Inputs) -> u64 {
    let bytes = inputs.files.iter().map(|input| {
        if input.is_sequential() {
            u64::MAX
        } else {
            // A missing delimiter is added.
            input.bytes + 1
        }
    });
    bytes.max().unwrap_or(0)
}

/// Summaries of blocks by the position of their first record; clones share them.
#[derive(Clone, Default)]
struct Found {
    shared: Arc<Mutex<BTreeMap<u64, Summary>>>,
}

impl Found {
    fn add(&self, first: u64, summary: Summary) {
        self.shared.lock().insert(first, summary);
    }

    fn joined(&self, comparison: &Comparison) -> Summary {
        let found = std::mem::take(&mut *self.shared.lock());
        let all = found.into_values();
        all.fold(Summary::default(), |before, next| {
            before.merge(next, comparison)
        })
    }
}

#[derive(Clone)]
struct Checker {
    comparison: Comparison,
    read: ReadBlocks,
    found: Found,
}

async fn check(worker: &Worker, checker: &Checker) -> Result<(), Failure> {
    while let Some(block) = worker.pop(&checker.read.blocks).await? {
        let range = block.range();
        let mut validator = Validator::new(checker.comparison.clone());
        validator.push(&block.buffer.bytes()[range.clone()]);
        checker.found.add(block.first, validator.finish());
        checker.read.pool.give(&worker.node, block.buffer).await;
        worker.did(range.len());
    }
    Ok(())
}
