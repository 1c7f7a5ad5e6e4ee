//! Who sorts from file to file within a given memory: ours, peers on PATH, peers built here.
//!
//! A peer built here is any program in `PEERS/built`; all have one command line:
//!
//! ```text
//! PEER INPUT OUTPUT MEMORY_BYTES TMPDIR
//! ```
//!
//! All are told the same memory and directories, as far as they can be told.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::contender::{Input, gristmill, is_gnu_sort, on_path};
use crate::group::Group;
use cli::failure::CliFailure;
use cli::machine;

/// Where peers are found when nobody says so: the project's own, from its root.
pub const PEERS: &str = "bench/peers";

/// Where they are when they have been built.
const BUILT: &str = "built";

/// The file, beside input and output, for the report of ours.
pub const REPORT: &str = "report.json";

/// The file that everybody writes.
pub const OUTPUT: &str = "output";

/// What everybody is told.
pub struct Told<'a> {
    /// Memory to sort in.
    pub memory_bytes: u64,
    /// Directories for what memory does not hold.
    pub temporary: &'a [PathBuf],
}

/// Somebody who sorts.
#[derive(Clone, Debug)]
pub struct Racer {
    /// Its name.
    pub name: String,
    /// Whether it is this very program.
    pub is_ours: bool,
    /// What it reads.
    pub input: Input,
    program: PathBuf,
    words: Vec<String>,
}

impl Racer {
    /// Everybody who is found, ours first. `peers` is the directory of those built here.
    pub fn all(told: &Told, peers: Option<&Path>) -> Result<Vec<Racer>, CliFailure> {
        let mut all = vec![Racer::ours(gristmill()?, told, Input::Binary.file())];
        if is_gnu_sort() {
            all.extend(on_path("sort").map(|program| Racer::gnu_sort(program, told)));
        }
        all.extend(on_path("sortbin").map(|program| Racer::sortbin(program, told)));
        let built = peers.map(programs_in).unwrap_or_default();
        all.extend(built.into_iter().map(|program| Racer::built(program, told)));
        Ok(all)
    }

    /// The measured command; it writes a report.
    pub fn ours(program: PathBuf, told: &Told, input: &str) -> Racer {
        let mut words = words(["sort", "--format", "gensort", "-S"]);
        words.push(kibibytes(told));
        words.extend(directories(told));
        words.extend(["--progress", "never", "--report", REPORT].map(str::to_owned));
        words.extend([input, "-o", OUTPUT].map(str::to_owned));
        Racer {
            name: "gristmill".to_owned(),
            is_ours: true,
            input: Input::Binary,
            program,
            words,
        }
    }

    fn gnu_sort(program: PathBuf, told: &Told) -> Racer {
        let mut words = vec![format!("--parallel={}", machine::cores())];
        words.extend(["-S".to_owned(), kibibytes(told)]);
        words.extend(directories(told));
        words.extend(["-o", OUTPUT, Input::Text.file()].map(str::to_owned));
        Racer::peer("GNU sort (text)", Input::Text, program, words)
    }

    fn sortbin(program: PathBuf, told: &Told) -> Racer {
        let memory = format!("--memory={}", kibibytes(told));
        let words = [&memory, "--size=100", Input::Binary.file(), OUTPUT].map(str::to_owned);
        Racer::peer("sortbin", Input::Binary, program, words.to_vec())
    }

    fn built(program: PathBuf, told: &Told) -> Racer {
        let name = program
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let memory = told.memory_bytes.to_string();
        let mut words = [Input::Binary.file(), OUTPUT, &memory]
            .map(str::to_owned)
            .to_vec();
        // It knows one directory.
        words.extend(
            told.temporary
                .first()
                .map(|place| place.display().to_string()),
        );
        Racer::peer(&name, Input::Binary, program, words)
    }

    fn peer(name: &str, input: Input, program: PathBuf, words: Vec<String>) -> Racer {
        Racer {
            name: name.to_owned(),
            is_ours: false,
            input,
            program,
            words,
        }
    }

    /// The command line, as one would type it.
    pub fn shown(&self) -> String {
        let program = self
            .program
            .file_name()
            .unwrap_or_default()
            .to_string_lossy();
        let program = if self.is_ours { "gristmill" } else { &program };
        let locale = if self.input == Input::Text {
            "LC_ALL=C "
        } else {
            ""
        };
        format!("{locale}{program} {}", self.words.join(" "))
    }

    /// The command, to run in `place`, within a group if there is one.
    pub fn command(&self, place: &Path, group: Option<&Group>) -> Command {
        let bare = || Command::new(&self.program);
        let mut command = group.map_or_else(bare, |group| group.command(&self.program));
        // Text is compared byte by byte.
        command
            .args(&self.words)
            .current_dir(place)
            .env("LC_ALL", "C");
        command
    }
}

fn words<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.map(str::to_owned).to_vec()
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

/// The programs that were built, by name.
fn programs_in(peers: &Path) -> Vec<PathBuf> {
    let is_program = |path: &PathBuf| {
        const EXECUTABLE: u32 = 0o111;
        fs::metadata(path)
            .is_ok_and(|found| found.is_file() && found.permissions().mode() & EXECUTABLE != 0)
    };
    let entries = fs::read_dir(peers.join(BUILT))
        .into_iter()
        .flatten()
        .flatten();
    let mut programs: Vec<_> = entries
        .map(|entry| entry.path())
        .filter(is_program)
        .collect();
    programs.sort();
    programs
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
        let ours = Racer::ours("/a/gristmill".into(), &told, Input::Binary.file()).shown();
        assert!(
            ours.starts_with("gristmill sort --format gensort -S 65536K -T /a -T /b "),
            "{ours}"
        );
        let text = Racer::gnu_sort("/usr/bin/sort".into(), &told).shown();
        assert!(text.starts_with("LC_ALL=C sort --parallel="), "{text}");
        assert!(
            text.ends_with(" -S 65536K -T /a -T /b -o output input.txt"),
            "{text}"
        );
        let built = Racer::built("/peers/built/some".into(), &told).shown();
        assert_eq!(built, "some input output 67108864 /a");
    }
}
