//! Blocks that come back from the other blocks and the parity of their stripes.
//!
//! Whether what came back is right is for the caller to say: each chunk has a checksum.

use std::path::PathBuf;

use kernel::mix;
use node::{Buffer, DiskError, File, Node};

use crate::files::spill::parity::Note;
use crate::files::spill::stripes::{Freed, Piece};
use crate::files::spill::{Extent, Spill, State};
use crate::files::temporary::Temporary;
use crate::report::{Rebuilt, StripeReport};

/// The failure of a chunk that was read, but is another than was written.
const SPOILT: &str = "temporary files there do not read back as they were written";

impl Spill {
    /// Fills a buffer with what was written to a place, from the other directories. `None` if they do not
    /// have it.
    pub(crate) async fn rebuild(
        &self,
        node: &Node,
        place: Extent,
        buffer: &mut Buffer,
    ) -> Option<()> {
        let form = self.striping?.form;
        let directory = place.file % form.directories();
        let mut blocks = self.blocks(node, form.blocks).await.ok()?;
        let mut all_there = Some(());
        let mut at = 0;
        for piece in form.pieces(directory, place.range()) {
            let length = (piece.within.end - piece.within.start) as usize;
            let part = &mut buffer.bytes_mut()[at..at + length];
            part.fill(0);
            let reads = self.others(place, &piece).into_iter().zip(blocks);
            let reads = reads.map(|((file, offset), block)| file.read(node, offset, length, block));
            blocks = Vec::with_capacity(form.blocks);
            for read in reads.collect::<Vec<_>>() {
                let (block, result) = read.wait(node).await;
                // Behind the end of a file are zeros.
                match result {
                    Ok(()) => mix(&mut part[..block.len()], block.filled()),
                    Err(_) => all_there = None,
                }
                blocks.push(block);
            }
            at += length;
        }
        let step = |state: &mut State| state.parity.free.append(&mut blocks);
        self.shared.change(node, step).await;
        all_there
    }

    /// The other blocks of a piece's stripe: file and offset.
    fn others(&self, place: Extent, piece: &Piece) -> Vec<(File, u64)> {
        let form = self.striping.expect("it has pieces").form;
        let (own, all) = (place.file % form.directories(), form.directories());
        let first = place.file - own;
        self.shared.look(|state| {
            let file = |directory: usize| {
                let is_parity = directory == piece.stripe.directory;
                let files = if is_parity {
                    &state.parity.files
                } else {
                    &state.files
                };
                let offset = form.offset(piece.stripe, directory) + piece.within.start;
                (files[first + directory].file.clone(), offset)
            };
            (0..all).filter(|at| *at != own).map(file).collect()
        })
    }

    /// Notes that so much of a directory was rebuilt after a failure.
    pub(crate) async fn was_rebuilt(&self, node: &Node, place: Extent, cause: Option<&DiskError>) {
        let cause = cause.map_or_else(|| SPOILT.to_owned(), DiskError::to_string);
        let step = |state: &mut State| {
            let (_, directory) = state.stripes_of(place.file).expect("it was rebuilt");
            state.parity.failed(directory, &cause);
            state.parity.notes[directory].rebuilt += place.bytes;
        };
        self.shared.change(node, step).await;
    }

    /// Gives back the space of stripes of which all was read.
    pub(super) async fn give_back_stripes(&self, node: &Node, extent: Extent) {
        let step = |state: &mut State| {
            state.logs.release(extent);
            let (stripes, directory) = state.stripes_of(extent.file).expect("it has stripes");
            let first = extent.file - directory;
            let files = first..first + stripes.form.directories();
            if !files.clone().all(|file| state.logs.has_holes(file)) {
                return (Vec::new(), Vec::new());
            }
            let (stripes, _) = state.stripes_of(extent.file).expect("it has stripes");
            let freed = stripes.release(directory, extent.range());
            let file = |of: &[Temporary], at: usize| of[at].file.clone();
            let files = files.map(|at| (file(&state.files, at), file(&state.parity.files, at)));
            (freed, files.collect())
        };
        let (freed, files) = self.shared.change(node, step).await;
        for Freed { data, parity } in freed {
            for (log, of_parity) in &files {
                // If this fails, the space comes back with the file.
                let _ = log.release(node, data.clone()).await;
                let _ = of_parity.release(node, parity.clone()).await;
            }
        }
    }

    /// The stripes of the sort; `None` without any.
    pub(crate) fn stripe_report(&self) -> Option<StripeReport> {
        let form = self.striping?.form;
        Some(self.shared.look(|state| {
            let notes = self.directories.iter().zip(&state.parity.notes);
            let rebuilt = |(directory, note): (&PathBuf, &Note)| {
                Some(Rebuilt {
                    directory: directory.clone(),
                    bytes: note.rebuilt,
                    cause: note.cause.clone()?,
                })
            };
            let unprotected = state.logs.stripes.iter().map(|stripes| stripes.unprotected);
            StripeReport {
                blocks: form.blocks,
                parity_bytes: state.parity.written,
                rebuilt: notes.filter_map(rebuilt).collect(),
                unprotected_bytes: unprotected.sum(),
            }
        }))
    }
}
