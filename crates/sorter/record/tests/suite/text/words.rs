//! The words of drawn lines agree with the comparison, whatever the order.

use std::cmp::Ordering;

use record::text::TextOrder;

use super::draw::{Draw, Options, line};

fn words(order: &TextOrder, line: &[u8], count: u32) -> Vec<u64> {
    (0..count).map(|depth| order.word(line, depth)).collect()
}

/// Lines of which many are nearly equal.
fn lines(draw: &mut Draw, end: u8) -> Vec<Vec<u8>> {
    let taste = draw.below(5);
    let mut lines: Vec<_> = (0..5).map(|_| line(draw, taste, end)).collect();
    for place in 0..5 {
        let mut long = lines[place].clone();
        if draw.one_in(2) {
            long.extend_from_slice(&line(draw, taste, end));
        }
        lines.push(long.clone());
        if let Some(byte) = long.last_mut() {
            *byte = [byte.wrapping_add(1), byte.wrapping_sub(1)][draw.below(2)];
            lines.push(long);
        }
    }
    lines
}

pub fn assert_agrees(order: &TextOrder, a: &[u8], b: &[u8], draw: &mut Draw) {
    let context = || format!("{order:?}\n{}\n{}", a.escape_ascii(), b.escape_ascii());
    let most = order.most_words(a.len().max(b.len()));
    let (x, y) = (words(order, a, most), words(order, b, most));
    let expected = order.compare(a, b);
    assert_eq!(x.cmp(&y), expected, "{}", context());
    assert_eq!(order.compare(b, a), expected.reverse(), "{}", context());
    for line in [a, b] {
        assert_eq!(order.word(line, most), 0, "bound, {}", context());
        let from = draw.below(most as usize + 2) as u32;
        let mut some = vec![u64::MAX; draw.below(most as usize + 3)];
        let there = order.words_from(line, from, &mut some);
        let singly: Vec<u64> = (from..)
            .map(|depth| order.word(line, depth))
            .take(some.len())
            .collect();
        assert_eq!(some, singly, "from word {from}, {}", context());
        let last = singly.iter().rposition(|&word| word != 0);
        // Only of an empty text is a word 0.
        assert!(
            there >= last.map_or(0, |last| last + 1),
            "{there}, {}",
            context()
        );
        assert!(
            there <= (most.saturating_sub(from)) as usize,
            "{there}, {}",
            context()
        );
        assert_eq!(order.word(line, u32::MAX), 0, "far off, {}", context());
    }
    let difference = x.iter().zip(&y).position(|(x, y)| x != y);
    let difference = difference.map_or(most, |place| place as u32);
    let from = draw.below(difference as usize + 1) as u32;
    let until = from + draw.below(most as usize + 2) as u32;
    let found = order.first_difference(a, b, from, until);
    let named = if expected.is_eq() {
        until
    } else {
        difference.min(until)
    };
    assert_eq!(found, named, "{from}..{until}, {}", context());
    if order.is_total() && expected.is_eq() {
        assert_eq!(a, b, "{}", context());
    }
    // A language may take keys for equal whose bytes are not.
    if expected == Ordering::Equal && order.locale().is_none() {
        assert!(order.keys_equal(a, b), "{}", context());
    }
}

#[test]
fn words_compare_as_lines_do() {
    let mut draw = Draw(1);
    let long = std::env::var("GRISTMILL_LONG").is_ok_and(|value| value == "1");
    for _ in 0..if long { 5_000 } else { 1_500 } {
        let options = Options::draw(&mut draw);
        let Ok(order) = options.order() else { continue };
        let lines = lines(&mut draw, options.end());
        let mut prefixes = vec![0; lines.len()];
        order.prefixes(lines.iter().map(|line| &line[..]), &mut prefixes);
        for (a, prefix) in lines.iter().zip(prefixes) {
            assert_eq!(order.word(a, 0), prefix, "{order:?} {}", a.escape_ascii());
            for b in &lines {
                assert_agrees(&order, a, b, &mut draw);
            }
        }
    }
}

