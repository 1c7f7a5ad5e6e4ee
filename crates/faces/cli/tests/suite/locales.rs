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
        ("--locale de -f", "remove -f"),
        ("--locale de -k1,1d", "remove -d"),
        (
            "--locale de --format fixed:1",
            "--locale is for lines and rows, not",
        ),
    ] {
        let ran = place.run(&format!("sort {options} in"));
        assert_eq!(ran.code, 2, "{options}: {ran:?}");
        assert!(ran.complaint().contains(part), "{options}: {ran:?}");
    }
}

/// Every language with rules of its own, and variants.
const TAGS: &str = "af am ar ar-u-co-compat as az be bg bn bn-u-co-trad bo br bs bs-Cyrl ca ceb chr cs cv cy \
    da de de-AT de-AT-u-co-phonebk de-u-co-phonebk dsb ee el en en-US-posix en-u-co-emoji en-u-co-eor \
    en-u-kf-upper en-u-kn eo es es-u-co-trad et fa fa-AF ff-Adlm fi fi-u-co-trad fil fo fr fr-CA fy ga gl gu \
    ha haw he hi hr hsb hu hy id ig is it ja ja-u-co-unihan ka kk kl km kn ko ko-u-co-unihan kok ku ky lb \
    lij lkt ln ln-u-co-phonetic lo lt lv mk ml mn mr ms mt my nb ne nl nn no nso om or pa pa-Arab pl ps pt \
    ro ru sa scn se sgs si si-u-co-dict sk sl smn sq sr sr-Latn st sv sv-u-co-trad sw ta te tg th ti tk tn to \
    tr ug uk ur uz vi vo wae wo xh yi yo zh zh-u-co-stroke zh-u-co-unihan zh-u-co-zhuyin zh-Hant zu";

/// Words that a language may take for equal, drawn.
fn alike(random: &mut u64) -> Vec<u8> {
    let parts: [&[u8]; 22] = [
        b"\xfc",
        b"\xf6",
        b"\xff",
        b"\xc3",
        b"\xe2\x82",
        b"\xed\xa0\x80",
        b"\x01",
        b"\x02",
        b"",
        b"u",
        "\u{fc}".as_bytes(),
        "u\u{308}".as_bytes(),
        "\u{fffd}".as_bytes(),
        "\u{ad}".as_bytes(),
        "\u{200b}".as_bytes(),
        "\u{feff}".as_bytes(),
        "\u{ac00}".as_bytes(),
        "\u{1100}\u{1161}".as_bytes(),
        "\u{e0001}".as_bytes(),
        "\u{30a2}".as_bytes(),
        "\u{ff71}".as_bytes(),
        b"\x7f",
    ];
    let mut below = |bound: usize| {
        *random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (*random >> 33) as usize % bound
    };
    let front: &[u8] = [&b"M"[..], b""][below(2)];
    [
        front,
        parts[below(22)],
        parts[below(22)],
        [&b"ller"[..], b""][below(2)],
    ]
    .concat()
}

