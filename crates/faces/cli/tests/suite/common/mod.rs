//! Common parts of the command's tests: a place to work in, ways to run the command there, and a
//! naive sort to compare with.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Output, Stdio};
use std::time::Duration;

use children::Command;
use tempfile::TempDir;

/// The command under test.
pub const GRISTMILL: &str = env!("CARGO_BIN_EXE_gristmill");

/// Length of a gensort record.
pub const RECORD_BYTES: usize = 100;

/// A shell's exit code for a process that a signal has ended, less the number of the signal.
const SIGNAL_CODE: i32 = 128;

/// The number of a user who owns nothing. Permissions and limits bind this user; they do not bind
/// root.
const NOBODY: u32 = 65534;

/// A directory on the build's disk, gone with the test; commands run inside it.
pub struct Place {
    directory: TempDir,
    /// A directory with a copy of the command, for a user who cannot reach the build directory.
    copy: Option<TempDir>,
}

/// How a command ended.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    pub out: Vec<u8>,
    pub err: String,
}

impl Place {
    pub fn new() -> Place {
        Place {
            directory: TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap(),
            copy: None,
        }
    }

    /// A place with `records` gensort records, whose commands do not run as root. Where root runs
    /// the tests, the commands run as the user `NOBODY`, below the directory for temporary files.
    pub fn without_privilege(records: u64) -> Place {
        if !rustix::process::geteuid().is_root() {
            return Place::with_records(records);
        }
        let (directory, copy) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        chown(directory.path(), Some(NOBODY), Some(NOBODY)).unwrap();
        fs::set_permissions(copy.path(), Permissions::from_mode(0o755)).unwrap();
        // A file that this process has open for writing cannot be run, and a child that another
        // test forks at that moment keeps it open.
        let copied = Command::new("cp").arg(GRISTMILL).arg(copy.path()).status();
        assert!(copied.unwrap().success());
        let place = Place {
            directory,
            copy: Some(copy),
        };
        place.run(&format!("gensort {records} in")).succeeded();
        place
    }

    fn program(&self) -> PathBuf {
        self.copy
            .as_ref()
            .map_or(GRISTMILL.into(), |copy| copy.path().join("gristmill"))
    }

    /// A place with `records` gensort records in the file `in`.
    pub fn with_records(records: u64) -> Place {
        let place = Place::new();
        place.run(&format!("gensort {records} in")).succeeded();
        place
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.path(name), bytes).unwrap();
    }

    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.directory.path()).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// The files that a run has not finished, or has left behind.
    pub fn unfinished(&self) -> Vec<String> {
        let names = self.names().into_iter();
        names
            .filter(|name| name.starts_with(".gristmill-"))
            .collect()
    }

    /// Like [`Place::unfinished`], for names that may not be UTF-8.
    pub fn unfinished_bytes(&self) -> Vec<std::ffi::OsString> {
        let entries = fs::read_dir(self.directory.path()).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name());
        names
            .filter(|name| name.as_encoded_bytes().starts_with(b".gristmill-"))
            .collect()
    }

    /// Waits until a run has begun its output.
    #[track_caller]
    pub fn wait_for_output(&self, child: &mut Child) {
        while self.unfinished().is_empty() {
            assert_eq!(
                child.try_wait().unwrap(),
                None,
                "it ended before it began its output"
            );
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Every regular file here with its content.
    pub fn snapshot(&self) -> BTreeMap<String, Vec<u8>> {
        let names = self.names().into_iter();
        let regular = names.filter(|name| self.path(name).symlink_metadata().unwrap().is_file());
        regular
            .map(|name| (name.clone(), self.read(&name)))
            .collect()
    }

    /// The command with these arguments, parted by blanks, ready to be started here.
    pub fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(self.program());
        command.args(arguments.split_whitespace());
        self.prepared(command)
    }

    /// A shell's script, in which `$GRISTMILL` is the command, and `gristmill` as well.
    pub fn shell(&self, script: &str) -> Command {
        let mut command = Command::new("sh");
        // Spaces in its path would part words.
        let program = self.program();
        let (directory, name) = (program.parent().unwrap(), program.file_name().unwrap());
        let others = std::env::var_os("PATH").unwrap_or_default();
        let others = std::env::split_paths(&others);
        let all = [directory.to_owned()].into_iter().chain(others);
        command
            .args(["-c", script])
            .env("GRISTMILL", name)
            .env("PATH", std::env::join_paths(all).unwrap());
        self.prepared(command)
    }

    fn prepared(&self, mut command: Command) -> Command {
        command.current_dir(self.directory.path());
        // Temporary files of what goes to standard output are expected here.
        command.env("TMPDIR", "");
        if self.copy.is_some() {
            command.uid(NOBODY).gid(NOBODY);
        }
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub fn run(&self, arguments: &str) -> Ran {
        Ran::from(self.command(arguments).output().unwrap())
    }

    pub fn run_shell(&self, script: &str) -> Ran {
        Ran::from(self.shell(script).output().unwrap())
    }

    /// Runs the command with a pipe on standard input that gives these bytes.
    pub fn feed(&self, arguments: &str, bytes: &[u8]) -> Ran {
        let mut child = self
            .command(arguments)
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let mut pipe = child.stdin.take().unwrap();
        std::thread::scope(|scope| {
            // A command that refuses its input closes the pipe early.
            scope.spawn(move || drop(pipe.write_all(bytes)));
            Ran::from(child.wait_with_output().unwrap())
        })
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Ran {
        let status = output.status;
        let code = status
            .code()
            .or(status.signal().map(|signal| SIGNAL_CODE + signal));
        // A line out of order is shown as it is.
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        Ran {
            code: code.expect("a code or a signal"),
            out: output.stdout,
            err,
        }
    }
}

impl Ran {
    #[track_caller]
    pub fn succeeded(self) -> Ran {
        assert_eq!(self.code, 0, "{}", self.err);
        self
    }

    /// Standard output as one JSON value.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.out)
            .unwrap_or_else(|error| panic!("{error}: {:?}", String::from_utf8_lossy(&self.out)))
    }

    /// The single line of a failure.
    #[track_caller]
    pub fn complaint(&self) -> &str {
        let line = self
            .err
            .strip_suffix('\n')
            .unwrap_or_else(|| panic!("no line: {self:?}"));
        assert!(
            line.starts_with("gristmill: ") && !line.contains('\n'),
            "{}",
            self.err
        );
        line
    }
}

/// Records of that length in ascending order of their bytes: the order of gensort's, too.
pub fn sorted(bytes: &[u8], record_bytes: usize) -> Vec<u8> {
    let mut records: Vec<&[u8]> = bytes.chunks(record_bytes).collect();
    records.sort_unstable();
    records.concat()
}

/// Prints why a test was skipped, past the capture of the test runner.
pub fn skip(why: &str) {
    let _ = writeln!(std::io::stderr(), "skipped: {why}");
}

/// An entry of a journal or checkpoint of that name, as the command writes it.
pub fn sealed(name: &str, text: &str) -> Vec<u8> {
    let crc = kernel::block_crc(&[name.as_bytes(), &[0], text.as_bytes()].concat());
    format!("{text}\ngristmill-seal {crc:08x}\n").into_bytes()
}

/// How many cases a drawn test tries: `all` in `make test-long`, which sets GRISTMILL_LONG, else
/// `few`.
pub fn cases(few: u32, all: u32) -> u32 {
    if is_long() { all } else { few }
}

/// Whether each test is to try all of its cases.
pub fn is_long() -> bool {
    std::env::var_os("GRISTMILL_LONG").is_some_and(|value| value == "1")
}
