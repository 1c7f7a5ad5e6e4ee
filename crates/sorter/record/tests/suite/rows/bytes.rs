//! Nothing panics on any bytes, and words agree with comparisons on all of them.

use record::rows::{Header, RowCheck};

use super::draw;
use crate::text::draw::Draw;
use crate::text::words::assert_agrees;

/// A row with some bytes changed, or only its front.
fn mutated(draw: &mut Draw, row: &[u8]) -> Vec<u8> {
    let mut row = row.to_vec();
    for _ in 0..draw.below(5) {
        let place = draw.below(row.len() + 1);
        let bytes = b"\"'\\,;\t{}[]:0e-+.Z\r\n\xFF\xC3u\0";
        let byte = bytes[draw.below(bytes.len())];
        match draw.below(3) {
            0 if place < row.len() => row[place] = byte,
            1 if place < row.len() => drop(row.remove(place)),
            _ => row.insert(place, byte),
        }
    }
    if draw.one_in(2) {
        row.truncate(draw.below(row.len() + 1));
    }
    row
}

#[test]
fn mutated_rows_have_one_order() {
    let mut draw = Draw(21);
    let long = std::env::var("GRISTMILL_LONG").is_ok_and(|value| value == "1");
    let (mut good, mut bad) = (0, 0);
    for case in 0..if long { 12_000 } else { 6_000 } {
        let dialect = draw::DIALECTS[case % draw::DIALECTS.len()];
        let order = draw::order(&mut draw, dialect).order;
        let check = RowCheck::new(&order, None);
        let text = order.text();
        let rows: Vec<Vec<u8>> = (0..3)
            .map(|_| {
                let values = draw::values(&mut draw);
                let row = draw::row(&mut draw, dialect, &values);
                mutated(&mut draw, &row)
            })
            .collect();
        for row in &rows {
            match check.check(row) {
                Ok(()) => good += 1,
                Err(error) => {
                    bad += 1;
                    assert!(error.column <= row.len() + 1, "{error}");
                    assert!(!error.to_string().is_empty());
                }
            }
            for view in text.explain(row) {
                assert!(view.range.end <= row.len() && view.read.end <= row.len());
            }
            let _ = Header::parse(dialect, row);
            for other in &rows {
                assert_agrees(&text, row, other, &mut draw);
            }
        }
    }
    assert!(good > 500 && bad > 500, "{good} were good, {bad} bad");
}
