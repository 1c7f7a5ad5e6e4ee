//! Text in the order of languages: orders that their dictionaries agree on, and words that agree with
//! the comparison.

use record::Ties;
use record::text::{KeyOptions, Locale, TextOrder, TextOrderError};

use super::draw::{Draw, line};
use super::words::assert_agrees;

fn order(tag: &str, keys: &[&str], options: &str, ties: Ties) -> TextOrder {
    let keys = keys.iter().map(|key| key.parse().unwrap()).collect();
    let options: KeyOptions = options.parse().unwrap();
    let order = TextOrder::new(keys, options, Some(b','), ties, None).unwrap();
    order.with_locale(Locale::new(tag).unwrap()).unwrap()
}

#[track_caller]
fn assert_ascending(tag: &str, lines: &[&str]) {
    let order = order(tag, &[], "", Ties::Record);
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
    let order = order("sv", &["2,2n", "1,1"], "", Ties::Position);
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
    let stable = order("fr", &[], "", Ties::Position);
    assert_eq!(stable.compare(one, two), one.cmp(two));
    assert!(stable.is_total());
    assert!(!stable.keys_equal(one, two) && stable.keys_equal(one, one));
    let total = order("fr", &[], "", Ties::Record);
    assert!(!total.keys_equal(one, two) && total.is_total());
    assert_eq!(total.compare(one, two), one.cmp(two));
    let reversed = order("fr", &[], "r", Ties::Record);
    assert_eq!(reversed.compare(one, two), two.cmp(one));
    assert!(reversed.compare(b"b", b"a").is_lt());
}

#[test]
fn bytes_that_are_no_text_count_as_one_character() {
    let order = order("de", &[], "", Ties::Record);
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
        let order = TextOrder::new(keys, options, None, Ties::Record, None).unwrap();
        let refused = order.with_locale(Locale::new("de").unwrap()).unwrap_err();
        assert!(matches!(refused, TextOrderError::Locale { .. }));
        assert!(
            refused.to_string().contains(&format!("remove {letters}")),
            "{refused}"
        );
    }
}

