//! The memory limit of a command.

use node_real::{Memory as Facts, facts_of_memory};
use terminal::launcher::ranks_here;
use units::size;

/// A memory limit: a size or a part of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// An amount in bytes.
    Bytes(u64),
    /// A percentage of the memory of the machine or its control group.
    Percent(u64),
}

/// The memory of `0%`: sorts of records that are not longer than some ten thousand bytes take no more.
const LEAST_BYTES: u64 = 24 << 20;

/// Reads `512M`, `2GB` or `50%`.
///
/// # Errors
/// A text that is no size, told in a sentence.
pub fn memory(text: &str) -> Result<Memory, String> {
    match text.strip_suffix('%') {
        Some(number) => match number.parse() {
            // As with GNU, the least that sorts.
            Ok(0) => Ok(Memory::Bytes(LEAST_BYTES)),
            Ok(percent @ 1..=100) => Ok(Memory::Percent(percent)),
            _ => Err("a part of the memory is 0% to 100%".to_owned()),
        },
        None => size(text).map(Memory::Bytes),
    }
}

/// The part of a control group's limit that is left to the program and the kernel, which also counts
/// page tables and pages of files on their way.
pub const CGROUP_RESERVE_BYTES: u64 = 48 << 20;

/// Of a small group, a half.
fn without_reserve(limit: u64) -> u64 {
    limit - CGROUP_RESERVE_BYTES.min(limit / 2)
}

/// The default memory limit, in % of the available memory.
const DEFAULT_PERCENT: u64 = 75;

/// The memory limit in bytes: the one asked for, within the limit of the control group.
pub fn memory_limit(asked: Option<Memory>) -> u64 {
    limit_within(&facts_of_memory(), ranks_here(), asked)
}

/// The limit of one of so many ranks on a computer with that memory.
fn limit_within(facts: &Facts, ranks: u64, asked: Option<Memory>) -> u64 {
    let cap = facts.cgroup_limit_bytes.map_or(u64::MAX, without_reserve);
    let bytes = match asked {
        Some(Memory::Bytes(bytes)) => bytes,
        Some(Memory::Percent(percent)) => facts.total_bytes.min(cap) / 100 * percent / ranks,
        None => facts.available_bytes.min(cap) / 100 * DEFAULT_PERCENT / ranks,
    };
    bytes.min(cap)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_three_quarters_of_what_is_free() {
        let large = Facts {
            total_bytes: 512 << 30,
            available_bytes: 500 << 30,
            cgroup_limit_bytes: None,
        };
        let default = limit_within(&large, 1, None);
        assert_eq!(default, (500 << 30) / 100 * 75);
        assert_eq!(limit_within(&large, 4, None), default / 4);
        // A container counts as a computer with its limit.
        let small = Facts {
            cgroup_limit_bytes: Some(2 << 30),
            ..large
        };
        let cap = (2 << 30) - CGROUP_RESERVE_BYTES;
        assert_eq!(limit_within(&small, 1, None), cap / 100 * 75);
        let more = Some(Memory::Bytes(64 << 30));
        assert_eq!(limit_within(&small, 1, more), cap);
    }

    #[test]
    fn a_limit_is_a_size_or_a_part() {
        assert_eq!(memory("50%"), Ok(Memory::Percent(50)));
        assert_eq!(memory("0%"), Ok(Memory::Bytes(LEAST_BYTES)));
        assert_eq!(memory("512M"), Ok(Memory::Bytes(512 << 20)));
        assert!(memory("101%").is_err() && memory("%").is_err());
    }
}
