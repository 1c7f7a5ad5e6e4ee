//! An output whose file has other bytes than the sort writes.

use std::sync::Arc;

use node::{Compress, Node, View};
use pipeline::Failure;

use super::draft::Draft;
use super::{Commit, Output};
use crate::job::Job;

impl Output {
    /// The output, which must be one file, compressed on the way if it is to be.
    ///
    /// # Errors
    /// When the node does not know compressed files, or there is no memory.
    pub(crate) async fn compressed(
        self,
        node: &Node,
        how: Option<Compress>,
    ) -> Result<Output, Failure> {
        match how {
            Some(how) => self.made(node, |draft| draft.compressed(how)).await,
            None => Ok(self),
        }
    }

    /// The output, which must be one file, without the lots of its records, if they have some.
    ///
    /// # Errors
    /// When the system does not say what file it is.
    pub(crate) async fn collecting(self, node: &Node, job: &Job) -> Result<Output, Failure> {
        let heading_bytes = job.contents.header().len();
        match job.lots() {
            Some(lots) => {
                let collecting = |draft: Draft| draft.collecting(&lots, heading_bytes);
                self.made(node, collecting).await
            }
            None => Ok(self),
        }
    }

    /// The output with its one file made into another.
    async fn made(
        self,
        node: &Node,
        make: impl FnOnce(Draft) -> Result<Draft, Failure>,
    ) -> Result<Output, Failure> {
        let plain = self.first();
        match make(plain.clone()) {
            Ok(draft) => Ok(Output::of(node, draft, Commit::One)),
            Err(failure) => {
                plain.discard(node).await;
                Err(failure)
            }
        }
    }

    /// The output, which must be one file, written as `view` has it if there is one.
    pub(crate) fn hiding(self, node: &Node, view: Option<&Arc<dyn View>>) -> Output {
        match view {
            Some(view) => Output::of(node, self.first().hiding(view), Commit::One),
            None => self,
        }
    }
}
