//! Files whose contents are decompressed or compressed on the way, or look otherwise to the program.

use std::io;
use std::sync::Arc;

use super::collecting::Collecting;
use super::hiding::Hiding;
use super::{DiskError, File};
use crate::backend::Coded;
use crate::compression::{CodingMemory, Compress, Decompress, Decompression};
use crate::lots::{Collector, Lots};
use crate::view::View;
use crate::{Buffer, Filled, Mutex, Node};

impl File {
    /// The contents of a file that nothing was read of. If the file is compressed, they can be read
    /// front to back only, and each read decompresses what it returns. Records with lots can be read front to back
    /// only, too. All others are the file itself, or its bytes as the view shows them. A pipe is told by its first read, so opening does not wait for it.
    ///
    /// A decompressor takes a part of the memory limit, or more where the data needs it:
    /// [`File::coding_memory`] says how much.
    ///
    /// # Errors
    /// When the file cannot be read. Damaged data is an error of a later read, and so are bytes that have no such view.
    pub async fn decompressed(
        self,
        node: &Node,
        reading: Decompression,
    ) -> Result<File, DiskError> {
        let header_bytes = self.handle.header_bytes();
        let is_unchanged = reading.view.is_none() && reading.lots.is_none();
        if reading.decompress == Decompress::Never && is_unchanged {
            return Ok(self);
        }
        if header_bytes == 0 {
            // A backend that shows files as they are.
            let cause = io::ErrorKind::Unsupported.into();
            return if is_unchanged {
                Ok(self)
            } else {
                Err(self.failed("view", cause))
            };
        }
        let begin = if self.is_sequential() {
            None
        } else {
            Some(self.begin(node, header_bytes).await?)
        };
        let length = self.metadata.length;
        let begin = begin.as_ref().map(|begin| (begin.filled(), length));
        let coded = self.handle.decompressed(begin, reading);
        match coded.map_err(|cause| self.failed("open", cause))? {
            Some(coded) => self.coded(coded),
            None => Ok(self),
        }
    }

    /// This file, which is empty, as one that compresses what is written to it front to back.
    /// [`File::sync`] ends the compressed data; then nothing more can be written.
    ///
    /// # Errors
    /// When the node does not know compressed files, or there is no memory.
    pub fn compressed(self, how: Compress) -> Result<File, DiskError> {
        let coded = self.handle.compressed(how);
        let coded = coded.map_err(|cause| self.failed("compress", cause))?;
        self.coded(coded)
    }

    /// This file, which is written as `view` has it.
    #[must_use]
    pub fn hiding(self, view: Arc<dyn View>) -> File {
        let handle = self.handle;
        let handle = Arc::new(Hiding { handle, view });
        File { handle, ..self }
    }

    /// This file, which is empty, as one that is written front to back, behind a heading of so many bytes, without the
    /// lots of its records.
    ///
    /// # Errors
    /// When the system does not say what file it is.
    pub fn collecting(self, lots: &Lots, heading_bytes: usize) -> Result<File, DiskError> {
        let collecting = Collecting {
            handle: Arc::clone(&self.handle),
            collector: Mutex::new(Collector::new(lots, heading_bytes)),
        };
        let memory = self.coding_memory;
        self.coded(Coded {
            handle: Arc::new(collecting),
            is_coded: true,
            memory,
        })
    }

    /// Whether its contents are decompressed or compressed on the way, or else seen from front to back only. Of a
    /// pipe that is not known.
    pub fn is_coded(&self) -> bool {
        self.is_coded
    }

    /// Memory that a decompressor or compressor takes.
    pub fn coding_memory(&self) -> CodingMemory {
        self.coding_memory
    }

    /// The first bytes of a file, fewer only if it is shorter.
    async fn begin(&self, node: &Node, bytes: usize) -> Result<Buffer, DiskError> {
        let buffers = node.buffers(1, bytes, Filled::Once);
        let mut buffers = buffers.map_err(|cause| self.failed("read", cause))?;
        let buffer = buffers.pop().expect("one was asked for");
        let (buffer, result) = self.read(node, 0, bytes, buffer).wait(node).await;
        result.map(|()| buffer)
    }

    fn coded(self, coded: Coded) -> Result<File, DiskError> {
        let Coded {
            handle,
            is_coded,
            memory,
        } = coded;
        if !is_coded && !self.is_sequential() {
            // The same file, which may have grown since it was opened.
            return Ok(File { handle, ..self });
        }
        let mut file = File::new(handle, &self.path).map_err(|cause| self.failed("open", cause))?;
        if self.is_sequential() {
            file = file.front_to_back();
        }
        Ok(File {
            is_coded,
            coding_memory: memory,
            ..file
        })
    }
}
