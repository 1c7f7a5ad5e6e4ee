//! Alterations of lists in a JSON text: elements dropped, repeated or exchanged, whole lists
//! emptied or exchanged.
//!
//! The text stays valid JSON, and most of its numbers stay plausible, so a reader that checks each
//! number by itself accepts it.

use std::ops::Range;

use fastrand::Rng;

use crate::alter::{end_of_records, with};
use crate::input::RECORD_BYTES;

/// A list of a JSON text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct List {
    pub at: Range<usize>,
    /// The ranges of its elements, without commas.
    pub elements: Vec<Range<usize>>,
    /// The number of lists around it.
    pub depth: usize,
}

/// Bytes of a splitter: a record and its position.
const SPLITTER: usize = RECORD_BYTES + 8;

/// Lengths of a piece to drop or repeat: an element, a number of eight bytes, a record, a splitter.
const PIECES: [usize; 4] = [1, 8, RECORD_BYTES, SPLITTER];

/// The lists of a JSON text in the order of their ends, without records.
pub(crate) fn lists(json: &[u8]) -> Vec<List> {
    let (mut all, mut open) = (Vec::new(), Vec::<List>::new());
    // Commas inside braces do not divide elements of the list.
    let mut braces = Vec::<usize>::new();
    let (mut at, mut begin) = (0, Vec::<usize>::new());
    while at < json.len() {
        if let Some(end) = end_of_records(json, at) {
            at = end;
            continue;
        }
        match json[at] {
            b'"' => at = end_of_string(json, at),
            b'[' => {
                open.push(List {
                    at: at..at,
                    elements: Vec::new(),
                    depth: open.len(),
                });
                braces.push(0);
                begin.push(at + 1);
            }
            b'{' => braces
                .iter_mut()
                .last()
                .into_iter()
                .for_each(|count| *count += 1),
            b'}' => braces
                .iter_mut()
                .last()
                .into_iter()
                .for_each(|count| *count -= 1),
            b',' | b']' if braces.last() == Some(&0) => {
                let list = open.last_mut().expect("as deep as braces");
                let from = begin.last_mut().expect("as deep as braces");
                if !json[*from..at].trim_ascii().is_empty() {
                    list.elements.push(*from..at);
                }
                *from = at + 1;
                if json[at] == b']' {
                    braces.pop();
                    begin.pop();
                    let list = open.pop().expect("it is there");
                    all.push(List {
                        at: list.at.start..at + 1,
                        ..list
                    });
                }
            }
            _ => {}
        }
        at += 1;
    }
    all
}

/// The position of the quote that ends a string.
fn end_of_string(json: &[u8], begin: usize) -> usize {
    let mut at = begin + 1;
    while at < json.len() && json[at] != b'"' {
        at += if json[at] == b'\\' { 2 } else { 1 };
    }
    at
}

/// The text with one of its lists altered, if it has any, and the kind of alteration.
pub(crate) fn altered(json: &[u8], draw: &mut Rng) -> Option<(Vec<u8>, String)> {
    let (list, other) = pair(json, draw)?;
    let told = |how: &str| format!("{}: {how}", name_of(json, &list));
    let piece = piece(&list, draw);
    Some(match draw.u32(0..10) {
        0 => (with(json, list.at.clone(), b"[]"), told("emptied")),
        1 => {
            let how = format!("{piece:?} dropped");
            (dropped(json, &list, piece), told(&how))
        }
        2 => {
            let how = format!("{piece:?} repeated");
            (repeated(json, &list, piece), told(&how))
        }
        3 => {
            let (a, b) = (element(&list, draw), element(&list, draw));
            (exchanged(json, a, b), told("two elements exchanged"))
        }
        4 => {
            let how = format!("exchanged with {}", name_of(json, &other));
            let (a, b) = (list.at.clone(), other.at.clone());
            (exchanged(json, a, b), told(&how))
        }
        5 => {
            let how = format!("as {}", name_of(json, &other));
            let copy = json[other.at.clone()].to_vec();
            (with(json, list.at.clone(), &copy), told(&how))
        }
        // Only the begin: a list of splitters becomes its first splitter.
        _ => {
            let count = match draw.u32(0..4) {
                0 => other.elements.len() / 2,
                1 => PIECES[draw.usize(0..PIECES.len())],
                _ => SPLITTER,
            };
            let copy = beginning(json, &other, count);
            let how = format!("as the first {count} of {}", name_of(json, &other));
            (with(json, list.at.clone(), &copy), told(&how))
        }
    })
}

/// Draws a list to alter, and one that it may become.
fn pair(json: &[u8], draw: &mut Rng) -> Option<(List, List)> {
    let all = lists(json);
    // Most lists of some texts are lists in lists.
    let outer: Vec<&List> = all.iter().filter(|list| list.depth == 0).collect();
    // In the first entry these divide the keys; its reader must check them.
    let is_numbers = |list: &&&List| {
        let mut elements = list.elements.iter();
        elements.all(|at| json[at.start].is_ascii_digit())
    };
    let plain: Vec<&List> = outer.iter().filter(is_numbers).copied().collect();
    let mut pick = || match draw.u32(0..5) {
        0 => all.get(draw.usize(0..all.len().max(1))),
        1..=3 if !plain.is_empty() => Some(plain[draw.usize(0..plain.len())]),
        _ => outer.get(draw.usize(0..outer.len().max(1))).copied(),
    };
    Some((pick()?.clone(), pick()?.clone()))
}

