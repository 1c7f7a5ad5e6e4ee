//! Programs that are measured from file to file: the copy that is a floor, ours, and peers.
//!
//! A peer takes part only if it is found and its options are certain: GNU sort and sortbin on PATH,
//! and all programs in `PEERS/built`, which have one command line:
//!
//! ```text
//! PEER INPUT OUTPUT MEMORY_BYTES TMPDIR
//! ```
//!
//! Every sort is told the same memory and directories, as far as it has options for them. That
//! leaves out sorts that cannot read records of 100 bytes, and sorts in place.

mod child;
mod ends;
mod group;
mod race_directories;

pub use child::Took;
pub use ends::Ends;
pub use group::Groups;
pub use race_directories::{RaceDirectories, Settings};

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use terminal::launcher::cores;

use record::Style;
use terminal::ending::failure::CliFailure;

use group::Group;

/// The directory of peers that is used when the command line names none; it is in the project's
/// root.
pub const PEERS: &str = "bench/peers";

/// The directory in it that holds the built programs.
const BUILT: &str = "built";

/// The file for the report of ours, beside input and output.
pub const REPORT: &str = "report.json";

/// The file that every program writes.
pub const OUTPUT: &str = "output";

/// The file that a program reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// gensort's binary records.
    Binary,
    /// As many bytes of gensort's ASCII records, which are lines.
    Text,
}

impl Input {
    pub const ALL: [Input; 2] = [Input::Binary, Input::Text];

    /// The file in the working directory.
    pub fn file(self) -> &'static str {
        match self {
            Input::Binary => "input",
            Input::Text => "input.txt",
        }
    }

    pub fn style(self) -> Style {
        match self {
            Input::Binary => Style::Binary,
            Input::Text => Style::Ascii,
        }
    }
}

/// The role of a program in a race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It copies the input: a floor.
    Copy,
    /// The measured command.
    Ours,
    /// Another sort.
    Peer,
}

/// Options that every sort is given.
pub struct Told<'a> {
    pub memory_bytes: u64,
    /// Directories for spilled records.
    pub temporary: &'a [PathBuf],
}

/// A program with its command line, which names files in the working directory.
#[derive(Clone, Debug)]
pub struct Program {
    pub name: String,
    pub role: Role,
    /// The file that it reads.
    pub input: Input,
    ends: Ends,
    /// A command that starts it, such as `mpirun -n 4`; none by default.
    launcher: Vec<String>,
    file: PathBuf,
    words: Vec<String>,
}

impl Program {
    pub fn copy() -> Program {
        let words = words([Input::Binary.file(), OUTPUT]);
        Program::new("cp and sync", Role::Copy, "cp", words)
    }

    pub fn copy_of(input: Input) -> Program {
        Program {
            input,
            words: words([input.file(), OUTPUT]),
            ..Program::copy()
        }
    }

    /// The measured command in `file`, which sorts lines.
    pub fn ours_lines(file: impl Into<PathBuf>, options: &[&str], told: &Told) -> Program {
        Program {
            input: Input::Text,
            ..Program::new(
                "gristmill",
                Role::Ours,
                file,
                line_words("sort", options, told),
            )
        }
    }

    /// GNU sort of lines, if it is on PATH.
    pub fn gnu_lines(options: &[&str], told: &Told) -> Option<Program> {
        let cores = format!("--parallel={}", cores());
        let words = line_words(&cores, options, told);
        is_gnu_sort().then(|| Program {
            input: Input::Text,
            ..Program::new("GNU sort", Role::Peer, "sort", words)
        })
    }

    /// The measured command in `file`, with its defaults.
    pub fn ours(file: impl Into<PathBuf>) -> Program {
        let words = words([
            "sort",
            "--format",
            "gensort",
            Input::Binary.file(),
            "-o",
            OUTPUT,
        ]);
        Program::new("gristmill", Role::Ours, file, words)
    }

    /// The measured command in `file`, told memory and directories. It writes a report.
    pub fn ours_told(file: impl Into<PathBuf>, told: &Told) -> Program {
        Program::ours_reporting(file, &["--format", "gensort"], told)
            .between(Ends::Files, &[Input::Binary.file()])
    }

    /// The measured command in `file` with these options, told memory and directories, which writes
    /// a report. It has no input and no output yet.
    pub fn ours_reporting(file: impl Into<PathBuf>, options: &[&str], told: &Told) -> Program {
        let mut all = words(["sort"]);
        all.extend(options.iter().map(|&option| option.to_owned()));
        all.extend(["-S".to_owned(), kibibytes(told)]);
        all.extend(directories(told));
        all.extend(words(["--progress", "never", "--report", REPORT]));
        Program::new("gristmill", Role::Ours, file, all)
    }

    /// This program under another name.
    pub fn renamed(self, name: &str) -> Program {
        let name = name.to_owned();
        Program { name, ..self }
    }

