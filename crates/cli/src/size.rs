//! Sizes as people write them: K M G T are powers of 1024, KB MB GB TB of 1000.

/// A memory limit: a size or a part of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// So many bytes.
    Bytes(u64),
    /// Per cent of the memory that the machine or its control group has.
    Percent(u64),
}

/// Reads `512M`, `2GB` or `50%`.
pub fn memory(text: &str) -> Result<Memory, String> {
    match text.strip_suffix('%') {
        Some(number) => match number.parse() {
            Ok(percent @ 1..=100) => Ok(Memory::Percent(percent)),
            _ => Err("a part of the memory is 1% to 100%".to_owned()),
        },
        None => size(text).map(Memory::Bytes),
    }
}

/// Reads a size with its unit.
pub fn size(text: &str) -> Result<u64, String> {
    let (digits, unit) = parted(text);
    let number: f64 =
        digits.parse().map_err(|_| format!("'{text}' is not a size like 512M or 2GB"))?;
    if unit.is_empty() {
        return Err(format!("'{text}' has no unit: write {text}K, {text}M or {text}G"));
    }
    let bytes = number * units(unit)? as f64;
    if !(0.0..=u64::MAX as f64 / 2.0).contains(&bytes) {
        return Err(format!("'{text}' is no sensible size"));
    }
    Ok(bytes as u64)
}

/// Reads a count, with or without a unit: `64`, `4K`, `1MB`.
pub fn count(text: &str) -> Result<u64, String> {
    let (digits, unit) = parted(text);
    let unit = if unit.is_empty() { 1 } else { units(unit)? };
    if let Ok(number) = digits.parse::<u64>() {
        return number.checked_mul(unit).ok_or_else(|| format!("'{text}' is too much"));
    }
    let number: f64 = digits.parse().unwrap_or(f64::NAN);
    if number < 0.0 {
        return Err("a count is not negative".to_owned());
    }
    let count = number * unit as f64;
    // Beyond 2^53 not every whole number has its own floating-point number.
    if count.fract() != 0.0 || !(0.0..=(1_u64 << 53) as f64).contains(&count) {
        return Err(format!("'{text}' is not a count like 64, 4K or 1MB"));
    }
    Ok(count as u64)
}

/// A number and its unit.
fn parted(text: &str) -> (&str, &str) {
    text.split_at(text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic()).len())
}

fn units(name: &str) -> Result<u64, String> {
    Ok(match name {
        "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        "T" => 1 << 40,
        "KB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "TB" => 1_000_000_000_000,
        other => return Err(format!("'{other}' is no unit: K M G T (1024) or KB MB GB TB (1000)")),
    })
}

/// Bytes as people read them.
pub fn readable(bytes: u64) -> String {
    const UNITS: [(&str, u64); 4] =
        [("TB", 1_000_000_000_000), ("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000)];
    match UNITS.iter().find(|(_, unit)| bytes >= *unit) {
        Some((name, unit)) => format!("{:.1} {name}", bytes as f64 / *unit as f64),
        None => format!("{bytes} bytes"),
    }
}

/// A number with its thousands apart.
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
        assert_eq!(memory("50%"), Ok(Memory::Percent(50)));
        assert!(size("512").unwrap_err().contains("512M"));
        for wrong in ["", "M", "12X", "-1M", "1e30T", "nanK", "12 M"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
        assert!(memory("0%").is_err() && memory("101%").is_err() && memory("%").is_err());
    }

    #[test]
    fn counts_may_have_units() {
        assert_eq!(count("64"), Ok(64));
        assert_eq!(count("4K"), Ok(4096));
        assert_eq!(count("1.5K"), Ok(1536));
        assert_eq!(count("1MB"), Ok(1_000_000));
        assert_eq!(count("18446744073709551615"), Ok(u64::MAX));
        assert!(count("-4").unwrap_err().contains("negative"));
        for wrong in
            ["", "K", "1.5", "12X", "1e30T", "nanK", "infK", "12 M", "18446744073709551615K"]
        {
            assert!(count(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn numbers_are_readable() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(readable(999), "999 bytes");
        assert_eq!(readable(100_000_000), "100.0 MB");
    }
}
