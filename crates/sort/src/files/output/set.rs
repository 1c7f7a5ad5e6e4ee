//! An output of many files over some directories: the set appears whole or not at all, when its
//! manifest gets its name.
//!
//! ```text
//! open      a temporary file in each directory: it can be written, and dead runs' files are swept
//! lay out   sizes of all buckets are known: the other files, each with its space reserved
//! commit    lengths, durable; journal; names; manifest; the old set goes; journal goes   (`journal`)
//! ```
//!
//! Readers that have read the old manifest must read it again when its files are gone. Of several
//! runs into one directory the last one's set is there; runs that end in the same moment may leave
//! files that no manifest lists.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use node::{DiskError, File, FileKind, Guarded, Node, Open};
use pipeline::Failure;

use crate::error::SortError;
use crate::files::manifest::{ListedFile, Manifest, Placed, part_name};
use crate::files::output::Claim;
use crate::files::output::file::take_over;
use crate::files::output::journal::Journal;
use crate::files::output::layout::{Cut, Disk, Layout, divide};
use crate::files::output::old_set::{OldSet, SetAccess};
use crate::files::temporary::{Temporary, sweep};
use crate::files::text_file;
use crate::files::text_file::OTHERS_WRITE;
use crate::job::IoChoice;
use crate::records::contents::Contents;
use crate::records::span::Span;
use crate::report::Warning;

/// A set under way; clones are of the same.
#[derive(Clone)]
pub(crate) struct OutputSet {
    /// The manifest goes to the first.
    directories: Arc<Vec<Directory>>,
    /// The access of the set that it replaces.
    access: SetAccess,
    how: Open,
    shared: Arc<Guarded<State>>,
}

struct Directory {
    /// Links followed.
    path: PathBuf,
    /// As it was given.
    given: PathBuf,
    device: u64,
}

#[derive(Default)]
struct State {
    /// One in each directory, until it becomes a part.
    spares: Vec<Option<Temporary>>,
    /// In key order.
    parts: Vec<Part>,
    manifest: Option<Manifest>,
    /// What was measured of disks, by their devices.
    rates: BTreeMap<u64, u64>,
}

/// A file of the set.
#[derive(Clone)]
struct Part {
    temporary: Temporary,
    directory: usize,
    /// Its name when the set is complete.
    name: String,
    length: u64,
}

impl OutputSet {
    /// Opens the directories, each of which must be there.
    pub(super) async fn open(
        node: &Node,
        given: &[PathBuf],
        io: IoChoice,
    ) -> Result<OutputSet, Failure> {
        let mut directories = Vec::new();
        for path in given {
            directories.push(Directory::open(node, path, directories.is_empty()).await?);
        }
        // What is no manifest of ours is not replaced by one.
        let access = SetAccess::of(node, &directories[0].path).await?;
        let shared = Arc::new(Guarded::new(node, "files of a set", State::default()));
        let how = Open::Create {
            direct: io != IoChoice::Buffered,
            mode: access.draft_mode(access.files),
        };
        let set = OutputSet {
            directories: Arc::new(directories),
            access,
            how,
            shared,
        };
        match set.make_spares(node).await {
            Ok(()) => Ok(set),
            Err(error) => {
                set.discard(node).await;
                Err(error.into())
            }
        }
    }

    async fn make_spares(&self, node: &Node) -> Result<(), DiskError> {
        let paths = self.paths();
        for directory in self.directories.iter() {
            sweep(node, &directory.path, &paths).await;
            let spare = Temporary::another(node, &directory.path, self.how).await;
            let spare = spare.map_err(|error| DiskError {
                verb: "create a file in",
                path: directory.given.clone(),
                ..error
            })?;
            self.change(node, |state| state.spares.push(Some(spare)))
                .await;
        }
        Ok(())
    }

    pub(super) fn directories(&self) -> usize {
        self.directories.len()
    }

    pub(super) fn paths(&self) -> Vec<PathBuf> {
        self.directories
            .iter()
            .map(|directory| directory.path.clone())
            .collect()
    }

    /// Refuses what has no room in all directories together.
    pub(super) async fn check_room(&self, node: &Node, needed: u64) -> Result<(), Failure> {
        let disks = self.disks(node).await?;
        let free = disks
            .iter()
            .fold(0_u64, |sum, disk| sum.saturating_add(disk.room));
        if needed > free {
            let file = self.home().given.clone();
            return Err(SortError::NoRoom { file, needed, free }.into());
        }
        Ok(())
    }

