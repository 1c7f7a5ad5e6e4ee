//! A sort as C sees it: one handle from the first option to the last record.
//!
//! ```text
//! Options --start--> Feeding --finish--> Reading > Reading > ... (its report)
//!    |  \--read_files------------------/    |
//!    \---sort_files, merge_files, check_file, write_file, or a failure--> Ended
//! ```

use std::ffi::CString;
use std::mem::replace;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError, TryLockError};

use gristmill::{Feed, Report, Sorted, Watch};

use crate::fault::{Fault, Status};
use crate::options::Options;

/// Bytes of a block of records, about.
const BLOCK_BYTES: usize = 64 << 10;

/// A sort.
pub struct Sorter {
    /// Follows and stops it from any thread.
    pub watch: Watch,
    work: Mutex<Work>,
}

impl Sorter {
    pub fn new(format: &str) -> Sorter {
        let watch = Watch::new();
        let work = Work {
            watch: watch.clone(),
            stage: Stage::Options(Options::new(format)),
            report: None,
            block: Block::default(),
            error: CString::default(),
        };
        Sorter {
            watch,
            work: Mutex::new(work),
        }
    }

    /// Does one call. It fails if another one is under way; a panic ends the sort.
    pub fn call(&self, call: impl FnOnce(&mut Work) -> Result<Status, Fault>) -> Status {
        let mut work = match self.work.try_lock() {
            Ok(work) => work,
            Err(TryLockError::WouldBlock) => return Status::Busy,
            Err(TryLockError::Poisoned(poisoned)) => PoisonError::into_inner(poisoned),
        };
        let ended = catch_unwind(AssertUnwindSafe(|| call(&mut work)));
        let ended = ended.unwrap_or_else(|panic| Err(Fault::of_panic(&*panic)));
        ended.unwrap_or_else(|fault| work.fail(fault))
    }

    /// Calls with the last error.
    pub fn with_error<T>(&self, call: impl FnOnce(&CString) -> T) -> Option<T> {
        self.work.try_lock().ok().map(|work| call(&work.error))
    }
}

/// The part of a sort that one call at a time uses.
pub struct Work {
    watch: Watch,
    stage: Stage,
    report: Option<Report>,
    block: Block,
    error: CString,
}

enum Stage {
    Options(Options),
    Feeding(Feed),
    Reading(Sorted),
    /// Well, or with a failure that is told again.
    Ended(Option<Fault>),
}

/// Records one behind the other.
#[derive(Default)]
pub struct Block {
    pub bytes: Vec<u8>,
    pub lengths: Vec<usize>,
}

impl Work {
    /// The options of a sort that has not begun.
    pub fn options(&mut self) -> Result<&mut Options, Fault> {
        match &mut self.stage {
            Stage::Options(options) => Ok(options),
            other => Err(other.refusal("options are set before the sort begins")),
        }
    }

    /// A sort that begins now.
    pub fn begin(&mut self) -> Result<gristmill::Sorter, Fault> {
        match replace(&mut self.stage, Stage::Ended(None)) {
            Stage::Options(options) => Ok(options.build(&self.watch)),
            other => {
                let refusal = other.refusal("this sort has begun; make a new sorter");
                self.stage = other;
                Err(refusal)
            }
        }
    }

    pub fn feed(&mut self, feed: Feed) {
        self.stage = Stage::Feeding(feed);
    }

    pub fn read(&mut self, sorted: Sorted) {
        self.stage = Stage::Reading(sorted);
    }

    /// The sort that takes records.
    pub fn feeding(&mut self) -> Result<&mut Feed, Fault> {
        match &mut self.stage {
            Stage::Feeding(feed) => Ok(feed),
            other => Err(other.refusal("records are pushed after gristmill_start")),
        }
    }

    pub fn finish(&mut self) -> Result<Status, Fault> {
        self.feeding()?;
        if let Stage::Feeding(feed) = replace(&mut self.stage, Stage::Ended(None)) {
            self.stage = Stage::Reading(feed.finish()?);
        }
        Ok(Status::Ok)
    }

    fn reading(&mut self) -> Result<&mut Sorted, Fault> {
        match &mut self.stage {
            Stage::Reading(sorted) => Ok(sorted),
            other => Err(other.refusal("records are read after gristmill_finish")),
        }
    }

    /// The next record.
    pub fn next(&mut self) -> Result<Option<&[u8]>, Fault> {
        Ok(self.reading()?.next()?)
    }

    /// Some of the next records; none at the end.
    pub fn next_many(&mut self) -> Result<&Block, Fault> {
        self.block.bytes.clear();
        self.block.lengths.clear();
        let mut block = std::mem::take(&mut self.block);
        let sorted = self.reading()?;
        while block.bytes.len() < BLOCK_BYTES {
            let Some(record) = sorted.next()? else { break };
            block.bytes.extend_from_slice(record);
            block.lengths.push(record.len());
        }
        self.block = block;
        Ok(&self.block)
    }

    pub fn write_file(&mut self, path: PathBuf) -> Result<Report, Fault> {
        self.reading()?;
        match replace(&mut self.stage, Stage::Ended(None)) {
            Stage::Reading(sorted) => self.ended(sorted.write_file(path)?),
            _ => unreachable!("it reads"),
        }
    }

    /// Notes the report of a sort.
    pub fn ended(&mut self, report: Report) -> Result<Report, Fault> {
        self.report = Some(report);
        Ok(report)
    }

    /// Lends a record until the next call.
    pub fn lend(&mut self, record: Vec<u8>) -> &[u8] {
        self.block.bytes = record;
        &self.block.bytes
    }

    /// The report, once the last record was read or written.
    pub fn report(&self) -> Result<Report, Fault> {
        let report = match &self.stage {
            Stage::Reading(sorted) => sorted.report().copied(),
            _ => self.report,
        };
        report.ok_or_else(|| self.stage.refusal("a report comes after the last record"))
    }

    /// Notes a failure. Those that a sort does not survive end it.
    fn fail(&mut self, fault: Fault) -> Status {
        let text: Vec<u8> = fault.text.bytes().filter(|&byte| byte != 0).collect();
        self.error = CString::new(text).unwrap_or_default();
        let status = fault.status;
        let is_feeding = matches!(self.stage, Stage::Feeding(_));
        let goes_on = match status {
            Status::Argument | Status::Order => true,
            Status::Record | Status::Key => is_feeding,
            _ => false,
        };
        if !goes_on {
            self.stage = Stage::Ended(Some(fault));
        }
        status
    }
}

impl Stage {
    /// Why a call is not allowed now: the sort has failed, or is at another stage.
    fn refusal(&self, otherwise: &str) -> Fault {
        match self {
            Stage::Ended(Some(fault)) => fault.clone(),
            Stage::Ended(None) => {
                Fault::new(Status::Order, "this sort has ended; make a new sorter")
            }
            _ => Fault::new(Status::Order, otherwise),
        }
    }
}
