//! Draws values of each form, and compares them with memory for everything and no haste.

use std::cmp::Ordering;
use std::net::IpAddr;

use num_bigint::BigInt;
use record::rows::{DatePattern, Form};

use crate::text::draw::Draw;

/// Forms of drawn columns. The order of a file has tests of its own, with the file.
pub const FORMS: [Form; 7] = [
    Form::Amount {
        decimal_comma: false,
    },
    Form::Size,
    Form::Hexadecimal,
    Form::Address,
    Form::Version,
    Form::Length,
    Form::Date(DatePattern::DayFirst),
];

pub fn draw(form: Form, draw: &mut Draw) -> String {
    match form {
        Form::Amount { .. } => amount(draw),
        Form::Size => {
            let unit = draw.of(&["", "B", "K", "k", "MB", "MiB", "Gi", " T", "Q", "kB"]);
            format!("{}{unit}", fixed(draw))
        }
        Form::Hexadecimal => {
            let (sign, mark) = (draw.of(&["", "-", "+"]), draw.of(&["", "0x", "0X"]));
            let most = [1, 3, 20, 300][draw.below(4)];
            let digits = 1 + draw.below(most);
            let digits: String = (0..digits)
                .map(|_| draw.of(&["0", "1", "9", "a", "F", "f"]))
                .collect();
            format!("{sign}{mark}{digits}")
        }
        Form::Address => address(draw),
        Form::Version => version(draw),
        Form::Length => (0..draw.below(12))
            .map(|_| draw.of(&["a", "\u{e9}", "\u{1F600}", " "]))
            .collect(),
        _ => {
            let year = [1969, 1970, 2000, 2024, 2068][draw.below(5)];
            let (month, day) = (1 + draw.below(12), 1 + draw.below(28));
            let year = if draw.one_in(2) { year } else { year % 100 };
            let name = draw.of(&["Jan", "march", "Sept"]).to_owned();
            match draw.below(3) {
                0 => format!("{day}/{month}/{year:02}"),
                1 => format!(
                    "{day:02}.{month:02}.{year:02} {}:{:02}",
                    draw.below(24),
                    draw.below(60)
                ),
                _ => format!("{name} {day}, {year:02}"),
            }
        }
    }
}

/// Digits with a point or without.
fn fixed(draw: &mut Draw) -> String {
    let number = |draw: &mut Draw| [0, 1, 5, 10, 512, 999, 1000, 1024, 123_456_789][draw.below(9)];
    match draw.below(3) {
        0 => format!("{}.{}", number(draw), number(draw)),
        1 => format!(".{}", number(draw)),
        _ => number(draw).to_string(),
    }
}

fn amount(draw: &mut Draw) -> String {
    let groups = draw.below(3);
    let mut number = (1 + draw.below(999)).to_string();
    let between = draw.of(&[",", " ", "'", ""]);
    for _ in 0..groups {
        number += &format!("{between}{:03}", draw.below(1000));
    }
    if draw.one_in(2) {
        number += &format!(".{:02}", draw.below(100));
    }
    let marked = match draw.below(5) {
        0 => format!("${number}"),
        1 => format!("{number} EUR"),
        2 => format!("{number} %"),
        _ => number,
    };
    match draw.below(5) {
        0 => format!("-{marked}"),
        1 => format!("({marked})"),
        _ => marked,
    }
}

fn address(draw: &mut Draw) -> String {
    let byte = |draw: &mut Draw| [0, 1, 9, 10, 127, 255][draw.below(6)];
    let (address, most) = if draw.one_in(3) {
        let front = draw.of(&["::", "fe80::", "2001:db8:1::"]);
        (format!("{front}{:x}", byte(draw)), 129)
    } else {
        (
            format!("{}.{}.0.{}", byte(draw), byte(draw), byte(draw)),
            33,
        )
    };
    match draw.below(3) {
        0 => format!("{address}/{}", draw.below(most)),
        _ => address,
    }
}

fn version(draw: &mut Draw) -> String {
    let number = |draw: &mut Draw| [0, 0, 1, 2, 9, 10, 11, 1_000_000][draw.below(8)].to_string();
    let numbers: Vec<String> = (0..1 + draw.below(4)).map(|_| number(draw)).collect();
    let mut version = format!("{}{}", draw.of(&["", "v"]), numbers.join("."));
    if draw.one_in(2) {
        let names = ["alpha", "a", "rc", "1", "10", "2", "a-b", "x1"];
        let names: Vec<&str> = (0..1 + draw.below(3)).map(|_| draw.of(&names)).collect();
        version += &format!("-{}", names.join("."));
    }
    if draw.one_in(4) {
        version += "+build.7";
    }
    version
}

