//! How an output of one file is opened: beside its target, with the target's access.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use node::{Access, DiskError, File, FileKind, Metadata, Node, NotBelieved, Open, Standard};
use pipeline::Failure;

use crate::error::SortError;
use crate::files::output::draft::{Draft, NEW_MODE, draft_mode, shown_as};
use crate::files::output::in_place::{InPlace, refuse_fixed};
use crate::files::sweep::sweep;
use crate::files::temporary::Temporary;
use crate::files::text_file::PRIVATE;
use crate::job::IoChoice;

/// Opens standard output, which may lead to a regular file: that is written front to back, too.
///
/// # Errors
/// When there is no such stream.
pub(super) async fn standard(node: &Node) -> Result<Draft, Failure> {
    let file = node.standard(Standard::Output).await?;
    Ok(Draft::new(file.front_to_back()))
}

/// Opens a pipe or a device, or creates a file that becomes `path`, or one in `places` that is written
/// over it.
///
/// # Errors
/// When `path` is a directory, its directory is missing, or the disk refuses.
pub(super) async fn open(
    node: &Node,
    path: &Path,
    (io, places): (IoChoice, &[PathBuf]),
) -> Result<Draft, Failure> {
    if path.as_os_str().as_encoded_bytes().ends_with(b"/") {
        return Err(directory(path));
    }
    let access = match kind(node, path).await? {
        Some(FileKind::Directory) => return Err(directory(path)),
        Some(FileKind::Sequential) => {
            let file = node.open(path, Open::Append).await?;
            return Ok(Draft::new(file.front_to_back()));
        }
        there => there,
    };
    let target = resolve(node, path).await?;
    let access = match access {
        Some(_) => {
            if let Some(why) = node.obstacle(&target).await {
                let in_place = InPlace::open(node, &target, why).await?;
                return in_place.draft(node, (io, places)).await;
            }
            Some(node.access(&target).await?)
        }
        None => None,
    };
    let how = Open::Create {
        direct: is_direct(io),
        mode: draft_mode(access),
    };
    sweep(node, parent(&target), &[]).await;
    let made = Temporary::create(node, parent(&target), how).await;
    let made = made.map_err(shown_as(&target))?;
    Ok(Draft::of(made.file, target, access))
}

/// Opens the file that another node has created beside the target of `path`, under that name.
///
/// # Errors
/// When no such file is there, or the disk refuses.
pub(super) async fn join(
    node: &Node,
    path: &Path,
    name: &str,
    io: IoChoice,
) -> Result<Draft, Failure> {
    let target = resolve(node, path).await?;
    let direct = is_direct(io);
    let file = node
        .open(&target.with_file_name(name), Open::Join { direct })
        .await;
    Ok(Draft::of(file.map_err(shown_as(path))?, target, None))
}

/// Opens a file that outlives the run until it becomes `target`, and locks it: the draft of an
/// earlier run, if its identity is given, or a new one.
///
/// # Errors
/// When the draft is another file than that of the earlier run, or another run has it, or the
/// target is not a regular file, or the disk refuses.
pub(super) async fn keep(
    node: &Node,
    target: &Path,
    (path, known): (&Path, Option<u64>),
    io: IoChoice,
) -> Result<Draft, Failure> {
    // After a power failure the file may be back that the rights of a new file were tried with.
    sweep(node, parent(target), &[]).await;
    let access = match replaced_kind(node, target).await? {
        None => new_access(node, target).await?,
        Some(FileKind::Directory) => return Err(directory(target)),
        Some(_) => {
            let what = "--resume renames its output: name another file, or leave it out";
            refuse_fixed(node, target, what).await?;
            node.access(target).await?
        }
    };
    let (direct, mode) = (is_direct(io), PRIVATE);
    let how = match known {
        Some(_) => Open::Again { direct },
        None => Open::Keep { direct, mode },
    };
    let file = node.open(path, how).await?;
    if known.is_some_and(|identity| file.metadata().identity != identity) {
        let cause = NotBelieved::error("it is not the file that was begun");
        return Err(DiskError::new("resume with", path, cause).into());
    }
    hold(node, &file).await?;
    Ok(Draft::of(file, target.to_owned(), Some(access)))
}

/// Locks a file that outlives its run.
///
/// # Errors
/// When another run has it.
pub(crate) async fn hold(node: &Node, file: &File) -> Result<(), Failure> {
    match file.lock(node).await {
        Ok(false) => {
            let what = "belongs to a sort that is running".to_owned();
            let file = file.path().to_owned();
            Err(SortError::Checkpoint { file, what }.into())
        }
        Err(error) if error.cause.kind() != ErrorKind::Unsupported => Err(error.into()),
        _ => Ok(()),
    }
}

/// The kind of the file at a path, if there is one.
async fn kind(node: &Node, path: &Path) -> Result<Option<FileKind>, DiskError> {
    match node.sink(path).await {
        Err(error) if error.cause.kind() == ErrorKind::NotFound => Ok(None),
        found => found.map(|Metadata { kind, .. }| Some(kind)),
    }
}

/// The kind of the file that a resumed sort replaces, if it is there.
///
/// # Errors
/// When it is a pipe, a device, or what is open at a descriptor: a path that leads to one says so only
/// before its links are followed.
pub(crate) async fn replaced_kind(
    node: &Node,
    target: &Path,
) -> Result<Option<FileKind>, DiskError> {
    let found = kind(node, target).await?;
    if found != Some(FileKind::Sequential) {
        return Ok(found);
    }
    let what = "it is a pipe, a device or an open descriptor; --resume needs a file with a name";
    Err(DiskError::new(
        "resume with",
        target,
        io::Error::other(what),
    ))
}

/// The access of any new file beside `target`: only the system knows what the process's mask and
/// the directory make of it.
async fn new_access(node: &Node, target: &Path) -> Result<Access, DiskError> {
    let (direct, mode) = (false, NEW_MODE);
    let probe = Temporary::create(node, parent(target), Open::Create { direct, mode }).await;
    let probe = probe.map_err(shown_as(target))?;
    let access = node.access(&probe.path).await;
    probe.remove(node).await;
    access
}

/// Follows links. A missing directory is an error of creating the file, not of finding it.
async fn resolve(node: &Node, path: &Path) -> Result<PathBuf, DiskError> {
    let found = node.resolve(path).await;
    found.map_err(|error| DiskError {
        verb: "create",
        ..shown_as(path)(error)
    })
}

fn parent(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new("/"))
}

fn is_direct(io: IoChoice) -> bool {
    io != IoChoice::Buffered
}

fn directory(path: &Path) -> Failure {
    let file = path.to_owned();
    SortError::Directory { file }.into()
}