/// Lines that share what a lead says have the order that it gives them, and others are told.
#[test]
fn lines_behind_a_lead_compare_as_before() {
    let mut draw = Draw(2);
    let long = std::env::var("GRISTMILL_LONG").is_ok_and(|value| value == "1");
    let (mut leads, mut behind_keys) = (0, 0);
    for _ in 0..if long { 10_000 } else { 2_000 } {
        let options = Options::draw(&mut draw);
        let Ok(order) = options.order() else { continue };
        let taste = draw.below(5);
        let fronts: Vec<_> = (0..2)
            .map(|_| line(&mut draw, taste, options.end()))
            .collect();
        let lines: Vec<Vec<u8>> = lines(&mut draw, options.end())
            .into_iter()
            .map(|rest| [&fronts[usize::from(draw.one_in(9))][..], &rest].concat())
            .collect();
        let few: Vec<&[u8]> = lines
            .iter()
            .take(2 + draw.below(3))
            .map(|line| &line[..])
            .collect();
        let Some(lead) = order.lead_of(&few, 1 + draw.below(4)) else {
            continue;
        };
        leads += 1;
        behind_keys += u32::from(!lead.is_in_first_key());
        let words: Vec<_> = lines.iter().map(|line| lead.word_behind(line)).collect();
        for line in &few {
            assert!(
                lead.word_behind(line).is_some(),
                "{order:?} {}",
                line.escape_ascii()
            );
        }
        for (a, word) in lines.iter().zip(&words) {
            for (b, other) in lines.iter().zip(&words) {
                let (Some(word), Some(other)) = (word, other) else {
                    continue;
                };
                assert_eq!(*word, lead.order().word(a, 0));
                let expected = order.compare(a, b);
                assert_eq!(lead.order().compare(a, b), expected);
                assert!(word == other || word.cmp(other) == expected, "{order:?}");
                assert_agrees(lead.order(), a, b, &mut draw);
            }
        }
    }
    assert!(
        leads > 100 && behind_keys > 10,
        "{leads}, {behind_keys} behind whole keys"
    );
}

fn order(keys: &[&str], global: &str) -> TextOrder {
    let keys = keys.iter().map(|key| key.to_string()).collect();
    let options = Options {
        keys,
        global: global.to_owned(),
        ..Options::default()
    };
    options.order().unwrap()
}

#[test]
fn a_line_is_cut_into_groups_of_seven() {
    let order = order(&[], "");
    let word = |text: &[u8; 7], count| {
        u64::from_be_bytes([*text, [0; 7]].concat()[..8].try_into().unwrap()) | count
    };
    assert_eq!(words(&order, b"", 2), [0, 0]);
    assert_eq!(words(&order, b"abc", 2), [word(b"abc\0\0\0\0", 3), 0]);
    assert_eq!(words(&order, b"disk-to", 2), [word(b"disk-to", 7), 0]);
    let expected = [word(b"disk-to", 8), word(b"-disk\0\0", 5), 0];
    assert_eq!(words(&order, b"disk-to-disk", 3), expected);
    assert_eq!(order.most_words(12), 2);
    assert_eq!(order.most_words(0), 1);
}

#[test]
fn reversed_words_are_complements() {
    let (up, down) = (order(&[], ""), order(&[], "r"));
    let line = b"disk-to-disk";
    assert_eq!(
        words(&down, line, 2),
        words(&up, line, 2)
            .iter()
            .map(|word| !word)
            .collect::<Vec<_>>()
    );
    assert_eq!(down.word(line, 2), 0, "past the last");
}

#[test]
fn numbers_of_twelve_digits_fit_a_word() {
    let order = order(&["1n"], "");
    for line in [
        "999999999999",
        "-999999999999",
        "1234567890.12",
        "-0.000000000001",
    ] {
        assert_eq!(order.word(line.as_bytes(), 0) & 0xFF, 7, "{line}");
    }
    assert_eq!(
        order.word(b"1000000000000000", 0) & 0xFF,
        2,
        "zeros do not count"
    );
    assert_eq!(order.word(b"x", 0), 0x80 << 56 | 1);
}

#[test]
fn the_bound_of_words_saturates() {
    for (keys, global) in [(&["1V", "2R", "3"][..], ""), (&[], "V")] {
        let order = order(keys, global);
        assert!(order.most_words(usize::MAX) < u32::MAX / 2);
        assert!(order.most_words(1 << 20) > 1 << 17);
    }
}
