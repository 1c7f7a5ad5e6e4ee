//! Values of the world, in their order; and values that are none.

use super::*;
use crate::text::words::{Front, GROUP, Window};

fn form(word: &str) -> Form {
    let key = format!("x:{word}");
    let split = Form::split(&key).unwrap().map(|(_, form)| form);
    split.or(Form::named(word)).unwrap()
}

fn encoded(form: Form, value: &str) -> Result<Vec<u8>, ValueError> {
    let mut bytes = Vec::new();
    form.encode(value.as_bytes(), &mut bytes).map(|()| bytes)
}

/// Values in their order; those of one place are equal. Each word of an encoding is found without the others.
fn assert_order(word: &str, places: &[&[&str]]) {
    let form = form(word);
    let mut before: Option<(Vec<u8>, &str)> = None;
    for place in places {
        let first = encoded(form, place[0]).unwrap_or_else(|error| panic!("{}: {error}", place[0]));
        for value in *place {
            let bytes = encoded(form, value).unwrap_or_else(|error| panic!("{value}: {error}"));
            assert_eq!(bytes, first, "{value} is not {}", place[0]);
            assert!(bytes.len() <= form.most_bytes(value.len()), "{value}");
            for depth in 0..bytes.len().div_ceil(GROUP).max(1) {
                let (mut window, mut whole) = (Window::new(depth), Window::new(depth));
                form.encode(value.as_bytes(), &mut window).unwrap();
                whole.push_all(&bytes);
                assert_eq!(window.word(), whole.word(), "{value}, word {depth}");
            }
            let mut front = Vec::new();
            form.encode(value.as_bytes(), &mut Front::new(&mut front, 3))
                .unwrap();
            assert_eq!(front, bytes[..bytes.len().min(3)], "{value}");
        }
        if let Some((less, value)) = &before {
            assert!(*less < first, "{value} is not before {}", place[0]);
        }
        before = Some((first, place[0]));
    }
}

fn assert_refused(word: &str, values: &[&str], error: ValueError) {
    for value in values {
        assert_eq!(encoded(form(word), value), Err(error), "{word} of {value}");
    }
}

#[test]
fn amounts_are_numbers() {
    let places: [&[&str]; 16] = [
        &["", " "],
        &["-$1,000,000.01", "($1,000,000.01)", "$-1,000,000.01"],
        &["−12", "-12", "12-", "(12)", "$(12)", "(12) EUR", "- 12"],
        &["-5 %", "-0.05"],
        &["0", "$0.00", "0 %", "-0"],
        &["3 ‰", "0.3%", ".003"],
        &["12.5%", "12.5 %", "0.125"],
        &["1.99", "£1.99", "1.99 GBP", "GBP 1.99", "+1.99"],
        &["9.9", "US$9.9", "9.9 kr."],
        &["100 kr", "100", "€ 100", "100 €", "R$100"],
        &["999"],
        &[
            "1,234.50",
            "1 234.50",
            "1\u{202f}234.5",
            "1'234.50",
            "1_234.50",
            "1234.5",
        ],
        &["12,345", "USD12,345"],
        &["₹12,34,567.89", "1,234,567.89"],
        &["99,999,999,999,999,999,999"],
        &["99999999999999999999.5"],
    ];
    assert_order("amount", &places);
    assert_order(
        "amount=,",
        &[
            &["-1.000,5", "(1.000,5)"],
            &["0,25", "25 %"],
            &["99,99"],
            &["100,– €", "100", "100,-", "€ 100,--"],
            &["1.234,50 EUR", "1234,5"],
        ],
    );
    let none = [
        "x",
        "$",
        "1,23",
        "1,2345",
        "1.2.3",
        "1,234 567",
        "--5",
        "(-5)",
        "5 % %",
        "$5€",
        "1e5",
        "abc 5",
        "0,500",
        "5 MIN",
        "12 34",
    ];
    let error = |decimal_comma| ValueError::NotAnAmount { decimal_comma };
    assert_refused("amount", &none, error(false));
    assert_refused("amount=,", &["1,234.50", "1.23"], error(true));
}

