//! The file of rows, or of lines with typed keys, that are set aside because they have mistakes.
//!
//! Rows come from several blocks at once, so it has them in no order, each with its place and the
//! reason (`record::rows::RowAside`). It gets its name with the output: a sort that fails leaves
//! none.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use node::{Buffer, FileKind, Guarded, Metadata, Node, Open, Tokens};
use pipeline::{Failure, Worker};
use record::RowSpec;
use record::rows::{Dialect, RowAside, is_aside};

use crate::error::{SortError, row_place};
use crate::files::output::Output;
use crate::job::{IoChoice, Job, Source, Target};
use crate::records::contents::{Aside, Contents, is_open, lines_in};
use crate::records::size::Size;

const WRITTEN_BYTES: usize = 1 << 20;

/// Rows set aside; clones share the file.
#[derive(Clone)]
pub(crate) struct BadRows {
    path: PathBuf,
    /// Whether the file has rows that an earlier sort has set aside.
    pub replaces: bool,
    output: Output,
    contents: Arc<dyn Contents>,
    dialect: Dialect,
    /// The line of the header that names columns, if there is one.
    names: Arc<[u8]>,
    /// The one who has the token writes.
    turn: Tokens,
    written: Arc<Guarded<Written>>,
}

#[derive(Clone, Default)]
struct Written {
    /// The rows as they were in the input.
    rows: Size,
    bytes: u64,
    /// The position of the first of them in the input, and its mistake.
    first: Option<(u64, String)>,
}

/// The form in which rows are set aside.
pub(crate) struct AsideForm {
    pub dialect: Dialect,
    /// The line of the header that names columns; empty without one.
    pub names: Vec<u8>,
}

impl AsideForm {
    /// Rows in their own dialect.
    pub(crate) fn of_rows(rows: &RowSpec, names: &[u8]) -> AsideForm {
        AsideForm {
            dialect: rows.dialect,
            names: if rows.has_header() {
                names.to_vec()
            } else {
                Vec::new()
            },
        }
    }

    /// Whole lines, in quotes.
    pub(crate) fn of_lines() -> AsideForm {
        AsideForm {
            dialect: Dialect::Csv {
                separator: b',',
                quote: b'"',
            },
            names: Vec::new(),
        }
    }
}

/// The place of a block from which rows are set aside.
#[derive(Clone, Copy)]
pub(crate) struct BlockPlace<'a> {
    pub file: &'a Path,
    pub position: u64,
    /// Its offset in the file.
    pub offset: u64,
    /// The line where it begins, if that is known.
    pub line: Option<u64>,
}

/// The bytes of a file that tell whether it has rows set aside.
const FRONT_BYTES: usize = 64 << 10;

/// Whether both are of one file.
fn is_same(one: &Metadata, other: &Metadata) -> bool {
    (one.device, one.identity) == (other.device, other.identity)
}

/// Whether it replaces rows that an earlier sort has set aside.
///
/// # Errors
/// When the file is an input or the output, holds something else, or has rows that may be nowhere else, since the
/// output replaces an input.
async fn check_place(node: &Node, path: &Path, job: &Job) -> Result<bool, Failure> {
    let refused = |why| {
        let file = path.to_owned();
        Err(SortError::NotSetAside { file, why }.into())
    };
    let output = match &job.target {
        Target::Path(path) | Target::Together(path) => Some(path.as_path()),
        Target::Standard | Target::Directories(_) => None,
    };
    if output == Some(path) {
        return refused("is the output");
    }
    // A pipe and an open descriptor are written on.
    let found = node.sink(path).await;
    let Some(there) = found.ok().filter(|found| found.kind == FileKind::Regular) else {
        return Ok(false);
    };
    let of_output = match output {
        Some(output) => node.metadata(output).await.ok(),
        None => None,
    };
    let is_output = |found: &Metadata| of_output.is_some_and(|output| is_same(&output, found));
    if is_output(&there) {
        return refused("is the output");
    }
    let mut is_in_place = false;
    for input in job.sources.iter().filter_map(Source::path) {
        let Ok(input) = node.metadata(input).await else {
            continue;
        };
        if is_same(&input, &there) {
            return refused("is an input");
        }
        is_in_place |= is_output(&input);
    }
    if there.length == 0 {
        return Ok(false);
    }
    let file = node.open(path, Open::Read { direct: false }).await?;
    let ticket = file.read(node, 0, FRONT_BYTES, Buffer::heap(FRONT_BYTES));
    let (front, read) = ticket.wait(node).await;
    if read.is_err() || !is_aside(front.filled()) {
        return refused("does not hold rows set aside, so it is not replaced");
    }
    if is_in_place {
        return refused(
            "holds what an earlier sort set aside, which may be nowhere else, since the output replaces its input",
        );
    }
    Ok(true)
}

