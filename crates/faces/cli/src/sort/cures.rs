//! The options that would help with a bad row or line, told with its mistake.

use ::sort::{Checked, Contents, Job, SortError};
use pipeline::Failure;
use record::Headed;
use record::rows::RowProblem;

/// The facts by which an option helps or does not.
#[derive(Clone, Copy)]
pub(super) struct Cures {
    is_rows: bool,
    /// Whether lines may be kept on top, and none are.
    may_have_head: bool,
    /// Whether `--bad-records` can be given, and was not.
    may_set_aside: bool,
}

impl Cures {
    fn below(headed: Option<&Headed>, contents: &dyn Contents) -> Cures {
        let is_one_line = contents.multiline().is_none();
        Cures {
            is_rows: headed.is_some_and(|headed| headed.rows().is_some()),
            may_have_head: headed.is_none() && is_one_line,
            may_set_aside: is_one_line,
        }
    }

    pub(super) fn of(job: &Job) -> Cures {
        let cures = Cures::below(job.headed.as_ref(), &*job.contents);
        let may_set_aside = job.bad_rows.is_none() && job.resume.is_none();
        Cures {
            may_set_aside: cures.may_set_aside && may_set_aside,
            ..cures
        }
    }

    pub(super) fn of_check(job: &Checked) -> Cures {
        Cures {
            may_set_aside: false,
            ..Cures::below(job.headed.as_ref(), &*job.contents)
        }
    }

    /// The failure; of a bad row or line with what to do.
    pub(super) fn told(self, failure: Failure) -> Failure {
        let Failure::Program(mut error) = failure else {
            return failure;
        };
        if let Some(SortError::BadRow {
            cure, bad, line, ..
        }) = error.downcast_mut()
        {
            *cure = self.cure(&bad.problem, *line == Some(1));
        }
        Failure::Program(error)
    }

    fn cure(self, problem: &RowProblem, is_first: bool) -> &'static str {
        let is_word = matches!(problem, RowProblem::Value { value, .. } if !has_digits(value));
        let is_short =
            matches!(problem, RowProblem::Columns { found, expected } if found < expected);
        let may_be_header = is_first && self.may_have_head;
        match (self.is_rows, self.may_set_aside) {
            (_, true) if may_be_header => {
                "; if it names the columns, keep it on top with --header 1; else set it aside with --bad-records FILE"
            }
            (_, false) if may_be_header => {
                "; if it names the columns, keep it on top with --header 1; else mend it"
            }
            (true, true) if is_short => {
                "; take them with --short-rows, or set such rows aside with --bad-records FILE"
            }
            (true, true) if is_word => {
                "; name a word for missing values with --null, or set such rows aside with --bad-records FILE"
            }
            (true, true) => "; set such rows aside with --bad-records FILE",
            (false, true) if is_word => {
                "; name a word for missing values with --null, or set such lines aside with --bad-records FILE"
            }
            (false, true) => "; set such lines aside with --bad-records FILE",
            (_, false) if is_word => "; name a word for missing values with --null, or mend it",
            (true, false) => "",
            (false, false) => "; mend it, or leave the line out",
        }
    }
}

/// Whether a value may be meant for a number, and no word for a missing one.
fn has_digits(value: &str) -> bool {
    value.bytes().any(|byte| byte.is_ascii_digit())
}
