//! Requests to a file, several in flight: disks are measured with them.
//!
//! ```text
//! offsets    0  1  2  3 | 4  5  6 ...        depth 4: the oldest is awaited, and its buffer
//!            in flight  | next               carries the next request
//! ```
//!
//! They go the way of the sort's own requests, through the node's disks, so a stage of the sort
//! could reach the same rate. A request in flight waits for the disk alone: nothing deadlocks.

use std::collections::VecDeque;

use crate::{Buffer, DiskError, DiskTicket, File, Filled, Node, Random};

/// Written bytes are noise: some hosts and disks store zeros for free.
const NOISE_SEED: u64 = 3;

/// Whether requests read or write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// They read.
    Read,
    /// They write.
    Write,
}

/// Requests of one kind and size.
pub struct Requests {
    way: Way,
    bytes: usize,
    buffers: Vec<Buffer>,
}

impl Requests {
    /// Requests of `bytes` each (whole blocks of 4,096), `depth` in flight.
    ///
    /// # Errors
    /// Too little memory.
    pub fn new(node: &Node, way: Way, bytes: usize, depth: usize) -> Result<Requests, DiskError> {
        let mut buffers = node
            .buffers(depth, bytes, Filled::Often)
            .map_err(|cause| DiskError::new("have memory for", "requests".as_ref(), cause))?;
        let mut noise = Random::new(NOISE_SEED);
        for buffer in &mut buffers {
            let words = buffer.bytes_mut().chunks_exact_mut(8);
            words.for_each(|word| word.copy_from_slice(&noise.next_u64().to_le_bytes()));
        }
        Ok(Requests {
            way,
            bytes,
            buffers,
        })
    }

    /// Requests of `bytes` each, `depth` in flight, that move no bytes: of a simulated disk.
    pub fn counted(way: Way, bytes: usize, depth: usize) -> Requests {
        let buffers = (0..depth).map(|_| Buffer::counted(bytes));
        Requests {
            way,
            bytes,
            buffers: buffers.collect(),
        }
    }

    /// Makes one request at every offset, and returns the bytes moved.
    ///
    /// # Errors
    /// The first request that fails.
    pub async fn run(
        mut self,
        node: &Node,
        file: &File,
        mut offsets: impl Iterator<Item = u64>,
    ) -> Result<u64, DiskError> {
        let (mut in_flight, mut moved) = (VecDeque::new(), 0);
        loop {
            while let Some(buffer) = self.buffers.pop() {
                let Some(offset) = offsets.next() else { break };
                in_flight.push_back(self.submit(node, file, offset, buffer));
            }
            let Some(oldest) = in_flight.pop_front() else {
                return Ok(moved);
            };
            let (buffer, done) = oldest.wait(node).await;
            done?;
            moved += match self.way {
                Way::Read => buffer.len(),
                Way::Write => self.bytes,
            } as u64;
            self.buffers.push(buffer);
        }
    }

    fn submit(&self, node: &Node, file: &File, offset: u64, buffer: Buffer) -> DiskTicket {
        match self.way {
            Way::Read => file.read(node, offset, self.bytes, buffer),
            Way::Write => file.write(node, offset, buffer, 0..self.bytes),
        }
    }
}
