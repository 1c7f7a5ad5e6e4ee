//! The parity of stripes on its way to the disks: a run is mixed into the parity of its stripes before it is
//! written, and the parity of those that are full is written behind it.
//!
//! One directory may be lost: runs and parity that it refuses go to others, or are done without. A second one
//! fails the sort, as the first does without stripes.

use std::collections::VecDeque;

use node::{Buffer, ChainTicket, DiskError, File, Filled, Node};
use pipeline::Failure;

use crate::error::no_memory;
use crate::files::spill::space::is_full;
use crate::files::spill::stripes::{Full, Stripes};
use crate::files::spill::{Extent, Spill, State, cannot_make, remove_all};
use crate::files::temporary::Temporary;
use crate::plan::{StripeForm, Striping};

#[derive(Default)]
pub(super) struct Parity {
    /// By generation, then by directory.
    pub files: Vec<Temporary>,
    pub free: Vec<Buffer>,
    writes: VecDeque<ParityWrite>,
    /// Writes for which a task waits.
    waiting: usize,
    pub written: u64,
    /// The directory that was given up.
    pub lost: Option<usize>,
    /// By directory.
    pub notes: Vec<Note>,
}

/// The state of a directory.
#[derive(Clone, Default)]
pub(super) struct Note {
    pub rebuilt: u64,
    /// Its first failure.
    pub cause: Option<String>,
}

struct ParityWrite {
    ticket: ChainTicket,
    directory: usize,
    bytes: u64,
}

/// The next block of memory.
enum Block {
    Free(Buffer),
    /// Behind a write.
    Behind(ParityWrite),
    More,
}

impl Parity {
    /// With memory for blocks.
    pub(super) fn with_memory(
        mut self,
        node: &Node,
        striping: Striping,
    ) -> Result<Parity, Failure> {
        let Striping { form, buffers } = striping;
        self.free = memory(node, buffers, form)?;
        self.notes = vec![Note::default(); form.directories()];
        Ok(self)
    }

    pub(super) fn failed(&mut self, directory: usize, cause: &dyn ToString) {
        let known = &mut self.notes[directory].cause;
        known.get_or_insert_with(|| cause.to_string());
    }

    /// The oldest write, for which the caller waits.
    fn next_write(&mut self) -> Option<ParityWrite> {
        let write = self.writes.pop_front()?;
        self.waiting += 1;
        Some(write)
    }

    /// Notes that a directory failed. Returns whether the stripes do without it.
    fn gives_up(&mut self, directory: usize, error: &DiskError) -> bool {
        let does = *self.lost.get_or_insert(directory) == directory;
        if does {
            self.failed(directory, error);
        }
        does
    }
}

fn memory(node: &Node, blocks: usize, form: StripeForm) -> Result<Vec<Buffer>, Failure> {
    let bytes = form.block_bytes as usize;
    let buffers = node.buffers(blocks, bytes, Filled::Often);
    Ok(buffers.map_err(|cause| no_memory(blocks * bytes, &cause))?)
}

impl State {
    /// Begins the stripes of a generation; a directory that was given up takes none.
    pub(super) fn begin_stripes(&mut self, striping: Option<Striping>) {
        if let Some(Striping { form, .. }) = striping {
            let lost = (0..form.directories()).map(|at| self.parity.lost == Some(at));
            self.logs.begin_stripes(form, &lost.collect::<Vec<_>>());
        }
    }

    /// The stripes of a file, if there are some, and its directory.
    pub(super) fn stripes_of(&mut self, file: usize) -> Option<(&mut Stripes, usize)> {
        let directories = self.logs.stripes.last()?.form.directories();
        let stripes = &mut self.logs.stripes[file / directories];
        Some((stripes, file % directories))
    }
}

impl Spill {
    /// With stripes of this form.
    pub(crate) fn striped(self, striping: Option<Striping>) -> Spill {
        Spill { striping, ..self }
    }