    /// Learns how fast disks are, from what directories on them got in the same time.
    pub(super) async fn learn(&self, node: &Node, measured: &[(PathBuf, u64)]) {
        let mut rates: BTreeMap<u64, u64> = BTreeMap::new();
        for (directory, bytes) in measured {
            if let Ok(found) = node.metadata(directory).await {
                *rates.entry(found.device).or_default() += bytes;
            }
        }
        self.change(node, |state| state.rates = rates).await;
    }

    /// The rate of each directory: its part of what was measured of its disk, of others the mean.
    async fn rates(&self, node: &Node) -> Vec<u64> {
        let measured = self.change(node, |state| state.rates.clone()).await;
        let mean = measured.values().sum::<u64>() / measured.len().max(1) as u64;
        let devices = self.directories.iter().map(|directory| directory.device);
        let sharers = |device| devices.clone().filter(|other| *other == device).count() as u64;
        let rate = |device| measured.get(&device).copied().unwrap_or(mean) / sharers(device);
        devices.clone().map(|device| rate(device).max(1)).collect()
    }

    /// The directories as the layout sees them. Those on one device share its room.
    async fn disks(&self, node: &Node) -> Result<Vec<Disk>, Failure> {
        let mut sharers: BTreeMap<u64, u64> = BTreeMap::new();
        for directory in self.directories.iter() {
            *sharers.entry(directory.device).or_default() += 1;
        }
        let mut disks = Vec::new();
        for (directory, rate) in self.directories.iter().zip(self.rates(node).await) {
            let free = node.space(&directory.path).await?;
            disks.push(Disk {
                rate,
                room: free / sharers[&directory.device],
            });
        }
        Ok(disks)
    }

    /// Makes the files that buckets of so many records go to.
    pub(super) async fn lay_out(
        &self,
        node: &Node,
        records: &[u64],
        record_bytes: usize,
    ) -> Result<Layout, Failure> {
        let sizes: Vec<u64> = records
            .iter()
            .map(|count| count * record_bytes as u64)
            .collect();
        self.check_room(node, sizes.iter().sum()).await?;
        let files = divide(&sizes, &self.disks(node).await?);
        let tag = self.tag(node).await?;
        for (number, cut) in files.iter().enumerate() {
            let length = sizes[cut.buckets.clone()].iter().sum();
            self.add(node, cut, part_name(number, tag), length).await?;
        }
        Ok(Layout::of_files(records, record_bytes, &files))
    }

    /// A number that no file's name there ends with.
    async fn tag(&self, node: &Node) -> Result<u32, Failure> {
        let mut names = Vec::new();
        for directory in self.directories.iter() {
            // What cannot be listed can be written all the same; then chance alone keeps names
            // apart.
            names.extend(node.list(&directory.path).await.unwrap_or_default());
        }
        loop {
            let tag = node.random() as u32;
            let end = format!("-{tag:08x}");
            if !names.iter().any(|name| name.ends_with(&end)) {
                return Ok(tag);
            }
        }
    }

    async fn add(&self, node: &Node, cut: &Cut, name: String, length: u64) -> Result<(), Failure> {
        let directory = &self.directories[cut.directory];
        let spare = self
            .change(node, |state| state.spares[cut.directory].take())
            .await;
        let temporary = match spare {
            Some(spare) => spare,
            None => Temporary::another(node, &directory.path, self.how)
                .await
                .map_err(|error| DiskError {
                    path: directory.given.join(&name),
                    ..error
                })?,
        };
        let file = temporary.file.clone();
        let part = Part {
            temporary,
            directory: cut.directory,
            name,
            length,
        };
        self.change(node, |state| state.parts.push(part)).await;
        Ok(file
            .preallocate(node, 0..length)
            .await
            .map_err(|error| self.named(error))?)
    }

    pub(super) fn file(&self, number: usize) -> File {
        self.shared
            .look(|state| state.parts[number].temporary.file.clone())
    }

    pub(super) fn is_direct(&self) -> bool {
        self.shared.look(|state| {
            let parts = state.parts.iter().map(|part| &part.temporary);
            parts
                .chain(state.spares.iter().flatten())
                .all(|one| one.file.is_direct())
        })
    }

