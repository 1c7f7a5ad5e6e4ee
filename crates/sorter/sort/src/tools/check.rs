//! Checks the order of records: all cores check blocks, and the blocks' edges are compared in input
//! order, as far as they are known without a gap. It ends at the first record that is out of order.
//!
//! ```text
//! blocks    |1 2 3|3 4 7|   ?   |8 9|        checked by any worker, in any order
//! joined    |1 2 3 3 4 7|                    3 <= 3; the last edge, and the number of records
//! ```

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use node::{Decompress, Mutex, Node};
use pipeline::{Control, Failure, Pipeline, Worker, sharing};
use record::{Checksum, Headed};

use crate::files::input::Inputs;
use crate::job::{IoChoice, ReadOptions, Source, naming_source};
use crate::names::{Phase, StageName};
use crate::records::block::Block;
use crate::records::contents::{Contents, Sifting};
use crate::records::lengths::Lengths;
use crate::records::view::view_of;
use crate::run::resolve;
use crate::stages::Sifter;
use crate::stages::line_numbers::{lines_in, lines_of};
use crate::tools::block_readers::{BlockReaders, DEPTH, READERS, ReadBlocks, read_buffers};

/// Options of a check.
#[derive(Clone)]
pub struct Checked {
    /// The input. Lines of a set of files all have their delimiters.
    pub source: Source,
    /// Its format and order. In a unique order equal keys are disorder, too.
    pub contents: Arc<dyn Contents>,
    /// The longest line that buffers have room for; if none, the memory decides.
    pub longest_line: Option<usize>,
    /// Records below a header, which decides the order of rows; it then replaces `contents`.
    pub headed: Option<Headed>,
    /// Whether to read past the page cache.
    pub io: IoChoice,
    /// Whether to decompress it.
    pub decompress: Decompress,
    /// Cores to use.
    pub cores: usize,
    /// The memory limit in bytes.
    pub memory_bytes: u64,
    /// To watch and stop it.
    pub control: Control,
}

/// The result of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckResult {
    /// All records are in order.
    Kept {
        /// The number of records.
        records: u64,
        /// The sum of their CRC-32.
        checksum: u128,
    },
    /// The first record that is not.
    Broken {
        /// Its number, from 1.
        number: u64,
        /// The line where it begins, from 1: a header and newlines in quotes count.
        line: u64,
        /// Its bytes, with the delimiter of a line.
        record: Vec<u8>,
    },
}

/// Bytes of a read, if records are not longer.
const UNIT_BYTES: u64 = 1 << 20;

/// Checks the order of records.
///
/// # Errors
/// When the input cannot be read, or a line does not fit in memory, or a set in order does not have the
/// records that its manifest lists. Disorder is a result, not an error.
pub async fn check(node: &Node, job: &Checked) -> Result<CheckResult, Failure> {
    let job = &with_rows(node, job).await?;
    let framing = job.contents.framing();
    let sources = std::slice::from_ref(&job.source);
    let mut inputs = Inputs::open(node, sources, framing, job.reading()).await?;
    let listed = inputs.listed.take();
    job.control
        .enter(Phase::Validate.name(), inputs.bytes.unwrap_or(0));
    let joined = job.joined(node, inputs).await?;
    let joined = joined.lock();
    if let Some(broken) = &joined.broken {
        return Ok(broken.clone());
    }
    assert!(joined.ahead.is_empty(), "records were left out");
    if let Some(listed) = listed {
        listed.check(Checksum(joined.checksum))?;
    }
    Ok(CheckResult::Kept {
        records: joined.records,
        checksum: joined.checksum,
    })
}

impl Checked {
    fn reading(&self) -> ReadOptions {
        ReadOptions {
            io: self.io,
            decompress: self.decompress,
            cores: self.cores,
            cores_of_pipe: self.cores,
            memory_bytes: self.memory_bytes,
            view: view_of(self.contents.multiline()),
            ..ReadOptions::default()
        }
    }

    /// Checks all blocks, or those up to a record out of order.
    async fn joined(&self, node: &Node, inputs: Inputs) -> Result<Arc<Mutex<Joined>>, Failure> {
        let mut pipeline = Pipeline::new(&self.control);
        let (contents, readers) = self.readers(node, inputs)?;
        let joined = Arc::new(Mutex::new(Joined {
            lines: lines_in(contents.header(), contents.framing().records()),
            ..Joined::default()
        }));
        let checker = Checker {
            contents,
            read: readers.start(node, &mut pipeline, self.cores),
            joined: joined.clone(),
        };
        let body = sharing(checker, check_blocks);
        pipeline.stage(node, StageName::Validator, self.cores, body);
        match pipeline.join(node).await {
            Ok(_) => Ok(joined),
            Err(Failure::Program(error)) if error.is::<Disorder>() => Ok(joined),
            Err(failure) if self.headed.is_some() => Err(failure),
            Err(failure) => Err(naming_source(failure, std::slice::from_ref(&self.source))),
        }
    }

