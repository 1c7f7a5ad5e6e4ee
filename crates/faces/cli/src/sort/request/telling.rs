//! Words for people and files for programs: what a sort tells of itself.

use std::path::{Path, PathBuf};

use ::sort::names_rank;
use terminal::files::is_standard_output;
use terminal::progress::Mode;

use crate::sort::options::Arguments;

/// The words and the report of a sort.
#[derive(Clone, Debug)]
pub(crate) struct Telling {
    /// Neither warnings nor a line at the end.
    pub quiet: bool,
    pub progress: Mode,
    /// Whether people get a table of the stages.
    pub is_tabled: bool,
    /// The file of the report.
    pub file: Option<PathBuf>,
    /// Whether each rank writes a report, and not only the first.
    pub of_each_rank: bool,
    /// Whether the report goes to standard output.
    pub is_printed: bool,
    /// Whether the only words are those of the report.
    pub json: bool,
    /// Whether people wait for saved progress to be found.
    pub resumes: bool,
    /// Whether people may like to read how it went: the output is not what they read.
    pub is_followed: bool,
    /// A record, and several.
    nouns: [&'static str; 2],
}

impl Telling {
    /// Words and report as the options ask for them.
    pub(super) fn of(arguments: &Arguments) -> Telling {
        let to_file = |path: &PathBuf| !is_standard_output(path);
        let is_written = !arguments.outputs.is_empty() && arguments.outputs.iter().all(to_file);
        let order = &arguments.order;
        Telling {
            quiet: arguments.quiet,
            progress: arguments.progress,
            is_tabled: arguments.report.is_some(),
            file: arguments.report_file().map(Path::to_owned),
            of_each_rank: false,
            is_printed: arguments.report_is_printed(),
            json: arguments.json,
            resumes: arguments.resume,
            is_followed: is_written && !arguments.json && arguments.progress == Mode::Auto,
            nouns: [order.noun(1), order.noun(2)],
        }
    }

    /// The same of a rank; `report` is the file as it was named for all.
    pub(super) fn by(self, report: Option<&Path>) -> Telling {
        let of_each_rank = report.is_some_and(names_rank);
        Telling {
            of_each_rank,
            ..self
        }
    }

    /// The noun for that number of records.
    pub(crate) fn noun(&self, records: u64) -> &'static str {
        self.nouns[usize::from(records != 1)]
    }
}
