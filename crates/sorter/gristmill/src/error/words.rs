//! Messages that name options as callers of the library know them. Those of the engine are for the
//! command.

use sort::SortError;
use units::amount;

pub(super) fn message(error: &SortError) -> String {
    match error {
        SortError::TooLittleMemory { needed, limit, .. } => format!(
            "the sort needs {} of memory, but the limit is {}; give it more",
            amount(*needed),
            amount(*limit)
        ),
        SortError::PipeTooLong { bytes, limit } => format!(
            "the records do not fit in {} of memory ({} so far); give it more",
            amount(*limit),
            amount(*bytes)
        ),
        SortError::LongLine { file, limit, .. } => format!(
            "{}a record, with the key that a function makes of it, is longer than {}; set `longest` to the \
             bytes of both together, and give more memory if that is refused",
            file.as_ref()
                .map_or(String::new(), |file| format!("{}: ", file.display())),
            amount(*limit)
        ),
        SortError::NoTemporaryRoom { needed, free, .. } => format!(
            "temporary files, and the output if it is on the same disk, need about {}, and {} are free \
             there; free some space, name other temporary directories, or give more memory",
            amount(*needed),
            amount(*free)
        ),
        SortError::Spoilt { file, offset } => format!(
            "{} does not read back as it was written, at byte {offset}; sort again with another \
             temporary directory, and test this disk",
            file.display()
        ),
        SortError::NotStriped { blocks, .. } => format!(
            "stripes of {blocks} blocks need {} temporary directories, each another one",
            blocks.saturating_add(1)
        ),
        SortError::Unsorted { file, record, noun } => format!(
            "{}: {noun} {record} is out of order, and a merge takes only files that are in order; sort \
             it instead",
            file.display()
        ),
        SortError::TruncatedRecord {
            file,
            offset,
            left,
            record_bytes,
        } => format!(
            "{} ends inside a record: the last one, at byte {offset}, has {left} of {record_bytes} \
             bytes; check the format, or cut the file there",
            file.display()
        ),
        other => other.to_string(),
    }
}
