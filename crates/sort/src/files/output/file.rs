//! An output of one file: a regular file appears whole or not at all; anything else is written
//! front to back.
//!
//! A regular output is made beside its resolved target as a temporary file, and renamed over the
//! target when it is complete and durable.

use std::path::{Path, PathBuf};

use node::{Access, DiskError, File, FileKind, Metadata, Node, NotBelieved, Open, Standard};
use pipeline::Failure;

use crate::error::SortError;
use crate::files::output::Claim;
use crate::files::temporary::Temporary;
use crate::files::text_file::{PRIVATE, spelled};
use crate::job::IoChoice;

/// Permission bits of a new output, before the process's mask: as every tool has them.
pub(crate) const NEW_MODE: u32 = 0o666;

/// One file under way; clones are of the same.
#[derive(Clone)]
pub(crate) struct OutputFile {
    pub file: File,
    unfinished: Option<Unfinished>,
}

/// A regular file that does not have its name yet.
#[derive(Clone)]
struct Unfinished {
    path: PathBuf,
    target: PathBuf,
    /// The access that it has in the end, if it is not that of any new file.
    access: Option<Access>,
}

impl OutputFile {
    /// Standard output.
    pub(super) async fn standard(node: &Node) -> Result<OutputFile, Failure> {
        let file = node.standard(Standard::Output).await?;
        Ok(OutputFile {
            file,
            unfinished: None,
        })
    }

    /// Opens the file, or one beside it that will become it.
    pub(super) async fn open(
        node: &Node,
        path: &Path,
        io: IoChoice,
    ) -> Result<OutputFile, Failure> {
        if path.as_os_str().as_encoded_bytes().ends_with(b"/") {
            return Err(SortError::Directory {
                file: path.to_owned(),
            }
            .into());
        }
        let old = existing(node, path).await?;
        match old.map(|metadata| metadata.kind) {
            Some(FileKind::Directory) => Err(SortError::Directory {
                file: path.to_owned(),
            }
            .into()),
            Some(FileKind::Sequential) => {
                let file = node.open(path, Open::Append).await?;
                Ok(OutputFile {
                    file,
                    unfinished: None,
                })
            }
            Some(FileKind::Regular) | None => {
                let resolved = node.resolve(path).await;
                let target = resolved.map_err(|error| missing_directory(error, path))?;
                OutputFile::beside(node, target, old.is_some(), io).await
            }
        }
    }

    async fn beside(
        node: &Node,
        target: PathBuf,
        is_there: bool,
        io: IoChoice,
    ) -> Result<OutputFile, Failure> {
        let directory = target.parent().unwrap_or(Path::new("/"));
        let access = if is_there {
            Some(node.access(&target).await?)
        } else {
            None
        };
        let how = Open::Create {
            direct: io != IoChoice::Buffered,
            mode: draft_mode(access),
        };
        let made = Temporary::create(node, directory, how).await;
        let made = made.map_err(|error| DiskError {
            path: target.clone(),
            ..error
        });
        let Temporary { file, path } = made?;
        Ok(OutputFile {
            file,
            unfinished: Some(Unfinished {
                path,
                target,
                access,
            }),
        })
    }

    /// The one that another node has made to become what `path` leads to, under that name beside
    /// it.
    pub(super) async fn join(
        node: &Node,
        path: &Path,
        name: &str,
        io: IoChoice,
    ) -> Result<OutputFile, Failure> {
        let target = node
            .resolve(path)
            .await
            .map_err(|error| missing_directory(error, path))?;
        let draft = target.with_file_name(name);
        let file = node
            .open(
                &draft,
                Open::Join {
                    direct: io != IoChoice::Buffered,
                },
            )
            .await;
        let file = file.map_err(|error| DiskError {
            path: path.to_owned(),
            ..error
        })?;
        Ok(OutputFile {
            file,
            unfinished: Some(Unfinished {
                path: draft,
                target,
                access: None,
            }),
        })
    }

    /// What it is called beside its target, and what its target is.
    pub(super) fn claim(&self) -> Option<Claim> {
        let unfinished = self.unfinished.as_ref()?;
        let name = |path: &Path| Some(spelled(Path::new(path.file_name()?)));
        Some(Claim {
            draft: name(&unfinished.path)?,
            becomes: name(&unfinished.target)?,
        })
    }

    /// The file that outlives the run until it becomes `target`: the draft of an earlier run, which
    /// is known by its identity, or a new one. It is locked.
    pub(super) async fn keep(
        node: &Node,
        target: &Path,
        (path, known): (PathBuf, Option<u64>),
        io: IoChoice,
    ) -> Result<OutputFile, Failure> {
        let old = existing(node, target).await?;
        if old.is_some_and(|old| old.kind != FileKind::Regular) {
            return Err(SortError::Directory {
                file: target.to_owned(),
            }
            .into());
        }
        let access = match old {
            Some(_) => node.access(target).await?,
            None => new_access(node, target).await?,
        };
        let direct = io != IoChoice::Buffered;
        let file = match known {
            Some(_) => node.open(&path, Open::Again { direct }).await?,
            None => {
                node.open(
                    &path,
                    Open::Keep {
                        direct,
                        mode: PRIVATE,
                    },
                )
                .await?
            }
        };
        if known.is_some_and(|identity| file.metadata().identity != identity) {
            let cause = NotBelieved::error("it is not the file that was begun");
            return Err(DiskError::new("resume with", &path, cause).into());
        }
        hold(node, &file).await?;
        let (target, access) = (target.to_owned(), Some(access));
        Ok(OutputFile {
            file,
            unfinished: Some(Unfinished {
                path,
                target,
                access,
            }),
        })
    }

