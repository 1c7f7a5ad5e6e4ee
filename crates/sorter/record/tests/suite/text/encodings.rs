//! Values in ascending order, for each way to read a key, each less than the next.

use std::cmp::Ordering;

use record::Ties;
use record::text::{KeyOptions, TextOrder};

fn order(letters: &str) -> TextOrder {
    let options: KeyOptions = letters.parse().unwrap();
    TextOrder::new(Vec::new(), options, None, Ties::Position, None).unwrap()
}

/// Checks each pair of classes; the values in a class are equal.
fn assert_ascending(letters: &str, classes: &[&[&str]]) {
    let order = order(letters);
    let values = classes.iter().enumerate();
    let values = values.flat_map(|(class, values)| values.iter().map(move |value| (class, value)));
    let values: Vec<_> = values.collect();
    for (x, a) in &values {
        for (y, b) in &values {
            let found = order.compare(a.as_bytes(), b.as_bytes());
            assert_eq!(found, x.cmp(y), "-{letters} \"{a}\" \"{b}\"");
            let words = |line: &str| {
                (0..order.most_words(line.len()))
                    .map(|depth| order.word(line.as_bytes(), depth))
                    .collect::<Vec<_>>()
            };
            let by_words = words(a)
                .iter()
                .chain(&[0; 9999])
                .take(9999)
                .cmp(words(b).iter().chain(&[0; 9999]).take(9999));
            assert_eq!(by_words, x.cmp(y), "words, -{letters} \"{a}\" \"{b}\"");
        }
    }
}

#[test]
fn decimal_numbers() {
    let nines = "9".repeat(100);
    let googol = format!("1{}", "0".repeat(100));
    let larger = format!("{googol}.001");
    let largest = "7".repeat(300);
    let least = format!("-{largest}");
    assert_ascending(
        "n",
        &[
            &[&least],
            &["-1000.5"],
            &["-1000", "-01000.000"],
            &["-999"],
            &["-12.0005"],
            &["-12"],
            &["-1.01"],
            &["-1"],
            &["-.5", "-0.50", "  -00.5x"],
            &["-.05"],
            &[
                "", "0", "-0", "x", "-", "0.00", "+7", "--7", " ", "-.", "-0.0e5",
            ],
            &["0.0001"],
            &[".5"],
            &["1", "01", "1.", "1e5", "1,000"],
            &["1.000001"],
            &["12"],
            &["12.0005"],
            &["120"],
            &["1205"],
            &[&nines],
            &[&googol],
            &[&larger],
            &[&largest],
        ],
    );
}

#[test]
fn numbers_with_units() {
    assert_ascending(
        "h",
        &[
            &["-1Y"],
            &["-2M"],
            &["-1M"],
            &["-1K", "-1k"],
            &["-9999"],
            &["0", "0K", "x", ".K"],
            &["1", "1m", "1r", "1 K"],
            &["9999"],
            &["1K", "1k", "1.K", "1Ki"],
            &["1.5K"],
            &["1M"],
            &["1G"],
            &["1T"],
            &["1P"],
            &["1E"],
            &["1Z"],
            &["1Y"],
            &["1R"],
            &["1Q"],
        ],
    );
    assert_ascending("hf", &[&["1"], &["1k"], &["1m", "1M"], &["1g", "1G"]]);
}

#[test]
fn floating_point_numbers() {
    assert_ascending(
        "g",
        &[
            &["", "x", ".", "-", "e5", "+-1", "in"],
            &["nan", "NaN()", "+nan(x)", "nan(08)"],
            &["-nan"],
            &["nan(1)"],
            &["nan(0x2)", "nan(2)"],
            &["nan(255)"],
            &["-inf", "-1e5000", "-Infinity"],
            &["-1.18973149535723176502e4932"],
            &["-1"],
            &["-0x.8p-16444"],
            &[
                "0",
                "-0",
                "0x",
                "0xg",
                "1e-5000",
                "0e9999999999999999999",
                "1.8e-4951",
                "-0x0p9",
            ],
            &["0x.8p-16444", "3.6e-4951", "1.9e-4951"],
            &["0x1p-16444", "0x1.8p-16445", "0x1.4p-16444"],
            &["0.1", "1e-1", "0.1000000000000000000001", "100e-3"],
            &[
                "1",
                "1e0",
                "0x1",
                "1e",
                "1e+",
                "1.0000000000000000000001",
                "+1",
                "\u{b} 1",
            ],
            &["1.0000000000000000002"],
            &["0x1.8", "1.5"],
            &["18446744073709551615", "0xffffffffffffffff"],
            &[
                "18446744073709551616",
                "18446744073709551617",
                "0x1p64",
                "18446744073709551615.5",
            ],
            &[
                "18446744073709551618",
                "18446744073709551617.0000000000000000000000000000000000001",
            ],
            &["1e300"],
            &["1.18973149535723176502e4932"],
            &[
                "inf",
                "INFINITYx",
                "1.2e4932",
                "1e99999999999999999999",
                "infinit",
            ],
        ],
    );
}

