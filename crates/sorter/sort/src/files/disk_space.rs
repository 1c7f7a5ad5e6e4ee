//! Disk space: whether the disks have room for everything that a sort will write, checked before
//! its first byte.

use std::collections::BTreeMap;
use std::path::PathBuf;

use node::Node;
use pipeline::Failure;

use crate::error::SortError;

/// The disk space that a sort needs.
pub struct Demand {
    /// Directories of the output, if it takes space.
    pub outputs: Vec<PathBuf>,
    /// Bytes of the output.
    pub output_bytes: u64,
    /// Directories of spill files.
    pub temporary: Vec<PathBuf>,
    /// Bytes of spill files, estimated.
    pub temporary_bytes: u64,
}

/// The disk of a directory. `None` if that cannot be told: all such directories count as one disk.
type Disk = Option<u64>;

impl Demand {
    /// Checks that the disks have enough free space. The output alone is checked when its space is
    /// reserved; here it is checked together with spill files, since a disk may have to hold both.
    ///
    /// # Errors
    /// When there is too little, with the bytes needed and free.
    pub async fn check(&self, node: &Node) -> Result<(), Failure> {
        if self.temporary_bytes == 0 {
            return Ok(());
        }
        let temporary = free(node, &self.temporary).await;
        let mut both = free(node, &self.outputs).await;
        let needed_there = both.keys().any(|disk| temporary.contains_key(disk));
        let here = sum(&temporary);
        both.extend(temporary);
        let all = sum(&both);
        let needed = self.temporary_bytes.saturating_add(self.output_bytes);
        let (needed, free) = match (here < self.temporary_bytes, needed_there && all < needed) {
            (true, _) => (self.temporary_bytes, here),
            (false, true) => (needed, all),
            (false, false) => return Ok(()),
        };
        Err(SortError::NoTemporaryRoom {
            directories: self.temporary.clone(),
            needed,
            free,
        }
        .into())
    }
}

/// The free space of the disks under these directories. A disk that cannot be asked counts as
/// empty: writing to it will tell.
async fn free(node: &Node, directories: &[PathBuf]) -> BTreeMap<Disk, u64> {
    let mut free = BTreeMap::new();
    for directory in directories {
        let disk = node
            .metadata(directory)
            .await
            .ok()
            .map(|found| found.device);
        free.insert(disk, node.space(directory).await.unwrap_or(u64::MAX));
    }
    free
}

fn sum(free: &BTreeMap<Disk, u64>) -> u64 {
    free.values()
        .fold(0, |all, &bytes| all.saturating_add(bytes))
}