/// The order of two values of a form.
pub fn compare(form: Form, a: &str, b: &str) -> Ordering {
    match form {
        Form::Amount { .. } => amount_of(a).cmp(&amount_of(b)),
        Form::Size => size_of(a).cmp(&size_of(b)),
        Form::Hexadecimal => hexadecimal_of(a).cmp(&hexadecimal_of(b)),
        Form::Address => address_of(a).cmp(&address_of(b)),
        Form::Version => compare_versions(a, b),
        Form::Length => a.chars().count().cmp(&b.chars().count()),
        _ => date_of(a).cmp(&date_of(b)),
    }
}

/// A plain number times 10^40.
fn scaled(number: &str) -> BigInt {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    format!("{whole}{fraction:0<40}").parse().unwrap()
}

fn amount_of(text: &str) -> BigInt {
    let is_below = text.starts_with(['-', '(']);
    let number: String = text
        .chars()
        .filter(|letter| letter.is_ascii_digit() || *letter == '.')
        .collect();
    let number: BigInt = scaled(&number) / if text.contains('%') { 100 } else { 1 };
    if is_below { -number } else { number }
}

fn size_of(text: &str) -> BigInt {
    let end = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.');
    let (number, unit) = text.split_at(end.unwrap_or(text.len()));
    let (base, power) = match unit.trim() {
        "" | "B" => (1, 0),
        "K" | "k" => (1024, 1),
        "kB" => (1000, 1),
        "MB" => (1000, 2),
        "MiB" => (1024, 2),
        "Gi" => (1024, 3),
        "T" => (1024, 4),
        _ => (1024, 10),
    };
    scaled(number) * BigInt::from(base).pow(power)
}

fn hexadecimal_of(text: &str) -> BigInt {
    let digits = text.trim_start_matches(['-', '+']).to_ascii_lowercase();
    let digits = digits.strip_prefix("0x").unwrap_or(&digits);
    let number = BigInt::parse_bytes(digits.as_bytes(), 16).unwrap();
    if text.starts_with('-') {
        -number
    } else {
        number
    }
}

fn address_of(text: &str) -> (IpAddr, u8) {
    let (address, mask) = text.split_once('/').unwrap_or((text, "200"));
    let address: IpAddr = address.parse().unwrap();
    let most = if address.is_ipv4() { 32 } else { 128 };
    (address, mask.parse::<u8>().unwrap().min(most))
}

fn compare_versions(a: &str, b: &str) -> Ordering {
    let parts = |version: &str| {
        let version = version
            .trim_start_matches('v')
            .split('+')
            .next()
            .unwrap()
            .to_owned();
        let (numbers, names) = match version.split_once('-') {
            None => (version.as_str(), None),
            Some((numbers, names)) => (numbers, Some(names)),
        };
        let mut numbers: Vec<u64> = numbers
            .split('.')
            .map(|part| part.parse().unwrap())
            .collect();
        numbers.resize(8, 0);
        let names = names.map(|names| names.split('.').map(str::to_owned).collect::<Vec<_>>());
        (numbers, names)
    };
    let ((a, x), (b, y)) = (parts(a), parts(b));
    let part = |a: &String, b: &String| match (a.parse::<u64>(), b.parse::<u64>()) {
        (Ok(a), Ok(b)) => a.cmp(&b),
        (Ok(_), Err(_)) => Ordering::Less,
        (Err(_), Ok(_)) => Ordering::Greater,
        (Err(_), Err(_)) => a.cmp(b),
    };
    a.cmp(&b).then(match (x, y) {
        (None, None) => Ordering::Equal,
        (None, Some(_)) => Ordering::Greater,
        (Some(_), None) => Ordering::Less,
        (Some(x), Some(y)) => {
            let mut pairs = x.iter().zip(&y).map(|(a, b)| part(a, b));
            let first = pairs.find(|ordering| ordering.is_ne());
            first.unwrap_or(x.len().cmp(&y.len()))
        }
    })
}

/// The year, the month, the day and the minutes.
fn date_of(text: &str) -> (u32, u32, u32, u32) {
    let of_year = |year: u32| match year {
        0..69 => 2000 + year,
        69..100 => 1900 + year,
        _ => year,
    };
    let words: Vec<&str> = text
        .split([' ', '/', '.', ',', ':'])
        .filter(|word| !word.is_empty())
        .collect();
    let number = |word: &str| word.parse::<u32>().unwrap();
    let month = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep",
    ];
    match words[..] {
        [name, day, year] if name.starts_with(char::is_alphabetic) => {
            let name = &name.to_ascii_lowercase()[..3];
            let month = month.iter().position(|month| *month == name).unwrap() as u32 + 1;
            (of_year(number(year)), month, number(day), 0)
        }
        [day, month, year] => (of_year(number(year)), number(month), number(day), 0),
        [day, month, year, hour, minute] => {
            let minutes = 60 * number(hour) + number(minute);
            (of_year(number(year)), number(month), number(day), minutes)
        }
        _ => panic!("{text}"),
    }
}