    /// What was made in the first directory, where the manifest will be.
    pub(super) fn claims(&self) -> Vec<Claim> {
        let name = |spare: &Temporary| Some(spare.path.file_name()?.to_string_lossy().into_owned());
        let claim = |draft| Claim {
            draft,
            becomes: Manifest::NAME.to_owned(),
        };
        self.shared.look(|state| {
            state
                .spares
                .iter()
                .flatten()
                .take(1)
                .filter_map(name)
                .map(claim)
                .collect()
        })
    }

    /// Says what each file holds.
    pub(super) async fn list(&self, node: &Node, contents: &dyn Contents, buckets: &[Span]) {
        let record_bytes = contents.record_bytes() as u64;
        let mut manifest = Manifest::new(contents, &self.home().path);
        let (mut first, mut end) = (0, 0);
        for part in self.parts() {
            end += part.length / record_bytes;
            let count = buckets[first..].partition_point(|bucket| bucket.begin < end);
            let its = &buckets[first..first + count];
            let file = ListedFile::of(self.listed(&part), contents, its);
            assert_eq!(
                file.records * record_bytes,
                part.length,
                "a file holds whole buckets"
            );
            manifest.files.push(file);
            first += count;
        }
        let all = ListedFile::of(String::new(), contents, buckets);
        (manifest.records, manifest.checksum) = (all.records, all.checksum);
        self.change(node, |state| state.manifest = Some(manifest))
            .await;
    }

    /// Its files with their whole paths, once they are listed.
    pub(super) fn listed_files(&self) -> Vec<ListedFile> {
        let home = &self.home().path;
        let files = self
            .shared
            .look(|state| state.manifest.as_ref().map(|list| list.files.clone()));
        let whole = |file: ListedFile| {
            let path = home.join(&file.path).to_string_lossy().into_owned();
            ListedFile { path, ..file }
        };
        files.unwrap_or_default().into_iter().map(whole).collect()
    }

    /// Makes all files as long as they are to be, and durable.
    pub(super) async fn finish(&self, node: &Node) -> Result<(), Failure> {
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
    pub(super) async fn commit(&self, node: &Node) -> Result<Option<Warning>, Failure> {
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
    pub(super) async fn discard(self, node: &Node) {
        let state = self.change(node, std::mem::take).await;
        let parts = state.parts.iter().map(|part| &part.temporary);
        for temporary in parts.chain(state.spares.iter().flatten()) {
            temporary.remove(node).await;
        }
    }

    pub(super) fn named(&self, error: DiskError) -> DiskError {
        let parts = self.parts();
        let part = parts.iter().find(|part| part.temporary.path == error.path);
        let path = part.map(|part| self.directories[part.directory].given.join(&part.name));
        DiskError {
            path: path.unwrap_or(error.path),
            ..error
        }
    }

    /// A part as manifests name it.
    fn listed(&self, part: &Part) -> String {
        let directory = &self.directories[part.directory].path;
        if *directory == self.home().path {
            return part.name.clone();
        }
        directory
            .join(&part.name)
            .to_str()
            .expect("checked when it was opened")
            .to_owned()
    }

    fn home(&self) -> &Directory {
        &self.directories[0]
    }

    /// The manifest, in the directory as it was given.
    fn manifest_path(&self) -> PathBuf {
        self.home().given.join(Manifest::NAME)
    }

    fn parts(&self) -> Vec<Part> {
        self.shared.look(|state| state.parts.clone())
    }

    async fn change<R>(&self, node: &Node, change: impl FnOnce(&mut State) -> R) -> R {
        self.shared.change(node, change).await
    }
}

impl Directory {
    async fn open(node: &Node, given: &Path, is_home: bool) -> Result<Directory, Failure> {
        let metadata = node.metadata(given).await?;
        if metadata.kind != FileKind::Directory {
            let cause = ErrorKind::NotADirectory.into();
            return Err(DiskError::new("create a file in", given, cause).into());
        }
        let path = node.resolve(given).await?;
        if !is_home && path.to_str().is_none() {
            let what = "cannot be listed in a manifest: its name is not UTF-8; name another place";
            return Err(SortError::Manifest {
                file: path,
                what: what.to_owned(),
            }
            .into());
        }
        Ok(Directory {
            path,
            given: given.to_owned(),
            device: metadata.device,
        })
    }
}
