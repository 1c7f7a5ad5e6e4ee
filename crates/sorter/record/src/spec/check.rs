//! Options that do not go together.

use super::{FormatKind, FormatOption, Given, Keep, SpecError};
use crate::text::KeyOptions;
use crate::totals::{TotalError, TotalProblem};

/// Refuses options that the format does not have.
pub(super) fn check(given: &Given) -> Result<(), SpecError> {
    let has_options = given.options != KeyOptions::default();
    let options = [
        (given.separator.is_some(), FormatOption::Separator),
        (given.delimiter.is_some(), FormatOption::Delimiter),
        (given.quote.is_some(), FormatOption::Quote),
        (given.multiline.is_some(), FormatOption::Multiline),
        (given.shuffle.is_some(), FormatOption::Shuffle),
        (given.has_no_header, FormatOption::Header),
        (!given.head.is_empty(), FormatOption::Head),
        (!given.nulls.is_empty(), FormatOption::Null),
        (given.has_short_rows, FormatOption::ShortRows),
        (given.locale.is_some(), FormatOption::Locale),
        (has_options, FormatOption::KeyOptions),
        (given.keep.counts(), FormatOption::Counts),
    ];
    for (is_given, option) in options {
        if is_given && !FormatKind::of(&given.format).has(option) {
            let (format, what) = (given.format.clone(), option.rule().1);
            return Err(SpecError::Unfit { format, what });
        }
    }
    match given.sums.first() {
        Some(sum) if !given.keep.is_unique() => {
            Err(TotalError::new(sum, TotalProblem::NotUnique).into())
        }
        _ => Ok(()),
    }
}

/// Refuses a shuffle of lines that are compared.
pub(super) fn check_shuffle(given: &Given) -> Result<(), SpecError> {
    let others = [
        (!given.keys.is_empty(), "keys"),
        (given.options != KeyOptions::default(), "options of keys"),
        (given.separator.is_some(), "separator"),
        (given.locale.is_some(), "language"),
        (given.keep != Keep::All, "order of equal ones"),
    ];
    let other = others.into_iter().find(|(is_given, _)| *is_given);
    match other.filter(|_| given.shuffle.is_some()) {
        Some((_, what)) => Err(SpecError::Shuffled { what }),
        None => Ok(()),
    }
}