    /// The records with the lengths that buffers have room for, and their readers.
    fn readers(
        &self,
        node: &Node,
        inputs: Inputs,
    ) -> Result<(Arc<dyn Contents>, BlockReaders), Failure> {
        let framing = self.contents.framing();
        // Each reader's requests in flight, one buffer for each checker, and one that waits for it.
        let count = READERS * DEPTH + 2 * self.cores;
        let share = (self.memory_bytes / (2 * count as u64)).max(framing.longest() as u64);
        let longest = self.longest_line.map_or(share, |bytes| bytes as u64);
        let unit = framing.unit(UNIT_BYTES.min(inputs.bytes.unwrap_or(u64::MAX)));
        let (framing, buffers) = read_buffers(node, (count, unit), framing, longest)?;
        let lengths = Lengths::about(framing.mean(), framing.longest());
        let longer = self.contents.with_lengths(lengths);
        let contents = longer.unwrap_or_else(|| Arc::clone(&self.contents));
        let sifter = || Sifter::new(Arc::clone(&contents), None, None);
        let readers = BlockReaders {
            inputs,
            framing,
            unit,
            buffers,
            sifter: contents.is_checked().then(sifter),
        };
        Ok((contents, readers))
    }
}

/// The job with the order of its rows, and the source behind their header.
async fn with_rows(node: &Node, job: &Checked) -> Result<Checked, Failure> {
    let Some(headed) = &job.headed else {
        return Ok(job.clone());
    };
    let sources = std::slice::from_ref(&job.source);
    let mut resolved = resolve(node, headed, sources, true, &job.reading()).await?;
    Ok(Checked {
        contents: resolved.contents,
        source: resolved.sources.swap_remove(0),
        ..job.clone()
    })
}

#[derive(Clone)]
struct Checker {
    contents: Arc<dyn Contents>,
    read: ReadBlocks,
    joined: Arc<Mutex<Joined>>,
}

#[derive(Default)]
struct BlockOrder {
    bytes: u64,
    records: u64,
    checksum: u64,
    lines: u64,
    /// Those before the first record.
    blank_before: u64,
    /// The first and the last record, unless all lines are blank.
    ends: Option<(Vec<u8>, Vec<u8>)>,
    /// The first record out of order.
    broken: Option<Broken>,
}

/// A record out of order: records and lines before it in the block, and itself.
struct Broken {
    records: u64,
    lines: u64,
    record: Vec<u8>,
}

/// The blocks from the begin of the input to the first that is not checked yet.
#[derive(Default)]
struct Joined {
    /// Position behind them.
    position: u64,
    records: u64,
    lines: u64,
    checksum: u128,
    last: Option<Vec<u8>>,
    broken: Option<CheckResult>,
    /// Blocks behind a gap, by position.
    ahead: BTreeMap<u64, BlockOrder>,
}

async fn check_blocks(worker: &Worker, checker: &Checker) -> Result<(), Failure> {
    while let Some(mut block) = worker.pop(&checker.read.blocks).await? {
        let (position, bytes) = (block.first, block.range().len());
        let order = checker.order_of(&mut block)?;
        checker.read.pool.give(&worker.node, block.buffer).await;
        let mut joined = checker.joined.lock();
        joined.ahead.insert(position, order);
        if checker.join(&mut joined) {
            return Err(Failure::Program(Box::new(Disorder)));
        }
        worker.did(bytes);
    }
    Ok(())
}

impl Checker {
    fn order_of(&self, block: &mut Block) -> Result<BlockOrder, Failure> {
        let framing = self.contents.framing().records();
        let is_several = self.contents.multiline().is_some();
        let mut order = BlockOrder {
            bytes: block.size.bytes,
            ..BlockOrder::default()
        };
        let all = &block.buffer.bytes()[block.range()];
        let is_checked = self.contents.is_checked();
        let (mut before, mut blank) = (0, 0);
        let mut ends: Option<(&[u8], &[u8])> = None;
        for record in framing.split(all) {
            let line = order.lines;
            order.lines += lines_of(record, framing, is_several);
            if is_checked && self.contents.is_blank(record) {
                blank += 1;
                continue;
            }
            let (first, last) = ends.unwrap_or((record, record));
            if before > 0 && !self.contents.in_order(last, record) {
                order.broken = Some(Broken {
                    records: before,
                    lines: line,
                    record: record.to_vec(),
                });
                break;
            }
            if before == 0 {
                order.blank_before = line;
            }
            (ends, before) = (Some((first, record)), before + 1);
        }
        order.ends = ends.map(|(first, last)| (first.to_vec(), last.to_vec()));
        if blank > 0 {
            let removed = self.contents.sift(block, Sifting::Skip);
            removed.expect("rows that were checked");
        }
        order.checksum = self.contents.measure(block)?;
        order.records = block.size.records;
        Ok(order)
    }

    /// Joins the blocks without a gap before them. Returns whether one is out of order.
    fn join(&self, joined: &mut Joined) -> bool {
        while joined.broken.is_none() {
            let Some(next) = joined.ahead.remove(&joined.position) else {
                break;
            };
            joined.position += next.bytes;
            let Some((first, last)) = next.ends else {
                joined.lines += next.lines;
                continue;
            };
            let follows = |last: &Vec<u8>| self.contents.in_order(last, &first);
            let broken = if joined.last.as_ref().is_none_or(follows) {
                next.broken
            } else {
                Some(Broken {
                    records: 0,
                    lines: next.blank_before,
                    record: first,
                })
            };
            joined.broken = broken.map(|broken| CheckResult::Broken {
                number: joined.records + broken.records + 1,
                line: joined.lines + broken.lines + 1,
                record: broken.record,
            });
            joined.records += next.records;
            joined.lines += next.lines;
            joined.checksum += u128::from(next.checksum);
            joined.last = Some(last);
        }
        joined.broken.is_some()
    }
}

/// Ends the pipeline: a record is out of order.
#[derive(Debug)]
struct Disorder;

impl fmt::Display for Disorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a record is out of order")
    }
}

impl std::error::Error for Disorder {}