#[test]
fn many_digits_round_once() {
    // A tie between two extended numbers goes to the even one, until a digit far behind breaks it.
    let tie = "18446744073709551617";
    for zeros in [1, 100, 13_000, 30_000] {
        let zeros = "0".repeat(zeros);
        let digits = [
            format!("{tie}.{zeros}"),
            format!("{tie}.{zeros}1"),
            format!("{tie}{zeros}1e-{}", zeros.len() + 1),
        ];
        let above = b"18446744073709551618";
        let order = order("g");
        assert_eq!(
            order.compare(digits[0].as_bytes(), b"18446744073709551616"),
            Ordering::Equal
        );
        assert_eq!(order.compare(digits[1].as_bytes(), above), Ordering::Equal);
        assert_eq!(order.compare(digits[2].as_bytes(), above), Ordering::Equal);
        let small = format!("0.{zeros}1e{}", zeros.len() + 1);
        assert_eq!(order.compare(small.as_bytes(), b"1"), Ordering::Equal);
    }
}

#[test]
fn months() {
    assert_ascending(
        "M",
        &[
            &["", "x", "ja", "1", "dez"],
            &["jan", "  JANUARY", "Janus"],
            &["feb"],
            &["mar"],
            &["apr"],
            &["may"],
            &["jun"],
            &["jul"],
            &["aug"],
            &["sep"],
            &["oct"],
            &["nov"],
            &["dec", "\tdec"],
        ],
    );
}

#[test]
fn versions() {
    let long = format!("a{}", "1".repeat(300));
    let longer = format!("a{}", "1".repeat(301));
    assert_ascending(
        "V",
        &[
            &[""],
            &["."],
            &[".."],
            &[".a"],
            &[".1"],
            &["~"],
            &["0", "00"],
            &["1"],
            &["a~"],
            &["a", "a0", "a00"],
            &["a.b~"],
            &["a.b", "a.b0"],
            &["a1", "a01"],
            &["a1.b"],
            &["a1.2.3"],
            &["a1.10.3"],
            &["a9"],
            &["a10"],
            &[&long],
            &[&longer],
            &["ab"],
            &["a-"],
            &["b"],
        ],
    );
}

/// The lengths of long numbers follow in several bytes, the most significant first.
#[test]
fn long_numbers_compare_by_their_lengths() {
    use record::rows::{Dialect, RowOrder};
    use record::text::TextOrder;
    let lengths = [
        1, 6, 7, 8, 9, 18, 19, 100, 253, 254, 255, 256, 257, 300, 510, 511, 512, 513, 1_024,
        65_535, 65_536, 65_537,
    ];
    let mut orders = Vec::new();
    for (options, front) in [("V", "a"), ("V", "a1."), ("n", ""), ("h", "")] {
        let options = options.parse().unwrap();
        let order = TextOrder::new(Vec::new(), options, None, Ties::Position, None);
        orders.push((order.unwrap(), front));
    }
    for (kind, front) in [("natural", "a"), ("natural", ""), ("num", "")] {
        let key = format!("#1:{kind}").parse().unwrap();
        let order = RowOrder::new(Dialect::CSV, None, &[key], Ties::Position);
        orders.push((order.unwrap().text(), front));
    }
    for (order, front) in orders {
        // Shorter numbers have the larger digits.
        let number = |(place, &length): (usize, &usize)| {
            let digit = ["9", "8", "1"][(3 * place / lengths.len()).min(2)];
            format!("{front}{}", digit.repeat(length)).into_bytes()
        };
        let numbers: Vec<Vec<u8>> = lengths.iter().enumerate().map(number).collect();
        for (place, less) in numbers.iter().enumerate() {
            for more in &numbers[place + 1..] {
                let context = (less.len(), more.len(), front);
                assert!(order.compare(less, more).is_lt(), "{context:?} {order:?}");
                let word = order.first_difference(less, more, 0, u32::MAX / 2);
                let (less, more) = (order.word(less, word), order.word(more, word));
                assert!(less < more, "{context:?} {order:?}");
            }
        }
    }
}

#[test]
fn bytes_that_count() {
    assert_ascending(
        "d",
        &[&["", "-", "\x01"], &["a b", "a- b"], &["ab", "a-b", "(a)b"]],
    );
    assert_ascending("i", &[&["", "\x01\t"], &["-"], &["a\x7Fb", "ab"]]);
    assert_ascending("f", &[&["A", "a"], &["aB", "AB"], &["b"], &["["], &["{"]]);
    assert_ascending("df", &[&["a b", "A( b"], &["AB", "a-b"]]);
}