    /// The first files for parity, and memory for it.
    pub(super) async fn make_parity(&self, node: &Node) -> Result<Parity, Failure> {
        let Some(striping) = self.striping else {
            return Ok(Parity::default());
        };
        let mut parity = Parity::default().with_memory(node, striping)?;
        for directory in self.directories.iter() {
            match Temporary::create(node, directory, self.how).await {
                Ok(file) => parity.files.push(file),
                Err(error) => {
                    remove_all(node, &parity.files).await;
                    return Err(cannot_make(directory, error).into());
                }
            }
        }
        Ok(parity)
    }

    /// The files of the next generation.
    pub(super) async fn next_stripes(&self, node: &Node) -> Result<(), Failure> {
        let all = self.directories.len();
        let mut made = Vec::new();
        for number in (0..all).chain(0..all) {
            match self.another(node, number, made.len() >= all).await {
                Ok(file) => made.push(file),
                Err(error) => {
                    remove_all(node, &made).await;
                    return Err(cannot_make(&self.directories[number], error).into());
                }
            }
        }
        let step = |state: &mut State| {
            state.parity.files.extend(made.split_off(all));
            state.files.append(&mut made);
            let State { logs, kinds, .. } = state;
            logs.next_generation(kinds);
            state.begin_stripes(self.striping);
        };
        self.shared.change(node, step).await;
        Ok(())
    }

    /// Another file in a directory. One that cannot make it is given up, and keeps the file that it has.
    async fn another(
        &self,
        node: &Node,
        number: usize,
        is_parity: bool,
    ) -> Result<Temporary, DiskError> {
        let made = Temporary::create(node, &self.directories[number], self.how).await;
        let Err(error) = made else {
            return made;
        };
        let step = |state: &mut State| {
            let State { files, parity, .. } = state;
            let old = if is_parity { &parity.files } else { &*files };
            let old = old[old.len() - self.directories.len() + number].clone();
            parity.gives_up(number, &error).then_some(old)
        };
        self.shared.change(node, step).await.ok_or(error)
    }

    /// Mixes a run that is written next into the parity of its stripes, and begins to write those that are
    /// full.
    pub(crate) async fn mix(
        &self,
        node: &Node,
        extent: Extent,
        run: &[Buffer],
    ) -> Result<(), Failure> {
        if self.striping.is_none() {
            return Ok(());
        }
        let step = |state: &mut State| {
            let (stripes, directory) = state.stripes_of(extent.file).expect("it has stripes");
            stripes.missing(directory, extent.range())
        };
        let missing = self.shared.change(node, step).await;
        let mut fresh = self.blocks(node, missing).await?;
        let step = |state: &mut State| {
            let (stripes, directory) = state.stripes_of(extent.file).expect("it has stripes");
            stripes.mix(directory, extent.range(), run, &mut fresh);
            let full = stripes.full();
            state.parity.free.append(&mut fresh);
            full
        };
        let full = self.shared.change(node, step).await;
        self.write_parity(node, full).await
    }

    /// Writes the parity of all stripes that are begun: what follows is read, or begins others.
    pub(crate) async fn end_stripes(&self, node: &Node) -> Result<(), Failure> {
        let step = |state: &mut State| state.logs.stripes.last_mut().map(Stripes::end_all);
        let Some(rest) = self.shared.change(node, step).await else {
            return Ok(());
        };
        self.write_parity(node, rest).await?;
        let next = |state: &mut State| state.parity.next_write();
        while let Some(write) = self.shared.change(node, next).await {
            self.end_write(node, write).await?;
        }
        Ok(())
    }

