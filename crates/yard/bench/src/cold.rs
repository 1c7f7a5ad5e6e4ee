//! Cold inputs: files without pages in the page cache.
//!
//! Writing to `drop_caches` empties the whole cache, for which one must be root; otherwise the
//! system is asked to forget one file, which it does if no other process uses it. The host of a
//! virtual machine has a cache of its own that cannot be emptied from here.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use rustix::fs::{Advice, fadvise};

use terminal::ending::failure::CliFailure;

const DROP_CACHES: &str = "/proc/sys/vm/drop_caches";

/// Page cache, and what is known of directories and files.
const EVERYTHING: &str = "3";

/// How inputs are made cold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cold {
    /// The whole cache is dropped.
    DropCaches,
    /// The system is asked to forget the file.
    Advise,
}

impl Cold {
    /// The strongest way that is permitted; a smoke run leaves the caches of others alone.
    pub fn find(smoke: bool) -> Cold {
        let permitted = !smoke && fs::write(DROP_CACHES, EVERYTHING).is_ok();
        if permitted {
            Cold::DropCaches
        } else {
            Cold::Advise
        }
    }

    /// A description for the report.
    pub fn name(self) -> &'static str {
        match self {
            Cold::DropCaches => "3 written to /proc/sys/vm/drop_caches before every run",
            Cold::Advise => "posix_fadvise(DONTNEED) on the input before every run",
        }
    }

    /// Makes a file cold.
    ///
    /// # Errors
    /// A file that cannot be opened or synced.
    pub fn forget(self, file: &Path) -> Result<(), CliFailure> {
        let done = match self {
            Cold::DropCaches => fs::write(DROP_CACHES, EVERYTHING),
            Cold::Advise => advise(file),
        };
        done.map_err(|cause| {
            let message = format!(
                "cannot drop {} from the page cache: {cause}",
                file.display()
            );
            CliFailure {
                file: Some(file.to_owned()),
                ..CliFailure::new("io", message)
            }
        })
    }
}

fn advise(file: &Path) -> io::Result<()> {
    let file = File::open(file)?;
    // Dirty pages stay in the cache.
    file.sync_all()?;
    Ok(fadvise(&file, 0, None, Advice::DontNeed)?)
}
