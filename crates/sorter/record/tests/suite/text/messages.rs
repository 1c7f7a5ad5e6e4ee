//! What users read of keys: refusals, and how keys are written.

use record::Ties;
use record::text::{KeyOptions, TextKey, TextOrder, separator};

#[test]
fn refused_keys_name_the_place_and_a_remedy() {
    let cases = [
        ("", 1, "a field number is missing"),
        ("x", 1, "a field number is missing"),
        ("-1", 1, "a field number is missing"),
        ("0", 1, "fields are counted from 1"),
        ("1.0", 3, "characters are counted from 1"),
        ("1.", 3, "a number is missing after the point"),
        ("2.x", 3, "a number is missing after the point"),
        ("1,", 3, "a field number is missing"),
        ("1,0", 3, "fields are counted from 1"),
        ("1,1.", 5, "a number is missing after the point"),
        ("1x", 2, "\"x\" does not belong here; the options are"),
        ("1é", 2, "\"é\" does not belong here"),
        ("1n,2rq", 6, "\"q\" does not belong here"),
        ("1 ,2", 2, "without blanks"),
        ("1-2", 2, "a comma between start and end, such as 1,2"),
        ("1,2,3", 4, "one start and one end"),
        ("1.2.3", 4, "one point"),
    ];
    for (spec, character, words) in cases {
        let error = spec.parse::<TextKey>().unwrap_err();
        assert_eq!(error.character, character, "{error}");
        assert!(error.to_string().contains(words), "{error}");
        assert_eq!(error.spec, spec);
    }
}

#[test]
fn keys_are_written_as_they_are_read() {
    let cases = [
        ("1", "1"),
        (" +2", "2"),
        ("2.3b,4nr", "2.3bnr,4"),
        ("1.1", "1"),
        ("3,3.0", "3,3"),
        ("3b,3.2b", "3b,3.2b"),
        ("99999999999999999999999", "18446744073709551615"),
        ("1id", "1d"),
        ("1dfiVR", "1dfRV"),
    ];
    for (spec, written) in cases {
        let key: TextKey = spec.parse().unwrap();
        assert_eq!(key.to_string(), written);
        assert_eq!(written.parse::<TextKey>().unwrap(), key);
    }
}

#[test]
fn the_old_form_counts_what_to_skip() {
    let cases = [
        ("+0", None, "1"),
        ("+1", None, "2"),
        ("+1.2b", None, "2.3b"),
        ("+1", Some("-2"), "2,2"),
        ("+1n", Some("-2.3b"), "2n,3.3b"),
        ("+0", Some("-0"), "1,1"),
        ("+2r", Some("-3.0"), "3r,3"),
    ];
    for (plus, minus, written) in cases {
        let key = TextKey::obsolete(plus, minus).unwrap();
        assert_eq!(key.to_string(), written, "{plus} {minus:?}");
        let modern: TextKey = written.parse().unwrap();
        assert_eq!(
            (modern.start_fields, modern.end),
            (key.start_fields, key.end)
        );
    }
    for (plus, minus) in [
        ("1", None),
        ("+x", None),
        ("+1,2", None),
        ("+1", Some("2")),
        ("+1", Some("-2x")),
    ] {
        assert!(TextKey::obsolete(plus, minus).is_err(), "{plus} {minus:?}");
    }
}

fn refusal(keys: &[&str], global: &str) -> String {
    let keys = keys.iter().map(|key| key.parse().unwrap()).collect();
    let global: KeyOptions = global.parse().unwrap();
    let order = TextOrder::new(keys, global, None, Ties::Record, None);
    order.unwrap_err().to_string()
}

#[test]
fn contradictions_are_refused_with_their_letters() {
    for (keys, global, words) in [
        (&["1nd"][..], "", "key 1: the options -dn "),
        (&["1", "2V"], "nMrb", "the options -Mn "),
        (&["1V", "2fgh"], "", "key 2: the options -fgh "),
        (&[], "dVRn", "the options -dnRV "),
        (&["1iM"], "", "the options -iM "),
        (&["1R"], "", "-R needs 16 random bytes"),
    ] {
        let message = refusal(keys, global);
        assert!(message.contains(words), "{message}");
    }
    assert!(
        "nx".parse::<KeyOptions>()
            .unwrap_err()
            .to_string()
            .contains("\"x\"")
    );
}

#[test]
fn contradictions_that_no_key_inherits_do_no_harm() {
    let keys = vec!["1V".parse().unwrap()];
    let global = "dn".parse().unwrap();
    assert!(TextOrder::new(keys, global, None, Ties::Record, None).is_ok());
}

#[test]
fn a_separator_is_one_byte() {
    assert_eq!(separator(b","), Ok(b','));
    assert_eq!(separator(b"\xFF"), Ok(0xFF));
    assert_eq!(separator(b"\\0"), Ok(0));
    assert_eq!(separator(b"\\"), Ok(b'\\'));
    let refused = |text: &[u8]| separator(text).unwrap_err().to_string();
    assert!(refused(b"").contains("empty"));
    assert!(refused(b"ab").contains("\"ab\" has more than one byte"));
}
