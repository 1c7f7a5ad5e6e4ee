//! Programs that race from file to file: the copy that is their floor, ours, and peers on PATH.
//!
//! A contender is a command line in which `{in}` and `{out}` stand for files. Each makes its output
//! durable, as ours does: the others by coreutils' `sync FILE`. A peer takes part only if it is
//! found and its options are certain. That leaves out what cannot read records of 100 bytes, and
//! what sorts in place.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use record::Style;

use cli::failure::CliFailure;

/// Memory for peers that ask how much: as much as they need for a million records.
const PEER_MEMORY: &str = "512M";

/// Who a contender is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It copies: the floor.
    Copy,
    /// The measured command.
    Gristmill,
    /// Somebody else who sorts.
    Peer,
}

/// What a contender reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// gensort's binary records.
    Binary,
    /// As many bytes of gensort's ASCII records, which are lines.
    Text,
}

impl Input {
    /// Both.
    pub const ALL: [Input; 2] = [Input::Binary, Input::Text];

    /// The file in the working directory.
    pub fn file(self) -> &'static str {
        match self {
            Input::Binary => "input",
            Input::Text => "input.txt",
        }
    }

    /// The style of its records.
    pub fn style(self) -> Style {
        match self {
            Input::Binary => Style::Binary,
            Input::Text => Style::Ascii,
        }
    }

    /// The same in small: a single record.
    pub fn small(self) -> &'static str {
        match self {
            Input::Binary => "one",
            Input::Text => "one.txt",
        }
    }
}

/// A program that takes part.
#[derive(Clone, Debug)]
pub struct Contender {
    /// Its name.
    pub name: &'static str,
    /// Who it is.
    pub kind: Kind,
    /// What it reads.
    pub input: Input,
    program: PathBuf,
    shown: &'static str,
    arguments: Vec<String>,
}

impl Contender {
    /// Everybody: the floor first, then ours, then the peers that are found.
    pub fn all(cores: usize) -> Result<Vec<Contender>, CliFailure> {
        let mut all = vec![Contender::copy(), Contender::gristmill()?];
        if is_gnu_sort() {
            all.push(Contender::gnu_sort(cores));
        }
        all.extend(on_path("sortbin").map(Contender::sortbin));
        Ok(all)
    }

    fn copy() -> Contender {
        Contender::shell(
            "cp and sync",
            Input::Binary,
            "cp {in} {out} && sync {out}".to_owned(),
        )
        .of(Kind::Copy)
    }

    fn gristmill() -> Result<Contender, CliFailure> {
        let program = gristmill()?;
        let arguments = ["sort", "--format", "gensort", "{in}", "-o", "{out}"];
        Ok(Contender {
            name: "gristmill",
            kind: Kind::Gristmill,
            input: Input::Binary,
            program,
            shown: "gristmill",
            arguments: arguments.map(str::to_owned).to_vec(),
        })
    }

    fn gnu_sort(cores: usize) -> Contender {
        let line = format!(
            "LC_ALL=C sort --parallel={cores} -S {PEER_MEMORY} -T . -o {{out}} {{in}} && sync {{out}}"
        );
        Contender::shell("GNU sort (text)", Input::Text, line)
    }

    fn sortbin(_: PathBuf) -> Contender {
        let line =
            format!("sortbin --size=100 --memory={PEER_MEMORY} {{in}} {{out}} && sync {{out}}");
        Contender::shell("sortbin", Input::Binary, line)
    }

    fn shell(name: &'static str, input: Input, line: String) -> Contender {
        let (program, arguments) = (PathBuf::from("sh"), vec!["-c".to_owned(), line]);
        Contender {
            name,
            kind: Kind::Peer,
            input,
            program,
            shown: "sh",
            arguments,
        }
    }

    fn of(self, kind: Kind) -> Contender {
        Contender { kind, ..self }
    }

    /// The command line, as one would type it.
    pub fn command(&self, output: &str) -> String {
        let words = self.words(self.input.file(), output);
        match self.shown {
            "sh" => words[1].clone(),
            shown => format!("{shown} {}", words.join(" ")),
        }
    }

    fn words(&self, input: &str, output: &str) -> Vec<String> {
        let word = |word: &String| word.replace("{in}", input).replace("{out}", output);
        self.arguments.iter().map(word).collect()
    }

    /// Runs it in a directory, from file to file.
    pub fn run(&self, place: &Path, input: &str, output: &str) -> Result<(), CliFailure> {
        let mut command = Command::new(&self.program);
        command
            .args(self.words(input, output))
            .current_dir(place)
            .stdin(Stdio::null());
        let ended = command.output().map_err(|cause| {
            CliFailure::new(
                "io",
                format!("cannot run {}: {cause}", self.program.display()),
            )
        })?;
        if ended.status.success() {
            Ok(())
        } else {
            Err(self.failed(&ended))
        }
    }

    fn failed(&self, ended: &Output) -> CliFailure {
        let said = String::from_utf8_lossy(&ended.stderr);
        let first = said.lines().next().unwrap_or("it said nothing");
        let message = format!("{} failed ({}): {first}", self.name, ended.status);
        CliFailure::new("program", message)
    }
}

/// The measured command: the one that GRISTMILL names, the one beside this program, or the one on
/// PATH.
///
/// # Errors
/// There is none.
pub fn gristmill() -> Result<PathBuf, CliFailure> {
    const NAME: &str = "gristmill";
    let named = std::env::var_os("GRISTMILL").map(PathBuf::from);
    let beside = || Some(std::env::current_exe().ok()?.with_file_name(NAME));
    let found = named.or_else(|| {
        beside()
            .filter(|file| file.is_file())
            .or_else(|| on_path(NAME))
    });
    // It is run in other directories than this one.
    found
        .and_then(|file| file.canonicalize().ok())
        .ok_or_else(|| {
            let message = "there is no gristmill to measure: build it, or name it in GRISTMILL";
            CliFailure::new("program", message)
        })
}

/// GNU's sort, and not another of that name: others know other options.
pub fn is_gnu_sort() -> bool {
    let version = Command::new("sort").arg("--version").output();
    version.is_ok_and(|ended| ended.stdout.starts_with(b"sort (GNU coreutils)"))
}

/// The program of that name that a shell would run.
pub fn on_path(name: &str) -> Option<PathBuf> {
    let path: OsString = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|place| place.join(name))
        .find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_shown_as_one_types_them() {
        assert_eq!(
            Contender::copy().command("output"),
            "cp input output && sync output"
        );
        let text = Contender::gnu_sort(2).command("output");
        assert!(
            text.contains("--parallel=2") && text.contains("-o output input.txt"),
            "{text}"
        );
    }

    #[test]
    fn what_fails_says_why() {
        let place = std::env::temp_dir();
        let failure = Contender::copy()
            .run(&place, "no-such-file", "output")
            .unwrap_err();
        assert!(
            failure.message.contains("no-such-file"),
            "{}",
            failure.message
        );
    }
}
