//! Rows of record batches on their way into a sort, and back.

use arrow_array::{Array, RecordBatch};
use arrow_schema::ArrowError;
use gristmill::{Error, Feed, Sorted};

use crate::columns::Columns;

/// Bytes that a batch is converted by. The copy fits the caches of a core and not only its memory.
const SLICE_BYTES: usize = 256 << 10;

/// Rows and bytes after which a batch that comes back is large enough. Its bytes fit the caches, too.
const ROWS: usize = 64 << 10;
const BATCH_BYTES: usize = 1 << 20;

/// Pushes the rows of a batch, some at a time.
pub(crate) fn push_batch(
    columns: &Columns,
    batch: &RecordBatch,
    feed: &mut Feed,
) -> Result<(), Error> {
    let count = batch.num_rows();
    let bytes = bytes_of(batch);
    let step = (SLICE_BYTES * count / bytes.max(1)).clamp(1, 64 << 10);
    let mut rows = Vec::new();
    for begin in (0..count).step_by(step) {
        let slice = batch.slice(begin, step.min(count - begin));
        match columns.width() {
            Some(_) => {
                columns.block(&slice, &mut rows).map_err(unreadable)?;
                feed.push_reader(&rows[..])?;
            }
            None => push_slice(columns, &slice, feed, &mut rows)?,
        }
    }
    Ok(())
}

/// About as many bytes as the values of a batch take; it may be a slice of a larger one.
fn bytes_of(batch: &RecordBatch) -> usize {
    let columns = batch.columns().iter();
    let bytes = columns.map(|column| {
        let data = column.to_data();
        data.get_slice_memory_size()
            .unwrap_or_else(|_| column.get_buffer_memory_size())
    });
    bytes.sum()
}

/// Pushes rows of any length.
fn push_slice(
    columns: &Columns,
    batch: &RecordBatch,
    feed: &mut Feed,
    row: &mut Vec<u8>,
) -> Result<(), Error> {
    let (keys, rests) = columns.rows(batch).map_err(unreadable)?;
    for number in 0..batch.num_rows() {
        let key = keys.row(number);
        let rest = columns.has_rest().then(|| rests.row(number));
        let (key, rest) = (key.as_ref(), rest.as_ref().map_or(&[][..], AsRef::as_ref));
        row.clear();
        for part in [key, rest] {
            let length = u32::try_from(part.len()).map_err(|_| too_long())?;
            row.extend_from_slice(&length.to_le_bytes());
        }
        row.extend_from_slice(key);
        row.extend_from_slice(rest);
        feed.push(row)?;
    }
    Ok(())
}

fn too_long() -> Error {
    unreadable(ArrowError::InvalidArgumentError(
        "a row has more than 4 GiB".to_owned(),
    ))
}

/// The next sorted rows as a batch; none at the end.
pub(crate) fn read_batch(
    columns: &Columns,
    sorted: &mut Sorted,
) -> Result<Option<RecordBatch>, Error> {
    let (mut bytes, mut ends) = (Vec::new(), vec![0]);
    while ends.len() <= ROWS && bytes.len() < BATCH_BYTES {
        let Some(row) = sorted.next()? else { break };
        bytes.extend_from_slice(row);
        ends.push(bytes.len());
    }
    if ends.len() == 1 {
        return Ok(None);
    }
    let batch = match columns.width() {
        Some(width) => columns.batch(bytes.chunks_exact(width)),
        None => columns.batch(ends.windows(2).map(|ends| &bytes[ends[0]..ends[1]])),
    };
    batch
        .map(Some)
        .map_err(|error| Error::Damaged(error.to_string()))
}

/// A stream or a batch of the caller has failed.
pub(crate) fn unreadable(error: ArrowError) -> Error {
    Error::Input {
        what: format!("record batch: {error}"),
        file: None,
        offset: None,
    }
}