#[test]
fn sizes_have_units() {
    let places: [&[&str]; 12] = [
        &[""],
        &["0", "0B", "0K"],
        &["512", "512B", "512 b", "0.5K"],
        &["1kB", "1 KB", "1000"],
        &["1K", "1k", "1Ki", "1KiB", "1024"],
        &["1.5K", "1536"],
        &["1MB", "1000000"],
        &["1M", "1MiB"],
        &["3.7G"],
        &["4GiB"],
        &["1Q"],
        &["1000000000000000000000000000000000"],
    ];
    assert_order("size", &places);
    assert_refused(
        "size",
        &["K", "1X", "1KX", "1.2.3M", "1 2", "1KiBs"],
        ValueError::NotASize,
    );
}

#[test]
fn hexadecimal_numbers_have_any_length() {
    let long = "1".repeat(300);
    let places: [&[&str]; 9] = [
        &["-0x1f", "-1F"],
        &["-1E"],
        &["-1"],
        &["0", "0x0", "-0", "00"],
        &["9"],
        &["a", "0xA", "0x0a"],
        &["1f", "0x1F"],
        &["deadbeefdeadbeefdeadbeef"],
        &[&long],
    ];
    assert_order("hex", &places);
    assert_refused(
        "hex",
        &["0x", "g", "1 f", "--1", "0x1.8"],
        ValueError::NotHexadecimal,
    );
}

#[test]
fn addresses_are_numbers() {
    let places: [&[&str]; 11] = [
        &[""],
        &["9.255.255.255"],
        &["10.0.0.0/8"],
        &["10.0.0.0", "10.0.0.0/32", " 10.0.0.0 "],
        &["10.0.0.2"],
        &["10.0.0.10"],
        &["192.168.1.1"],
        &["::/0"],
        &["::1", "0:0:0:0:0:0:0:1", "::1/128"],
        &["2001:db8::/32"],
        &["2001:db8::1"],
    ];
    assert_order("ip", &places);
    let none = [
        "10.0.0",
        "10.0.0.256",
        "10.0.0.a",
        "010.0.0.1",
        "::g",
        "host",
    ];
    assert_refused("ip", &none, ValueError::NotAnAddress);
    assert_refused(
        "ip",
        &["10.0.0.0/33", "10.0.0.0/", "10.0.0.0/+8", "10.0.0.0/x"],
        ValueError::Mask { most: 32 },
    );
    assert_refused("ip", &["::/129", "::/999"], ValueError::Mask { most: 128 });
}

/// The chain of the specification (semver.org, 11), and others around it.
#[test]
fn versions_have_candidates() {
    let places: [&[&str]; 15] = [
        &[""],
        &["0.9.9"],
        &["1.0.0-alpha"],
        &["1.0.0-alpha.1"],
        &["1.0.0-alpha.beta"],
        &["1.0.0-beta"],
        &["1.0.0-beta.2"],
        &["1.0.0-beta.11", "v1.0.0-beta.11+build.5"],
        &["1.0.0-rc.1"],
        &["1.0.0", "1.0", "v1", "1.0.0+20130313144700"],
        &["1.0.1-0"],
        &["1.0.1"],
        &["1.2"],
        &["1.10"],
        &["10.0"],
    ];
    assert_order("semver", &places);
    let none = [
        "1.",
        ".1",
        "x",
        "1.2.3-",
        "1.2.3-a..b",
        "1.2.3+",
        "1.2.3-ä",
        "1,2",
    ];
    assert_refused("semver", &none, ValueError::NotAVersion);
}

#[test]
fn lengths_count_characters() {
    assert_order(
        "length",
        &[&[""], &[" ", "a", "ä", "語"], &["ab", "äö"], &["abcde"]],
    );
}

