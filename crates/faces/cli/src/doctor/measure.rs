//! `gristmill doctor --measure`: this machine as a machine file, which `gristmill plan` reads.
//!
//! ```text
//! each disk    write, read, both at once, and small reads, as a sort makes them
//! stages       sorts in memory of records of two lengths: what a record and what a byte takes
//! ```

mod disks;
mod stages;

use std::fmt::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use terminal::ending::failure::CliFailure;
use terminal::launcher;

use disks::Disk;
use stages::Costs;

/// Each disk is read, and written, for so long: the caches of most drives and clouds do not hide the rate
/// behind them.
pub(crate) const SECONDS: f64 = 3.0;

/// This machine.
pub(crate) struct Measured {
    cores: usize,
    memory_bytes: u64,
    first_touch_ns: f64,
    disks: Vec<(Disk, Held)>,
    /// The stages with records, and with lines.
    stages: [Costs; 2],
}

/// The files that lie on a disk.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Held {
    Files,
    Temporary,
    Both,
}

/// A directory of each disk.
struct Places(Vec<(u64, PathBuf, Held)>);

impl Places {
    fn add(&mut self, path: &Path, held: Held) -> Result<(), CliFailure> {
        let found = std::fs::metadata(path).map_err(|cause| {
            let message = format!("cannot measure {}: {}", path.display(), cause.kind());
            CliFailure {
                file: Some(path.to_owned()),
                ..CliFailure::new("io", message)
            }
        })?;
        let known = self.0.iter_mut().find(|(disk, ..)| *disk == found.dev());
        match known {
            Some((_, _, before)) if *before != held => *before = Held::Both,
            Some(_) => {}
            None => self.0.push((found.dev(), path.to_owned(), held)),
        }
        Ok(())
    }
}

impl Measured {
    /// Measures the disks of these directories, for temporary files on the same disks if no others are given,
    /// and the stages of a sort. Takes five times `seconds` a disk and some more.
    ///
    /// # Errors
    /// When a directory cannot be written to, or has no room.
    pub(crate) fn new(
        files: &[PathBuf],
        temporary: &[PathBuf],
        seconds: f64,
    ) -> Result<Measured, CliFailure> {
        let mut places = Places(Vec::new());
        let held = if temporary.is_empty() {
            Held::Both
        } else {
            Held::Files
        };
        files.iter().try_for_each(|path| places.add(path, held))?;
        let held = Held::Temporary;
        temporary
            .iter()
            .try_for_each(|path| places.add(path, held))?;
        // Before anything else has used the memory.
        let first_touch_ns = stages::first_touch()?;
        let disks = places.0.into_iter();
        let disks = disks.map(|(_, path, held)| Ok((Disk::measure(&path, seconds)?, held)));
        Ok(Measured {
            disks: disks.collect::<Result<_, CliFailure>>()?,
            cores: launcher::cores(),
            first_touch_ns,
            memory_bytes: host::memory::memory_limit(None),
            stages: stages::measure()?,
        })
    }

    /// The machine file.
    pub(crate) fn text(&self) -> String {
        let (cores, memory_gb) = (self.cores, self.memory_bytes as f64 / 1e9);
        let mut text = format!(
            "# Measured by `gristmill doctor --measure`. Rates of a machine that does other work meanwhile are lower.\n\n\
             format = 1\n\
             name = \"this-machine\"\n\
             description = \"as it was measured\"\n\
             nodes = 1\n\n\
             [node]\n\
             cores = {cores}\n\
             memory_gb = {memory_gb:.3}  # the default of -S\n\
             first_touch_ns_per_byte = {:.3}\n",
            self.first_touch_ns
        );
        for (disk, held) in &self.disks {
            text.push_str(&disk.text(held.word()));
        }
        let heads = [
            "[stages]  # of records of 100 and 1,000 bytes, sorted in memory",
            "[stages_of_lines]  # of lines as long",
        ];
        for (head, costs) in heads.iter().zip(&self.stages) {
            let _ = write!(text, "\n{head}\n{costs}");
        }
        text
    }
}

impl Held {
    fn word(self) -> &'static str {
        match self {
            Held::Files => "files",
            Held::Temporary => "temporary",
            Held::Both => "both",
        }
    }
}
