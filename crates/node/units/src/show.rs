//! Numbers as messages show them.

/// Bytes in decimal units with one digit: 5.9 GB.
pub fn amount(bytes: u64) -> String {
    let (mut number, mut unit) = (bytes as f64, None);
    for next in ["KB", "MB", "GB", "TB", "PB", "EB"] {
        // A number that would round to 1000.0 is written as 1.0 of the next unit.
        if number < 999.95 {
            break;
        }
        (number, unit) = (number / 1000.0, Some(next));
    }
    unit.map_or_else(
        || format!("{bytes} byte{}", if bytes == 1 { "" } else { "s" }),
        |unit| format!("{number:.1} {unit}"),
    )
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
    fn numbers_are_readable() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(binary(2047), "1 KiB");
        assert_eq!(binary(100 << 20), "100.0 MiB");
        assert_eq!(binary(3 << 29), "1.5 GiB");
    }

    #[test]
    fn amounts_are_written_as_people_do() {
        let cases = [
            (0, "0 bytes"),
            (1, "1 byte"),
            (999, "999 bytes"),
            (1000, "1.0 KB"),
            (999_949, "999.9 KB"),
            (999_950, "1.0 MB"),
            (5_900_000_000, "5.9 GB"),
            (u64::MAX, "18.4 EB"),
        ];
        for (bytes, text) in cases {
            assert_eq!(amount(bytes), text);
        }
    }
}
