//! How a source is opened: through the page cache or past it, as a set of files, or as a stream.

use std::path::Path;

use node::{
    Buffer, Decompress, Decompression, DiskError, DiskTicket, File, FileKind, Filled, Lots,
    Metadata, Node, Open, Standard,
};
use pipeline::Failure;
use record::RECORD_END;

use crate::error::{SortError, no_memory};
use crate::files::manifest::Manifest;
use crate::files::spare;
use crate::job::{IoChoice, ReadOptions, Source};
use crate::records::block::BLOCK_BYTES;
use crate::records::framing::Framing;

/// Files that are looked at at the same time, if the process may have so many open.
const LOOKS: usize = 8;

/// A source that was looked at.
pub(super) enum Found<'a> {
    File(Look<'a>),
    /// A directory with a manifest.
    Set(&'a Path, Manifest),
}

/// A file that is being opened.
pub(super) struct Look<'a> {
    source: &'a Source,
    reading: ReadOptions,
    file: File,
    is_pipe: bool,
    /// The read of its last bytes, if it has a length.
    last: Option<LastByte>,
}

async fn look<'a>(
    node: &Node,
    source: &'a Source,
    reading: &ReadOptions,
) -> Result<Found<'a>, Failure> {
    Ok(match set_of(node, source).await? {
        Some((directory, manifest)) => Found::Set(directory, manifest),
        None => Found::File(begin(node, source, reading).await?),
    })
}

/// The manifest and the directory of a source that is a set of files.
pub(super) async fn set_of<'a>(
    node: &Node,
    source: &'a Source,
) -> Result<Option<(&'a Path, Manifest)>, Failure> {
    let path = match source {
        Source::Path(path) => path,
        Source::Behind(behind) => match &behind.source {
            Source::Path(path) => path,
            _ => return Ok(None),
        },
        Source::Listed(_) | Source::Standard => return Ok(None),
    };
    let found = node.metadata(path).await;
    if !found.is_ok_and(|found| found.kind == FileKind::Directory) {
        return Ok(None);
    }
    Ok(Manifest::read(node, path)
        .await?
        .map(|manifest| (path.as_path(), manifest)))
}

pub(super) struct Opened {
    pub file: File,
    /// Whether it cannot be opened again.
    pub is_pipe: bool,
    /// The last byte of a regular file.
    last: Option<u8>,
}

impl Opened {
    fn pipe(file: File) -> Opened {
        Opened {
            file,
            is_pipe: true,
            last: None,
        }
    }

    /// Whether the last line of a regular file has no delimiter.
    pub(super) fn ends_open(&self, framing: Framing) -> bool {
        let (delimiter, is_empty) = (
            framing.records().delimiter(),
            self.file.metadata().length == 0,
        );
        let is_regular = !self.file.is_sequential() && !is_empty;
        is_regular && delimiter.is_some() && self.last != delimiter
    }
}

pub(super) async fn open(
    node: &Node,
    source: &Source,
    reading: &ReadOptions,
) -> Result<Opened, Failure> {
    begin(node, source, reading).await?.end(node).await
}

/// Looks at the first of these sources, and at the files behind it, which wait for their disks at the same time.
/// Another source is looked at when all before it are open: a pipe would wait for its writer before their mistakes
/// are told. The first of them has the number `first`.
pub(super) async fn look_at<'a>(
    node: &Node,
    (sources, first): (&'a [Source], usize),
    reading: &ReadOptions,
) -> Result<Vec<Found<'a>>, Failure> {
    let at_once = LOOKS.min(spare(node) / 4).max(1);
    let mut found = Vec::with_capacity(at_once);
    for (number, source) in (first..).zip(sources.iter().take(at_once)) {
        if !found.is_empty() && !is_file(node, source).await {
            break;
        }
        found.push(look(node, source, &reading.of_input(number)).await?);
        if !is_file(node, source).await {
            break;
        }
    }
    Ok(found)
}

