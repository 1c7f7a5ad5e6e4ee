//! Sizes as people write them, in any case: K M G T and KiB MiB GiB TiB are powers of 1024, KB MB GB
//! TB of 1000, B is bytes.

pub use lab::units::count;
use lab::units::{parted, units};

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

/// Reads a size with its unit.
///
/// # Errors
/// No number, no unit, or an unknown one.
pub fn size(text: &str) -> Result<u64, String> {
    if text.ends_with('%') {
        return Err("a percentage is one of the memory; give a size like 512M or 2GB".to_owned());
    }
    let (digits, unit) = parted(text);
    let number: f64 = digits
        .parse()
        .map_err(|_| "not a size like 512M or 2GB".to_owned())?;
    if unit.is_empty() {
        return Err(format!(
            "the unit is missing; write {text}K, {text}M or {text}G"
        ));
    }
    let factor = match unit {
        "b" | "B" => 1,
        unit => units(unit)?,
    };
    let bytes = number * factor as f64;
    if bytes < 0.0 {
        return Err("must not be negative".to_owned());
    }
    if bytes > u64::MAX as f64 / 2.0 {
        return Err("too large".to_owned());
    }
    Ok(bytes as u64)
}

/// Reads a whole number without a unit, such as a seed or a number of records.
///
/// # Errors
/// A text that is no whole number, told in a sentence.
pub fn whole(text: &str) -> Result<u64, String> {
    text.parse()
        .map_err(|_| format!("must be a whole number from 0 to {}", u64::MAX))
}

/// Reads a number of threads.
///
/// # Errors
/// A text that is no whole number above zero, told in a sentence.
pub fn threads(text: &str) -> Result<u16, String> {
    let threads = text
        .parse()
        .ok()
        .filter(|threads| (1..=MOST_THREADS).contains(threads));
    threads.ok_or_else(|| "must be a whole number from 1 to 1024".to_owned())
}

/// Reads a number of records, of which there must be at least one.
///
/// # Errors
/// A text that is no whole number above zero, told in a sentence.
pub fn positive(text: &str) -> Result<u64, String> {
    let number = text.parse().ok().filter(|&number| number > 0);
    number.ok_or_else(|| "must be a whole number from 1".to_owned())
}

/// More threads than a machine has today.
const MOST_THREADS: u16 = 1024;

/// Bytes of files as people read them.
pub fn readable(bytes: u64) -> String {
    const UNITS: [(&str, u64); 4] = [
        ("TB", 1_000_000_000_000),
        ("GB", 1_000_000_000),
        ("MB", 1_000_000),
        ("kB", 1_000),
    ];
    match UNITS.iter().find(|(_, unit)| bytes >= *unit) {
        Some((name, unit)) => format!("{:.1} {name}", bytes as f64 / *unit as f64),
        None => counted(bytes, "byte"),
    }
}

/// Bytes of memory as people read them, in the units of `-S`: 1 GiB is `-S 1G`.
pub fn binary(bytes: u64) -> String {
    match bytes {
        0..1_048_576 => format!("{} KiB", bytes >> 10),
        1_048_576..1_073_741_824 => format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20)),
        _ => format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30)),
    }
}

/// A number of things: "1 file", "2,000 files".
pub fn counted(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", grouped(number))
}

/// A number with its thousands separated by commas.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        assert_eq!(size("512M"), Ok(512 << 20));
        assert_eq!(size("2GB"), Ok(2_000_000_000));
        assert_eq!(size("1.5K"), Ok(1536));
        assert_eq!(size("100b"), Ok(100));
        for gibi in ["1G", "1g", "1Gi", "1GiB", "1gib"] {
            assert_eq!(size(gibi), Ok(1 << 30), "{gibi}");
        }
        for giga in ["1GB", "1gb", "1gB"] {
            assert_eq!(size(giga), Ok(1_000_000_000), "{giga}");
        }
        assert!(size("10%").unwrap_err().contains("percentage"));
        assert_eq!(memory("50%"), Ok(Memory::Percent(50)));
        assert_eq!(memory("0%"), Ok(Memory::Bytes(LEAST_BYTES)));
        assert!(size("512").unwrap_err().contains("512M"));
        for wrong in ["", "M", "12X", "-1M", "1e30T", "nanK", "12 M"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
        assert!(memory("101%").is_err() && memory("%").is_err());
    }

    #[test]
    fn wrong_counts_are_refused_with_the_reason() {
        let cases = [
            ("abc", "not a number"),
            ("", "not a number"),
            ("4q", "K M G T or KiB"),
            ("-4", "negative"),
            ("1.5", "whole"),
            ("15e-1", "whole"),
            ("99999999999999999999999", "too large"),
            ("20000000T", "too large"),
        ];
        for (text, why) in cases {
            assert!(
                count(text).unwrap_err().contains(why),
                "{text}: {:?}",
                count(text)
            );
        }
        assert_eq!(whole("18446744073709551615"), Ok(u64::MAX));
        for wrong in ["-1", "18446744073709551616", "4K", "x"] {
            assert!(
                whole(wrong)
                    .unwrap_err()
                    .contains("from 0 to 18446744073709551615"),
                "{wrong}"
            );
        }
        assert_eq!((positive("1"), positive("20")), (Ok(1), Ok(20)));
        for wrong in ["0", "-1", "x", "1.5", "", "18446744073709551616"] {
            assert!(positive(wrong).unwrap_err().contains("from 1"), "{wrong}");
        }
        assert_eq!((threads("1"), threads("1024")), (Ok(1), Ok(1024)));
        assert!(threads("0").is_err() && threads("1025").is_err() && threads("-1").is_err());
    }

    #[test]
    fn numbers_are_readable() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(readable(999), "999 bytes");
        assert_eq!(readable(100_000_000), "100.0 MB");
        assert_eq!(binary(2047), "1 KiB");
        assert_eq!(binary(100 << 20), "100.0 MiB");
        assert_eq!(binary(3 << 29), "1.5 GiB");
    }
}
