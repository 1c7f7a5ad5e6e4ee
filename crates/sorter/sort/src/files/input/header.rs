//! Headers: the lines on top of each input, of rows often the one that names their columns, or only a byte order
//! mark.
//!
//! They are read before the sort begins, since the names decide the order. An input that can be
//! read only once goes on behind its header: the bytes that were read with it are kept.

use std::sync::Arc;

use node::{Buffer, File, Node};
use pipeline::Failure;
use record::rows::without_mark;
use record::{Head, Headed};

use crate::error::SortError;
use crate::files::manifest::Manifest;
use crate::job::{Behind, IoChoice, ReadOptions, Source};

use super::opening::{Opened, open, set_of};

/// Bytes of the first read; each later one has twice as many as those before together.
const FIRST_READ_BYTES: usize = 64 << 10;

const MARK_BYTES: u64 = 3;

#[derive(Clone, Debug)]
pub(crate) struct Front {
    /// The input, or a file of a set.
    pub file: Source,
    /// The header with its delimiter, or a byte order mark. Empty if the file is.
    pub header: Vec<u8>,
    /// Columns of the first row, if there is no header.
    pub columns: usize,
}

/// The front of a source, and the source behind its header.
///
/// # Errors
/// When the source cannot be read, or no header ends in its first bytes.
async fn read_front(
    node: &Node,
    (source, known): (&Source, Option<usize>),
    headed: &Headed,
    reading: &ReadOptions,
) -> Result<(Front, Source), Failure> {
    let io = IoChoice::Buffered;
    let reading = ReadOptions {
        io,
        ..reading.clone()
    };
    let Opened { file, is_pipe, .. } = open(node, source, &reading).await?;
    let (mut read, mut end) = read_header(node, source, &file, headed).await?;
    if let Some(known) = known.filter(|known| *known <= read.len()) {
        end = Some(known);
    }
    let bytes = end.unwrap_or(read.len());
    let front = read.split_off(bytes);
    if end.is_none() && !read.is_empty() {
        read.extend(headed.framing().delimiter());
    }
    let found = Front {
        file: source.clone(),
        header: read,
        columns: headed.columns_of(&front),
    };
    if bytes == 0 && !is_pipe {
        return Ok((found, source.clone()));
    }
    let seen = (!is_pipe).then(|| file.metadata()).into_iter().collect();
    let behind = Behind {
        source: source.clone(),
        bytes: bytes as u64,
        begun: is_pipe.then(|| (file, Arc::from(front))),
        seen,
    };
    Ok((found, Source::Behind(Box::new(behind))))
}

/// Reads until the header ends. Returns what was read, and the header's end if there is one.
async fn read_header(
    node: &Node,
    source: &Source,
    file: &File,
    headed: &Headed,
) -> Result<(Vec<u8>, Option<usize>), Failure> {
    let (mut read, framing, head) = (Vec::new(), headed.framing(), headed.head());
    loop {
        let more = FIRST_READ_BYTES.max(read.len());
        let ticket = file.read(node, read.len() as u64, more, Buffer::heap(more));
        let (buffer, result) = ticket.wait(node).await;
        result?;
        read.extend_from_slice(&buffer.bytes()[..buffer.len()]);
        let is_whole = buffer.len() < more;
        let mark = headed.mark_of(&read);
        let last = head.last_line(framing, &read[mark..], is_whole);
        let last = last.map_err(|short| refused(source, &short.to_string()))?;
        if let Some(last) = last {
            let (line, end) = (&read[mark..][last.clone()], mark + last.end);
            let is_ended = line.is_empty() || framing.end(line).is_some();
            if !is_ended && framing.is_open(line) {
                return Err(refused(source, "a quote in the header is never closed"));
            }
            return Ok((read, is_ended.then_some(end)));
        }
        if read.len() > Head::LONGEST_BYTES {
            let why = match headed.rows() {
                Some(_) => "no header ends in the first 16 MiB; give --no-header",
                None => "no header ends in the first 16 MiB; write a smaller number of lines",
            };
            return Err(refused(source, why));
        }
    }
}

/// The fronts of a source, and the source behind their headers. A set of files has one in each.
///
/// # Errors
/// As [`read_front`], and when the headers of a set are not as long as its manifest says.
pub(crate) async fn read_fronts_of(
    node: &Node,
    source: &Source,
    headed: &Headed,
    reading: &ReadOptions,
) -> Result<(Vec<Front>, Source), Failure> {
    let Some((directory, manifest)) = set_of(node, source).await? else {
        let (front, behind) = read_front(node, (source, None), headed, reading).await?;
        return Ok((vec![front], behind));
    };
    // Its files have more than a mark; they are refused when they are opened as lines.
    if headed.head().is_none() && manifest.header_bytes > MARK_BYTES {
        return Ok((Vec::new(), source.clone()));
    }
    let refused = |what: &str| SortError::Manifest {
        file: directory.join(Manifest::NAME),
        what: what.to_owned(),
    };
    if headed.head().lines() > 0 && manifest.header_bytes == 0 && !manifest.files.is_empty() {
        return Err(refused("lists files without a header; give --no-header").into());
    }
    let (mut fronts, mut all_seen) = (Vec::new(), Vec::new());
    // Records may begin with a mark, too: the manifest tells where those lines end.
    let is_marked = headed.head().is_marked_alone();
    let known = is_marked.then_some(manifest.header_bytes as usize);
    for file in manifest.paths(directory).into_iter().map(Source::Listed) {
        let (front, behind) = read_front(node, (&file, known), headed, reading).await?;
        if behind.header_bytes() != manifest.header_bytes {
            let name = file.path().unwrap_or(directory).display();
            let what = format!("lists headers of {} bytes", manifest.header_bytes);
            let has = behind.header_bytes();
            return Err(refused(&format!("{what}, and that of {name} has {has}")).into());
        }
        fronts.push(front);
        if let Source::Behind(behind) = behind {
            all_seen.extend(behind.seen);
        }
    }
    let behind = Behind {
        source: source.clone(),
        bytes: manifest.header_bytes,
        begun: None,
        seen: all_seen,
    };
    Ok((fronts, Source::Behind(Box::new(behind))))
}

/// A header without its mark and the bytes that end it.
pub(crate) fn body(row: &[u8]) -> &[u8] {
    let row = without_mark(row);
    let row = row.strip_suffix(b"\n").unwrap_or(row);
    row.strip_suffix(b"\r").unwrap_or(row)
}

fn refused(source: &Source, what: &str) -> Failure {
    let file = source.path().unwrap_or("-".as_ref()).to_owned();
    let what = what.to_owned();
    SortError::Header { file, what }.into()
}
