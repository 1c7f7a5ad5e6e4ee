//! Orders of lines by drawn keys: they are orders, and words, prefixes and explanations agree with them.

#![no_main]

use std::cmp::Ordering;

use libfuzzer_sys::fuzz_target;
use record::text::{KeyOptions, Locale, TextKey, TextOrder};
use record::Ties;

/// The order that the first lines ask for: keys parted by blanks, options of all, and a byte that chooses
/// separator, ties and language.
fn order(keys: &str, global: &str, choice: u8) -> Option<TextOrder> {
    let keys: Vec<TextKey> = keys
        .split(' ')
        .take(4)
        .filter_map(|key| key.parse().ok())
        .collect();
    let global: KeyOptions = global.parse().ok()?;
    let separator = [None, Some(b','), Some(b' '), Some(0)][usize::from(choice & 3)];
    let ties = [Ties::Record, Ties::Position][usize::from(choice >> 2 & 1)];
    let order = TextOrder::new(keys, global, separator, ties, Some([7; 16])).ok()?;
    let tag = ["", "sv", "de-u-co-phonebk", "en-u-kn"][usize::from(choice >> 3 & 3)];
    match tag {
        "" => Some(order),
        tag => order.with_locale(Locale::new(tag).ok()?).ok(),
    }
}

fuzz_target!(|data: &[u8]| {
    let mut parts = data.splitn(4, |&byte| byte == b'\n');
    let mut text = || std::str::from_utf8(parts.next().unwrap_or_default()).ok();
    let (Some(keys), Some(global), Some(choice)) = (text(), text(), text()) else {
        return;
    };
    let choice = choice.bytes().next().unwrap_or(0);
    let Some(order) = order(keys, global, choice) else {
        return;
    };
    let _ = order.warnings();
    let lines = data
        .splitn(4, |&byte| byte == b'\n')
        .nth(3)
        .unwrap_or_default();
    let lines: Vec<&[u8]> = lines.split(|&byte| byte == b'\n').take(4).collect();
    let mut prefixes = vec![0; lines.len()];
    order.prefixes(lines.iter().copied(), &mut prefixes);
    for (a, &prefix) in lines.iter().zip(&prefixes) {
        assert_eq!(prefix, order.word(a, 0), "a prefix is word 0");
        assert_eq!(order.compare(a, a), Ordering::Equal);
        for view in order.explain(a) {
            assert!(view.range.start <= view.range.end && view.range.end <= a.len());
            assert!(view.read.end <= a.len());
        }
        for b in &lines {
            let by_compare = order.compare(a, b);
            assert_eq!(by_compare.reverse(), order.compare(b, a));
            let most = order.most_words(a.len().max(b.len()));
            let words =
                (0..most.min(4096)).map(|depth| order.word(a, depth).cmp(&order.word(b, depth)));
            let by_words = words
                .into_iter()
                .find(|it| it.is_ne())
                .unwrap_or(Ordering::Equal);
            assert_eq!(by_compare, by_words, "words decide as the order does");
            let first = order.first_difference(a, b, 0, most);
            if by_words.is_ne() {
                assert_ne!(
                    order.word(a, first),
                    order.word(b, first),
                    "word {first} of {most}"
                );
            }
            if by_compare.is_eq() {
                assert!(order.keys_equal(a, b));
            }
            if order.ties() == Ties::Position && !order.keys_equal(a, b) {
                assert!(by_compare.is_ne());
            }
            for c in &lines {
                if by_compare.is_le() && order.compare(b, c).is_le() {
                    assert!(order.compare(a, c).is_le(), "it is transitive");
                }
            }
        }
    }
});
