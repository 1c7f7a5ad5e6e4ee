//! The files of a job that have other bytes than the sort sees: compressed, of records of several lines, shuffled.

use std::sync::Arc;

use node::{Compress, Lots, Node, View};

use super::{Choice, IoChoice, Job, Target};
use crate::error::SortError;
use crate::records::lots::lots_of;
use crate::records::view::view_of;

impl Job {
    /// # Errors
    /// When a set of files is to have records of several lines.
    pub(crate) fn check_view(&self) -> Result<(), SortError> {
        match &self.target {
            Target::Directories(all) if self.view().is_some() => {
                let file = all[0].clone();
                Err(SortError::SeveralLines { file })
            }
            _ => Ok(()),
        }
    }

    /// How the bytes of its files look.
    pub(crate) fn view(&self) -> Option<Arc<dyn View>> {
        view_of(self.contents.multiline())
    }

    /// The lots of its records, if they are shuffled.
    pub(crate) fn lots(&self) -> Option<Lots> {
        lots_of(&*self.contents, self.headed.as_ref())
    }

    /// Whether the output bypasses the page cache. Without lots its bytes lie at no blocks.
    pub(crate) fn output_io(&self) -> IoChoice {
        match self.contents.shuffle() {
            Some(_) => IoChoice::Buffered,
            None => self.resources.io,
        }
    }

    /// # Errors
    /// When records are to be shuffled, but not by one process into one file.
    pub(crate) fn check_shuffle(&self, node: &Node) -> Result<(), SortError> {
        if self.contents.shuffle().is_none() {
            return Ok(());
        }
        let why = match &self.target {
            _ if node.nodes() > 1 => "several ranks cannot do it: run it without a launcher",
            _ if self.resume.is_some() => "it begins anew each time: remove --resume",
            Target::Directories(_) => "a set of files has an order: name one file",
            _ if self.plan == Choice::MergeInputs => "a merge keeps the order of its inputs",
            _ if self
                .lots()
                .is_some_and(|lots| !Lots::may_end_with(lots.delimiter)) =>
            {
                "no line of it ends with a byte from 0x80 to 0xbf: choose another delimiter"
            }
            _ => return Ok(()),
        };
        Err(SortError::NotShuffled { why })
    }

    /// How the output is compressed.
    pub(crate) fn compression(&self) -> Option<Compress> {
        self.compress.map(|format| Compress {
            format,
            cores: self.resources.cores,
            memory_bytes: self.resources.memory_bytes,
        })
    }

    /// # Errors
    /// When the output is to be compressed, but is not written front to back by one process.
    pub(crate) fn check_compression(&self, node: &Node) -> Result<(), SortError> {
        if self.compress.is_none() {
            return Ok(());
        }
        let (file, why) = match &self.target {
            Target::Directories(all) => (all[0].clone(), "a set of files is not: name one file"),
            Target::Together(path) if node.nodes() > 1 => {
                let what =
                    "a file that all ranks write is not: put {rank} in -o to give each its own";
                (path.clone(), what)
            }
            Target::Path(path) | Target::Together(path) if self.resume.is_some() => {
                (path.clone(), "that of --resume is not: remove --resume")
            }
            _ => return Ok(()),
        };
        Err(SortError::NotCompressed { file, why })
    }
}
