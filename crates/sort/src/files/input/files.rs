//! The inputs as one task reads them.

use std::sync::Arc;

use node::{File, Node};
use pipeline::Failure;

use crate::files::input::Inputs;

/// The input files of one task, of which the last one used stays open.
pub(crate) struct Files {
    inputs: Arc<Inputs>,
    last: Option<(usize, File)>,
}

impl Files {
    pub(crate) fn new(inputs: &Arc<Inputs>) -> Files {
        Files {
            inputs: Arc::clone(inputs),
            last: None,
        }
    }

    pub(crate) async fn of(&mut self, node: &Node, number: usize) -> Result<File, Failure> {
        match &self.last {
            Some((last, file)) if *last == number => Ok(file.clone()),
            _ => {
                let file = self.inputs.files[number].open(node).await?;
                self.last = Some((number, file.clone()));
                Ok(file)
            }
        }
    }
}