impl BadRows {
    /// Opens a draft of the file, for rows of these contents; in one of the temporary directories if it cannot be
    /// replaced.
    ///
    /// # Errors
    /// When the file may not be replaced, the path leads to a directory, or the disk refuses.
    pub(crate) async fn open(
        node: &Node,
        path: PathBuf,
        job: &Job,
        (contents, form): (Arc<dyn Contents>, AsideForm),
    ) -> Result<BadRows, Failure> {
        let replaces = check_place(node, &path, job).await?;
        let target = Target::Path(path.clone());
        let output = Output::open(node, &target, IoChoice::Buffered, &job.temporary).await?;
        Ok(BadRows {
            path,
            replaces,
            output,
            contents,
            dialect: form.dialect,
            names: form.names.into(),
            turn: Tokens::new(node, "the file of bad rows", vec![0]),
            written: Arc::new(Guarded::new(node, "bad rows", Written::default())),
        })
    }

    /// Writes rows of a block.
    ///
    /// # Errors
    /// When the disk refuses.
    pub(crate) async fn add(
        &self,
        worker: &Worker,
        place: BlockPlace<'_>,
        aside: &Aside,
    ) -> Result<(), Failure> {
        let node = &worker.node;
        let token = worker.hold(self.turn.take_any(node, &[0], None)).await?;
        let mut written = self.written.look(Written::clone);
        let result = self.write(node, (place, aside), &mut written).await;
        self.written.change(node, |all| *all = written).await;
        if let Some(token) = token {
            self.turn.give(node, token).await;
        }
        result
    }

    async fn write(
        &self,
        node: &Node,
        (place, aside): (BlockPlace<'_>, &Aside),
        written: &mut Written,
    ) -> Result<(), Failure> {
        let framing = self.contents.framing().records();
        let (mut text, mut rest) = (Vec::new(), &aside.rows[..]);
        if written.bytes == 0 {
            text = self.dialect.header_aside(&self.names);
        }
        for &(bytes, before) in &aside.stretches {
            let (stretch, behind) = rest.split_at(bytes);
            let mut line = place.line.map(|line| line + before);
            let (open, rows) = if is_open(stretch, framing) {
                (Some(stretch), &[][..])
            } else {
                (None, stretch)
            };
            for row in open.into_iter().chain(framing.split(rows)) {
                let bad = self.contents.mistake(row);
                let reason = bad.map_or(String::new(), |bad| bad.to_string());
                if (written.first.as_ref()).is_none_or(|(first, _)| place.position < *first) {
                    let file = place.file.display();
                    let place_of_row = row_place(line, place.offset);
                    let first = format!("{file}, {place_of_row}: {reason}");
                    written.first = Some((place.position, first));
                }
                let row_aside = RowAside {
                    file: place.file.as_os_str().as_bytes(),
                    line,
                    reason: &reason,
                    row: &row[..row.len() - 1],
                };
                row_aside.write(self.dialect, &mut text);
                line = line.map(|line| line + lines_in(row, framing));
                if text.len() >= WRITTEN_BYTES {
                    self.append(node, &mut text, written).await?;
                }
            }
            rest = behind;
        }
        written.rows += Size {
            records: aside.records,
            bytes: aside.rows.len() as u64,
        };
        self.append(node, &mut text, written).await
    }

    async fn append(
        &self,
        node: &Node,
        text: &mut Vec<u8>,
        written: &mut Written,
    ) -> Result<(), Failure> {
        let bytes = text.len();
        let mut buffer = Buffer::heap(bytes);
        buffer.bytes_mut()[..bytes].copy_from_slice(text);
        buffer.set_len(bytes);
        text.clear();
        let file = self.output.file(0);
        let ticket = file.write(node, written.bytes, buffer, 0..bytes);
        let (_, result) = ticket.wait(node).await;
        written.bytes += bytes as u64;
        Ok(result.map_err(|error| self.output.named(error))?)
    }

    /// The rows set aside so far, as they were in the input.
    pub(crate) fn rows(&self) -> Size {
        self.written.look(|written| written.rows)
    }

    /// The place and the mistake of the first row, if there is one.
    pub(crate) fn first(&self) -> Option<String> {
        let first = |written: &Written| Some(written.first.as_ref()?.1.clone());
        self.written.look(first)
    }

    pub(crate) fn path(&self) -> &PathBuf {
        &self.path
    }

    /// Makes the file durable and gives it its name.
    ///
    /// # Errors
    /// When the disk refuses.
    pub(crate) async fn commit(&self, node: &Node) -> Result<(), Failure> {
        let bytes = self.written.look(|written| written.bytes);
        self.output.finish(node, bytes).await?;
        self.output.name(node).await.map(drop)
    }

    pub(crate) async fn discard(&self, node: &Node) {
        self.output.discard(node).await;
    }
}