async fn is_file(node: &Node, source: &Source) -> bool {
    let Some(path) = source.path() else {
        return false;
    };
    let found = node.metadata(path).await;
    found.is_ok_and(|found| found.kind == FileKind::Regular)
}

/// Opens a file, and asks for its last bytes.
async fn begin<'a>(
    node: &Node,
    source: &'a Source,
    reading: &ReadOptions,
) -> Result<Look<'a>, Failure> {
    let pipe = |file: File| Look {
        source,
        reading: reading.clone(),
        file,
        is_pipe: true,
        last: None,
    };
    if let Source::Behind(behind) = source
        && let Some((file, _)) = &behind.begun
    {
        return Ok(pipe(file.clone()));
    }
    let Some(path) = source.path() else {
        let file = node.standard(Standard::Input).await?;
        return Ok(pipe(reading.contents(node, file).await?));
    };
    let io = reading.io;
    let file = node.open(path, source.how(io == IoChoice::Direct)).await?;
    let seen = file.metadata();
    if file.is_sequential() {
        return Ok(pipe(reading.contents(node, file).await?));
    }
    let is_known = io != IoChoice::Auto || is_cached(node, &file).await?;
    let file = if is_known {
        file
    } else {
        node.open(path, source.how(true)).await?
    };
    let last = match seen.kind {
        FileKind::Regular => Some(LastByte::ask(node, &file, seen.length)?),
        _ => None,
    };
    Ok(Look {
        source,
        reading: reading.clone(),
        file,
        is_pipe: false,
        last,
    })
}

impl Look<'_> {
    pub(super) async fn end(self, node: &Node) -> Result<Opened, Failure> {
        let (source, reading, file) = (self.source, self.reading, self.file);
        let Some(path) = source.path().filter(|_| !self.is_pipe) else {
            return Ok(Opened::pipe(file));
        };
        let seen = file.metadata();
        let last = match self.last {
            Some(asked) => asked.wait(node).await?,
            None => None,
        };
        let is_ended = last == Some(b'\n') && reading.view.is_some();
        // A manifest lists the records of files that sort has written: none of them is compressed, and their
        // lengths are compared with it.
        let is_named = !matches!(source, Source::Listed(_));
        let file = match is_named && seen.kind == FileKind::Regular {
            true if last.is_some() == (seen.length == 0)
                && is_as_long(node, path, seen.length).await? =>
            {
                let file = node.open(path, Open::Read { direct: false }).await?;
                return Ok(Opened::pipe(
                    reading.contents(node, file.front_to_back()).await?,
                ));
            }
            true => reading.contents(node, file).await?,
            false => file,
        };
        if let Source::Behind(behind) = source
            && let [seen] = &behind.seen[..]
        {
            is_unchanged(path, seen, &file.metadata())?;
        }
        Ok(Opened {
            file,
            is_pipe: false,
            last: if is_ended { Some(RECORD_END) } else { last },
        })
    }
}

/// # Errors
/// When a file that is opened again is not as it was: facts learnt from the first look, its header
/// or its length, would be used with other records.
pub(super) fn is_unchanged(path: &Path, was: &Metadata, now: &Metadata) -> Result<(), SortError> {
    let state = |seen: &Metadata| (seen.device, seen.identity, seen.length, seen.modified_ns);
    if state(was) == state(now) {
        return Ok(());
    }
    Err(replaced(path))
}

pub(super) fn replaced(path: &Path) -> SortError {
    let file = path.to_owned();
    SortError::Replaced { file }
}

/// Bytes of a header that are skipped at a time.
const SKIPPED_BYTES: u64 = 64 << 10;

impl ReadOptions {
    /// The contents of an open file, decompressed if it is compressed.
    pub(super) async fn contents(&self, node: &Node, file: File) -> Result<File, Failure> {
        let reading = Decompression {
            decompress: self.decompress,
            cores: if file.is_sequential() {
                self.cores_of_pipe
            } else {
                self.cores
            },
            memory_bytes: self.memory_bytes,
            view: self.view.clone(),
            lots: self.lots.clone(),
        };
        Ok(file.decompressed(node, reading).await?)
    }

