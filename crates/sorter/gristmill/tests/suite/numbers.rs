//! Numbers of every size in every call: each is taken, or refused with what to do.

use std::num::NonZero;

use gristmill::gensort::Records;
use gristmill::{Error, Format, Sorter};

/// Edges of ranges, and more than any machine has.
const NUMBERS: [u64; 12] = [
    0,
    1,
    2,
    255,
    1 << 31,
    1 << 32,
    (1 << 40) + 1,
    1 << 46,
    1 << 62,
    i64::MAX as u64,
    u64::MAX - 4096,
    u64::MAX,
];

/// Sorts two lines, pushed and from a file; the result is theirs, or says what to do.
#[track_caller]
fn sorts_or_refuses(case: &str, sorter: impl Fn() -> Sorter) {
    let place = tempfile::tempdir().unwrap();
    let (file, out) = (place.path().join("in"), place.path().join("out"));
    std::fs::write(&file, "b\na\n").unwrap();
    let pushed = || {
        let mut feed = sorter().start()?;
        feed.push_all(["b", "a"])?;
        feed.finish()?.read_to_vec()
    };
    let sorted = || {
        sorter().sort_files([&file], &out)?;
        Ok(std::fs::read(&out)?)
    };
    let merged = || {
        sorter().merge_files([&out, &out], &out)?;
        Ok(b"a\nb\n".to_vec())
    };
    let read = || sorter().read_files([&file])?.read_to_vec();
    let checked = || {
        sorter().check_file(&file)?;
        Ok(b"a\nb\n".to_vec())
    };
    let ways: [&dyn Fn() -> Result<Vec<u8>, Error>; 5] =
        [&pushed, &sorted, &merged, &read, &checked];
    for (number, way) in ways.iter().enumerate() {
        match way() {
            Ok(all) => assert!(
                b"a\nb\n".starts_with(&all) && !all.is_empty(),
                "{case}: {all:?}"
            ),
            Err(Error::Options(what) | Error::Memory(what)) => {
                assert!(what.contains(' '), "{case}, {number}: {what}");
            }
            // An output that could not be made is not there to be merged.
            Err(Error::File { .. }) if number == 2 => {}
            Err(error) => panic!("{case}, {number}: {error:?}"),
        }
    }
}

#[test]
fn each_number_is_taken_or_refused() {
    let lines = || Sorter::new(Format::lines());
    for number in NUMBERS {
        sorts_or_refuses(&format!("memory {number}"), || lines().memory(number));
        sorts_or_refuses(&format!("top {number}"), || lines().top(number));
        let size = number as usize;
        sorts_or_refuses(&format!("longest {number}"), || lines().longest(size));
        if let Some(threads) = NonZero::new(size) {
            sorts_or_refuses(&format!("threads {number}"), || lines().threads(threads));
        }
    }
}

/// Options together: sums and products of them overflow nothing.
#[test]
fn numbers_together_are_taken_or_refused() {
    for memory in NUMBERS {
        for longest in NUMBERS {
            let case = format!("memory {memory}, longest {longest}");
            let sorter = || {
                let sorter = Sorter::new(Format::lines()).memory(memory).top(u64::MAX);
                sorter
                    .longest(longest as usize)
                    .threads(NonZero::<usize>::MAX)
            };
            sorts_or_refuses(&case, sorter);
            let mut feed = match sorter().by_key(|line| line.len()).start() {
                Ok(feed) => feed,
                Err(error) => {
                    assert!(
                        matches!(error, Error::Options(_) | Error::Memory(_)),
                        "{error:?}"
                    );
                    continue;
                }
            };
            let pushed = feed
                .push_all(["b", "a"])
                .and_then(|()| feed.finish()?.read_to_vec());
            match pushed {
                Ok(all) => assert_eq!(all, b"b\na\n", "{case}"),
                Err(error) => assert!(matches!(error, Error::Memory(_)), "{case}: {error:?}"),
            }
        }
    }
}

/// Numbers in the words of formats and keys.
#[test]
fn numbers_of_formats_and_keys_are_taken_or_refused() {
    let mut numbers: Vec<String> = NUMBERS.iter().map(u64::to_string).collect();
    numbers.extend(["-1", "99999999999999999999", "1e9", "0x10", " 1", "+1"].map(str::to_owned));
    let refuses = |format: Format| {
        let case = format!("{format:?}");
        let mut feed = match Sorter::new(format).start() {
            Ok(feed) => feed,
            Err(Error::Options(what) | Error::Memory(what)) => {
                return assert!(what.contains(' '), "{case}: {what}");
            }
            Err(error) => panic!("{case}: {error:?}"),
        };
        let pushed = feed
            .push(b"\0\0\0\x01a")
            .and_then(|()| feed.finish()?.read_to_vec());
        match pushed {
            Ok(all) => assert!(!all.is_empty(), "{case}"),
            Err(Error::Memory(_) | Error::Record { .. } | Error::Input { .. }) => {}
            Err(error) => panic!("{case}: {error:?}"),
        }
    };
    for number in &numbers {
        refuses(Format::named(&format!("fixed:{number}")));
        refuses(Format::named(&format!("varlen:{number}")));
        refuses(Format::named(&format!("varlen:u{number}be")));
        refuses(Format::fixed(5).key(number));
        for other in &numbers {
            refuses(Format::fixed(5).key(&format!("{number}+{other}")));
            refuses(Format::fixed(5).key(&format!("{number}+{other}:u32le:desc")));
            refuses(Format::named("varlen:u32be").key(&format!("{number}+{other}")));
            refuses(Format::lines().key(&format!("{number}.{other}")));
            refuses(Format::lines().key(&format!("{number}.{other},{other}.{number}n")));
            refuses(
                Format::named("csv")
                    .without_header()
                    .key(&format!("#{number}")),
            );
            refuses(Format::named("jsonl").key(&format!("$.a[{number}]")));
        }
    }
    for number in NUMBERS {
        refuses(Format::fixed(number as usize));
    }
    refuses(Format::fixed(usize::MAX).key(&format!("{0}+{0}", usize::MAX)));
}

#[test]
fn records_have_any_number() {
    for first in [0, 1, u128::from(u64::MAX), u128::MAX - 1, u128::MAX] {
        assert_eq!(Records::ascii(first).take(3).count(), 3);
        assert_eq!(Records::binary(first).take(3).count(), 3);
    }
}
