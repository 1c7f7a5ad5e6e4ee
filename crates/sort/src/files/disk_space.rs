//! Whether the disks have room for all that a sort will write, before its first byte.

use std::collections::BTreeMap;
use std::path::PathBuf;

use node::Node;
use pipeline::Failure;

use crate::error::SortError;

/// What a sort will write.
pub struct Demand {
    /// Where the output goes, if it takes space.
    pub outputs: Vec<PathBuf>,
    /// Bytes of the output.
    pub output_bytes: u64,
    /// Where spill files go.
    pub temporary: Vec<PathBuf>,
    /// Bytes of spill files, about.
    pub temporary_bytes: u64,
}

/// The disk that a directory is on; none where that cannot be told: then all such are one disk.
type Disk = Option<u64>;

impl Demand {
    /// Refuses what has no room. The output alone is checked when its space is reserved; here it is
    /// checked together with what is spilled, since a disk may have to hold both.
    ///
    /// # Errors
    /// When there is too little room, with what is needed and what is free.
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

/// The free space of the disks under these directories. What cannot be asked has room for anything:
/// writing there will tell.
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
