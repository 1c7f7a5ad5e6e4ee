//! Amounts of bytes, as people write them.

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

/// The limit to ask for where so many bytes are needed: whole MiB, as `-S` takes them.
pub(crate) fn asked(bytes: u64) -> u64 {
    bytes.next_multiple_of(1 << 20)
}

#[cfg(test)]
mod tests {
    use super::*;

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
