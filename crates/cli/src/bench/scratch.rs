//! A directory to measure in, gone on every exit: also when a signal ends the process.

use std::path::{Path, PathBuf};
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::{Handle, Signals};
use tempfile::TempDir;

use crate::failure::CliFailure;

/// What a process that a signal ended exits with: this and the signal's number.
const SIGNAL_CODE: i32 = 128;

/// A program that still runs may make a file while others are removed: so often it is tried again,
/// for a second in all. What is left then has a name that says whose it is.
const ATTEMPTS: u32 = 10;
const PAUSE: Duration = Duration::from_millis(100);

/// The directory.
pub struct Scratch {
    place: TempDir,
    signals: Handle,
}

impl Scratch {
    /// A new directory in `parent`.
    pub fn new(parent: &Path) -> Result<Scratch, CliFailure> {
        let made = tempfile::Builder::new().prefix("gristmill-bench-").tempdir_in(parent);
        let place = made.map_err(|cause| {
            let shown = parent.display();
            let message =
                format!("cannot work in {shown}: {cause}; name a directory with --directory");
            let file = Some(parent.to_owned());
            CliFailure { file, ..CliFailure::new("io", message) }
        })?;
        let signals = remove_on_signal(place.path().to_owned());
        Ok(Scratch { place, signals })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.place.path()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        self.signals.close();
    }
}

fn remove_on_signal(place: PathBuf) -> Handle {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP]).expect("signals can be watched");
    let handle = signals.handle();
    std::thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            remove(&place);
            std::process::exit(SIGNAL_CODE + signal);
        }
    });
    handle
}

fn remove(place: &Path) {
    for _ in 0..ATTEMPTS {
        if std::fs::remove_dir_all(place).is_ok() {
            return;
        }
        std::thread::sleep(PAUSE);
    }
}
