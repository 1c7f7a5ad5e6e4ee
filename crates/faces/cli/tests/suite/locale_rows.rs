//! `sort --locale` of rows. The reference is the sort of lines that hold the same values.

use crate::common::{Place, Ran, cases};
use crate::gnu::draw::Draw;
use crate::ranks;

/// Pieces of values: letters, accents, what a language ignores or takes for equal, bytes that are no
/// text, and what formats must quote.
const PIECES: [&[u8]; 26] = [
    b"a",
    b"A",
    b"b",
    b"Z",
    b"ch",
    b"ll",
    b"ss",
    b"2",
    b"10",
    b"010",
    b" ",
    b"-",
    b"\"",
    b",",
    b"\t",
    b"\n",
    b"\\",
    b"\xfc",
    b"\xe2\x82",
    "\u{fc}".as_bytes(),
    "u\u{308}".as_bytes(),
    "\u{d6}".as_bytes(),
    "\u{e5}".as_bytes(),
    "\u{df}".as_bytes(),
    "\u{200b}".as_bytes(),
    "\u{fffd}".as_bytes(),
];

const TAGS: [&str; 8] = [
    "de",
    "sv",
    "cs",
    "es-u-co-trad",
    "fr-CA",
    "ja",
    "de-u-co-phonebk-kf-upper",
    "en-u-ks-level1",
];

#[derive(Clone, Copy, PartialEq, Debug)]
enum Format {
    Csv,
    Tsv,
    JsonLines,
}

impl Format {
    fn name(self) -> &'static str {
        match self {
            Format::Csv => "csv",
            Format::Tsv => "tsv",
            Format::JsonLines => "jsonl",
        }
    }

    fn header(self) -> &'static [u8] {
        match self {
            Format::Csv => b"a,b,n\n",
            Format::Tsv => b"a\tb\tn\n",
            Format::JsonLines => b"",
        }
    }

    fn value(self, draw: &mut Draw) -> Vec<u8> {
        let mut value = Vec::new();
        for _ in 0..draw.below(4) {
            let piece = draw.of(&PIECES);
            let fits = match self {
                Format::Csv => true,
                Format::Tsv => !b"\t\n".contains(&piece[0]),
                Format::JsonLines => std::str::from_utf8(piece).is_ok(),
            };
            value.extend(if fits { piece } else { b"" });
        }
        value
    }

    fn field(self, value: &[u8], draw: &mut Draw) -> Vec<u8> {
        let is_special = |byte: &u8| b"\",\n\t".contains(byte);
        match self {
            Format::Tsv => value.to_vec(),
            Format::JsonLines => {
                let text = serde_json::Value::from(std::str::from_utf8(value).unwrap());
                let text = text.to_string();
                let escaped = draw.one_in(3).then(|| text.replace('a', "\\u0061"));
                escaped.unwrap_or(text).into_bytes()
            }
            Format::Csv if value.iter().any(is_special) || draw.one_in(3) => {
                let doubled = value.split(|&byte| byte == b'"').collect::<Vec<_>>();
                [b"\"", &doubled.join(&b"\"\""[..])[..], b"\""].concat()
            }
            Format::Csv => value.to_vec(),
        }
    }

    fn row(self, [a, b]: [&[u8]; 2], number: usize, draw: &mut Draw) -> Vec<u8> {
        let (a, b) = (self.field(a, draw), self.field(b, draw));
        let number = number.to_string();
        let parts: [&[u8]; 7] = match self {
            Format::Csv => [b"", &a, b",", &b, b",", number.as_bytes(), b"\n"],
            Format::Tsv => [b"", &a, b"\t", &b, b"\t", number.as_bytes(), b"\n"],
            Format::JsonLines => [
                b"{\"a\":",
                &a,
                b",\"b\": ",
                &b,
                b",\"n\": ",
                number.as_bytes(),
                b"}\n",
            ],
        };
        parts.concat()
    }
}

/// Rows, and lines that end with NUL and hold the same values between tildes.
struct Drawn {
    rows: Vec<Vec<u8>>,
    lines: Vec<u8>,
}

