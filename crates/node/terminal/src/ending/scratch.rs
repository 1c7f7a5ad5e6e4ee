//! Working directories, unfinished files and helper processes, which are gone after every exit,
//! also when a signal ends the process.

use std::fs::{File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::MutexGuard;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use signal_hook::iterator::{Handle, Signals};
use tempfile::{NamedTempFile, TempDir};

use super::codes;
use super::failure::CliFailure;
use crate::files;
use node::Mutex;

/// A helper that still runs may create a file while others are removed, so removal is repeated, for
/// a second in all. Names of leftovers begin with `gristmill-`.
const ATTEMPTS: u32 = 10;
const PAUSE: Duration = Duration::from_millis(100);

/// Files and processes that must not outlive this process.
static LEFTOVERS: Mutex<Leftovers> = Mutex::new(Leftovers {
    paths: Vec::new(),
    processes: Vec::new(),
    is_ending: false,
});

struct Leftovers {
    /// Files and directories to remove.
    paths: Vec<PathBuf>,
    processes: Vec<Pid>,
    /// Whether a signal is ending this process.
    is_ending: bool,
}

impl Leftovers {
    /// Ends all processes and removes all paths.
    fn remove(&self) {
        for process in &self.processes {
            // It may have ended by itself.
            let _ = kill_process(*process, Signal::KILL);
        }
        for path in &self.paths {
            remove(path);
        }
    }
}

/// A working directory.
pub struct Scratch {
    place: TempDir,
    watch: Handle,
    _held: Held,
}

impl Scratch {
    /// Creates a directory in `parent` whose name contains `purpose`.
    ///
    /// # Errors
    /// When the directory cannot be made, or signals cannot be watched.
    pub fn new(parent: &Path, purpose: &str) -> Result<Scratch, CliFailure> {
        let prefix = format!("gristmill-{purpose}-");
        let made = tempfile::Builder::new().prefix(&prefix).tempdir_in(parent);
        let place = made.map_err(|cause| {
            let shown = parent.display();
            let message = format!(
                "cannot create a directory in {shown}: {}; give an existing one with --directory",
                cause.kind()
            );
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

    /// The path of the directory.
    pub fn path(&self) -> &Path {
        self.place.path()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        self.watch.close();
    }
}

/// A file with a temporary name until it is complete. Its creator watches for signals.
pub struct Draft {
    file: NamedTempFile,
    target: PathBuf,
    _held: Held,
}

impl Draft {
    /// Creates a file beside `target`, or beside the file that `target` links to, with the
    /// permissions of the old file.
    ///
    /// # Errors
    /// When the file cannot be made, or could not replace the old one.
    pub fn new(target: &Path) -> io::Result<Draft> {
        // The mode of a new file, which the umask narrows.
        const NEW_MODE: u32 = 0o666;
        let target = target.canonicalize().unwrap_or_else(|_| target.to_owned());
        if let Some(why) = node_real::obstacle(&target) {
            let why = format!("it cannot be replaced ({why}); name another file");
            return Err(io::Error::other(why));
        }
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

    /// The open file.
    pub fn file(&self) -> &File {
        self.file.as_file()
    }

    /// Gives the file its final name.
    ///
    /// # Errors
    /// When it cannot be renamed.
    pub fn finish(self) -> io::Result<()> {
        let shown = self.file.persist(&self.target);
        shown.map(drop).map_err(|error| error.error)
    }
}

/// A file that a command writes after a long run, and opens before it.
pub enum Output {
    /// A regular file, whose name shows the old content or the complete new one.
    Draft(Draft),
    /// A device, a pipe or an open descriptor.
    Open(File),
}

impl Output {
    /// Opens it without changing the content of a file.
    ///
    /// # Errors
    /// When it cannot be made or opened.
    pub fn open(path: &Path) -> io::Result<Output> {
        if let Some(open) = node_real::open_descriptor(path)? {
            return Ok(Output::Open(File::from(open)));
        }
        if path.metadata().is_ok_and(|found| !found.is_file()) {
            return File::options().write(true).open(path).map(Output::Open);
        }
        if !files::directory_of(path).is_dir() {
            let why = "no such directory; make it first";
            return Err(io::Error::new(io::ErrorKind::NotFound, why));
        }
        Draft::new(path).map(Output::Draft)
    }

    /// The open file.
    pub fn file(&self) -> &File {
        match self {
            Output::Draft(draft) => draft.file(),
            Output::Open(file) => file,
        }
    }

    /// Gives the file its name.
    ///
    /// # Errors
    /// When it cannot be renamed.
    pub fn finish(self) -> io::Result<()> {
        match self {
            Output::Draft(draft) => draft.finish(),
            Output::Open(_) => Ok(()),
        }
    }
}

/// A path that is removed when a signal ends the process; otherwise its creator removes it. Signals
/// are watched while a [`Scratch`] exists.
pub struct Held(PathBuf);

impl Held {
    /// Holds a path until it is dropped.
    pub fn new(path: PathBuf) -> Held {
        leftovers().paths.push(path.clone());
        Held(path)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        leftovers().paths.retain(|place| *place != self.0);
    }
}

/// A child that is killed when this process ends, since it would go on writing to removed
/// directories. Drop this value before you wait for the child.
pub struct Companion(Pid);

impl Companion {
    /// Ties a process to this one until it is dropped.
    pub fn new(process: Pid) -> Companion {
        leftovers().processes.push(process);
        Companion(process)
    }
}

impl Drop for Companion {
    fn drop(&mut self) {
        leftovers().processes.retain(|process| *process != self.0);
    }
}

fn leftovers() -> MutexGuard<'static, Leftovers> {
    LEFTOVERS.lock()
}

/// Removes all paths and ends all helpers; the process is about to end.
pub fn remove_all() {
    leftovers().remove();
}

/// Waits for the end of the process if a signal is ending it: a failure now is a consequence.
pub fn give_way_to_signal() {
    while leftovers().is_ending {
        std::thread::park();
    }
}

fn remove_on_signal() -> Result<Handle, CliFailure> {
    let mut caught = Signals::new(codes::ending()).map_err(CliFailure::unwatched)?;
    let handle = caught.handle();
    let watch = move || {
        if let Some(signal) = caught.forever().next() {
            let mut leftovers = leftovers();
            leftovers.is_ending = true;
            leftovers.remove();
            std::process::exit(codes::of_signal(signal));
        }
    };
    std::thread::Builder::new()
        .spawn(watch)
        .map_err(CliFailure::unwatched)?;
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