#[test]
fn words_compare_as_text_does() {
    let draw = &mut Draw(77);
    for tag in ["de", "sv", "en-u-kn", "ja", "th"] {
        for keys in [&[][..], &["2,2"], &["1,1r", "2n"]] {
            for ties in [Ties::Record, Ties::Position] {
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

/// Texts that a language may take for equal: in bytes that are not UTF-8, in letters of one character
/// and of several, in characters that it ignores.
fn alike() -> Vec<Vec<u8>> {
    let mut texts: Vec<Vec<u8>> = Vec::new();
    let marks = [
        "\u{e9}",
        "e\u{301}",
        "e",
        "\u{1e69}",
        "s\u{323}\u{307}",
        "s\u{307}\u{323}",
        "\u{1e63}\u{307}",
        "\u{212b}",
        "\u{c5}",
        "A\u{30a}",
        "\u{ac00}",
        "\u{1100}\u{1161}",
        "\u{f900}",
        "\u{8c48}",
        "\u{0}",
        "\u{1}",
        "\u{2}",
        "\u{7f}",
        "\u{ad}",
        "\u{200b}",
        "\u{200d}",
        "\u{200e}",
        "\u{2060}",
        "\u{fe0f}",
        "\u{feff}",
        "\u{fffd}",
        "\u{fffe}",
        "\u{e0001}",
        "\u{34f}",
        "\u{640}",
        "\u{1d173}",
        "",
        "1",
        "01",
        "\u{661}",
        "\u{ff11}",
        "\u{3042}",
        "\u{30a2}",
        "\u{ff71}",
        "ss",
        "\u{df}",
        "\u{df}\u{ad}",
    ];
    texts.extend(marks.map(|mark| mark.as_bytes().to_vec()));
    texts.extend(
        [
            &b"\xff"[..],
            b"\xfe",
            b"\xfc",
            b"\xf6",
            b"\x80",
            b"\xc3",
            b"\xe2\x82",
            b"\xed\xa0\x80",
        ]
        .map(<[u8]>::to_vec),
    );
    let around = |text: &Vec<u8>| [b"M", &text[..], b"ller"].concat();
    let inside: Vec<_> = texts.iter().map(around).collect();
    texts.extend(inside);
    texts
}

/// Equal keys have equal bytes and stand together, in every language: each tag of two letters, whether
/// there are rules for it or not, those of three with rules, and the variants.
#[test]
fn no_language_takes_other_bytes_for_equal() {
    let letters = || b'a'..=b'z';
    let two = letters().flat_map(|first| letters().map(move |second| [first, second]));
    let two = two.map(|tag| String::from_utf8(tag.to_vec()).unwrap());
    let others = [
        "ceb",
        "chr",
        "dsb",
        "fil",
        "haw",
        "hsb",
        "kok",
        "lkt",
        "mni",
        "nso",
        "sat",
        "scn",
        "sgs",
        "smn",
        "ssy",
        "wae",
        "yue",
        "bs-Cyrl",
        "de-AT",
        "en-US-posix",
        "fa-AF",
        "ff-Adlm",
        "fr-CA",
        "pa-Arab",
        "sr-Latn",
        "zh-Hant",
        "ar-u-co-compat",
        "bn-u-co-trad",
        "de-u-co-phonebk",
        "de-AT-u-co-phonebk",
        "es-u-co-trad",
        "fi-u-co-trad",
        "hi-u-co-trad",
        "ja-u-co-unihan",
        "ko-u-co-unihan",
        "ko-u-co-searchjl",
        "ln-u-co-phonetic",
        "si-u-co-dict",
        "sv-u-co-trad",
        "zh-u-co-pinyin",
        "zh-u-co-stroke",
        "zh-u-co-zhuyin",
        "zh-u-co-unihan",
        "en-u-co-emoji",
        "en-u-co-eor",
        "en-u-co-search",
        "en-u-kn",
        "en-u-kf-upper",
        "en-u-ks-level1",
        "en-u-ks-level2",
        "en-u-ka-shifted",
        "fr-u-kb",
        "de-u-kc",
    ];
    let mut tags: Vec<String> = two.chain(others.map(str::to_owned)).collect();
    tags.retain(|tag| Locale::new(tag).is_ok());
    assert!(tags.len() > 700, "{}", tags.len());
    let draw = &mut Draw(5);
    let alike = alike();
    let mut different: Vec<Vec<u8>> = alike.clone();
    different.sort();
    different.dedup();
    for tag in tags {
        let told = order(&tag, &[], "", Ties::Position);
        let total = order(&tag, &[], "", Ties::Record);
        let mut twice = [alike.clone(), alike.clone()].concat();
        (1..twice.len()).for_each(|place| twice.swap(place, draw.below(place + 1)));
        twice.sort_by(|a, b| told.compare(a, b));
        let mut expected = different.clone();
        expected.sort_by(|a, b| total.compare(a, b));
        twice.dedup_by(|a, b| told.keys_equal(a, b));
        assert_eq!(twice, expected, "{tag}");
        let [a, b] = [0, 1].map(|_| &alike[draw.below(alike.len())]);
        assert_agrees(&told, a, b, draw);
    }
}

/// With several keys the language's order of all comes before the bytes of any.
#[test]
fn bytes_decide_behind_all_keys() {
    let keys = &["2,2", "3,3n", "1,1r"];
    let told = order("de", keys, "", Ties::Position);
    let less = "b,\u{fc},1".as_bytes();
    let more = "a,u\u{308},1".as_bytes();
    assert!(
        told.compare(less, more).is_lt(),
        "key 1,1r decides before bytes of 2,2"
    );
    let (one, two) = ("a,u\u{308},1,y".as_bytes(), "a,\u{fc},1,x".as_bytes());
    assert!(told.compare(one, two).is_lt() && !told.keys_equal(one, two));
    let draw = &mut Draw(8);
    for pair in [[less, more], [one, two]] {
        assert_agrees(&told, pair[0], pair[1], draw);
    }
    let same = "a,u\u{308},1,z".as_bytes();
    assert!(
        told.compare(one, same).is_eq() && told.keys_equal(one, same),
        "key 4 is none"
    );
}

/// A file that was sorted with one tie-breaker is in order by the other: it may be merged with `-u` or without.
#[test]
fn keys_have_one_order_whatever_breaks_ties() {
    let draw = &mut Draw(9);
    let texts = alike();
    for keys in [&["2,2"][..], &["2,2r"], &["2,2", "1,1n"], &["1r"], &[]] {
        let total = order("de", keys, "", Ties::Record);
        let stable = order("de", keys, "", Ties::Position);
        for _ in 0..2000 {
            let mut drawn = || {
                let [a, b] = [0, 1].map(|_| &texts[draw.below(texts.len())][..]);
                [a, b].join(&b',')
            };
            let (a, b) = (drawn(), drawn());
            let of_keys = stable.compare(&a, &b);
            assert_eq!(of_keys.is_eq(), stable.keys_equal(&a, &b), "{keys:?}");
            assert!(
                of_keys.is_eq() || of_keys == total.compare(&a, &b),
                "{keys:?} {a:?} {b:?}"
            );
        }
    }
}
