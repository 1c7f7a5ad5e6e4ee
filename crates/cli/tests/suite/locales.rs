//! `sort --locale`: text in the order of a language, through every plan.

use crate::common::Place;

#[test]
fn a_language_orders_names() {
    let place = Place::new();
    let names = "Zoo\n\u{d6}l\nOlga\n\u{e4}rlig\nApfel\n\u{f6}l\nzebra\n";
    place.write("in", names);
    let german = "Apfel\n\u{e4}rlig\n\u{f6}l\n\u{d6}l\nOlga\nzebra\nZoo\n";
    let swedish = "Apfel\nOlga\nzebra\nZoo\n\u{e4}rlig\n\u{f6}l\n\u{d6}l\n";
    for plan in ["auto", "one-pass", "two-pass", "merge"] {
        for (tag, expected) in [("de-DE", german), ("sv", swedish)] {
            let line = format!("sort --locale {tag} --plan {plan} in -o out --verify");
            place.run(&line).succeeded();
            assert_eq!(
                String::from_utf8(place.read("out")).unwrap(),
                expected,
                "{line}"
            );
            let checked = place.run(&format!("sort --locale {tag} -c out"));
            assert_eq!(checked.code, 0, "{}", checked.err);
            place
                .run(&format!("sort --locale {tag} -m out in -o both"))
                .complaint();
        }
    }
    let bytes = place.run("sort in").succeeded();
    assert_eq!(
        bytes.out,
        "Apfel\nOlga\nZoo\nzebra\n\u{d6}l\n\u{e4}rlig\n\u{f6}l\n".as_bytes()
    );
}

#[test]
fn a_set_tells_its_order() {
    let place = Place::new();
    place.write("in", "z\n\u{e4}\na\n");
    place
        .run("sort --locale de in -o set/ --verify")
        .succeeded();
    let manifest = String::from_utf8(place.read("set/manifest.json")).unwrap();
    assert!(manifest.contains("locale:de"), "{manifest}");
    place.run("valsort set/").succeeded();
}

#[test]
fn wrong_locales_are_refused_with_a_remedy() {
    let place = Place::new();
    place.write("in", "a\n");
    for (options, part) in [
        ("--locale de_DE.UTF-8", "write de-DE"),
        ("--locale C", "such as de, sv or de-AT-u-kn"),
        ("--locale= ", "such as de"),
        ("--locale de -f", "leave -f out"),
        ("--locale de -k1,1d", "leave -d out"),
        ("--locale de --format fixed:1", "--locale is for lines"),
    ] {
        let ran = place.run(&format!("sort {options} in"));
        assert_eq!(ran.code, 2, "{options}: {ran:?}");
        assert!(ran.complaint().contains(part), "{options}: {ran:?}");
    }
}
