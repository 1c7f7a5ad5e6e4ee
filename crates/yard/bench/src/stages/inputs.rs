//! The inputs of `gristmill-bench stages`: drawn, compressed, and cut into sorted files.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::Path;

use clap::ValueEnum;
use record::{Generator, RECORD_BYTES};
use terminal::ending::failure::CliFailure;

use super::work;
use crate::lines::Case;
use crate::programs::{Ends, Input, OUTPUT, Program, RaceDirectories, Told};
use crate::records::generated;
use crate::same::failed;

/// The options of each format, and the input that is compressed so.
pub const COMPRESSED: [(&[&str], &[&str]); 3] = [
    (&["--compress-output", "gzip"], &["input.gz"]),
    (&["--compress-output", "zstd"], &["input.zst"]),
    (&["--compress-output", "lz4"], &["input.lz4"]),
];

/// The inputs of a merge, each sorted.
pub const SORTED: [&str; 8] = [
    "sorted-1", "sorted-2", "sorted-3", "sorted-4", "sorted-5", "sorted-6", "sorted-7", "sorted-8",
];

/// Records to sort, with the options that sort them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Content {
    /// gensort's records of 100 bytes
    Records,
    /// gensort's lines of 100 bytes, whole
    Lines,
    /// Lines of some 36 bytes in fields, by -t, -k2,2
    Keyed,
}

impl Content {
    pub const ALL: [Content; 3] = [Content::Records, Content::Lines, Content::Keyed];

    /// Its title, and the name of one of them.
    pub fn title(self) -> (&'static str, &'static str) {
        match self {
            Content::Records => ("records of 100 bytes", "record"),
            Content::Lines => ("lines of 100 bytes, whole", "line"),
            Content::Keyed => ("lines by a field, -t, -k2,2", "line"),
        }
    }

    pub fn options(self) -> &'static [&'static str] {
        match self {
            Content::Records => &["--format", "gensort"],
            Content::Lines => &[],
            Content::Keyed => &["-t,", "-k2,2"],
        }
    }

    /// Options of an order in which the keys above come at random.
    fn other_options(self) -> &'static [&'static str] {
        match self {
            Content::Records => &["--format", "fixed:100", "--key", "12+32"],
            Content::Lines => &["-k2,2r"],
            Content::Keyed => &["-t,", "-k1,1"],
        }
    }

    /// The file that has them uncompressed.
    pub fn input(self) -> Input {
        match self {
            Content::Records => Input::Binary,
            Content::Lines | Content::Keyed => Input::Text,
        }
    }

    /// Writes about so many bytes to a file. Returns the number of records.
    fn draw(self, path: &Path, bytes: u64) -> Result<u64, CliFailure> {
        let records = (bytes / RECORD_BYTES as u64).max(1);
        match self {
            Content::Records => generated(path, Generator::default(), records).map(|_| records),
            Content::Lines => Case::Ascii.draw(path, bytes),
            Content::Keyed => Case::Fields.draw(path, bytes),
        }
    }
}

/// Makes all inputs of one content in the directory of its sorts.
pub struct Maker<'a> {
    pub place: &'a RaceDirectories,
    pub content: Content,
    pub told: &'a Told<'a>,
    pub gristmill: &'a Path,
}

impl Maker<'_> {
    /// Draws about so many bytes, compresses them in another order, and cuts them into files that are
    /// sorted.
    ///
    /// # Errors
    /// A file that cannot be written; a sort that fails.
    pub fn make(&self, bytes: u64) -> Result<work::Input, CliFailure> {
        let input = self.content.input().file();
        let path = self.place.file(input);
        let records = self.content.draw(&path, bytes)?;
        for (compress, names) in COMPRESSED {
            let options = [self.content.other_options(), compress].concat();
            self.sort(&options, input, names[0])?;
        }
        let found = fs::metadata(&path).map_err(|cause| failed(&path, &cause))?;
        self.cut(&path, found.len())
            .map_err(|cause| failed(&path, &cause))?;
        for name in SORTED {
            self.sort(self.content.options(), name, name)?;
        }
        Ok(work::Input {
            bytes: found.len(),
            records,
        })
    }

    /// Sorts a file into another of that name.
    fn sort(&self, options: &[&str], from: &str, to: &str) -> Result<(), CliFailure> {
        let program = Program::ours_reporting(self.gristmill, options, self.told)
            .reading(self.content.input())
            .between(Ends::Files, &[from]);
        self.place.run(&program)?;
        let output = self.place.file(OUTPUT);
        fs::rename(&output, self.place.file(to)).map_err(|cause| failed(&output, &cause))
    }

    /// Cuts a file into equal parts of whole records.
    fn cut(&self, path: &Path, bytes: u64) -> io::Result<()> {
        let part = bytes.div_ceil(SORTED.len() as u64);
        let part = part.next_multiple_of(RECORD_BYTES as u64);
        let mut input = BufReader::with_capacity(1 << 20, File::open(path)?);
        for name in SORTED {
            let mut output = BufWriter::new(File::create(self.place.file(name))?);
            io::copy(&mut input.by_ref().take(part), &mut output)?;
            if self.content.input() == Input::Text {
                let mut rest = Vec::new();
                input.read_until(b'\n', &mut rest)?;
                output.write_all(&rest)?;
            }
            output.flush()?;
        }
        Ok(())
    }
}
