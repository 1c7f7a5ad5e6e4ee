//! The job of a sort: its options, checked, as the engine takes them.

use std::num::NonZero;
use std::path::PathBuf;
use std::thread::available_parallelism;

use node::{Compression, Decompress};
use node_real::facts_of_memory;
use record::Framing;
use sort::{
    Choice, ExchangeKind, IoChoice, Job, LongestLine, Pack, Resources, Source, Target, Tuning,
    longest_of_pipe,
};
use units::amount;

use super::Sorter;
use crate::error::Error;
use crate::format::{Built, Format};
use crate::sorted::Decoder;

/// A limit up to here needs no look at the memory of the machine.
const USUAL_MEMORY_BYTES: u64 = 1 << 30;

/// More threads than a sort uses; a machine with more cores may use as many.
const MOST_THREADS: usize = 256;

/// A key beside the longest record, with the lengths of both.
const MOST_KEY_BYTES: usize = 8 + (4 << 10);

impl Sorter {
    pub(super) fn build(&self) -> Result<Built, Error> {
        self.check()?;
        self.format.build(self.stable, self.unique)
    }

    /// Checks the options that are numbers.
    fn check(&self) -> Result<(), Error> {
        if self.top == Some(0) {
            let what = "top keeps at least one record";
            return Err(Error::Options(what.to_owned()));
        }
        match self.longest {
            Some(0) => {
                let what = "the longest record has at least one byte";
                Err(Error::Options(what.to_owned()))
            }
            Some(longest) if longest as u64 > self.limit() => Err(Error::Memory(format!(
                "a record of {} does not fit in {} of memory; give more memory, or a smaller `longest`",
                amount(longest as u64),
                amount(self.limit())
            ))),
            _ => Ok(()),
        }
    }

    /// Bytes of the longest record that the sort takes from a program, with its key.
    pub(super) fn longest_pushed(&self, framing: Framing) -> usize {
        let asked = self.longest_line().at_least().unwrap_or(0);
        if framing.is_fixed() && self.make_key.is_none() {
            usize::MAX
        } else {
            asked.max(longest_of_pipe(self.limit(), self.top))
        }
    }

    fn longest_line(&self) -> LongestLine {
        match (self.longest, &self.make_key) {
            (None, _) => LongestLine::Seen,
            (Some(longest), None) => LongestLine::AtLeast(longest),
            (Some(longest), Some(_)) => LongestLine::AtLeast(longest + MOST_KEY_BYTES),
        }
    }

    /// The limit on memory: no more than this machine has.
    pub(super) fn limit(&self) -> u64 {
        match self.memory_bytes {
            0..=USUAL_MEMORY_BYTES => self.memory_bytes,
            more => more.min(facts_of_memory().total_bytes.max(USUAL_MEMORY_BYTES)),
        }
    }

    /// Records behind their keys, with the lengths of both.
    pub(super) fn build_pairs(&self) -> Result<Built, Error> {
        if self.format.is_rows() {
            let what = "by_key takes lines or binary records; rows have keys by column";
            return Err(Error::Options(what.to_owned()));
        }
        if self.format.has_keys() {
            let what = "by_key compares its own keys; leave those of the format out";
            return Err(Error::Options(what.to_owned()));
        }
        self.check()?;
        Format::named(Decoder::PAIRS).build(true, self.unique)
    }

    pub(super) fn job(&self, built: Built, sources: Vec<Source>, target: Target) -> Job {
        let cores = available_parallelism().map_or(1, NonZero::get);
        let cores = self
            .threads
            .map_or(cores, |threads| threads.min(cores.max(MOST_THREADS)));
        let temporary = if self.temporary.is_empty() {
            vec![std::env::temp_dir()]
        } else {
            self.temporary.clone()
        };
        // Its files are removed there, even if the program changes its directory meanwhile.
        let temporary = temporary.into_iter().map(resolved).collect();
        // As the command does: files by their first bytes and their names, records as they come.
        let decompress = if sources.iter().all(|source| source.path().is_some()) {
            Decompress::Auto
        } else {
            Decompress::Never
        };
        let compress = match &target {
            Target::Path(path) => Compression::of_name(path),
            _ => None,
        };
        Job {
            sources,
            decompress,
            shared: false,
            temporary,
            pack: Pack::Auto,
            temporary_limit: None,
            plan: Choice::Auto,
            target,
            compress,
            exchange: ExchangeKind::default(),
            contents: built.contents,
            top: self.top,
            rows: built.rows,
            longest_line: self.longest_line(),
            may_begin_again: true,
            resources: Resources {
                cores,
                memory_bytes: self.limit(),
                io: IoChoice::Auto,
            },
            tuning: Tuning::default(),
            listing: None,
            host: String::new(),
            resume: None,
            control: self.watch.control(),
        }
    }
}

/// The path from the root, by the directory of the process now.
pub(super) fn resolved(path: PathBuf) -> PathBuf {
    std::path::absolute(&path).unwrap_or(path)
}
