//! Numbers with units, in any case: K M G T and KiB MiB GiB TiB are powers of 1024, KB MB GB TB of
//! 1000.

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
pub fn parted(text: &str) -> (&str, &str) {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    text.split_at(digits.len())
}

/// The factor of a unit. Capital and small letters mean the same.
///
/// # Errors
/// If there is no such unit.
pub fn units(name: &str) -> Result<u64, String> {
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
}
