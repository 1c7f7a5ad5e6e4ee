//! Small files of text, read and written as a whole through the node's disks.

use std::io;
use std::path::Path;

use node::{Buffer, DiskError, File, Node, Open};

/// No text of ours is longer.
const MOST_BYTES: u64 = 64 << 20;

/// The text of a file, if it is there.
pub(crate) async fn read(node: &Node, path: &Path) -> Result<Option<Vec<u8>>, DiskError> {
    let file = match node.open(path, Open::Read { direct: false }).await {
        Err(error) if error.cause.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    let failed = |cause: io::Error| Err(DiskError::new("read", path, cause));
    let length = file.metadata().length;
    if length > MOST_BYTES {
        return failed(io::Error::other("it is far too long for a manifest"));
    }
    let bytes = length as usize;
    let (buffer, result) = file.read(node, 0, bytes, Buffer::heap(bytes)).wait(node).await;
    result?;
    if buffer.len() < bytes {
        return failed(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(Some(buffer.filled().to_vec()))
}

/// Writes the text of a new file, and makes it durable.
pub(crate) async fn write(node: &Node, file: &File, text: Vec<u8>) -> Result<(), DiskError> {
    let bytes = text.len();
    let (_, result) = file.write(node, 0, Buffer::new(Box::new(text)), 0..bytes).wait(node).await;
    result?;
    file.sync(node).await
}
