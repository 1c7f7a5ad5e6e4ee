//! Binary records with their keys.
//!
//! ```text
//! record 1: 4 bytes
//!   key 1, 0+2:u16le: 05 00, the number 5
//! ```

use std::fmt::Write as _;

use record::{Comparison, Framing, Key, KeyValue, LineKeys};

use units::counted;

/// The records' keys, and where records end.
pub(in crate::sort) struct Explained<'a> {
    keys: &'a [Key],
    pub framing: Framing,
}

/// Bytes of a key that are shown.
const MOST_SHOWN: usize = 32;

impl Explained<'_> {
    /// The keys of binary records; `None` of lines and rows.
    pub(in crate::sort) fn of(comparison: &Comparison) -> Option<Explained<'_>> {
        match comparison {
            Comparison::Order(order) => Some(Explained {
                keys: order.keys(),
                framing: Framing::Fixed(order.record_bytes()),
            }),
            Comparison::Lines(order) => match &order.keys {
                LineKeys::Fields(fields) => Some(Explained {
                    keys: fields.keys(),
                    framing: order.framing,
                }),
                _ => None,
            },
            Comparison::IgnoreCase => None,
        }
    }

    /// A record in words: its length, and its keys.
    pub(in crate::sort) fn lines(&self, number: u64, record: &[u8]) -> Vec<String> {
        let body = match self.framing {
            // The header of a pair says where its key ends, and keys are counted behind it.
            Framing::Prefixed(prefix) => &record[prefix.header_bytes()..],
            _ => record,
        };
        let first = format!("record {number}: {}", counted(body.len() as u64, "byte"));
        let keys = self.keys.iter().zip(1..);
        let keys = keys.map(|(key, number)| format!("  key {number}, {key}: {}", shown(key, body)));
        let whole = match self.framing {
            Framing::Prefixed(prefix) if prefix.has_key() => {
                "the key in front of the value decides"
            }
            _ => "all bytes are compared",
        };
        let whole = (self.keys.is_empty()).then(|| format!("  without --key {whole}"));
        [first].into_iter().chain(keys).chain(whole).collect()
    }
}

/// The bytes of a key, and how they are read.
fn shown(key: &Key, body: &[u8]) -> String {
    let value = key.value(body);
    if value == KeyValue::Missing {
        return "the record ends before it does; a sort refuses it".to_owned();
    }
    let bytes = &body[key.offset..key.offset + key.bytes];
    let mut text = String::new();
    for byte in bytes.iter().take(MOST_SHOWN) {
        let _ = write!(text, "{byte:02x} ");
    }
    if bytes.len() > MOST_SHOWN {
        text += ".. ";
    }
    let text = text.trim_end();
    match value {
        KeyValue::Number(number) => format!("{text}, the number {number}"),
        KeyValue::NoNumber => format!("{text}, no number, before all numbers"),
        _ if bytes
            .iter()
            .all(|byte| byte.is_ascii_graphic() || *byte == b' ') =>
        {
            let most = &bytes[..bytes.len().min(MOST_SHOWN)];
            format!("{text}, \"{}\"", String::from_utf8_lossy(most))
        }
        _ => text.to_owned(),
    }
}
