//! Ways into a sort and out of it: files, pipes, compressed ones, sets, descriptors.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use children::Command;
use std::sync::LazyLock;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::fs::{CWD, Mode, OFlags, mkfifoat};

use super::Rng;

/// Programs that compress standard input, and the ends of their names.
const PACKERS: [(&str, &str); 5] = [
    ("gzip", "gz"),
    ("zstd", "zst"),
    ("lz4", "lz4"),
    ("xz", "xz"),
    ("bzip2", "bz2"),
];

/// The content of a file before it is an output.
pub(super) const BEFORE: &[u8] = b"before\n";
const AFTER: &[u8] = b"after\n";

/// The form of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    File,
    Link,
    Fifo,
    /// Standard input; whether it is a file.
    Standard(bool),
    /// Compressed, in this many members, behind a skippable frame of a length.
    Packed(usize, usize, Option<usize>),
    /// A set of files, which the sort under test makes.
    Set,
}

/// The form of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sink {
    /// A file; whether it exists.
    File(bool),
    /// The input of this number.
    Input(usize),
    /// Standard output, or a name of it; whether it is a file.
    Standard(Option<&'static str>, bool),
    /// Descriptor 3, a file that a shell opened.
    Third,
    Fifo,
    /// A set in so many directories.
    Set(usize),
    /// Compressed, by the name or by an option.
    Packed(usize, bool),
    /// Of so many ranks; whether each has a file of its own.
    Ranks(usize, bool),
}

/// The packers that are here.
static HERE: LazyLock<[bool; 5]> =
    LazyLock::new(|| PACKERS.map(|(name, _)| !super::is_missing(name)));

impl Source {
    pub(super) fn draw(draw: &mut Rng) -> Source {
        let packer = draw.usize(0..PACKERS.len());
        match draw.u8(0..20) {
            0..10 => Source::File,
            10 => Source::Link,
            11 | 12 => Source::Fifo,
            13 | 14 => Source::Standard(draw.bool()),
            15 => Source::Set,
            16..20 if !HERE[packer] => Source::File,
            16 if packer == 1 || packer == 2 => {
                Source::Packed(packer, 1, Some(draw.usize(0..9000)))
            }
            _ => Source::Packed(packer, draw.usize(1..4), None),
        }
    }

    /// Makes it under a name; a writer if it is a pipe.
    pub(super) fn make(self, path: &Path, bytes: &[u8]) -> Option<JoinHandle<()>> {
        match self {
            Source::File | Source::Standard(true) => fs::write(path, bytes).unwrap(),
            Source::Link => {
                let target = path.with_extension("target");
                fs::write(&target, bytes).unwrap();
                symlink(target, path).unwrap();
            }
            Source::Packed(packer, members, skipped) => {
                let mut packed = Vec::new();
                if let Some(length) = skipped {
                    packed.extend(
                        [
                            &[0x50, 0x2a, 0x4d, 0x18][..],
                            &(length as u32).to_le_bytes(),
                            &vec![b's'; length],
                        ]
                        .concat(),
                    );
                }
                let size = bytes.len().div_ceil(members).max(1);
                for part in 0..members {
                    let range =
                        (part * size).min(bytes.len())..((part + 1) * size).min(bytes.len());
                    packed.extend(filtered(PACKERS[packer].0, "-c", &bytes[range]));
                }
                fs::write(path, packed).unwrap();
            }
            Source::Fifo => {
                fifo(path);
                let (path, bytes) = (path.to_owned(), bytes.to_vec());
                return Some(thread::spawn(move || {
                    // The reader may refuse its options, or take only the first records.
                    let _ = fs::write(path, bytes);
                }));
            }
            Source::Standard(false) | Source::Set => {}
        }
        None
    }
}

impl Sink {
    pub(super) fn draw(draw: &mut Rng) -> Sink {
        let packer = draw.usize(0..PACKERS.len());
        match draw.u8(0..20) {
            0..6 => Sink::File(draw.bool()),
            6 => Sink::Input(0),
            7..10 => Sink::Standard(None, true),
            10..13 => Sink::Standard(None, false),
            13 => Sink::Standard(
                Some(["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"][draw.usize(0..3)]),
                draw.bool(),
            ),
            14 => Sink::Third,
            15 => Sink::Fifo,
            16 | 17 => Sink::Set(draw.usize(1..3)),
            _ if !HERE[packer] => Sink::File(true),
            _ => Sink::Packed(packer, draw.bool()),
        }
    }

    /// The file or directory of the output.
    pub(super) fn name(self) -> String {
        match self {
            Sink::Input(number) => format!("in{number}"),
            Sink::Packed(packer, true) => format!("out.{}", PACKERS[packer].1),
            Sink::Set(_) => "set".to_owned(),
            Sink::Ranks(_, true) => "out-{rank}".to_owned(),
            _ => "out".to_owned(),
        }
    }

    pub(super) fn words(self) -> Vec<String> {
        let name = self.name();
        let words = match self {
            Sink::Standard(None, _) => vec![],
            Sink::Standard(Some(name), _) => vec!["-o", name],
            Sink::Third => vec!["-o", "/dev/fd/3"],
            Sink::Set(1) => vec!["-o", "set/"],
            Sink::Set(_) => vec!["-o", "set/", "-o", "more/"],
            Sink::Packed(packer, false) => {
                vec!["-o", &name, "--compress-output", PACKERS[packer].0]
            }
            _ => vec!["-o", &name],
        };
        words.into_iter().map(str::to_owned).collect()
    }

