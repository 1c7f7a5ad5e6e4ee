//! An output of many files in one or several directories: the set appears whole or not at all, when
//! its manifest gets its name.
//!
//! ```text
//! open      a temporary file in each directory: it can be written, and dead runs' files are swept
//! lay out   all bucket sizes are known: the other files, each with its space reserved
//! commit    lengths, durable; journal; names; manifest; the old set goes; journal goes   (`journal`)
//! ```
//!
//! Readers of the old manifest must read it again when its files are gone. Of several runs into one
//! directory the last one's set stays. Runs that end at the same moment may leave files that no
//! manifest lists.

mod commit;

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use node::{DiskError, FileKind, Guarded, Node, Open};
use pipeline::Failure;

use crate::error::SortError;
use crate::files::manifest::{ListedFile, Manifest, Placed, part_name};
use crate::files::output::draft::{Draft, no_room, shown_as};
use crate::files::output::in_place::refuse_fixed;
use crate::files::output::layout::{Cut, Disk, Layout, MOST_FILES, divide};
use crate::files::output::old_set::SetAccess;
use crate::files::spare;
use crate::files::sweep::sweep;
use crate::files::temporary::Temporary;
use crate::job::IoChoice;
use crate::records::contents::Contents;
use crate::records::size::Size;
use crate::records::span::Span;

pub(super) struct Set {
    /// The manifest goes to the first.
    directories: Vec<Directory>,
    access: SetAccess,
    how: Open,
    /// The files in key order; behind them, those without a name, one per directory at first.
    pub(super) drafts: Arc<Guarded<Vec<Draft>>>,
    /// Once the files are listed.
    manifest: Guarded<Option<Manifest>>,
}

struct Directory {
    /// Links followed.
    path: PathBuf,
    /// As the job names it.
    given: PathBuf,
    device: u64,
}

impl Set {
    /// Opens the directories, with a draft in each.
    ///
    /// # Errors
    /// When a directory is missing or cannot be written, or a foreign text has the manifest's name.
    pub(super) async fn open(node: &Node, given: &[PathBuf], io: IoChoice) -> Result<Set, Failure> {
        let mut directories = Vec::new();
        for path in given {
            directories.push(Directory::open(node, path, directories.is_empty()).await?);
        }
        let manifest = directories[0].path.join(Manifest::NAME);
        refuse_fixed(
            node,
            &manifest,
            "a set renames its manifest: name another directory",
        )
        .await?;
        let access = SetAccess::of(node, &directories[0].path).await?;
        let how = Open::Create {
            direct: io != IoChoice::Buffered,
            mode: access.draft_mode(access.files),
        };
        let set = Set {
            directories,
            access,
            how,
            drafts: Arc::new(Guarded::new(node, "files of a set", Vec::new())),
            manifest: Guarded::new(node, "the manifest of a set", None),
        };
        match set.begin(node).await {
            Ok(()) => Ok(set),
            Err(error) => {
                set.discard_from(node, 0).await;
                Err(error.into())
            }
        }
    }

    /// Sweeps each directory, and creates a draft there.
    async fn begin(&self, node: &Node) -> Result<(), DiskError> {
        let paths = self.paths();
        for Directory { path, given, .. } in &self.directories {
            sweep(node, path, &paths).await;
            let made = Temporary::create(node, path, self.how).await;
            let made = made.map_err(|error| DiskError {
                verb: "create a file in",
                ..shown_as(given)(error)
            })?;
            let draft = Draft::new(made.file);
            self.drafts.change(node, |all| all.push(draft)).await;
        }
        Ok(())
    }

    pub(super) fn paths(&self) -> Vec<PathBuf> {
        let paths = self.directories.iter().map(|one| one.path.clone());
        paths.collect()
    }

    /// The free bytes of each directory; directories on one device share its space.
    ///
    /// # Errors
    /// When all of them together have less than `needed`, or a disk does not tell.
    pub(super) async fn room(&self, node: &Node, needed: u64) -> Result<Vec<u64>, Failure> {
        let mut room = Vec::new();
        for Directory { path, device, .. } in &self.directories {
            room.push(node.space(path).await? / self.sharers(*device));
        }
        let free = room.iter().fold(0_u64, |sum, &one| sum.saturating_add(one));
        if needed > free {
            Err(no_room(&self.home().given, needed, free))
        } else {
            Ok(room)
        }
    }

    /// The rate of each directory, from the bytes that directories got in the same time: an equal
    /// share of its disk's, or of the mean if its disk was not measured.
    async fn rates(&self, node: &Node, measured: &[(PathBuf, u64)]) -> Vec<u64> {
        let mut disks: BTreeMap<u64, u64> = BTreeMap::new();
        for (directory, bytes) in measured {
            if let Ok(found) = node.metadata(directory).await {
                *disks.entry(found.device).or_default() += bytes;
            }
        }
        let mean = disks.values().sum::<u64>() / disks.len().max(1) as u64;
        let rate = |one: &Directory| disks.get(&one.device).unwrap_or(&mean);
        let share = |one: &Directory| (rate(one) / self.sharers(one.device)).max(1);
        self.directories.iter().map(share).collect()
    }

    /// How many of the directories lie on a device.
    fn sharers(&self, device: u64) -> u64 {
        let is_there = |one: &&Directory| one.device == device;
        self.directories.iter().filter(is_there).count() as u64
    }

