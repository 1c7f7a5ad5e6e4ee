//! Numbers with units, in any case: K M G T and KiB MiB GiB TiB are powers of 1024, KB MB GB TB of
//! 1000, and of sizes B is bytes.

/// Parses a count, with or without a unit: `64`, `4K`, `1MB`.
///
/// # Errors
/// If it is not a whole number from 0, its unit is unknown, or it is too large.
pub fn count(text: &str) -> Result<u64, String> {
    let (digits, unit) = parted(text);
    let number: f64 = digits
        .parse()
        .map_err(|_| "not a number like 64, 4K or 1MB".to_owned())?;
    let unit = if unit.is_empty() { 1 } else { units(unit)? };
    if let Ok(number) = digits.parse::<u64>() {
        return number
            .checked_mul(unit)
            .ok_or_else(|| "too large".to_owned());
    }
    let count = number * unit as f64;
    let wrong = match count {
        count if count < 0.0 => "must not be negative",
        count if count > EXACT => "too large",
        count if count.fract() != 0.0 => "must be a whole number",
        count => return Ok(count as u64),
    };
    Err(wrong.to_owned())
}

/// Parses a number that may have decimals.
///
/// # Errors
/// If it is not a finite number.
pub fn number(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number),
        Ok(number) if number.is_infinite() => Err("too large".to_owned()),
        _ => Err("not a number".to_owned()),
    }
}

/// 2^53: the largest range in which floating-point numbers represent every whole number.
const EXACT: f64 = (1_u64 << 53) as f64;

/// Splits a text into its number and its unit; either may be empty.
fn parted(text: &str) -> (&str, &str) {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    text.split_at(digits.len())
}

/// The factor of a unit. Capital and small letters mean the same.
fn units(name: &str) -> Result<u64, String> {
    Ok(match name.to_ascii_uppercase().as_str() {
        "K" | "KI" | "KIB" => 1 << 10,
        "M" | "MI" | "MIB" => 1 << 20,
        "G" | "GI" | "GIB" => 1 << 30,
        "T" | "TI" | "TIB" => 1 << 40,
        "KB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "TB" => 1_000_000_000_000,
        _ => {
            let known = "the units are K M G T or KiB MiB GiB TiB (1024) and KB MB GB TB (1000)";
            return Err(format!("'{name}' is not a unit; {known}"));
        }
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_may_have_units() {
        assert_eq!(count("64"), Ok(64));
        assert_eq!(count("4K"), Ok(4096));
        assert_eq!(count("1.5K"), Ok(1536));
        assert_eq!(count("1MB"), Ok(1_000_000));
        assert_eq!(count("4k"), Ok(4096));
        assert_eq!(count("2kB"), Ok(2000));
        assert_eq!(count("3MiB"), Ok(3 << 20));
        assert_eq!(count("1gi"), Ok(1 << 30));
        assert_eq!(count("18446744073709551615"), Ok(u64::MAX));
        assert!(count("-4").unwrap_err().contains("negative"));
        for wrong in [
            "",
            "K",
            "1.5",
            "12X",
            "12KBB",
            "12B",
            "1e30T",
            "nanK",
            "infK",
            "12 M",
            "18446744073709551615K",
        ] {
            assert!(count(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn numbers_may_have_decimals() {
        assert_eq!((number("0.5"), number("-1")), (Ok(0.5), Ok(-1.0)));
        for wrong in ["abc", "nan", "", "1e999", "inf"] {
            assert!(number(wrong).is_err(), "{wrong}");
        }
    }

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
        assert!(size("512").unwrap_err().contains("512M"));
        for wrong in ["", "M", "12X", "-1M", "1e30T", "nanK", "12 M"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
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
}
