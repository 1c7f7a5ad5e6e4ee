//! Facts about inputs for reports: one is compressed, or has grown.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use node::{FileKind, Node};

use crate::files::input::{Input, Inputs};
use crate::report::Warning;

impl Inputs {
    /// An input that is compressed.
    pub(crate) fn compressed(&self) -> Option<PathBuf> {
        let input = self.files.iter().find(|input| input.is_compressed)?;
        Some(input.source.path().unwrap_or(Path::new("-")).to_owned())
    }

    /// Looks at every regular file again, each once, and warns if it has grown since it was opened.
    /// A file that its name no longer leads to is not looked at.
    pub(crate) async fn grown(&self, node: &Node) -> Vec<Warning> {
        let mut told = BTreeSet::new();
        let mut warnings = Vec::new();
        for Input { source, seen, .. } in &self.files {
            let (Some(path), FileKind::Regular) = (source.path(), seen.kind) else {
                continue;
            };
            let Ok(now) = node.metadata(path).await else {
                continue;
            };
            let same = (now.device, now.identity) == (seen.device, seen.identity);
            if same && now.length > seen.length && told.insert((seen.device, seen.identity)) {
                let (was, now) = (seen.length, now.length);
                warnings.push(Warning::Grew {
                    file: path.to_owned(),
                    was,
                    now,
                });
            }
        }
        warnings
    }
}
