//! The kinds of formats, and the options that each has: the one rule for libraries and command.

/// The kind of records in a format, which decides what else may be said of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the formats are described by `Given`")]
pub enum FormatKind {
    Lines,
    Csv,
    Tsv,
    JsonLines,
    Binary,
}

/// An option that only some formats have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the options are described by `Given`")]
pub enum FormatOption {
    Separator,
    Delimiter,
    Quote,
    Multiline,
    Shuffle,
    Header,
    Head,
    Null,
    ShortRows,
    Locale,
    KeyOptions,
    Counts,
}

impl FormatKind {
    /// The formats of text by their names; all others are of binary records.
    pub const TEXT: [(&str, FormatKind); 4] = [
        ("lines", FormatKind::Lines),
        ("csv", FormatKind::Csv),
        ("tsv", FormatKind::Tsv),
        ("jsonl", FormatKind::JsonLines),
    ];

    /// The kind of a format, whether there is such a format or not.
    #[must_use]
    pub fn of(format: &str) -> FormatKind {
        let named = FormatKind::TEXT.iter().find(|(name, _)| *name == format);
        named.map_or(FormatKind::Binary, |(_, kind)| *kind)
    }

    /// Whether records divide into values.
    #[must_use]
    pub fn is_rows(self) -> bool {
        !matches!(self, FormatKind::Lines | FormatKind::Binary)
    }

    /// Whether its formats have an option.
    #[must_use]
    pub fn has(self, option: FormatOption) -> bool {
        option.rule().0.contains(&self)
    }
}

impl FormatOption {
    /// The formats that have the option; and for all others their lack, and what to do.
    pub(super) fn rule(self) -> (&'static [FormatKind], &'static str) {
        use FormatKind::{Csv, JsonLines, Lines, Tsv};
        let (lines, text) = (&[Lines][..], &[Lines, Csv, Tsv, JsonLines][..]);
        match self {
            FormatOption::Separator => (&[Lines, Csv], "has no separator to choose; leave it out"),
            FormatOption::Delimiter => (lines, "has no delimiter to choose; leave it out"),
            FormatOption::Quote => (&[Csv], "has no quote to choose; leave it out"),
            FormatOption::Multiline => (
                lines,
                "has no records of several lines; leave their start or number out",
            ),
            FormatOption::Shuffle => (lines, "has an order; give lines to shuffle them"),
            FormatOption::Header => (&[Csv, Tsv], "has no header; leave without_header out"),
            FormatOption::Head => (
                &[Lines, Csv, Tsv],
                "has no lines on top; leave the header out",
            ),
            FormatOption::Null => (text, "has no missing values; leave their words out"),
            FormatOption::ShortRows => (
                &[Csv, Tsv],
                "has no columns that a row could lack; leave short rows out",
            ),
            FormatOption::Locale => (text, "has no text of a language; leave the locale out"),
            FormatOption::KeyOptions => {
                (lines, "has no options of all keys; give each key its own")
            }
            FormatOption::Counts => (lines, "has no place for a number; leave the counts out"),
        }
    }
}
