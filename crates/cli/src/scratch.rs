//! Directories to work in, gone on every exit: also when a signal ends the process.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use signal_hook::iterator::{Handle, Signals};
use tempfile::TempDir;

use crate::failure::CliFailure;
use crate::signals;

/// A program that still runs may make a file while others are removed: so often it is tried again,
/// for a second in all. What is left then has a name that says whose it is.
const ATTEMPTS: u32 = 10;
const PAUSE: Duration = Duration::from_millis(100);

/// Directories that are to go when the process ends.
static ALIVE: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// A directory.
pub struct Scratch {
    place: TempDir,
    watch: Handle,
}

impl Scratch {
    /// A new directory in `parent`, for `purpose`.
    pub fn new(parent: &Path, purpose: &str) -> Result<Scratch, CliFailure> {
        let prefix = format!("gristmill-{purpose}-");
        let made = tempfile::Builder::new().prefix(&prefix).tempdir_in(parent);
        let place = made.map_err(|cause| {
            let shown = parent.display();
            let message =
                format!("cannot work in {shown}: {cause}; name a directory with --directory");
            let file = Some(parent.to_owned());
            CliFailure { file, ..CliFailure::new("io", message) }
        })?;
        alive().push(place.path().to_owned());
        Ok(Scratch { place, watch: remove_on_signal()? })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.place.path()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        self.watch.close();
        alive().retain(|place| place != self.place.path());
    }
}

fn alive() -> MutexGuard<'static, Vec<PathBuf>> {
    ALIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes every directory that is in use; the process is about to end.
pub fn remove_all() {
    for place in &*alive() {
        remove(place);
    }
}

fn remove_on_signal() -> Result<Handle, CliFailure> {
    let mut caught = Signals::new(signals::ending()).map_err(signals::unwatched)?;
    let handle = caught.handle();
    let watch = move || {
        if let Some(signal) = caught.forever().next() {
            remove_all();
            std::process::exit(signals::code(signal));
        }
    };
    std::thread::Builder::new().spawn(watch).map_err(signals::unwatched)?;
    Ok(handle)
}

fn remove(place: &Path) {
    for _ in 0..ATTEMPTS {
        if std::fs::remove_dir_all(place).is_ok() {
            return;
        }
        std::thread::sleep(PAUSE);
    }
}