fn draw(format: Format, count: usize, draw: &mut Draw) -> Drawn {
    let values: Vec<Vec<u8>> = (0..count / 3 + 1).map(|_| format.value(draw)).collect();
    let (mut rows, mut lines) = (Vec::new(), Vec::new());
    for number in 0..count {
        let [a, b] = [(); 2].map(|()| &values[draw.below(values.len())][..]);
        rows.push(format.row([a, b], number, draw));
        let number = number.to_string();
        lines.extend([a, b"~", b, b"~", number.as_bytes(), b"\0"].concat());
    }
    Drawn { rows, lines }
}

/// The rows in the order of the lines that were sorted.
fn in_order_of(format: Format, lines: &[u8], rows: &[Vec<u8>]) -> Vec<u8> {
    let number = |line: &[u8]| -> usize {
        let last = line.rsplit(|&byte| byte == b'~').next().unwrap();
        std::str::from_utf8(last).unwrap().parse().unwrap()
    };
    let lines = lines.split(|&byte| byte == 0);
    let numbers = lines.filter(|line| !line.is_empty()).map(number);
    let rows = numbers.map(|number| &rows[number][..]);
    let rows: Vec<&[u8]> = rows.collect();
    [format.header(), &rows.concat()].concat()
}

/// Keys of rows, and of lines.
const KEYS: [(&str, &str); 5] = [
    ("--key a", "-k1,1"),
    ("--key a:desc", "-k1,1r"),
    ("--key b --key a:desc", "-k2,2 -k1,1r"),
    ("--key n:num:desc --key a", "-k3,3nr -k1,1"),
    ("--key a --key n:num:desc", "-k1,1 -k3,3nr"),
];

/// Options that tell rows with equal keys apart by their place.
const BY_PLACE: [&str; 7] = [
    "-s",
    "-u",
    "-s --plan one-pass",
    "-s --plan two-pass",
    "-u --plan merge",
    "-s --top 7",
    "-u --top 7",
];

#[test]
fn rows_have_the_order_of_lines_with_their_values() {
    let (place, random) = (Place::new(), &mut Draw(3));
    for round in 0..cases(24, 100) as usize {
        let format = [Format::Csv, Format::Tsv, Format::JsonLines][round % 3];
        let tag = TAGS[random.below(TAGS.len())];
        let Drawn { rows, lines } = draw(format, 90, random);
        place.write("lines", lines);
        let input = [format.header(), &rows.concat()].concat();
        place.write("rows", &input);
        let (keys, of_lines) = KEYS[random.below(KEYS.len())];
        let options = BY_PLACE[random.below(BY_PLACE.len())];
        let lines = format!("sort --locale {tag} -z -t ~ {of_lines} {options} lines");
        let lines = place.run(&lines).succeeded().out;
        let expected = in_order_of(format, &lines, &rows);
        let name = format.name();
        let sort = format!("sort --locale {tag} --format {name} {keys} {options}");
        let shown = |ran: Ran| String::from_utf8_lossy(&ran.succeeded().out).into_owned();
        let expected = String::from_utf8_lossy(&expected).into_owned();
        assert_eq!(
            shown(place.run(&format!("{sort} rows"))),
            expected,
            "{sort}"
        );
        assert_eq!(shown(place.feed(&sort, &input)), expected, "{sort}, a pipe");
        if !sort.contains("--top") {
            place
                .run(&format!("{sort} rows -o out --verify"))
                .succeeded();
            let same = sort.split(" --plan").next().unwrap();
            place.run(&format!("{same} -c out")).succeeded();
            place
                .run(&format!("{} out", same.replacen("sort", "check", 1)))
                .succeeded();
            assert_eq!(shown(place.run(&format!("{same} -m out"))), expected);
        }
    }
}

