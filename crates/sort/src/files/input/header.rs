//! Headers: the row at the front of each input that names its columns.
//!
//! They are read before the sort begins, since the names decide the order. An input that can be
//! read only once goes on behind its header: the bytes that were read with it are kept.

use std::sync::Arc;

use node::{Buffer, Node};
use pipeline::Failure;
use record::Framing;

use crate::error::SortError;
use crate::files::manifest::Manifest;
use crate::job::{Behind, IoChoice, Reading, Source};

use super::opening::{Opened, open, set_of};

/// Bytes of the first read; each later one has twice as many as those before together.
const FIRST_READ_BYTES: usize = 64 << 10;

/// No header is longer.
const LONGEST_HEADER_BYTES: usize = 16 << 20;

/// The header of a source, with its delimiter, and the source behind it. The header of an empty
/// source is empty.
///
/// # Errors
/// When the source cannot be read, or no header ends in its first bytes.
pub(crate) async fn read_header(
    node: &Node,
    source: &Source,
    framing: Framing,
    reading: Reading,
) -> Result<(Vec<u8>, Source), Failure> {
    let io = IoChoice::Buffered;
    let Opened { file, is_pipe, .. } = open(node, source, Reading { io, ..reading }).await?;
    let (mut read, mut scanner) = (Vec::new(), framing.scanner());
    let found = loop {
        let more = FIRST_READ_BYTES.max(read.len());
        let ticket = file.read(node, read.len() as u64, more, Buffer::heap(more));
        let (buffer, result) = ticket.wait(node).await;
        result?;
        let before = read.len();
        read.extend_from_slice(&buffer.bytes()[..buffer.len()]);
        if let Ok(Some(end)) = scanner.end(&read[before..]) {
            break Some(before + end);
        }
        if buffer.len() < more {
            break None;
        }
        if read.len() > LONGEST_HEADER_BYTES {
            return Err(refused(
                source,
                "no header ends in the first 16 MiB; give --no-header",
            ));
        }
    };
    if found.is_none() && scanner.is_quoted() {
        return Err(refused(source, "a quote in the header is never closed"));
    }
    let bytes = found.unwrap_or(read.len());
    let front = read.split_off(bytes);
    if found.is_none() && !read.is_empty() {
        read.extend(framing.delimiter());
    }
    let seen = (!is_pipe).then(|| file.metadata()).into_iter().collect();
    let behind = Behind {
        source: Box::new(source.clone()),
        bytes: bytes as u64,
        begun: is_pipe.then(|| (file, Arc::from(front))),
        seen,
    };
    Ok((read, Source::Behind(behind)))
}

/// The headers of a source, each with its file, and the source behind them. A set of files has one in
/// each.
///
/// # Errors
/// As [`read_header`], and when the headers of a set are not as long as its manifest says.
pub(crate) async fn read_headers_of(
    node: &Node,
    source: &Source,
    framing: Framing,
    reading: Reading,
) -> Result<(Vec<(Source, Vec<u8>)>, Source), Failure> {
    let Some((directory, manifest)) = set_of(node, source).await? else {
        let (header, behind) = read_header(node, source, framing, reading).await?;
        return Ok((vec![(source.clone(), header)], behind));
    };
    let refused = |what: &str| SortError::Manifest {
        file: directory.join(Manifest::NAME),
        what: what.to_owned(),
    };
    if manifest.header_bytes == 0 && !manifest.files.is_empty() {
        return Err(refused("lists files without a header; give --no-header").into());
    }
    let (mut headers, mut all_seen) = (Vec::new(), Vec::new());
    for file in manifest.paths(directory).into_iter().map(Source::Listed) {
        let (header, behind) = read_header(node, &file, framing, reading).await?;
        if behind.header_bytes() != manifest.header_bytes {
            let name = file.path().unwrap_or(directory).display();
            let what = format!("lists headers of {} bytes", manifest.header_bytes);
            let has = behind.header_bytes();
            return Err(refused(&format!("{what}, and that of {name} has {has}")).into());
        }
        headers.push((file, header));
        if let Source::Behind(Behind { seen, .. }) = behind {
            all_seen.extend(seen);
        }
    }
    let behind = Behind {
        source: Box::new(source.clone()),
        bytes: manifest.header_bytes,
        begun: None,
        seen: all_seen,
    };
    Ok((headers, Source::Behind(behind)))
}

/// A row without the bytes that end it.
pub(crate) fn body(row: &[u8]) -> &[u8] {
    let row = row.strip_suffix(b"\n").unwrap_or(row);
    row.strip_suffix(b"\r").unwrap_or(row)
}

fn refused(source: &Source, what: &str) -> Failure {
    let file = source.path().unwrap_or("-".as_ref()).to_owned();
    let what = what.to_owned();
    let offset = 0;
    SortError::BadRecord { file, offset, what }.into()
}