    /// Begins to write parity, in one request what lies together.
    async fn write_parity(&self, node: &Node, full: Vec<Full>) -> Result<(), Failure> {
        if full.is_empty() {
            return Ok(());
        }
        let step = |state: &mut State| {
            let State { logs, parity, .. } = state;
            let stripes = logs.stripes.last_mut().expect("they are full");
            let form = stripes.form;
            let first = parity.files.len() - form.directories();
            let mut chains: Vec<(File, usize, u64, Vec<Buffer>)> = Vec::new();
            let mut behind = None;
            for full in full {
                let (stripe, mut block) = (full.stripe, full.parity);
                let (directory, length) = (stripe.directory, block.capacity() as u64);
                let offset = form.offset(stripe, directory);
                if !stripes.is_open(directory) {
                    stripes.unprotected += length * form.blocks as u64;
                    block.set_capacity(form.block_bytes as usize);
                    parity.free.push(block);
                    continue;
                }
                if behind != Some((directory, offset)) {
                    let file = parity.files[first + directory].file.clone();
                    chains.push((file, directory, offset, Vec::new()));
                }
                behind = Some((directory, offset + length));
                chains.last_mut().expect("one was begun").3.push(block);
            }
            chains
        };
        let chains = self.shared.change(node, step).await;
        let writes = chains.into_iter().map(|(file, directory, offset, blocks)| {
            let bytes = blocks.iter().map(|block| block.capacity() as u64).sum();
            let ticket = file.write_chain(node, offset, blocks);
            ParityWrite {
                ticket,
                directory,
                bytes,
            }
        });
        let writes: Vec<ParityWrite> = writes.collect();
        let step = |state: &mut State| state.parity.writes.extend(writes);
        self.shared.change(node, step).await;
        Ok(())
    }

    async fn end_write(&self, node: &Node, write: ParityWrite) -> Result<(), Failure> {
        let ParityWrite {
            ticket,
            directory,
            bytes,
        } = write;
        let (mut blocks, result) = ticket.wait(node).await;
        let step = |state: &mut State| {
            let State { logs, parity, .. } = state;
            parity.waiting -= 1;
            let stripes = logs.stripes.last_mut().expect("they were written");
            for block in &mut blocks {
                block.set_capacity(stripes.form.block_bytes as usize);
            }
            parity.free.append(&mut blocks);
            let Err(error) = result else {
                parity.written += bytes;
                return Ok(());
            };
            if !is_full(&error) && !parity.gives_up(directory, &error) {
                return Err(error);
            }
            stripes.close(directory);
            stripes.unprotected += bytes * stripes.form.blocks as u64;
            parity.failed(directory, &error);
            Ok(())
        };
        Ok(self.shared.change(node, step).await?)
    }

    /// Memory for so many blocks.
    ///
    /// No deadlock: it waits for disks alone. Stripes that are begun are within a window of rows, for which
    /// there is memory; what a rare run needs beyond that is made.
    pub(super) async fn blocks(&self, node: &Node, count: usize) -> Result<Vec<Buffer>, Failure> {
        let mut blocks = Vec::with_capacity(count);
        while blocks.len() < count {
            let step = |state: &mut State| {
                let parity = &mut state.parity;
                let free = parity.free.pop().map(Block::Free);
                let free = free.or_else(|| parity.next_write().map(Block::Behind));
                free.or_else(|| (parity.waiting == 0).then_some(Block::More))
            };
            match self.shared.wait_for(node, step).await {
                Block::Free(buffer) => blocks.push(buffer),
                Block::Behind(write) => self.end_write(node, write).await?,
                Block::More => {
                    let form = self.striping.expect("they have a form").form;
                    blocks.append(&mut memory(node, 1, form)?);
                }
            }
        }
        Ok(blocks)
    }

    /// Whether a directory in which a run could not be written can be done without.
    pub(super) async fn gives_up(&self, node: &Node, extent: Extent, error: &DiskError) -> bool {
        let step = |state: &mut State| {
            let found = state.stripes_of(extent.file);
            let directory = found.map(|(_, directory)| directory);
            directory.is_some_and(|directory| state.parity.gives_up(directory, error))
        };
        self.shared.change(node, step).await
    }
}
