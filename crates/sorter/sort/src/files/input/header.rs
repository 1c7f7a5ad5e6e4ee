//! Headers: the row at the front of each input that names its columns, or only a byte order mark.
//!
//! They are read before the sort begins, since the names decide the order. An input that can be
//! read only once goes on behind its header: the bytes that were read with it are kept.

use std::sync::Arc;

use node::{Buffer, File, Node};
use pipeline::Failure;
use record::RowSpec;
use record::rows::{Header, without_mark};

use crate::error::SortError;
use crate::files::manifest::Manifest;
use crate::job::{Behind, IoChoice, ReadOptions, Source};

use super::opening::{Opened, open, set_of};

/// Bytes of the first read; each later one has twice as many as those before together.
const FIRST_READ_BYTES: usize = 64 << 10;

/// No header is longer.
const LONGEST_HEADER_BYTES: usize = 16 << 20;

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
    source: &Source,
    rows: &RowSpec,
    reading: ReadOptions,
) -> Result<(Front, Source), Failure> {
    let io = IoChoice::Buffered;
    let Opened { file, is_pipe, .. } = open(node, source, ReadOptions { io, ..reading }).await?;
    let (mut read, end) = read_header(node, source, &file, rows).await?;
    let bytes = end.unwrap_or(read.len());
    let front = read.split_off(bytes);
    if end.is_none() && !read.is_empty() {
        read.extend(rows.dialect.framing().delimiter());
    }
    let columns = || Header::columns_at(rows.dialect, &front);
    let found = Front {
        file: source.clone(),
        header: read,
        columns: (!rows.has_header).then(columns).unwrap_or_default(),
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
    rows: &RowSpec,
) -> Result<(Vec<u8>, Option<usize>), Failure> {
    let (mut read, mut scanner) = (Vec::new(), rows.dialect.framing().scanner());
    loop {
        let (before, more) = (read.len(), FIRST_READ_BYTES.max(read.len()));
        let ticket = file.read(node, before as u64, more, Buffer::heap(more));
        let (buffer, result) = ticket.wait(node).await;
        result?;
        read.extend_from_slice(&buffer.bytes()[..buffer.len()]);
        if !rows.has_header {
            let mark = read.len() - without_mark(&read).len();
            return Ok((read, Some(mark)));
        }
        if let Ok(Some(end)) = scanner.end(&read[before..]) {
            return Ok((read, Some(before + end)));
        }
        if buffer.len() < more && scanner.is_quoted() {
            return Err(refused(source, "a quote in the header is never closed"));
        }
        if buffer.len() < more {
            return Ok((read, None));
        }
        if read.len() > LONGEST_HEADER_BYTES {
            let why = "no header ends in the first 16 MiB; give --no-header";
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
    rows: &RowSpec,
    reading: ReadOptions,
) -> Result<(Vec<Front>, Source), Failure> {
    let Some((directory, manifest)) = set_of(node, source).await? else {
        let (front, behind) = read_front(node, source, rows, reading).await?;
        return Ok((vec![front], behind));
    };
    // Its files have more than a mark; they are refused when they are opened as lines.
    if !rows.has_header && manifest.header_bytes > MARK_BYTES {
        return Ok((Vec::new(), source.clone()));
    }
    let refused = |what: &str| SortError::Manifest {
        file: directory.join(Manifest::NAME),
        what: what.to_owned(),
    };
    if rows.has_header && manifest.header_bytes == 0 && !manifest.files.is_empty() {
        return Err(refused("lists files without a header; give --no-header").into());
    }
    let (mut fronts, mut all_seen) = (Vec::new(), Vec::new());
    for file in manifest.paths(directory).into_iter().map(Source::Listed) {
        let (front, behind) = read_front(node, &file, rows, reading).await?;
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
    let offset = 0;
    SortError::BadRecord { file, offset, what }.into()
}