    /// # Errors
    /// When records are not those that a set of files lists.
    pub(super) fn check_set(&self, manifest: &Path) -> Result<(), SortError> {
        if self.lots.is_some() {
            let why = "a set of files is in an order: name its files";
            return Err(SortError::NotShuffled { why });
        }
        if self.view.is_some() {
            let file = manifest.to_owned();
            return Err(SortError::SeveralLines { file });
        }
        Ok(())
    }

    /// The same for the input of that number.
    pub(crate) fn of_input(&self, number: usize) -> ReadOptions {
        let lots = self.lots.clone();
        ReadOptions {
            lots: lots.map(|lots| Lots {
                file: number as u64,
                ..lots
            }),
            ..self.clone()
        }
    }

    /// A file that was found to be no compressed one before, as its records look.
    pub(super) async fn seen(&self, node: &Node, file: File) -> Result<File, Failure> {
        if self.view.is_none() {
            return Ok(file);
        }
        let decompress = Decompress::Never;
        let plain = ReadOptions {
            decompress,
            ..self.clone()
        };
        plain.contents(node, file).await
    }

    /// The contents of a compressed file behind a header of `bytes` bytes. None if the file is not
    /// compressed.
    pub(super) async fn behind(
        &self,
        node: &Node,
        file: File,
        mut bytes: u64,
    ) -> Result<Option<File>, Failure> {
        let file = self.contents(node, file).await?;
        if !file.is_coded() {
            return Ok(None);
        }
        let mut buffer = Buffer::heap(bytes.min(SKIPPED_BYTES) as usize);
        while bytes > 0 {
            let next = bytes.min(SKIPPED_BYTES) as usize;
            let (filled, result) = file.read(node, 0, next, buffer).wait(node).await;
            result?;
            if filled.is_empty() {
                return Ok(None);
            }
            bytes -= filled.len() as u64;
            buffer = filled;
        }
        Ok(Some(file))
    }
}

/// The read of the last byte of a regular file. It tells whether the file's length is true: of files that are made
/// when they are read (in `/proc`, `/sys`, some of FUSE) it is a bound, or 0.
struct LastByte {
    ticket: DiskTicket,
    /// Its place in the buffer.
    place: usize,
}

impl LastByte {
    fn ask(node: &Node, file: &File, length: u64) -> Result<LastByte, Failure> {
        let at = length.saturating_sub(1);
        let begin = at / BLOCK_BYTES * BLOCK_BYTES;
        let room = BLOCK_BYTES as usize;
        let buffers = node.buffers(1, room, Filled::Once);
        let buffers = buffers.map_err(|cause| no_memory(room, &cause))?;
        let buffer = buffers.into_iter().next().expect("one was asked for");
        Ok(LastByte {
            ticket: file.read(node, begin, room, buffer),
            place: (at - begin) as usize,
        })
    }

    async fn wait(self, node: &Node) -> Result<Option<u8>, Failure> {
        let (buffer, result) = self.ticket.wait(node).await;
        result?;
        Ok(buffer.filled().get(self.place).copied())
    }
}

/// Whether a file has that length still: an ordinary one that is being written has another.
async fn is_as_long(node: &Node, path: &Path, length: u64) -> Result<bool, DiskError> {
    Ok(node.metadata(path).await?.length == length)
}

/// Pages sampled to tell whether a file is cached: a few microseconds each.
const PROBES: u64 = 32;

/// Whether at least half of the file is cached, by a sample of its pages.
async fn is_cached(node: &Node, file: &File) -> Result<bool, DiskError> {
    let blocks = file.metadata().length / BLOCK_BYTES;
    if blocks == 0 {
        return Ok(true);
    }
    let probes = PROBES.min(blocks);
    let mut resident = 0;
    for probe in 0..probes {
        let begin = probe * blocks / probes * BLOCK_BYTES;
        resident += file.resident(node, begin..begin + BLOCK_BYTES).await?;
    }
    Ok(resident * 2 >= probes * BLOCK_BYTES)
}