/// With `-u`, `--count`, `-c -u` and `-m -u` keys are equal if their bytes are, whatever the language: no
/// line is lost that is not the same.
#[test]
fn only_the_same_bytes_are_equal_in_every_language() {
    let place = Place::new();
    let mut random = 11;
    let tags: Vec<&str> = TAGS.split_whitespace().collect();
    let few = crate::common::cases(40, tags.len() as u32) as usize;
    for round in 0..few {
        // All of them in a long run, others in each part of a short one.
        let tag = tags[(round * 41) % tags.len()];
        let lines: Vec<Vec<u8>> = (0..150)
            .map(|_| [&alike(&mut random)[..], b"\n"].concat())
            .collect();
        place.write("in", lines.concat());
        let all = place
            .run(&format!("sort --locale {tag} in"))
            .succeeded()
            .out;
        let mut counted: Vec<(usize, &[u8])> = Vec::new();
        for line in all.split_inclusive(|&byte| byte == b'\n') {
            match counted.last_mut() {
                Some((count, last)) if *last == line => *count += 1,
                _ => counted.push((1, line)),
            }
        }
        let distinct: std::collections::BTreeSet<&[u8]> =
            counted.iter().map(|(_, line)| *line).collect();
        assert_eq!(
            distinct.len(),
            counted.len(),
            "{tag}: equal lines stand together"
        );
        let unique = counted
            .iter()
            .map(|(_, line)| *line)
            .collect::<Vec<_>>()
            .concat();
        let numbered: Vec<Vec<u8>> = counted
            .iter()
            .map(|(count, line)| [format!("{count:7} ").as_bytes(), line].concat())
            .collect();
        let plan = ["auto", "one-pass", "two-pass", "merge"][round % 4];
        let sorted = |options: &str| {
            let line = format!("sort --locale {tag} {options}");
            place.run(&line).succeeded().out
        };
        assert_eq!(sorted(&format!("-u --plan {plan} in")), unique, "{tag}");
        assert_eq!(
            sorted(&format!("-u --count --plan {plan} in")),
            numbered.concat(),
            "{tag}"
        );
        place.write("unique", &unique);
        assert_eq!(sorted("-c -u unique"), b"", "{tag}");
        assert_eq!(sorted("-m -u unique unique"), unique, "{tag}");
        let twice = [&unique[..], counted.last().unwrap().1].concat();
        place.write("twice", twice);
        assert_eq!(
            place.run(&format!("sort --locale {tag} -c -u twice")).code,
            1,
            "{tag}"
        );
        // By a key in the middle: the first line of each of its bytes.
        let keyed: Vec<Vec<u8>> = (0..)
            .zip(&lines)
            .map(|(number, line)| [format!("{number},").as_bytes(), line].concat())
            .collect();
        place.write("keyed", keyed.concat());
        let mut seen = std::collections::BTreeSet::new();
        let mut first: Vec<Vec<u8>> = (0..)
            .zip(&lines)
            .filter(|(_, line)| seen.insert(*line))
            .map(|(number, line): (usize, _)| [format!("{number},").as_bytes(), line].concat())
            .collect();
        first.sort();
        let found = sorted("-t, -k2,2 -u keyed");
        let mut found: Vec<&[u8]> = found.split_inclusive(|&byte| byte == b'\n').collect();
        found.sort_unstable();
        assert_eq!(found, first, "{tag}");
    }
}

/// A set says that bytes decide between keys that a language takes for equal, and is checked so.
#[test]
fn a_set_of_distinct_lines_tells_how_they_differ() {
    let place = Place::new();
    place.write(
        "in",
        b"M\xfcller\nM\xf6ller\nMeier\nu\xcc\x88\n\xc3\xbc\nM\xf6ller\n",
    );
    place
        .run("sort --locale de -u -k1,1 in -o set/ --verify")
        .succeeded();
    let manifest = String::from_utf8(place.read("set/manifest.json")).unwrap();
    assert!(manifest.contains("equal:bytes"), "{manifest}");
    let checked = place.run("valsort set/").succeeded();
    assert!(
        checked.err.contains("Records: 5")
            || String::from_utf8_lossy(&checked.out).contains("Records: 5"),
        "{checked:?}"
    );
}

/// Whatever tells lines with equal keys apart, the keys have one order: a file sorted without `-u` is
/// merged and checked with it.
#[test]
fn a_file_with_keys_is_merged_and_checked_with_unique() {
    let place = Place::new();
    place.write("in", "a u\u{308}\nb \u{fc}\nc u\u{308}\nd \u{fc}\n");
    place.write("once", "a u\u{308}\nb \u{fc}\n");
    for options in ["-k2,2", "-k2,2r", "-s -k2,2"] {
        let sort = format!("sort --locale de {options}");
        place.run(&format!("{sort} in -o sorted")).succeeded();
        place.run(&format!("{sort} -c sorted")).succeeded();
        let merged = place.run(&format!("{sort} -m -u sorted")).succeeded();
        assert_eq!(
            merged.out,
            place.run(&format!("{sort} -u in")).out,
            "{options}"
        );
        place.run(&format!("{sort} once -o sorted")).succeeded();
        place.run(&format!("{sort} -c -u sorted")).succeeded();
    }
    let sorted = place.run("sort --locale de -k2,2 in").out;
    assert_eq!(
        String::from_utf8_lossy(&sorted),
        "a u\u{308}\nc u\u{308}\nb \u{fc}\nd \u{fc}\n"
    );
}