/// Rows without quotes are lines, and bytes decide between those with equal keys.
#[test]
fn plain_rows_are_sorted_as_lines() {
    let place = Place::new();
    let names = "\u{f6}l,1\nzebra,2\nO\u{308}l,1\n\u{d6}l,1\nApfel,3\n,4\n\u{e4}rlig,2\nOlga,2\n";
    place.write("lines", names);
    place.write("rows", format!("name,n\n{names}"));
    for (of_rows, of_lines) in [
        ("--key name", "-k1,1"),
        ("--key name:desc", "-k1,1r"),
        ("--key n:num --key name", "-k2,2n -k1,1"),
        ("", ""),
    ] {
        for tag in ["de", "sv"] {
            let rows = format!("sort --locale {tag} --format csv {of_rows} rows");
            let rows = place.run(&rows).succeeded().out;
            let lines = format!("sort --locale {tag} -t, {of_lines} lines");
            let lines = place.run(&lines).succeeded().out;
            assert_eq!(rows, [b"name,n\n", &lines[..]].concat(), "{tag}: {of_rows}");
        }
    }
    let german =
        "name,n\n,4\nApfel,3\n\u{e4}rlig,2\n\u{f6}l,1\nO\u{308}l,1\n\u{d6}l,1\nOlga,2\nzebra,2\n";
    let sorted = place.run("sort --locale de --format csv --key name rows");
    assert_eq!(String::from_utf8_lossy(&sorted.succeeded().out), german);
}

/// `natural` is text of the language in which digits are numbers, whatever the other keys are.
#[test]
fn digits_of_natural_values_are_numbers() {
    let (place, random) = (Place::new(), &mut Draw(8));
    for (tag, numbers) in [("de", "de-u-kn"), ("sv-u-kn-false", "sv-u-kn")] {
        for options in ["-s", "-u"] {
            let Drawn { rows, lines } = draw(Format::Csv, 200, random);
            place.write("lines", lines);
            let header = Format::Csv.header();
            place.write("rows", [header, &rows.concat()].concat());
            let lines = format!("sort --locale {numbers} -z -t ~ -k1,1 {options} lines");
            let lines = place.run(&lines).succeeded().out;
            let sort = format!("sort --locale {tag} --format csv --key a:natural {options} rows");
            let found = place.run(&sort).succeeded().out;
            assert!(found == in_order_of(Format::Csv, &lines, &rows), "{sort}");
        }
    }
    place.write("rows", "a,b\nx10,x10\nx9,x9\nx10,x9\nx9,x10\n");
    let sorted = place.run("sort --locale de --format csv --key a --key b:natural rows");
    let sorted = String::from_utf8(sorted.succeeded().out).unwrap();
    assert_eq!(sorted, "a,b\nx10,x9\nx10,x10\nx9,x9\nx9,x10\n");
}

#[test]
fn rows_that_differ_in_their_bytes_are_kept() {
    let place = Place::new();
    place.write(
        "rows",
        b"a,n\n\xc3\xbc,1\nu\xcc\x88,2\n\"\xc3\xbc\",3\nfile2,4\nfile02,5\n\xfc,6\n\xfe,7\n\xfc,8\n",
    );
    let numbers = |options: &str| -> String {
        let line = format!("sort --locale de --format csv -u {options} rows");
        let out = place.run(&line).succeeded().out;
        let rows = out.split(|&byte| byte == b'\n').skip(1);
        rows.filter_map(|row| row.last().map(|&digit| digit as char))
            .collect()
    };
    // A quoted value is the same value.
    assert_eq!(numbers("--key a"), "542167");
    assert_eq!(numbers("--key a:natural"), "542167");
    assert_eq!(numbers("--key a:desc"), "761245");
    // Letters alone are compared, and the next key decides between words with the same ones.
    place.write("rows", "a,n\n\u{fc},3\nu,1\nU,2\nt,4\n");
    let sorted = place.run("sort --locale en-u-ks-level1 --format csv --key a --key n:num rows");
    let sorted = String::from_utf8(sorted.succeeded().out).unwrap();
    assert_eq!(sorted, "a,n\nt,4\nu,1\nU,2\n\u{fc},3\n");
}