    /// Reserves room for `length` bytes, or refuses up front.
    pub(crate) async fn reserve(&self, node: &Node, length: u64) -> Result<(), Failure> {
        let Some(unfinished) = &self.unfinished else {
            return Ok(());
        };
        let free = node.space(&unfinished.path).await?;
        if length > free {
            let file = unfinished.target.clone();
            return Err(SortError::NoRoom {
                file,
                needed: length,
                free,
            }
            .into());
        }
        Ok(self
            .file
            .preallocate(node, 0..length)
            .await
            .map_err(|error| self.named(error))?)
    }

    /// The directory that it is made in, if it is a file.
    pub(crate) fn directory(&self) -> Option<PathBuf> {
        let parent = self.unfinished.as_ref()?.path.parent()?;
        Some(
            if parent == Path::new("") {
                Path::new(".")
            } else {
                parent
            }
            .to_owned(),
        )
    }

    /// What it becomes, or is.
    pub(super) fn name(&self) -> PathBuf {
        self.target().unwrap_or_else(|| self.file.path().to_owned())
    }

    /// What it becomes, if it is a file.
    pub(super) fn target(&self) -> Option<PathBuf> {
        self.unfinished
            .as_ref()
            .map(|unfinished| unfinished.target.clone())
    }

    /// Makes the file `length` long and durable.
    pub(super) async fn finish(&self, node: &Node, length: u64) -> Result<(), Failure> {
        if self.unfinished.is_some() {
            self.file
                .truncate(node, length)
                .await
                .map_err(|error| self.named(error))?;
        }
        self.sync(node).await
    }

    /// Makes what was written durable.
    pub(super) async fn sync(&self, node: &Node) -> Result<(), Failure> {
        Ok(self
            .file
            .sync(node)
            .await
            .map_err(|error| self.named(error))?)
    }

    /// Gives it its name, once it is finished.
    pub(super) async fn commit(&mut self, node: &Node) -> Result<(), Failure> {
        if let Some(unfinished) = &self.unfinished {
            let taken = take_over(node, &self.file, unfinished.access).await;
            taken.map_err(|error| self.named(error))?;
            let renamed = node.rename(&unfinished.path, &unfinished.target).await;
            renamed.map_err(|error| self.named(error))?;
            self.unfinished = None;
        }
        Ok(())
    }

    /// Removes what was made of an output that failed.
    pub(crate) async fn discard(self, node: &Node) {
        if let Some(unfinished) = self.unfinished {
            // The failure that led here is told; a second one would hide it.
            let _ = node.remove(&unfinished.path).await;
        }
    }

    /// The error with the name that the user gave instead of the passing one.
    pub(crate) fn named(&self, error: DiskError) -> DiskError {
        match &self.unfinished {
            Some(unfinished) if error.path == unfinished.path => DiskError {
                path: unfinished.target.clone(),
                ..error
            },
            _ => error,
        }
    }

    /// Whether it is written front to back only.
    pub(crate) fn is_sequential(&self) -> bool {
        self.unfinished.is_none()
    }
}

async fn existing(node: &Node, target: &Path) -> Result<Option<Metadata>, DiskError> {
    match node.metadata(target).await {
        Err(error) if error.cause.kind() == std::io::ErrorKind::NotFound => Ok(None),
        metadata => metadata.map(Some),
    }
}

/// The mode of a draft that will have that access in the end, if it is given. Until it has the
/// group, too, only its owner may read it.
pub(super) fn draft_mode(access: Option<Access>) -> u32 {
    access.map_or(NEW_MODE, |_| PRIVATE)
}

/// Gives a finished draft the access of the file that it replaces.
pub(crate) async fn take_over(
    node: &Node,
    draft: &File,
    access: Option<Access>,
) -> Result<(), DiskError> {
    match access {
        Some(access) => draft.set_access(node, access).await,
        None => Ok(()),
    }
}

/// The access of any new file beside `target`: only the system knows what the process's mask leaves
/// of it.
async fn new_access(node: &Node, target: &Path) -> Result<Access, DiskError> {
    let directory = target.parent().unwrap_or(Path::new("/"));
    let how = Open::Create {
        direct: false,
        mode: NEW_MODE,
    };
    let probe = Temporary::another(node, directory, how).await;
    let probe = probe.map_err(|error| DiskError {
        path: target.to_owned(),
        ..error
    })?;
    let access = node.access(&probe.path).await;
    probe.remove(node).await;
    access
}

/// Locks a file that outlives its run.
///
/// # Errors
/// When another run has it.
pub(crate) async fn hold(node: &Node, file: &File) -> Result<(), Failure> {
    match file.lock(node).await {
        Ok(false) => {
            let what = "belongs to a sort that is running".to_owned();
            Err(SortError::Checkpoint {
                file: file.path().to_owned(),
                what,
            }
            .into())
        }
        Err(error) if error.cause.kind() != std::io::ErrorKind::Unsupported => Err(error.into()),
        _ => Ok(()),
    }
}

/// A name whose directory is missing is to be created, not found.
fn missing_directory(error: DiskError, path: &Path) -> DiskError {
    DiskError {
        verb: "create",
        path: path.to_owned(),
        ..error
    }
}
