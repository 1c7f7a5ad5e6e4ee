//! The value of `-S`: that of the other commands, and what scripts give to GNU sort.

use host::memory::memory_limit;
use host::memory::{Memory, memory};
use terminal::ending::failure::CliFailure;

/// A memory limit as it was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// A number without a unit, which for lines counts KiB.
    Bare(u64),
    /// A size with a unit.
    Sized(Memory),
}

/// Reads `512M`, `2GB`, `1GiB`, `50%`, `4k`, `4096b` or `512`.
pub(super) fn asked(text: &str) -> Result<Asked, String> {
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        let number = text.parse().ok().filter(|&number| number < 1 << 53);
        return number.map(Asked::Bare).ok_or("too large".to_owned());
    }
    memory(text).map(Asked::Sized)
}

/// The memory limit in bytes: the largest of those asked for, as with GNU, so that their order does
/// not matter.
///
/// # Errors
/// A number without a unit, which says little about binary records.
pub(super) fn limit(all: &[Asked], of_lines: bool) -> Result<u64, CliFailure> {
    let mut most = None;
    for &asked in all {
        let memory = match asked {
            Asked::Sized(memory) => memory,
            Asked::Bare(kib) if of_lines => Memory::Bytes(kib << 10),
            Asked::Bare(number) => {
                return Err(CliFailure::usage(format!(
                    "-S {number}: the unit of the memory is missing; write {number}K, {number}M or {number}G"
                )));
            }
        };
        most = most.max(Some(memory_limit(Some(memory))));
    }
    Ok(most.unwrap_or_else(|| memory_limit(None)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_gnu_reads_them() {
        let bytes = |bytes| Ok(Asked::Sized(Memory::Bytes(bytes)));
        assert_eq!(asked("512"), Ok(Asked::Bare(512)));
        assert_eq!(asked("512b"), bytes(512));
        for (text, expected) in [
            ("4k", 4 << 10),
            ("4K", 4 << 10),
            ("3m", 3 << 20),
            ("1g", 1 << 30),
            ("1GiB", 1 << 30),
            ("1GB", 1_000_000_000),
            ("1.5M", 3 << 19),
        ] {
            assert_eq!(asked(text), bytes(expected), "{text}");
        }
        assert_eq!(asked("50%"), Ok(Asked::Sized(Memory::Percent(50))));
        for wrong in ["", "12X", "-1M", "-5", "101%", "M", "b", "1kB2"] {
            assert!(asked(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_bare_number_counts_kib_of_lines_alone() {
        assert_eq!(limit(&[Asked::Bare(2048)], true).unwrap(), 2 << 20);
        let two = [Asked::Bare(4096), Asked::Bare(2048)];
        assert_eq!(limit(&two, true).unwrap(), 4 << 20);
        assert!(limit(&two, false).unwrap_err().message.contains("4096M"));
    }
}
