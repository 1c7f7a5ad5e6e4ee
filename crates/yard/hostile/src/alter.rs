//! Alterations of the sort's texts: of a byte, a number, a path, a piece.
//!
//! Texts may end with a line that seals them: `gristmill-seal XXXXXXXX`, the CRC of the entry's
//! name, a zero byte, and the text before. An owner can forge it, so each alteration comes in two
//! kinds: with the old seal, and sealed again.

use std::ops::Range;

use fastrand::Rng;

const SEAL: &[u8] = b"gristmill-seal ";

/// A number or a string of a JSON text.
#[derive(Clone, Debug)]
pub(crate) struct Token {
    pub at: Range<usize>,
    pub is_number: bool,
}

/// Splits the seal from a text; whether it had one.
pub(crate) fn unsealed(text: &[u8]) -> (Vec<u8>, bool) {
    let body = text.strip_suffix(b"\n").unwrap_or(text);
    let last = body
        .iter()
        .rposition(|&byte| byte == b'\n')
        .map_or(0, |at| at + 1);
    if last > 0 && body[last..].starts_with(SEAL) {
        return (text[..last - 1].to_vec(), true);
    }
    (text.to_vec(), false)
}

/// Adds the seal of an entry named `name`.
pub(crate) fn sealed(name: &str, json: &[u8]) -> Vec<u8> {
    let crc = kernel::block_crc(&[name.as_bytes(), &[0], json].concat());
    [json, b"\n", SEAL, format!("{crc:08x}\n").as_bytes()].concat()
}

/// The end of the records that an entry contains, if they begin here. An owner who alters and seals
/// them has altered a record of the output, which no sort can find.
pub(crate) fn end_of_records(json: &[u8], at: usize) -> Option<usize> {
    let rest = json[at..].strip_prefix(b"\"bytes\":[")?;
    rest.iter()
        .position(|&byte| byte == b']')
        .map(|length| json.len() - rest.len() + length + 1)
}

/// The numbers and strings of a JSON text in their order, without those of records.
pub(crate) fn tokens(json: &[u8]) -> Vec<Token> {
    let mut all = Vec::new();
    let mut at = 0;
    while at < json.len() {
        if let Some(end) = end_of_records(json, at) {
            at = end;
            continue;
        }
        let begin = at;
        let is_number = json[at].is_ascii_digit() || json[at] == b'-';
        if json[at] == b'"' {
            at += 1;
            while at < json.len() && json[at] != b'"' {
                at += if json[at] == b'\\' { 2 } else { 1 };
            }
            at = (at + 1).min(json.len());
            all.push(Token {
                at: begin..at,
                is_number: false,
            });
        } else if is_number {
            while at < json.len() && (json[at].is_ascii_digit() || b"-+.eE".contains(&json[at])) {
                at += 1;
            }
            all.push(Token {
                at: begin..at,
                is_number: true,
            });
        } else {
            at += 1;
        }
    }
    all
}

/// Draws a number to replace another one.
pub(crate) fn number(old: &str, draw: &mut Rng) -> String {
    let old: u128 = old.parse().unwrap_or(0);
    match draw.u32(0..14) {
        0 => "0".to_owned(),
        1 => "1".to_owned(),
        2 => "-1".to_owned(),
        3 => (1_u64 << 32).to_string(),
        4 => u32::MAX.to_string(),
        5 => (1_u64 << 63).to_string(),
        6 => u64::MAX.to_string(),
        7 => "340282366920938463463374607431768211455".to_owned(),
        8 => "1.5".to_owned(),
        9 => "1e300".to_owned(),
        10 => old.saturating_sub(1).to_string(),
        11 => (old / 2).to_string(),
        12 => old.saturating_mul(1 << 20).to_string(),
        _ => (old + 1).to_string(),
    }
}

/// The text with a piece replaced.
pub(crate) fn with(json: &[u8], at: Range<usize>, piece: &[u8]) -> Vec<u8> {
    [&json[..at.start], piece, &json[at.end..]].concat()
}

/// The text with one of its numbers replaced, if it has any.
pub(crate) fn with_number(json: &[u8], draw: &mut Rng) -> Option<Vec<u8>> {
    let numbers: Vec<Token> = tokens(json)
        .into_iter()
        .filter(|token| token.is_number)
        .collect();
    // Most numbers of some texts are bytes in lists, which say the least.
    let long: Vec<&Token> = numbers.iter().filter(|token| token.at.len() != 3).collect();
    let token = if draw.bool() && !long.is_empty() {
        long[draw.usize(0..long.len())]
    } else {
        numbers.get(draw.usize(0..numbers.len().max(1)))?
    };
    let old = String::from_utf8_lossy(&json[token.at.clone()]).into_owned();
    Some(with(json, token.at.clone(), number(&old, draw).as_bytes()))
}

/// The text with one of its paths replaced, if it has any.
pub(crate) fn with_path(json: &[u8], path: &str, draw: &mut Rng) -> Option<Vec<u8>> {
    let is_path = |token: &Token| !token.is_number && json[token.at.clone()].contains(&b'/');
    let paths: Vec<Token> = tokens(json).into_iter().filter(is_path).collect();
    let token = paths.get(draw.usize(0..paths.len().max(1)))?;
    Some(with(
        json,
        token.at.clone(),
        &serde_json::to_vec(path).expect("a string"),
    ))
}

/// The bytes with one byte or bit changed.
pub(crate) fn with_flip(bytes: &[u8], draw: &mut Rng) -> Vec<u8> {
    let mut altered = bytes.to_vec();
    if let Some(byte) = altered.get_mut(draw.usize(0..bytes.len().max(1))) {
        *byte ^= if draw.bool() {
            1 << draw.u32(0..8)
        } else {
            draw.u8(1..)
        };
    }
    altered
}

/// The bytes with a piece or the end cut off.
pub(crate) fn with_cut(bytes: &[u8], draw: &mut Rng) -> Vec<u8> {
    let begin = draw.usize(0..=bytes.len());
    let end = if draw.bool() {
        bytes.len()
    } else {
        draw.usize(begin..=bytes.len())
    };
    with(bytes, begin..end, b"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sealed_is_unsealed() {
        let json = br#"{"a":[1,-2],"b\"5":"x/7"}"#;
        let text = sealed("name", json);
        assert_eq!(unsealed(&text), (json.to_vec(), true));
        assert_eq!(unsealed(json), (json.to_vec(), false));
        assert_ne!(sealed("other", json), text);
    }

    #[test]
    fn numbers_and_strings_are_found() {
        let json = br#"{"a":[1,-2],"b\"5":"x/7"}"#;
        let found: Vec<&[u8]> = tokens(json)
            .iter()
            .map(|token| &json[token.at.clone()])
            .collect();
        let expected: [&[u8]; 5] = [br#""a""#, b"1", b"-2", br#""b\"5""#, br#""x/7""#];
        assert_eq!(found, expected);
        let moved = with_path(json, "/v", &mut Rng::with_seed(1)).unwrap();
        assert_eq!(moved, br#"{"a":[1,-2],"b\"5":"/v"}"#);
    }
}
