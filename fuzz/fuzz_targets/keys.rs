//! Texts of options: keys of lines, records and rows, formats, languages, sizes. A text that is taken is
//! printed as one that means the same.

#![no_main]

use std::fmt::{Debug, Display};
use std::str::FromStr;

use libfuzzer_sys::fuzz_target;
use record::rows::{RowKey, ValueKind};
use record::text::{KeyOptions, Locale, TextKey, separator};
use record::{Comparison, Framing, Key, Prefix, Ties};

/// A text that is taken, printed and taken again.
fn printed<T: FromStr<Err: Display> + Display + PartialEq + Debug>(text: &str) {
    match text.parse::<T>() {
        Ok(it) => {
            let shown = it.to_string();
            let again = shown.parse::<T>().map_err(|error| error.to_string());
            assert_eq!(again.as_ref(), Ok(&it), "{text:?} is printed as {shown:?}");
            assert_eq!(again.unwrap().to_string(), shown);
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

fuzz_target!(|text: &str| {
    printed::<TextKey>(text);
    printed::<Key>(text);
    printed::<RowKey>(text);
    printed::<KeyOptions>(text);
    printed::<Prefix>(text);
    if let Ok(kind) = text.parse::<ValueKind>() {
        assert_eq!(kind.name(), text);
    }
    if let Ok(locale) = Locale::new(text) {
        let again = Locale::new(locale.tag()).expect("its own tag");
        assert_eq!(again.tag(), locale.tag());
    }
    let _ = separator(text.as_bytes());
    for read in [units::size, units::whole, units::positive] {
        let _ = read(text);
    }
    if let Ok(bytes) = units::size(text) {
        assert!(bytes <= u64::MAX / 2 + 1, "{text:?} is {bytes}");
    }
    // A format, and behind blanks its keys.
    let mut words = text.split(' ');
    let format = words.next().unwrap_or_default();
    let keys: Vec<&str> = words.take(8).collect();
    for ties in [Ties::Record, Ties::Position] {
        if let Ok(order) = Comparison::parse(format, &keys, ties) {
            let (format, keys) = order.describe();
            let again = Comparison::parse(&format, &keys, ties).expect("its own words");
            assert_eq!(again.describe(), (format, keys));
            assert_eq!(again.framing(), order.framing());
        }
    }
    if let Some(Ok(prefix)) = Prefix::parse(format) {
        assert!(Framing::Prefixed(prefix).shortest() <= 16);
    }
});
