//! Directories to work in, files that are not finished, and processes at work for us, gone on every
//! exit: also when a signal ends the process.

use std::fs::{File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use signal_hook::iterator::{Handle, Signals};
use tempfile::{NamedTempFile, TempDir};

use crate::failure::CliFailure;
use crate::{files, signals};

/// A program that still runs may make a file while others are removed: so often it is tried again,
/// for a second in all. What is left then has a name that says whose it is.
const ATTEMPTS: u32 = 10;
const PAUSE: Duration = Duration::from_millis(100);

/// What is to go when the process ends.
static ALIVE: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Who is to end when the process ends.
static COMPANIONS: Mutex<Vec<Pid>> = Mutex::new(Vec::new());

/// Whether a signal is ending the process.
static ENDING: AtomicBool = AtomicBool::new(false);

/// A directory.
pub struct Scratch {
    place: TempDir,
    watch: Handle,
    _held: Held,
}

impl Scratch {
    /// A new directory in `parent`, for `purpose`.
    ///
    /// # Errors
    /// A directory that cannot be made; signals that cannot be watched.
    pub fn new(parent: &Path, purpose: &str) -> Result<Scratch, CliFailure> {
        let prefix = format!("gristmill-{purpose}-");
        let made = tempfile::Builder::new().prefix(&prefix).tempdir_in(parent);
        let place = made.map_err(|cause| {
            let shown = parent.display();
            let message =
                format!("cannot work in {shown}: {cause}; name a directory with --directory");
            let file = Some(parent.to_owned());
            CliFailure {
                file,
                ..CliFailure::new("io", message)
            }
        })?;
        Ok(Scratch {
            _held: Held::new(place.path().to_owned()),
            place,
            watch: remove_on_signal()?,
        })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.place.path()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        self.watch.close();
    }
}

/// A file that is written under another name until it is complete. Whoever makes one watches for
/// signals.
pub struct Draft {
    file: NamedTempFile,
    target: PathBuf,
    _held: Held,
}

impl Draft {
    /// A new file beside `target`, or beside what it is a link to. It can be read by whom the old
    /// one could be read by.
    pub fn new(target: &Path) -> io::Result<Draft> {
        // A new file's mode, which the umask narrows.
        const NEW_MODE: u32 = 0o666;
        let target = target.canonicalize().unwrap_or_else(|_| target.to_owned());
        let old = std::fs::metadata(&target)
            .ok()
            .map(|found| found.permissions());
        let mode = old
            .clone()
            .unwrap_or_else(|| Permissions::from_mode(NEW_MODE));
        let mut builder = tempfile::Builder::new();
        let file = builder.prefix(".gristmill-").permissions(mode);
        let file = file.tempfile_in(files::directory_of(&target))?;
        let _held = Held::new(file.path().to_owned());
        if let Some(old) = old {
            file.as_file().set_permissions(old)?;
        }
        Ok(Draft {
            file,
            target,
            _held,
        })
    }

    /// What is written to.
    pub fn file(&self) -> &File {
        self.file.as_file()
    }

    /// Shows it under its name.
    pub fn finish(self) -> io::Result<()> {
        let shown = self.file.persist(&self.target);
        shown.map(drop).map_err(|error| error.error)
    }
}

/// A path that is removed when a signal ends the process; otherwise its maker removes it. A signal
/// is heard while there is a [`Scratch`].
pub struct Held(PathBuf);

impl Held {
    /// Holds a path until it is dropped.
    pub fn new(path: PathBuf) -> Held {
        alive().push(path.clone());
        Held(path)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        alive().retain(|place| *place != self.0);
    }
}

/// A process that a signal ends together with this one; else it would write on where all was
/// removed. Drop this before the process is waited for.
pub struct Companion(Pid);

impl Companion {
    /// Ties a process to this one until it is dropped.
    pub fn new(process: Pid) -> Companion {
        companions().push(process);
        Companion(process)
    }
}

impl Drop for Companion {
    fn drop(&mut self) {
        companions().retain(|process| *process != self.0);
    }
}

fn alive() -> MutexGuard<'static, Vec<PathBuf>> {
    ALIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn companions() -> MutexGuard<'static, Vec<Pid>> {
    COMPANIONS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends and removes all that is in use; the process is about to end.
pub fn remove_all() {
    for process in &*companions() {
        // It may have ended by itself.
        let _ = kill_process(*process, Signal::KILL);
    }
    for place in &*alive() {
        remove(place);
    }
}

/// If a signal is ending the process, waits for that: what fails now fails because of it.
pub fn give_way_to_signal() {
    while ENDING.load(Ordering::SeqCst) {
        std::thread::park();
    }
}

fn remove_on_signal() -> Result<Handle, CliFailure> {
    let mut caught = Signals::new(signals::ending()).map_err(signals::unwatched)?;
    let handle = caught.handle();
    let watch = move || {
        if let Some(signal) = caught.forever().next() {
            ENDING.store(true, Ordering::SeqCst);
            remove_all();
            std::process::exit(signals::code(signal));
        }
    };
    std::thread::Builder::new()
        .spawn(watch)
        .map_err(signals::unwatched)?;
    Ok(handle)
}

fn remove(place: &Path) {
    if std::fs::remove_file(place).is_ok() || !place.exists() {
        return;
    }
    for _ in 0..ATTEMPTS {
        // A control group is a directory whose files cannot be removed.
        if std::fs::remove_dir(place).is_ok() || std::fs::remove_dir_all(place).is_ok() {
            return;
        }
        std::thread::sleep(PAUSE);
    }
}
