//! Texts of options: keys of lines, records and rows, formats, languages, sizes. A text that is taken is
//! printed as one that means the same.

#![no_main]

#[allow(dead_code, reason = "the command uses all of it")]
#[path = "../../crates/cli/src/size.rs"]
mod size;

use std::fmt::{Debug, Display};
use std::str::FromStr;

use libfuzzer_sys::fuzz_target;
use record::rows::{RowKey, ValueKind};
use record::text::{KeyOptions, Locale, TextKey, separator};
use record::{Format, Framing, Key, LineOrder, Prefix, Ties};

/// A text that is taken, printed and taken again.
fn printed<T: FromStr<Err: Display> + Display + PartialEq + Debug>(text: &str) {
    match text.parse::<T>() {
        Ok(it) => {
            let shown = it.to_string();
            let again = shown.parse::<T>().map_err(|error| error.to_string());
            assert_eq!(again.as_ref(), Ok(&it), "{text:?} is printed as {shown:?}");
            assert_eq!(again.unwrap().to_string(), shown);
        }
        Err(error) => one_line(&error),
    }
}

/// A message that ends with its line, for a text without another line.
fn one_line(error: &impl Display) {
    assert!(!error.to_string().is_empty());
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
    let _ = separator(text);
    for read in [size::size, size::whole, size::positive] {
        let _ = read(text);
    }
    if let Ok(bytes) = size::size(text) {
        assert!(bytes <= u64::MAX / 2 + 1, "{text:?} is {bytes}");
    }
    let _ = size::memory(text);
    // A format, and behind blanks its keys.
    let mut words = text.split(' ');
    let format = words.next().unwrap_or_default();
    let keys: Vec<&str> = words.take(8).collect();
    if let Ok(found) = Format::parse(format, &keys, Ties::Record) {
        let (format, keys) = found.order.describe();
        let again = Format::parse(&format, &keys, Ties::Record).expect("its own words");
        assert_eq!(again.order.describe(), (format, keys));
        assert_eq!(again.record_bytes, found.record_bytes);
    }
    if let Some(Ok(order)) = LineOrder::parse(format, &keys, Ties::Record) {
        let (format, keys) = order.describe();
        let again = LineOrder::parse(&format, &keys, Ties::Record);
        let again = again.expect("its own format").expect("its own words");
        assert_eq!(again.describe(), (format, keys));
    }
    if let Some(Ok(prefix)) = Prefix::parse(format) {
        assert!(Framing::Prefixed(prefix).shortest() <= 16);
    }
});
