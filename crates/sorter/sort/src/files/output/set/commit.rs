//! The commit of a set: its files get their names, then its manifest does.

use node::{DiskError, Node, Open};
use pipeline::Failure;

use super::Set;
use crate::files::journal::Journal;
use crate::files::manifest::{Manifest, Placed};
use crate::files::output::draft::{shown_as, take_over};
use crate::files::output::old_set::OldSet;
use crate::files::temporary::Temporary;
use crate::files::text_file;
use crate::files::text_file::OTHERS_WRITE;
use crate::report::Warning;

impl Set {
    /// Shows the finished and listed files in one step, and removes those of the old set. Warns of
    /// old files that stay.
    ///
    /// # Errors
    /// When a disk refuses. The old set is there, unless only the manifest's name is not durable.
    pub(in crate::files::output) async fn commit(
        &self,
        node: &Node,
    ) -> Result<Option<Warning>, Failure> {
        let manifest = self.manifest.change(node, Option::take).await;
        let (manifest, directories) = (manifest.expect("the files were listed"), self.paths());
        let OldSet { placed: old, stays } = OldSet::of(node, &directories).await?;
        let placed = |draft| self.placed(draft);
        let new: Vec<Placed> = self.drafts().iter().map(placed).collect();
        let both = new.iter().chain(&old).cloned().collect();
        let journal = Journal::begin(node, &directories, both).await;
        let shown = self.home().given.join(Manifest::NAME);
        let journal = journal.map_err(shown_as(&shown))?;
        let (shown, gone) = match self.show(node, &manifest).await {
            Ok(()) => (Ok(stays), old),
            // The manifest has its name, but a crash may take that back: the next run does what the
            // journal says.
            Err((failure, true)) => return Err(failure),
            Err((failure, false)) => (Err(failure), new),
        };
        for (directory, name) in gone {
            // A file that cannot be removed disturbs no run.
            let _ = node.remove(&directories[directory].join(name)).await;
        }
        journal.end(node).await;
        shown
    }

    /// Gives all files their names, and then the manifest its own.
    ///
    /// # Errors
    /// The error says whether the manifest exists nevertheless.
    async fn show(&self, node: &Node, manifest: &Manifest) -> Result<(), (Failure, bool)> {
        for draft in self.drafts() {
            let named = draft.name(node).await;
            named.map_err(|error| (error.into(), false))?;
        }
        let shown = self.home().given.join(Manifest::NAME);
        let put = self.put(node, manifest).await;
        put.map_err(|(error, is_there)| (shown_as(&shown)(error).into(), is_there))
    }

    async fn put(&self, node: &Node, manifest: &Manifest) -> Result<(), (DiskError, bool)> {
        let (home, access) = (&self.home().path, self.access.manifest);
        let (direct, mode) = (false, self.access.draft_mode(access) & !OTHERS_WRITE);
        let draft = Temporary::create(node, home, Open::Create { direct, mode }).await;
        let draft = draft.map_err(|error| (error, false))?;
        let path = home.join(Manifest::NAME);
        let ended = async {
            text_file::write(node, &draft.file, manifest.text()).await?;
            take_over(node, &draft.file, access).await?;
            node.rename(&draft.path, &path).await
        };
        let Err(error) = ended.await else {
            return Ok(());
        };
        let is_there = draft.is_at(node, &path).await;
        draft.remove(node).await;
        Err((error, is_there))
    }
}
