//! An output that cannot be replaced by a rename, such as a file that is mounted into a container: it
//! is written over, from a complete copy that stays until the output is complete and durable, too.
//!
//! ```text
//! open      the target, its content unchanged; a draft in a directory for temporary files
//! finish    the draft is complete and durable
//! write     the draft gets a name that no sweep removes, and people are told that name;
//!           its bytes go to the target, which is cut to its length and made durable;
//!           the copy is removed
//! ```
//!
//! The output may be an input: then the copy is all that there is of the records while the target is
//! written. So it must not be in memory. A target that cannot be written either is refused, and so is
//! one that another program has locked, since two sorts would mix their records there.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use node::{Buffer, DiskError, File, Node, Open};
use pipeline::Failure;

use crate::files::output::draft::{Draft, no_room};
use crate::files::sweep::sweep;
use crate::files::temporary::Temporary;
use crate::files::text_file::PRIVATE;
use crate::job::IoChoice;
use crate::report::Warning;
use units::amount;

const UNIT_BYTES: usize = 1 << 20;

/// The open target.
#[derive(Clone)]
pub(super) struct InPlace {
    file: File,
    /// Why it cannot be replaced.
    why: String,
}

impl InPlace {
    /// Opens and locks the target.
    ///
    /// # Errors
    /// When it cannot be written, or another program has locked it.
    pub(super) async fn open(node: &Node, target: &Path, why: String) -> Result<InPlace, Failure> {
        let file = node.open(target, Open::Append).await.map_err(|error| {
            let what = "change its permissions or attributes (chattr), or name another file";
            let cause = error.cause;
            let what = format!("nor can it be written in place ({cause}); {what}");
            fixed(target, &why, &what)
        })?;
        match file.lock(node).await {
            Ok(false) => {
                let what = "another program, such as a sort that writes it, has locked it: wait";
                Err(fixed(target, &why, what).into())
            }
            Err(error) if error.cause.kind() != ErrorKind::Unsupported => Err(error.into()),
            _ => Ok(InPlace { file, why }),
        }
    }

    /// Creates a draft in the first of `places`, or of the usual ones, that keeps it.
    ///
    /// # Errors
    /// When none does.
    pub(super) async fn draft(
        self,
        node: &Node,
        (io, places): (IoChoice, &[PathBuf]),
    ) -> Result<Draft, Failure> {
        let target = self.file.path().to_owned();
        let usual = [node.temporary()];
        let places = if places.is_empty() { &usual } else { places };
        let mut failed = String::new();
        for place in places {
            match keeps(node, place, io).await {
                Ok(made) => {
                    let draft = Draft::of(made.file, target, None);
                    let in_place = Some(self);
                    return Ok(Draft { in_place, ..draft });
                }
                Err(error) => failed = error.to_string(),
            }
        }
        let what = "name a directory on a disk with -T or TMPDIR";
        let what = format!("to write it in place takes a copy, but: {failed}; {what}");
        Err(fixed(&target, &self.why, &what).into())
    }

    /// Looks for the space that the target needs beside its copy.
    ///
    /// # Errors
    /// When too little is free, with both figures, or the disk does not tell.
    pub(super) async fn check_room(
        &self,
        node: &Node,
        copy: &File,
        length: u64,
    ) -> Result<(), Failure> {
        let (own, free) = (self.file.metadata(), node.space(self.file.path()).await?);
        let more = length.saturating_sub(own.length);
        let is_beside = own.device == copy.metadata().device;
        let needed = more + if is_beside { length } else { 0 };
        if needed > free {
            Err(no_room(self.file.path(), needed, free))
        } else {
            Ok(())
        }
    }

    /// Looks once more, when the length of the draft is known: a compressed one has none before.
    async fn check_more(&self, node: &Node, draft: &Path) -> Result<(), DiskError> {
        let target = self.file.path();
        let length = node.metadata(draft).await?.length;
        let more = length.saturating_sub(self.file.metadata().length);
        let free = node.space(target).await?;
        if more <= free {
            return Ok(());
        }
        let (more, free) = (amount(more), amount(free));
        let what = format!("it needs {more} more, and {free} are free there");
        let cause = io::Error::new(ErrorKind::StorageFull, what);
        Err(DiskError::new("write", target, cause))
    }

