//! The report of a sort.

use std::time::Duration;

use record::{Comparison, Multiline};
use sort::{StripeReport, Warning};

/// What a sort did.
///
/// ```
/// use gristmill::{Format, Sorter};
/// let mut feed = Sorter::new(Format::lines()).unique().start()?;
/// feed.push_all(["b", "a", "b"])?;
/// let report = feed.finish()?.write_to(std::io::sink())?;
/// assert_eq!((report.records, report.bytes, report.passes), (2, 4, 1));
/// # Ok::<(), gristmill::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// Records written.
    pub records: u64,
    /// Their bytes.
    pub bytes: u64,
    /// How often a record was read and written: 1 if memory held all.
    pub passes: u32,
    /// The most bytes of temporary files at any time.
    pub temporary_bytes: u64,
    /// Bytes of a temporary directory that was lost, read from the others; see
    /// [`Sorter::stripe`](crate::Sorter::stripe).
    pub rebuilt_bytes: u64,
    /// The time that it took.
    pub time: Duration,
    /// Records that stayed apart from those with their keys, because a total would not have fitted; see
    /// [`Sorter::sum`](crate::Sorter::sum).
    pub apart: u64,
    /// Records that were set aside for their mistakes; see [`Sorter::bad_records`](crate::Sorter::bad_records).
    pub set_aside: u64,
    /// Whether the output file was written in place, because it could not be replaced.
    pub in_place: bool,
}

/// A record that is out of order, as [`Sorter::check_file`](crate::Sorter::check_file) finds it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Disorder {
    /// Its number among the records of the file, from 1.
    pub number: u64,
    /// The record, with its delimiter.
    pub record: Vec<u8>,
}

impl Disorder {
    /// A record as its file has it: one of several lines ends with a newline there.
    pub(crate) fn of(number: u64, mut record: Vec<u8>, order: &Comparison) -> Disorder {
        if order.multiline().is_some() {
            Multiline::end_lines(&mut record);
        }
        Disorder { number, record }
    }
}

impl Report {
    pub(crate) fn of(report: &sort::Report) -> Report {
        Report {
            records: report.records,
            bytes: report.bytes,
            passes: report.passes,
            temporary_bytes: report.temp_peak_bytes,
            rebuilt_bytes: report.stripes.as_ref().map_or(0, rebuilt_bytes),
            time: Duration::from_secs_f64(report.seconds),
            apart: report.warnings.iter().map(apart).sum(),
            set_aside: report.warnings.iter().map(set_aside).sum(),
            in_place: report.warnings.iter().any(is_in_place),
        }
    }
}

fn rebuilt_bytes(stripes: &StripeReport) -> u64 {
    stripes.rebuilt.iter().map(|rebuilt| rebuilt.bytes).sum()
}

fn apart(warning: &Warning) -> u64 {
    match warning {
        Warning::Apart { count } => *count,
        _ => 0,
    }
}

fn set_aside(warning: &Warning) -> u64 {
    match warning {
        Warning::BadRows { count, .. } => *count,
        _ => 0,
    }
}

fn is_in_place(warning: &Warning) -> bool {
    matches!(warning, Warning::InPlace { .. })
}