    /// This program with more options behind the others.
    pub fn with(mut self, options: &[&str]) -> Program {
        self.words
            .extend(options.iter().map(|&option| option.to_owned()));
        self
    }

    /// This program as another command starts it, such as a launcher of ranks: its words are divided by spaces.
    pub fn launched_by(self, launcher: &str) -> Program {
        let launcher = launcher.split_whitespace().map(str::to_owned).collect();
        Program { launcher, ..self }
    }

    /// This program with another input, which is in the page cache before a run.
    pub fn reading(self, input: Input) -> Program {
        Program { input, ..self }
    }

    /// This program with inputs and an output. A pipe carries the file that it reads, or its output.
    pub fn between(mut self, ends: Ends, inputs: &[&str]) -> Program {
        if ends != Ends::FromPipe {
            self.words
                .extend(inputs.iter().map(|&input| input.to_owned()));
        }
        if ends != Ends::ToPipe {
            self.words.extend(words(["-o", OUTPUT]));
        }
        Program { ends, ..self }
    }

    /// This program as a user of the library (`library::Pushed`).
    ///
    /// # Errors
    /// It does not find itself.
    pub fn library(name: &str, options: &[&str], told: &Told) -> Result<Program, CliFailure> {
        let file = std::env::current_exe().map_err(|cause| {
            CliFailure::new("program", format!("cannot find this program: {cause}"))
        })?;
        let mut peer = Program::built_peer(file, Input::Binary, told);
        peer.words.insert(0, "pushed".to_owned());
        peer.words
            .extend(options.iter().map(|&word| word.to_owned()));
        peer.name = name.to_owned();
        Ok(peer)
    }

    pub fn peers(told: &Told) -> Vec<Program> {
        let gnu_sort = is_gnu_sort().then(|| Program::gnu_sort("sort", told));
        let sortbin = on_path("sortbin").map(|file| {
            let memory = format!("--memory={}", kibibytes(told));
            let words = words([&memory, "--size=100", Input::Binary.file(), OUTPUT]);
            Program::new("sortbin", Role::Peer, file, words)
        });
        gnu_sort.into_iter().chain(sortbin).collect()
    }

    /// The peers that were built in a directory, by name.
    pub fn built(peers: &Path, told: &Told) -> Vec<Program> {
        Program::in_directory(&peers.join(BUILT), Input::Binary, told)
    }

    /// The peers in a directory, by name.
    pub fn in_directory(place: &Path, input: Input, told: &Told) -> Vec<Program> {
        let is_program = |path: &PathBuf| {
            const EXECUTABLE: u32 = 0o111;
            fs::metadata(path)
                .is_ok_and(|found| found.is_file() && found.permissions().mode() & EXECUTABLE != 0)
        };
        let entries = fs::read_dir(place).into_iter().flatten();
        let files = entries.flatten().map(|entry| entry.path());
        let mut files: Vec<PathBuf> = files.filter(is_program).collect();
        files.sort();
        let program = |file: PathBuf| Program::built_peer(file, input, told);
        files.into_iter().map(program).collect()
    }

    fn gnu_sort(file: impl Into<PathBuf>, told: &Told) -> Program {
        let mut words = vec![format!("--parallel={}", cores())];
        words.extend(["-S".to_owned(), kibibytes(told)]);
        words.extend(directories(told));
        words.extend(["-o", OUTPUT, Input::Text.file()].map(str::to_owned));
        Program {
            input: Input::Text,
            ..Program::new("GNU sort (text)", Role::Peer, file, words)
        }
    }

    fn built_peer(file: PathBuf, input: Input, told: &Told) -> Program {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let memory = told.memory_bytes.to_string();
        let mut words = words([input.file(), OUTPUT, &memory]);
        // It takes one directory.
        let first = told.temporary.first();
        words.extend(first.map(|place| place.display().to_string()));
        Program {
            input,
            ..Program::new(&name, Role::Peer, &file, words)
        }
    }

    fn new(name: &str, role: Role, file: impl Into<PathBuf>, words: Vec<String>) -> Program {
        Program {
            name: name.to_owned(),
            role,
            input: Input::Binary,
            ends: Ends::Files,
            launcher: Vec::new(),
            file: file.into(),
            words,
        }
    }

    /// The command line, as one would type it.
    pub fn shown(&self) -> String {
        let file = self.file.file_name().unwrap_or_default().to_string_lossy();
        let file = match self.role {
            Role::Ours => "gristmill",
            Role::Copy | Role::Peer => &file,
        };
        let locale = match self.input {
            Input::Text => "LC_ALL=C ",
            Input::Binary => "",
        };
        let launcher = self.launcher.iter().map(|word| format!("{word} "));
        let launcher: String = launcher.collect();
        let command = format!("{locale}{launcher}{file} {}", self.words.join(" "));
        self.ends.shown(&command, self.input.file())
    }