    /// Whether a path is its own, or in one of its directories.
    pub(super) fn owns(self, path: &Path, own: &Path) -> bool {
        let is_set = matches!(self, Sink::Set(_));
        let of_rank = |rank| own.join(self.name().replace("{rank}", rank));
        let has_ranks = matches!(self, Sink::Ranks(..));
        let is_one = ["0", "1", "2", "3", "0.manifest.json"]
            .into_iter()
            .any(|rank| path == of_rank(rank));
        path == own.join(self.name())
            || has_ranks && is_one
            || is_set && (path.starts_with(own.join("set")) || path.starts_with(own.join("more")))
    }

    /// Prepares it: a reader if it is a pipe, and standard output if it is a file.
    pub(super) fn make(self, path: &Path) -> (Option<JoinHandle<Vec<u8>>>, Option<File>) {
        match self {
            Sink::File(true) => fs::write(path, BEFORE).unwrap(),
            Sink::Standard(_, true) | Sink::Third => {
                fs::write(path, BEFORE).unwrap();
                return (
                    None,
                    Some(OpenOptions::new().append(true).open(path).unwrap()),
                );
            }
            Sink::Fifo => {
                fifo(path);
                let path = path.to_owned();
                return (
                    Some(thread::spawn(move || fs::read(path).unwrap_or_default())),
                    None,
                );
            }
            _ => {}
        }
        (None, None)
    }

    /// The bytes that were written, without headers of later files of a set; `None` if there are none.
    pub(super) fn read(
        self,
        own: &Path,
        said: Option<Vec<u8>>,
        header: &[u8],
        file: Option<File>,
    ) -> Option<Vec<u8>> {
        let path = own.join(self.name());
        if let Some(mut file) = file {
            // A script that goes on.
            file.write_all(AFTER).unwrap();
            let bytes = content(&path).unwrap_or_default();
            let inside = bytes
                .strip_prefix(BEFORE)
                .and_then(|bytes| bytes.strip_suffix(AFTER));
            let wrong = || [b"(not between) ", &bytes[..]].concat();
            return Some(inside.map_or_else(wrong, <[u8]>::to_vec));
        }
        match self {
            Sink::Standard(..) | Sink::Fifo => said,
            Sink::Set(_) => parts(&path).and_then(|files| joined(&files, header)),
            Sink::Ranks(count, true) => {
                let files: Vec<PathBuf> = (0..count)
                    .map(|rank| own.join(format!("out-{rank}")))
                    .collect();
                joined(&files, header)
            }
            Sink::Packed(packer, _) => match content(&path) {
                Some(bytes) if bytes != BEFORE => Some(filtered(PACKERS[packer].0, "-dc", &bytes)),
                other => other,
            },
            _ => content(&path),
        }
    }
}

/// The records of several files behind one header; `None` if one is missing.
fn joined(files: &[PathBuf], header: &[u8]) -> Option<Vec<u8>> {
    let mut all = Vec::new();
    for path in files {
        let bytes = content(path)?;
        let is_later = !all.is_empty() && !header.is_empty();
        all.extend(
            bytes
                .strip_prefix(header)
                .filter(|_| is_later)
                .unwrap_or(&bytes),
        );
    }
    Some(all)
}

/// Ends the waiting of those who open FIFOs that the sort did not open, now or later: a sort may end before
/// they have begun.
pub(super) fn release(fifos: &[PathBuf], are_done: impl Fn() -> bool) {
    loop {
        for path in fifos {
            for way in [OFlags::RDONLY, OFlags::WRONLY] {
                let _ = rustix::fs::open(path, way | OFlags::NONBLOCK, Mode::empty());
            }
        }
        if are_done() {
            return;
        }
        thread::sleep(Duration::from_millis(1));
    }
}

/// Reads a pipe to its end.
pub(super) fn reader(mut pipe: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.read_to_end(&mut bytes);
        bytes
    })
}

/// Writes a pipe to its end, if its reader reads that far.
pub(super) fn writer(mut pipe: impl Write + Send + 'static, bytes: Vec<u8>) -> JoinHandle<()> {
    thread::spawn(move || drop(pipe.write_all(&bytes)))
}

/// The output of a program that reads these bytes.
fn filtered(program: &str, option: &str, bytes: &[u8]) -> Vec<u8> {
    let mut command = Command::new(program);
    command
        .arg(option)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let pipe = child.stdin.take().expect("it is a pipe");
    let writer = writer(pipe, bytes.to_vec());
    let output = child.wait_with_output().unwrap();
    writer.join().expect("a writer ends");
    if output.status.success() {
        output.stdout
    } else {
        format!("({program}: damaged)").into_bytes()
    }
}

fn fifo(path: &Path) {
    mkfifoat(CWD, path, Mode::RUSR | Mode::WUSR).unwrap();
}

/// The names of inputs, for `--files0-from`.
pub(super) fn names0(path: &Path, names: &[String]) {
    let names: String = names.iter().map(|name| format!("{name}\0")).collect();
    fs::write(path, names).unwrap();
}

/// The content of a file.
pub(super) fn content(path: &Path) -> Option<Vec<u8>> {
    let is_file = fs::metadata(path).is_ok_and(|found| found.is_file());
    is_file.then(|| fs::read(path).unwrap())
}

/// The files in the manifest of a directory, in its order.
fn parts(directory: &Path) -> Option<Vec<PathBuf>> {
    let text = content(&directory.join("manifest.json"))?;
    let manifest: serde_json::Value = serde_json::from_slice(&text).ok()?;
    let files = manifest["files"].as_array()?.iter();
    files
        .map(|file| Some(directory.join(file["path"].as_str()?)))
        .collect()
}
