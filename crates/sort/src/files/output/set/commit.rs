//! The commit of a set: its files get their names, then its manifest does.

use node::{DiskError, Node, Open};
use pipeline::Failure;

use super::OutputSet;
use crate::files::manifest::Manifest;
use crate::files::manifest::Placed;
use crate::files::output::file::take_over;
use crate::files::output::journal::Journal;
use crate::files::output::old_set::OldSet;
use crate::files::temporary::Temporary;
use crate::files::text_file;
use crate::files::text_file::OTHERS_WRITE;
use crate::report::Warning;

impl OutputSet {
    /// Makes all files as long as they are to be, and durable.
    pub(in crate::files::output) async fn finish(&self, node: &Node) -> Result<(), Failure> {
        for part in self.parts() {
            let file = &part.temporary.file;
            file.truncate(node, part.length)
                .await
                .map_err(|error| self.named(error))?;
            file.sync(node).await.map_err(|error| self.named(error))?;
        }
        Ok(())
    }

    /// Shows them in one step, once they are finished; a warning of files of the old set that stay.
    pub(in crate::files::output) async fn commit(
        &self,
        node: &Node,
    ) -> Result<Option<Warning>, Failure> {
        let manifest = self.change(node, |state| state.manifest.take()).await;
        let (manifest, directories) = (manifest.expect("the files were listed"), self.paths());
        let OldSet { placed: old, stays } = OldSet::of(node, &directories).await?;
        let new: Vec<Placed> = self
            .parts()
            .into_iter()
            .map(|part| (part.directory, part.name))
            .collect();
        let both = new.iter().chain(&old).cloned().collect();
        let journal = Journal::begin(node, &directories, both).await;
        let journal = journal.map_err(|error| DiskError {
            path: self.manifest_path(),
            ..error
        })?;
        let (shown, gone) = match self.show(node, &manifest).await {
            Ok(()) => (Ok(stays), old),
            // It may be there and not be durable: what its journal says is done by the next run.
            Err((failure, true)) => return Err(failure),
            Err((failure, false)) => (Err(failure), new),
        };
        for (directory, name) in gone {
            // A file that cannot be removed is in no run's way.
            let _ = node.remove(&directories[directory].join(name)).await;
        }
        journal.end(node).await;
        if shown.is_ok() {
            self.clone().discard(node).await;
        }
        shown
    }

    /// Gives all files their names, and then the manifest its own.
    ///
    /// # Errors
    /// With whether the manifest is there all the same.
    async fn show(&self, node: &Node, manifest: &Manifest) -> Result<(), (Failure, bool)> {
        let unseen = |error: DiskError| (Failure::from(error), false);
        for part in self.parts() {
            let name = self.directories[part.directory].path.join(&part.name);
            let taken = take_over(node, &part.temporary.file, self.access.files).await;
            taken.map_err(|error| unseen(self.named(error)))?;
            node.rename(&part.temporary.path, &name)
                .await
                .map_err(unseen)?;
        }
        let (home, path) = (&self.home().path, self.manifest_path());
        let unnamed = |error| {
            unseen(DiskError {
                path: path.clone(),
                ..error
            })
        };
        let mode = self.access.draft_mode(self.access.manifest) & !OTHERS_WRITE;
        let how = Open::Create {
            direct: false,
            mode,
        };
        let draft = Temporary::another(node, home, how).await.map_err(unnamed)?;
        let mut ended = text_file::write(node, &draft.file, manifest.text()).await;
        if ended.is_ok() {
            ended = take_over(node, &draft.file, self.access.manifest).await;
        }
        if ended.is_ok() {
            ended = node.rename(&draft.path, &home.join(Manifest::NAME)).await;
        }
        let Err(error) = ended else { return Ok(()) };
        let is_there = draft.is_at(node, &home.join(Manifest::NAME)).await;
        draft.remove(node).await;
        Err((DiskError { path, ..error }.into(), is_there))
    }

    /// Removes what has no name yet.
    pub(in crate::files::output) async fn discard(self, node: &Node) {
        let state = self.change(node, std::mem::take).await;
        let parts = state.parts.iter().map(|part| &part.temporary);
        for temporary in parts.chain(state.spares.iter().flatten()) {
            temporary.remove(node).await;
        }
    }
}
