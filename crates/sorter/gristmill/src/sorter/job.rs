//! The job of a sort: its options, checked, as the engine takes them.

use std::num::NonZero;
use std::path::PathBuf;
use std::thread::available_parallelism;

use node::{Compression, Decompress};
use node_real::facts_of_memory;
use record::{Framing, Keep, RecordSpec};
use sort::{IoChoice, Job, LongestLine, Resources, Source, Target, longest_of_pipe};
use units::amount;

use super::Sorter;
use crate::error::Error;
use crate::format::Format;
use crate::sorted::Decoder;

/// A limit up to here needs no look at the memory of the machine.
const USUAL_MEMORY_BYTES: u64 = 1 << 30;

/// More threads than a sort uses; a machine with more cores may use as many.
const MOST_THREADS: usize = 256;

/// A key beside the longest record, with the lengths of both.
const MOST_KEY_BYTES: usize = 8 + (4 << 10);

impl Sorter {
    pub(super) fn spec(&self) -> Result<RecordSpec, Error> {
        self.check()?;
        let spec = self.format.spec(self.keep(), &self.sums)?;
        if self.bad_records.is_some() && !spec.can_set_aside() {
            let what = "bad_records sets rows aside, and lines whose keys have types or whose fields are added up; leave it out";
            return Err(Error::Options(what.to_owned()));
        }
        Ok(spec)
    }

    fn keep(&self) -> Keep {
        match (self.unique, self.stable) {
            (true, _) if self.keeps_last => Keep::Last,
            (true, _) => Keep::First,
            (false, true) => Keep::Stable,
            (false, false) => Keep::All,
        }
    }

    /// Checks the options that are numbers.
    fn check(&self) -> Result<(), Error> {
        if self.top == Some(0) {
            let what = "top keeps at least one record";
            return Err(Error::Options(what.to_owned()));
        }
        if self.top.is_some() && !self.sums.is_empty() {
            let what = "sum needs all records, and top drops some; leave one of them out";
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
    pub(super) fn spec_of_pairs(&self) -> Result<RecordSpec, Error> {
        if self.format.is_rows() {
            let what = "by_key takes lines or binary records; rows have keys by column";
            return Err(Error::Options(what.to_owned()));
        }
        if self.format.has_header() {
            let what = "by_key takes records without lines on top; leave the header out";
            return Err(Error::Options(what.to_owned()));
        }
        if self.format.has_keys() {
            let what = "by_key compares its own keys; leave those of the format out";
            return Err(Error::Options(what.to_owned()));
        }
        if !self.sums.is_empty() {
            let what = "by_key compares its own keys, and sum adds up records with equal keys of the format; leave \
                        one of them out";
            return Err(Error::Options(what.to_owned()));
        }
        if self.bad_records.is_some() {
            let what = "by_key compares its own keys, in which there are no mistakes; leave bad_records out";
            return Err(Error::Options(what.to_owned()));
        }
        self.check()?;
        let keep = match self.keep() {
            Keep::All => Keep::Stable,
            keep => keep,
        };
        Format::named(Decoder::PAIRS).spec(keep, &[])
    }

    pub(super) fn job(&self, spec: &RecordSpec, sources: Vec<Source>, target: Target) -> Job {
        let cores = available_parallelism().map_or(1, NonZero::get);
        let cores = self
            .threads
            .map_or(cores, |threads| threads.min(cores.max(MOST_THREADS)));
        let temporary = if self.temporary.is_empty() {
            vec![std::env::temp_dir()]
        } else {
            self.temporary.clone()
        };
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
        let resources = Resources {
            cores,
            memory_bytes: self.limit(),
            io: IoChoice::Auto,
        };
        Job {
            decompress,
            // Its files are removed there, even if the program changes its directory meanwhile.
            temporary: temporary.into_iter().map(resolved).collect(),
            compress,
            stripe: self.stripe,
            bad_rows: self.bad_records.clone().map(resolved),
            top: self.top,
            longest_line: self.longest_line(),
            control: self.watch.control(),
            ..Job::new(sources, spec, target, resources)
        }
    }
}

/// The path from the root, by the directory of the process now.
pub(super) fn resolved(path: PathBuf) -> PathBuf {
    std::path::absolute(&path).unwrap_or(path)
}
