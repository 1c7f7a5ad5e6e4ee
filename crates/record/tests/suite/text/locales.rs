//! Text in the order of languages: orders that their dictionaries agree on, and words that agree with
//! the comparison.

use record::text::{KeyOptions, Locale, TextOrder, TextOrderError, TextTies};

use super::draw::{Draw, line};
use super::words::assert_agrees;

fn order(tag: &str, keys: &[&str], options: &str, ties: TextTies) -> TextOrder {
    let keys = keys.iter().map(|key| key.parse().unwrap()).collect();
    let options: KeyOptions = options.parse().unwrap();
    let order = TextOrder::new(keys, options, Some(b','), ties, None).unwrap();
    order.with_locale(Locale::new(tag).unwrap()).unwrap()
}

#[track_caller]
fn assert_ascending(tag: &str, lines: &[&str]) {
    let order = order(tag, &[], "", TextTies::Line);
    for pair in lines.windows(2) {
        let (less, more) = (pair[0].as_bytes(), pair[1].as_bytes());
        assert!(order.compare(less, more).is_lt(), "{tag}: {pair:?}");
        let draw = &mut Draw(1);
        assert_agrees(&order, less, more, draw);
    }
}

#[test]
fn umlauts_have_the_place_that_each_language_gives_them() {
    assert_ascending(
        "de",
        &[
            "Oase",
            "oben",
            "\u{d6}l",
            "Olga",
            "Ort",
            "\u{f6}rtlich",
            "Zoo",
        ],
    );
    assert_ascending(
        "sv",
        &[
            "Oase",
            "Olga",
            "Zoo",
            "\u{e5}r",
            "\u{e4}ra",
            "\u{f6}l",
            "\u{d6}rebro",
        ],
    );
    // As in a telephone book, where an umlaut is two letters.
    assert_ascending("de-u-co-phonebk", &["Ad", "\u{c4}b", "Af", "Z"]);
    assert_ascending("de", &["\u{c4}b", "Ad", "Af", "Z"]);
}

#[test]
fn letters_of_their_own() {
    assert_ascending("es", &["nube", "nuez", "\u{f1}and\u{fa}", "oca"]);
    assert_ascending("en", &["nandu", "\u{f1}and\u{fa}", "nube", "nuez"]);
    assert_ascending("cs", &["cihla", "hora", "chata", "ibis"]);
    assert_ascending("da", &["zebra", "\u{e6}ble", "\u{f8}re", "\u{e5}r"]);
    assert_ascending("et", &["suur", "\u{161}okk", "z", "tuul"]);
}

#[test]
fn case_and_accents_decide_only_between_equal_letters() {
    assert_ascending("en", &["a", "A", "b", "B", "ba", "Ba", "BA"]);
    assert_ascending("en-u-kf-upper", &["A", "a", "B", "b"]);
    assert_ascending(
        "fr",
        &["cote", "cot\u{e9}", "c\u{f4}te", "c\u{f4}t\u{e9}", "coter"],
    );
    assert_ascending("en", &["", " ", "-", "1", "a"]);
}

#[test]
fn numbers_are_digits_unless_asked_for() {
    assert_ascending("en", &["a1", "a10", "a2"]);
    assert_ascending("en-u-kn", &["a1", "a2", "a10", "a100"]);
}

#[test]
fn keys_of_numbers_are_no_text() {
    let order = order("sv", &["2,2n", "1,1"], "", TextTies::Position);
    assert!(order.compare("\u{f6},9".as_bytes(), b"a,10").is_lt());
    assert!(order.compare("\u{f6},9".as_bytes(), b"z,9").is_gt());
    assert!(
        order
            .compare("\u{f6},9".as_bytes(), "\u{f6},9".as_bytes())
            .is_eq()
    );
}

#[test]
fn the_last_resort_is_bytes() {
    let (one, two) = ("\u{e9}".as_bytes(), "e\u{301}".as_bytes());
    let stable = order("fr", &[], "", TextTies::Position);
    assert!(stable.compare(one, two).is_eq() && !stable.is_total());
    assert!(!stable.keys_equal(one, two) && stable.keys_equal(one, one));
    let total = order("fr", &[], "", TextTies::Line);
    assert!(!total.keys_equal(one, two) && total.is_total());
    assert_eq!(total.compare(one, two), one.cmp(two));
    let reversed = order("fr", &[], "r", TextTies::Line);
    assert_eq!(reversed.compare(one, two), two.cmp(one));
    assert!(reversed.compare(b"b", b"a").is_lt());
}

#[test]
fn bytes_that_are_no_text_count_as_one_character() {
    let order = order("de", &[], "", TextTies::Line);
    let stable = self::order("de", &[], "", TextTies::Position);
    assert!(stable.compare(b"a\xff", "a\u{fffd}".as_bytes()).is_eq());
    assert!(!order.keys_equal(b"a\xff", "a\u{fffd}".as_bytes()));
    assert!(order.compare(b"z", b"\xff").is_lt());
    assert!(order.compare(b"\xfe", b"\xff").is_lt(), "the last resort");
}

#[test]
fn options_by_which_bytes_do_not_count_are_refused() {
    for (keys, options, letters) in [
        (&[][..], "f", "-f"),
        (&["1,1d"], "", "-d"),
        (&["2n", "1,1if"], "", "-fi"),
    ] {
        let keys = keys.iter().map(|key| key.parse().unwrap()).collect();
        let options = options.parse().unwrap();
        let order = TextOrder::new(keys, options, None, TextTies::Line, None).unwrap();
        let refused = order.with_locale(Locale::new("de").unwrap()).unwrap_err();
        assert!(matches!(refused, TextOrderError::Locale { .. }));
        assert!(
            refused
                .to_string()
                .contains(&format!("leave {letters} out")),
            "{refused}"
        );
    }
}

#[test]
fn words_compare_as_text_does() {
    let draw = &mut Draw(77);
    for tag in ["de", "sv", "en-u-kn", "ja", "th"] {
        for keys in [&[][..], &["2,2"], &["1,1r", "2n"]] {
            for ties in [TextTies::Line, TextTies::Position] {
                let order = order(tag, keys, "", ties);
                for _ in 0..60 {
                    let taste = draw.below(5);
                    let (a, b) = (line(draw, taste, b'\n'), line(draw, taste, b'\n'));
                    assert_agrees(&order, &a, &b, draw);
                    assert_agrees(&order, &a, &a.clone(), draw);
                }
            }
        }
    }
}
