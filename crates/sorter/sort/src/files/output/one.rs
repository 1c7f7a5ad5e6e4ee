//! Work of an output of one file alone: it outlives a run that is resumed, and it spares the inputs.

use std::io;
use std::path::Path;

use node::{DiskError, Node};
use pipeline::Failure;

use crate::files::input::{Input, Inputs};
use crate::files::output::{Commit, Output, single};
use crate::job::IoChoice;

impl Output {
    /// Opens a draft that outlives the run until it becomes `target`; its identity is given if an
    /// earlier run began it.
    ///
    /// # Errors
    /// When the draft is not that of the earlier run, another run has it, or the disk refuses.
    pub(crate) async fn keep(
        node: &Node,
        target: &Path,
        draft: (&Path, Option<u64>),
        io: IoChoice,
    ) -> Result<Output, Failure> {
        let draft = single::keep(node, target, draft, io).await?;
        Ok(Output::of(node, draft, Commit::One))
    }

    /// Refuses to write over an input: an open descriptor is written in place, while the input is
    /// read or before the sort is known to succeed. What is only added to an input may be there as
    /// well, unless a merge would see it there.
    ///
    /// # Errors
    /// When the output is one of these inputs.
    pub(crate) async fn spares(
        &self,
        node: &Node,
        inputs: &Inputs,
        merges: bool,
    ) -> Result<(), Failure> {
        let file = &self.first().file;
        let is_in_place = self.is_one() && file.is_sequential();
        let same = |input: &&Input| is_in_place && input.is_in(file);
        let mut same = inputs.files.iter().filter(same);
        let Some(input) = same.clone().next() else {
            return Ok(());
        };
        if file.appends(node).await? && !(merges && same.any(Input::sees_growth)) {
            return Ok(());
        }
        let name = input.name().display();
        let cause = format!("it is the input {name}, which would be overwritten; name it with -o");
        Err(DiskError::new("write", file.path(), io::Error::other(cause)).into())
    }
}