#[test]
fn missing_values_are_first() {
    let place = Place::new();
    place.write(
        "rows",
        "{\"a\":\"-\"}\n{\"a\":null}\n{\"a\":\"\u{301}\"}\n{}\n",
    );
    let sort = "sort --locale sv --format jsonl -s --key";
    for (key, expected) in [
        (
            "a",
            "{\"a\":null}\n{}\n{\"a\":\"\u{301}\"}\n{\"a\":\"-\"}\n",
        ),
        (
            "a:desc",
            "{\"a\":\"-\"}\n{\"a\":\"\u{301}\"}\n{\"a\":null}\n{}\n",
        ),
    ] {
        let sorted = place.run(&format!("{sort} {key} rows")).succeeded().out;
        assert_eq!(String::from_utf8(sorted).unwrap(), expected);
    }
}

#[test]
fn several_sorted_files_are_merged_and_others_refused() {
    let (place, random) = (Place::new(), &mut Draw(5));
    let sort = "sort --locale sv --format csv --key a --key b:desc";
    let header = Format::Csv.header();
    for name in ["x", "y", "z"] {
        let rows = draw(Format::Csv, 300, random).rows;
        place.write(name, [header, &rows.concat()].concat());
    }
    let sorted = place.run(&format!("{sort} x y z")).succeeded().out;
    assert_eq!(place.run(&format!("{sort} -c x")).code, 1);
    place.run(&format!("{sort} -m x y")).complaint();
    for name in ["x", "y", "z"] {
        place.run(&format!("{sort} {name} -o {name}")).succeeded();
    }
    assert!(place.run(&format!("{sort} -m x y z")).succeeded().out == sorted);
    let by_bytes = sort.replace(" --locale sv", "");
    assert_eq!(place.run(&format!("{by_bytes} -c x")).code, 1);
    // A set tells its language, and is checked by it.
    place
        .run(&format!("{sort} x y z -o set/ --verify"))
        .succeeded();
    let manifest = String::from_utf8(place.read("set/manifest.json")).unwrap();
    for part in ["locale:sv", "equal:bytes", "column:2:str:desc"] {
        assert!(manifest.contains(part), "{manifest}");
    }
    place.run("valsort set/").succeeded();
    let Some(ran) = ranks::run(&place, 2, &format!("{sort} x y z -o out")) else {
        return;
    };
    ran.succeeded();
    assert!(place.read("out") == sorted);
}

#[test]
fn a_language_of_rows_is_told() {
    let place = Place::new();
    place.write("rows", "a,n\n\u{f6}l,1\n");
    for (options, told) in [
        ("--key a", "key 1, a: text by the rules of sv-SE, rows"),
        (
            "--key n:num --key a:natural:desc",
            "key 2, a: text by the rules of sv-SE, with numbers in it, the largest",
        ),
        ("--key n:num", "key 1, n: a number, rows"),
        ("", "key 1, the whole row: text by the rules of sv-SE\n"),
    ] {
        let options = format!("--locale SV-se --format csv {options}");
        let explained = place.run(&format!("explain {options} rows")).succeeded();
        let explained = String::from_utf8(explained.out).unwrap();
        assert!(explained.contains(told), "{explained}");
        let shown = place.run(&format!("sort --debug {options} rows"));
        assert!(shown.succeeded().err.contains(told.trim_end()));
    }
    place.write("rows", "");
    place.run("explain --format csv --key a rows").succeeded();
    let lines = place.run("explain --locale sv -k1,1 rows").succeeded();
    let lines = String::from_utf8(lines.out).unwrap();
    assert!(lines.contains("text by the rules of sv\n"), "{lines}");
}

#[test]
fn what_rows_and_languages_lack_is_refused_with_a_remedy() {
    let place = Place::new();
    place.write("rows", "a,n\nx,1\n");
    for (options, part) in [
        ("--locale de_DE", "write de-DE"),
        ("--locale C", "such as de, sv or de-AT-u-kn"),
        (
            "--locale de -f",
            "-f is for lines, not for --format csv; give it with the key",
        ),
        ("--locale de -r", "as in --key price:num:desc"),
        ("--locale de -u --count", "--count is for lines"),
    ] {
        let ran = place.run(&format!("sort --format csv --key a {options} rows"));
        assert_eq!(ran.code, 2, "{options}: {ran:?}");
        assert!(ran.complaint().contains(part), "{options}: {ran:?}");
    }
}