    /// Writes the finished draft over the target. Warns of it.
    ///
    /// # Errors
    /// When a disk refuses. Either the target is unchanged, or the error names the copy.
    pub(super) async fn write(&self, node: &Node, draft: &Path) -> Result<Warning, DiskError> {
        let file = self.file.path().to_owned();
        self.check_more(node, draft).await?;
        let copy = name_of_copy(node, draft).await?;
        node.rename(draft, &copy).await?;
        let (shown, kept, why) = (file.display(), copy.display(), self.why.clone());
        node.tell(&format!(
            "{shown} cannot be replaced ({why}), so it is written in place; \
             until that is done, all records are in {kept}"
        ))
        .await;
        self.fill(node, &copy).await.map_err(|error| {
            let cause = format!(
                "{}; {shown} may be incomplete, and all records are in {kept}: copy that file to its \
                 place, then remove it",
                error.cause
            );
            let cause = io::Error::other(cause);
            DiskError { cause, ..error }
        })?;
        // The records are where they belong.
        let _ = node.remove(&copy).await;
        Ok(Warning::InPlace { file, why })
    }

    async fn fill(&self, node: &Node, copy: &Path) -> Result<(), DiskError> {
        let (from, target) = (node.open(copy, Open::Own).await?, &self.file);
        let (mut at, length) = (0, from.metadata().length);
        let mut buffer = Buffer::heap(UNIT_BYTES);
        while at < length {
            let read = from.read(node, at, UNIT_BYTES, buffer).wait(node).await;
            buffer = read.0;
            read.1?;
            let bytes = buffer.len();
            if bytes == 0 {
                let cause = ErrorKind::UnexpectedEof.into();
                return Err(DiskError::new("read", copy, cause));
            }
            let written = target.write(node, at, buffer, 0..bytes).wait(node).await;
            buffer = written.0;
            written.1?;
            at += bytes as u64;
        }
        target.truncate(node, length).await?;
        target.sync(node).await?;
        let (own, there) = (target.metadata(), node.metadata(target.path()).await?);
        if (own.device, own.identity) == (there.device, there.identity) {
            Ok(())
        } else {
            let cause = io::Error::other("another file got its name meanwhile");
            Err(DiskError::new("write", target.path(), cause))
        }
    }
}

/// A name that no other copy has, since a rename would replace it: a program that always draws the
/// same numbers may have been killed before. Drafts that are there have different numbers.
async fn name_of_copy(node: &Node, draft: &Path) -> Result<PathBuf, DiskError> {
    let number = node.metadata(draft).await?.identity;
    loop {
        let name = format!("gristmill-copy-{number}-{:08x}", node.random() as u32);
        let copy = draft.with_file_name(name);
        if node.metadata(&copy).await.is_err() {
            return Ok(copy);
        }
    }
}

/// Makes a draft in a directory from which neither a power failure nor a sweep takes its copy.
async fn keeps(node: &Node, place: &Path, io: IoChoice) -> Result<Temporary, DiskError> {
    let place = node.resolve(place).await?;
    if !node.is_lasting(&place).await? {
        let cause = io::Error::other("it is in memory, where a power failure would take it");
        return Err(DiskError::new("keep a copy in", &place, cause));
    }
    let (direct, mode) = (io != IoChoice::Buffered, PRIVATE);
    sweep(node, &place, &[]).await;
    let made = Temporary::create(node, &place, Open::Create { direct, mode }).await;
    made.map_err(|error| DiskError {
        verb: "create a file in",
        path: place,
        ..error
    })
}

/// Refuses a file that must be replaced and cannot be; `what` says what to do.
///
/// # Errors
/// When it is there and a rename would not replace it.
pub(crate) async fn refuse_fixed(node: &Node, path: &Path, what: &str) -> Result<(), DiskError> {
    // A path that leads nowhere is refused where it is opened.
    let Ok(target) = node.resolve(path).await else {
        return Ok(());
    };
    let obstacle = node.obstacle(&target).await;
    obstacle.map_or(Ok(()), |why| Err(fixed(path, &why, what)))
}

fn fixed(path: &Path, why: &str, what: &str) -> DiskError {
    DiskError::new("replace", path, io::Error::other(format!("{why}; {what}")))
}