    /// Creates the files for buckets of these sizes, and reserves their space.
    ///
    /// # Errors
    /// When there is too little room, or a disk refuses.
    pub(super) async fn lay_out(
        &self,
        node: &Node,
        (sizes, header): (&[Size], u64),
        measured: &[(PathBuf, u64)],
    ) -> Result<Layout, Failure> {
        let bytes: Vec<u64> = sizes.iter().map(|size| size.bytes).collect();
        let room = self.room(node, bytes.iter().sum()).await?;
        let rates = self.rates(node, measured).await;
        let disks = rates.into_iter().zip(room);
        let disks: Vec<Disk> = disks.map(|(rate, room)| Disk { rate, room }).collect();
        // A directory has a file already.
        let most = spare(node).saturating_add(disks.len()).min(MOST_FILES);
        let mut cuts = divide(&bytes, &disks, most);
        if cuts.is_empty() && header > 0 {
            // The header is not lost.
            cuts.push(Cut {
                directory: 0,
                buckets: 0..0,
                cell: 0,
            });
        }
        let tag = self.tag(node).await;
        for (number, cut) in cuts.iter().enumerate() {
            let length = bytes[cut.buckets.clone()].iter().sum::<u64>() + header;
            let mut draft = self.draft(node, cut, part_name(number, tag)).await?;
            draft.length = Some(length);
            let insert = |all: &mut Vec<Draft>| all.insert(number, draft.clone());
            self.drafts.change(node, insert).await;
            draft.preallocate(node, length).await?;
        }
        self.discard_from(node, cuts.len()).await;
        Ok(Layout::of_files(sizes, &cuts))
    }

    /// A number that no file's name in the directories ends with.
    async fn tag(&self, node: &Node) -> u32 {
        let mut names = Vec::new();
        for Directory { path, .. } in &self.directories {
            // A directory that cannot be listed can still be written; then only chance keeps
            // names apart.
            names.extend(node.list(path).await.unwrap_or_default());
        }
        let ends = |tag: u32| {
            let end = format!("-{tag:08x}");
            names.iter().any(|name| name.ends_with(&end))
        };
        let first = node.random() as u32;
        let mut tags = (0..=u32::MAX).map(|step| first.wrapping_add(step));
        let free = tags.find(|&tag| !ends(tag));
        free.expect("fewer names than numbers")
    }

    /// A draft that becomes `name` in the directory of a cut: an unnamed one, or else a new one.
    async fn draft(&self, node: &Node, cut: &Cut, name: String) -> Result<Draft, DiskError> {
        let Directory { path, given, .. } = &self.directories[cut.directory];
        let is_unnamed = |draft: &Draft| {
            draft.target.is_none() && draft.file.path().parent() == Some(path.as_path())
        };
        let take = |all: &mut Vec<Draft>| {
            let found = all.iter().position(is_unnamed);
            found.map(|found| all.remove(found).file)
        };
        let shown = given.join(&name);
        let file = match self.drafts.change(node, take).await {
            Some(file) => file,
            None => {
                let made = Temporary::create(node, path, self.how).await;
                made.map_err(shown_as(&shown))?.file
            }
        };
        Ok(Draft {
            shown,
            ..Draft::of(file, path.join(name), self.access.files)
        })
    }

    /// Removes all drafts but the first `count`.
    async fn discard_from(&self, node: &Node, count: usize) {
        let others = |all: &mut Vec<Draft>| all.split_off(count);
        for draft in self.drafts.change(node, others).await {
            draft.discard(node).await;
        }
    }

    /// Gives the files the lengths of these spans and a header, removes those without records, and
    /// gives the spans the numbers of the files that stay.
    pub(super) async fn end_files(&self, node: &Node, header: u64, spans: &mut [Span]) {
        let mut bytes = vec![0; self.drafts().len()];
        for span in spans.iter() {
            bytes[span.file] += span.size.bytes;
        }
        for span in spans {
            let before = &bytes[..span.file];
            span.file = before.iter().filter(|&&bytes| bytes > 0).count();
        }
        let has_records = bytes.iter().any(|&bytes| bytes > 0);
        let step = |all: &mut Vec<Draft>| {
            for (draft, bytes) in all.iter_mut().zip(&bytes) {
                draft.length = Some(header + bytes);
            }
            let is_empty = |draft: &mut Draft| has_records && draft.length == Some(header);
            all.extract_if(.., is_empty).collect::<Vec<Draft>>()
        };
        for empty in self.drafts.change(node, step).await {
            empty.discard(node).await;
        }
    }

    /// Makes the manifest of the files, each of which is listed with its whole path.
    pub(super) async fn list(&self, node: &Node, contents: &dyn Contents, files: &[ListedFile]) {
        let mut manifest = Manifest::new(contents, &self.home().path);
        for (draft, file) in self.drafts().iter().zip(files) {
            if contents.framing().is_fixed() {
                let bytes = contents.framing().of(file.records).bytes;
                assert_eq!(draft.length, Some(bytes), "a file holds whole buckets");
            }
            let path = match self.placed(draft) {
                (0, name) => name,
                _ => file.path.clone(),
            };
            let file = file.clone();
            manifest.add(ListedFile { path, ..file });
        }
        let manifest = Some(manifest);
        self.manifest.change(node, |place| *place = manifest).await;
    }

    /// The directory of a draft that has a target, and its name there.
    fn placed(&self, draft: &Draft) -> Placed {
        let target = draft.target.as_deref().expect("the set is laid out");
        let directory = |one: &Directory| target.parent() == Some(&one.path);
        let number = self.directories.iter().position(directory);
        let name = target.file_name().unwrap_or_default().to_string_lossy();
        (number.expect("a directory of the set"), name.into_owned())
    }

    fn drafts(&self) -> Vec<Draft> {
        self.drafts.look(Vec::clone)
    }

    fn home(&self) -> &Directory {
        &self.directories[0]
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
            let (file, what) = (path, what.to_owned());
            return Err(SortError::Manifest { file, what }.into());
        }
        Ok(Directory {
            path,
            given: given.to_owned(),
            device: metadata.device,
        })
    }
}
