//! One case: its draws, its commands and its failures.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use fastrand::Rng;

use crate::command::{Call, Ran};
use crate::scene::Scene;
use crate::tree::{Change, Kind, Tree};

/// The prefix of a sort's own names.
pub(crate) const PREFIX: &str = ".gristmill-";

pub(crate) struct Case<'s> {
    pub scene: &'s Scene,
    pub draw: Rng,
    /// The command lines so far.
    pub lines: Vec<String>,
    pub failures: Vec<Failure>,
}

/// A broken promise.
#[derive(Debug)]
pub(crate) struct Failure {
    pub what: &'static str,
    pub detail: String,
}

#[derive(Clone, Debug)]
pub(crate) enum Output {
    File(PathBuf),
    /// The manifest is in the first of these directories.
    Set(Vec<PathBuf>),
}

/// A sort and its permitted results.
#[derive(Clone, Debug)]
pub(crate) struct Sorting {
    pub call: Call,
    pub output: Output,
    /// The right output; `None` if any output is right.
    pub expected: Option<Vec<u8>>,
    /// Whether exit code 2 is right, too.
    pub may_refuse: bool,
    /// Whether its files may stay after a failure, for the next sort to find.
    pub may_keep: bool,
    /// Files of the old set, which a new set replaces.
    pub old_parts: Vec<PathBuf>,
    /// Names like the sort's own that it must leave alone.
    pub protected: Vec<PathBuf>,
}

impl Case<'_> {
    pub(crate) fn fail(&mut self, what: &'static str, detail: impl Into<String>) {
        self.failures.push(Failure {
            what,
            detail: detail.into(),
        });
    }

    pub(crate) fn pick<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.draw.usize(0..of.len())].clone()
    }

    /// Draws the number of a small input.
    pub(crate) fn any_input(&mut self) -> usize {
        self.draw.usize(0..self.scene.small_inputs())
    }

    /// A command in the sort's directory.
    pub(crate) fn call(&self, arguments: &[&str]) -> Call {
        Call {
            program: self.scene.binary(),
            arguments: arguments.iter().map(OsString::from).collect(),
            directory: self.scene.place.join("own"),
            user: None,
            limits: Vec::new(),
        }
    }

    /// A sort of an input, which is written to `in`, into `out`.
    pub(crate) fn sorting(&mut self, input: usize, arguments: &[&str]) -> io::Result<Sorting> {
        let input = &self.scene.inputs[input];
        fs::write(self.scene.own("in"), &input.bytes)?;
        let mut call = self.call(&["sort", "--format", "gensort", "in"]);
        call.arguments.extend(arguments.iter().map(OsString::from));
        Ok(Sorting {
            call,
            output: Output::File(self.scene.own("out")),
            expected: Some(input.sorted.clone()),
            may_refuse: true,
            may_keep: false,
            old_parts: Vec::new(),
            protected: Vec::new(),
        })
    }

    /// Runs a command and checks its end.
    pub(crate) fn run(&mut self, call: &Call) -> io::Result<Ran> {
        self.lines.push(call.line());
        let ran = call.run(&self.scene.place.join("said"), self.scene.limit)?;
        if let Some((what, detail)) = ran.wrong() {
            self.fail(what, detail);
        }
        Ok(ran)
    }

    pub(crate) fn look(&self) -> io::Result<Tree> {
        Tree::of(&[
            &self.scene.place.join("own"),
            &self.scene.place.join("victim"),
        ])
    }

    /// Runs a sort and checks its end, its output, and that no other file was changed.
    pub(crate) fn sort(&mut self, sorting: &Sorting) -> io::Result<Ran> {
        let before = self.look()?;
        let ran = self.run(&sorting.call)?;
        self.judge(sorting, &before, ran.code())?;
        if ran.code() == Some(2) && !sorting.may_refuse {
            self.fail("refused", ran.last_line());
        }
        Ok(ran)
    }

    fn judge(&mut self, sorting: &Sorting, before: &Tree, code: Option<i32>) -> io::Result<()> {
        let is_right = sorting.is_right();
        if code == Some(0) && !is_right {
            self.fail("wrong output", format!("{:?}", sorting.output));
        }
        let is_done = code == Some(0) || is_right;
        for change in self.look()?.changes_since(before) {
            if sorting.allows(&change, before, is_done) {
                continue;
            }
            if !is_own(&change.path) || change.how != "added" {
                self.fail(
                    "touched",
                    format!("{}: {}", change.path.display(), change.how),
                );
            } else if code.is_some() && !(sorting.may_keep && code != Some(0)) {
                self.fail("left", change.path.display().to_string());
            }
        }
        Ok(())
    }
}

impl Sorting {
    pub(crate) fn and(mut self, arguments: &[&str]) -> Sorting {
        self.call
            .arguments
            .extend(arguments.iter().map(OsString::from));
        self
    }

    /// Whether the output exists and is right.
    pub(crate) fn is_right(&self) -> bool {
        let content = match &self.output {
            Output::File(path) => content(path),
            Output::Set(directories) => content_of_set(&directories[0]),
        };
        match (&self.expected, content) {
            (Some(expected), Some(content)) => *expected == content,
            (None, content) => content.is_some(),
            _ => false,
        }
    }

    /// Whether a sort may make this change.
    fn allows(&self, change: &Change, before: &Tree, is_done: bool) -> bool {
        let path = &change.path;
        if is_own(path) {
            let was = before.entries.get(path);
            let is_file = was.is_some_and(|entry| entry.kind == Kind::File);
            return is_file && !self.protected.contains(path);
        }
        match &self.output {
            Output::File(output) => path == output && is_done,
            Output::Set(directories) => {
                let is_new = directories.contains(path) && change.how == "added";
                let is_listed = self.old_parts.contains(path) && change.how == "removed";
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                let is_inside = path
                    .parent()
                    .is_some_and(|at| directories.iter().any(|d| d == at));
                let is_part = name.starts_with("part-") && change.how == "added";
                let is_set = is_inside && (is_part || name == "manifest.json");
                is_done && (is_new || is_listed || is_set)
            }
        }
    }
}

/// Whether a name is one of the sort's own.
pub(crate) fn is_own(path: &Path) -> bool {
    path.file_name()
        .is_some_and(|name| name.as_encoded_bytes().starts_with(PREFIX.as_bytes()))
}

pub(crate) fn own_names(directory: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(directory) else {
        return Vec::new();
    };
    let names = entries
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|name| name.starts_with(PREFIX)).collect();
    names.sort();
    names
}

/// The files in the manifest of a directory, in its order.
pub(crate) fn parts(directory: &Path) -> Option<Vec<PathBuf>> {
    let text = content(&directory.join("manifest.json"))?;
    let manifest: serde_json::Value = serde_json::from_slice(&text).ok()?;
    let files = manifest["files"].as_array()?;
    files
        .iter()
        .map(|file| Some(directory.join(file["path"].as_str()?)))
        .collect()
}

/// The records of a set in the order of its manifest, if all files exist.
pub(crate) fn content_of_set(directory: &Path) -> Option<Vec<u8>> {
    let contents: Option<Vec<Vec<u8>>> =
        parts(directory)?.iter().map(|path| content(path)).collect();
    Some(contents?.concat())
}

/// The content of a file; `None` if the name leads to no file. Pipes and devices are not read,
/// since they may be endless.
pub(crate) fn content(path: &Path) -> Option<Vec<u8>> {
    fs::metadata(path)
        .is_ok_and(|found| found.is_file())
        .then(|| fs::read(path).ok())
        .flatten()
}
