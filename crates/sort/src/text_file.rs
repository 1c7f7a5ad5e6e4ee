//! Small files of text, read and written as a whole through the node's disks.

use std::io;
use std::path::Path;

use node::{Buffer, DiskError, File, Node, Open};

use crate::temporary::Temporary;

/// No text of ours is longer.
const MOST_BYTES: u64 = 1 << 30;

/// Permission bits of what nobody else reads or writes.
pub(crate) const OURS: u32 = 0o600;

/// The text of a file, if it is there.
pub(crate) async fn read(node: &Node, path: &Path) -> Result<Option<Vec<u8>>, DiskError> {
    let file = match node.open(path, Open::Read { direct: false }).await {
        Err(error) if error.cause.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    let failed = |cause: io::Error| Err(DiskError::new("read", path, cause));
    let length = file.metadata().length;
    if length > MOST_BYTES {
        return failed(io::Error::other("it is far too long for a file of ours"));
    }
    let bytes = length as usize;
    let (buffer, result) = file.read(node, 0, bytes, Buffer::heap(bytes)).wait(node).await;
    result?;
    if buffer.len() < bytes {
        return failed(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(Some(buffer.filled().to_vec()))
}

/// Gives a file this text: a reader finds it whole and durable, or what was there before. The file is locked as
/// long as somebody has it open here. `mode` are the permission bits of a new one, before the process's mask.
pub(crate) async fn put(
    node: &Node,
    path: &Path,
    text: Vec<u8>,
    mode: u32,
) -> Result<File, DiskError> {
    let directory = path.parent().unwrap_or(Path::new("."));
    let how = Open::Create { direct: false, mode };
    let draft = Temporary::another(node, directory, how).await?;
    let put = match write(node, &draft.file, text).await {
        Ok(()) => node.rename(&draft.path, path).await,
        failed => failed,
    };
    if put.is_err() {
        draft.remove(node).await;
    }
    put.map_err(|error| DiskError { path: path.to_owned(), ..error })?;
    Ok(draft.file)
}

/// Writes the text of a new file, and makes it durable.
pub(crate) async fn write(node: &Node, file: &File, text: Vec<u8>) -> Result<(), DiskError> {
    let bytes = text.len();
    let (_, result) = file.write(node, 0, Buffer::new(Box::new(text)), 0..bytes).wait(node).await;
    result?;
    file.sync(node).await
}