    /// The command, to run in `place`, within a group if there is one.
    fn command(&self, place: &Path, group: Option<&Group>) -> Command {
        let mut line = self
            .launcher
            .iter()
            .map(OsStr::new)
            .chain([self.file.as_os_str()]);
        let first = line.next().expect("a program");
        let bare = || Command::new(first);
        let mut command = group.map_or_else(bare, |group| group.command(first));
        command.args(line);
        // Text is compared byte by byte.
        command
            .args(&self.words)
            .current_dir(place)
            .env("LC_ALL", "C");
        command
    }

    /// The failure of a sort whose output is wrong.
    pub fn wrong(&self, why: &str) -> CliFailure {
        let message = format!("the output of {} is not the sorted input: {why}", self.name);
        CliFailure::new("disorder", message)
    }
}

fn words<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.map(str::to_owned).to_vec()
}

/// The words of a sort of lines, as ours and GNU sort take them.
fn line_words(first: &str, options: &[&str], told: &Told) -> Vec<String> {
    let mut words = vec![first.to_owned(), "-S".to_owned(), kibibytes(told)];
    words.extend(options.iter().map(|&option| option.to_owned()));
    words.extend(directories(told));
    words.extend(["-o", OUTPUT, Input::Text.file()].map(str::to_owned));
    words
}

/// The memory, as ours and GNU sort write it.
fn kibibytes(told: &Told) -> String {
    format!("{}K", told.memory_bytes >> 10)
}

/// `-T DIR` for each directory: ours and GNU sort take several.
fn directories(told: &Told) -> impl Iterator<Item = String> {
    told.temporary
        .iter()
        .flat_map(|place| ["-T".to_owned(), place.display().to_string()])
}

/// The measured command: the one that GRISTMILL names, the one beside this program, or the one on
/// PATH.
///
/// # Errors
/// None is found.
pub fn gristmill() -> Result<PathBuf, CliFailure> {
    const NAME: &str = "gristmill";
    let beside = || {
        let file = std::env::current_exe().ok()?.with_file_name(NAME);
        file.is_file().then_some(file)
    };
    let named = std::env::var_os("GRISTMILL").map(PathBuf::from);
    let found = named.or_else(beside).or_else(|| on_path(NAME));
    // It is run in other directories than this one.
    let found = found.and_then(|file| file.canonicalize().ok());
    found.ok_or_else(|| {
        let message = "there is no gristmill to measure: build it, or name it in GRISTMILL";
        CliFailure::new("program", message)
    })
}

/// Whether `sort` is GNU's: others have other options.
fn is_gnu_sort() -> bool {
    let version = Command::new("sort").arg("--version").output();
    version.is_ok_and(|ended| ended.stdout.starts_with(b"sort (GNU coreutils)"))
}

/// Whether a shell would find a program of that name.
pub fn is_on_path(name: &str) -> bool {
    on_path(name).is_some()
}

/// The program of that name that a shell would run.
fn on_path(name: &str) -> Option<PathBuf> {
    let path: OsString = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|place| place.join(name))
        .find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_is_told_the_same() {
        let temporary = [PathBuf::from("/a"), PathBuf::from("/b")];
        let told = Told {
            memory_bytes: 64 << 20,
            temporary: &temporary,
        };
        let ours = Program::ours_told("/here/gristmill-1", &told).shown();
        assert_eq!(
            ours,
            "gristmill sort --format gensort -S 65536K -T /a -T /b --progress never \
             --report report.json input -o output"
        );
        let text = Program::gnu_sort("/usr/bin/sort", &told).shown();
        assert!(text.starts_with("LC_ALL=C sort --parallel="), "{text}");
        assert!(
            text.ends_with(" -S 65536K -T /a -T /b -o output input.txt"),
            "{text}"
        );
        let built = Program::built_peer("/peers/built/some".into(), Input::Binary, &told).shown();
        assert_eq!(built, "some input output 67108864 /a");
    }

    #[test]
    fn commands_are_shown_as_one_types_them() {
        assert_eq!(Program::copy().shown(), "cp input output");
        let ours = Program::ours("/here/gristmill").shown();
        assert_eq!(ours, "gristmill sort --format gensort input -o output");
        let launched = Program::ours("/here/gristmill").launched_by(" mpirun  -n 2");
        let shown = "mpirun -n 2 gristmill sort --format gensort input -o output";
        assert_eq!(launched.shown(), shown);
        let command = launched.command(Path::new("."), None);
        assert_eq!(command.get_program(), "mpirun");
        let first: Vec<_> = command.get_args().take(4).collect();
        assert_eq!(first, ["-n", "2", "/here/gristmill", "sort"]);
    }
}