/// Draws some consecutive elements.
fn piece(list: &List, draw: &mut Rng) -> Range<usize> {
    let count = list.elements.len();
    let length = match draw.u32(0..3) {
        0 => count / 2,
        _ => PIECES[draw.usize(0..PIECES.len())],
    };
    let length = length.min(count);
    // Records in a list of bytes begin at multiples of their length.
    let begin = draw.usize(0..=(count - length) / length.max(1)) * length;
    begin..begin + length
}

fn element(list: &List, draw: &mut Rng) -> Range<usize> {
    let empty = list.at.start + 1..list.at.start + 1;
    list.elements
        .get(draw.usize(0..list.elements.len().max(1)))
        .cloned()
        .unwrap_or(empty)
}

fn dropped(json: &[u8], list: &List, piece: Range<usize>) -> Vec<u8> {
    let left = [&list.elements[..piece.start], &list.elements[piece.end..]].concat();
    with(json, list.at.clone(), &joined(json, &left))
}

fn repeated(json: &[u8], list: &List, piece: Range<usize>) -> Vec<u8> {
    let all = [&list.elements[..piece.end], &list.elements[piece.start..]].concat();
    with(json, list.at.clone(), &joined(json, &all))
}

fn beginning(json: &[u8], list: &List, count: usize) -> Vec<u8> {
    joined(json, &list.elements[..count.min(list.elements.len())])
}

fn joined(json: &[u8], elements: &[Range<usize>]) -> Vec<u8> {
    let texts: Vec<&[u8]> = elements.iter().map(|at| &json[at.clone()]).collect();
    [b"[", &texts.join(&b","[..])[..], b"]"].concat()
}

/// The text with two pieces exchanged, unless one contains the other.
fn exchanged(json: &[u8], a: Range<usize>, b: Range<usize>) -> Vec<u8> {
    let (a, b) = if a.start <= b.start { (a, b) } else { (b, a) };
    if a.end > b.start {
        return json.to_vec();
    }
    [
        &json[..a.start],
        &json[b.clone()],
        &json[a.end..b.start],
        &json[a],
        &json[b.end..],
    ]
    .concat()
}

/// The key before a list, unless it is a list in a list.
fn name_of(json: &[u8], list: &List) -> String {
    let before = json[..list.at.start]
        .strip_suffix(b"\":")
        .unwrap_or_default();
    let begin = before
        .iter()
        .rposition(|&byte| byte == b'"')
        .map_or(before.len(), |at| at + 1);
    if begin < before.len() {
        String::from_utf8_lossy(&before[begin..]).into_owned()
    } else {
        format!("the list at byte {}", list.at.start)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const JSON: &[u8] = br#"{"a":[1,2,3],"b":[[4,"]"],{"c":[],"d":5}],"e":6}"#;

    #[test]
    fn lists_and_their_elements_are_found() {
        let found: Vec<(usize, String, Vec<&[u8]>)> = lists(JSON)
            .iter()
            .map(|list| {
                let elements = list.elements.iter().map(|at| &JSON[at.clone()]).collect();
                (list.depth, name_of(JSON, list), elements)
            })
            .collect();
        assert_eq!(found[0], (0, "a".to_owned(), vec![&b"1"[..], b"2", b"3"]));
        assert_eq!(found[1].2, [&b"4"[..], br#""]""#]);
        assert_eq!(found[2], (1, "c".to_owned(), vec![]));
        let outer: [&[u8]; 2] = [br#"[4,"]"]"#, br#"{"c":[],"d":5}"#];
        assert_eq!((found[3].0, &found[3].2[..]), (0, &outer[..]));
        assert_eq!(found.len(), 4);
    }

    #[test]
    fn every_alteration_is_drawn_and_leaves_json() {
        let mut draw = Rng::with_seed(1);
        let drawn: BTreeSet<String> = (0..2000)
            .map(|_| {
                let (text, _) = altered(JSON, &mut draw).unwrap();
                let text = String::from_utf8(text).unwrap();
                assert!(
                    serde_json::from_str::<serde_json::Value>(&text).is_ok(),
                    "{text}"
                );
                text
            })
            .collect();
        let rest = r#""b":[[4,"]"],{"c":[],"d":5}],"e":6}"#;
        for a in ["[]", "[2,3]", "[1,1,2,3]", "[3,2,1]", "[4,\"]\"]", "[1]"] {
            assert!(drawn.contains(&format!(r#"{{"a":{a},{rest}"#)), "{a}");
        }
        assert!(drawn.contains(r#"{"a":[[4,"]"],{"c":[],"d":5}],"b":[1,2,3],"e":6}"#));
    }
}