#[test]
fn dates_follow_a_pattern() {
    assert_order(
        "date=dmy",
        &[
            &[""],
            &[
                "31/12/1999",
                "31.12.99",
                "31 Dec 1999",
                "Dec 31, 1999",
                "31st December 1999",
                "1999-12-31",
            ],
            &[
                "5/1/2024",
                "05.01.24",
                "5-1-2024",
                "5 Jan. 2024",
                "5. Jan 2024",
                "2024/1/5",
            ],
            &[
                "5/1/2024 00:30",
                "05.01.2024 12:30 AM",
                "5 Jan 2024, 1:30 +01",
            ],
            &["05.01.2024 17:30:01.5", "5/1/24 5:30:01.5 PM"],
            &["1/5/2024"],
        ],
    );
    assert_order(
        "date=mdy",
        &[&["1/5/2024", "Jan 5 2024", "5 January 2024"], &["5/1/2024"]],
    );
    assert_order(
        "date=%d.%m.%y",
        &[&["31.12.69"], &["5.1.24", "05.01.24"], &["31.12.68"]],
    );
    assert_order(
        "date=%d/%b/%Y:%T %z",
        &[
            &["10/Oct/2000:13:55:36 -0700", "10/Oct/2000:20:55:36 +0000"],
            &["11/Oct/2000:00:00:00 Z"],
        ],
    );
    assert_order(
        "date=%b %e %H:%M:%S",
        &[
            &["Feb 29 23:59:59"],
            &["Mar  1 00:00:00"],
            &["Dec 31 00:00:00"],
        ],
    );
    assert_order(
        "date=%m/%d/%Y %I:%M %p",
        &[
            &["01/05/2024 12:00 am"],
            &["01/05/2024 11:59 AM"],
            &["01/05/2024 12:00 PM"],
        ],
    );
    assert_order("date=%s", &[&["999999999"], &["1700000000"]]);
    assert_order("date=%Y%j", &[&["2024060"], &["2024366"], &["2025001"]]);
    let none = [
        "31/2/2024",
        "13/13/2024",
        "x",
        "5/1",
        "5/1/2024 25:00",
        "5/1/2024 13:00 PM",
        "5/1/2024 junk",
        "5//",
        "5/1/202",
        "5/123/2024",
        "2024/2024/05",
        "5//1/2024",
        "5/1/2024,",
        "2024-01-05-05:00",
    ];
    let free = ValueError::NotOfPattern(DatePattern::DayFirst);
    assert_refused("date=dmy", &none, free);
    assert_refused(
        "date=%d.%m.%Y",
        &["1/2/2024", "1.2.24x", "30.2.2024"],
        ValueError::NotOfPattern(DatePattern::new("%d.%m.%Y").unwrap()),
    );
    for wrong in ["", "ymd", "%Q", "%", "plain"] {
        assert_eq!(
            Form::split(&format!("x:date={wrong}")),
            Err(FormError::Pattern(wrong.to_owned()))
        );
    }
}

#[test]
fn an_order_comes_from_a_file() {
    let directory = std::env::temp_dir().join(format!("gristmill-order-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let file = directory.join("sizes");
    let name = file.display().to_string();
    std::fs::write(&file, "\u{feff}S\r\nM\n\nL\nXL").unwrap();
    let word = format!("order={name}");
    assert_order(&word, &[&["", " "], &["S", "S "], &["M"], &["L"], &["XL"]]);
    let Form::Listed(listed) = form(&word) else {
        unreachable!("it is one");
    };
    assert_refused(&word, &["s", "XXL"], ValueError::NotListed(listed));
    assert_eq!(form(&word).to_string(), word);
    let described = format!("{:#}", form(&word));
    assert_eq!(form(&described), form(&word));
    std::fs::write(&file, "M\nS\n").unwrap();
    let refused = |word: &str| Form::split(&format!("x:{word}")).unwrap_err().to_string();
    assert!(refused(&described).contains("has changed"), "{described}");
    std::fs::write(&file, "S\nM\nS\n").unwrap();
    assert!(refused(&word).contains("line 3: \"S\" stands in line 1, too"));
    std::fs::write(&file, "\n").unwrap();
    assert!(refused(&word).contains("no words"));
    std::fs::remove_dir_all(&directory).unwrap();
    assert!(refused(&word).contains("cannot read"));
}

#[test]
fn forms_are_written_as_they_are_read() {
    for word in [
        "amount",
        "amount=,",
        "size",
        "hex",
        "ip",
        "semver",
        "length",
        "date=dmy",
        "date=mdy",
        "date=%H:%M",
    ] {
        assert_eq!(form(word).to_string(), word);
    }
    assert_eq!(
        Form::split("x:amount=."),
        Err(FormError::Mark(".".to_owned()))
    );
    let (name, _) = Form::split("a:date=x:date=%H:%M").unwrap().unwrap();
    assert_eq!(name, "a:date=x");
}
