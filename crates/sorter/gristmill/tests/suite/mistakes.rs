//! Options and records that are refused, and sorts that have failed.

use std::fs;
use std::io::{self, BufReader, repeat};

use gristmill::{Error, Format, Sorter, Watch};

use crate::{SMALL, records};

#[track_caller]
fn refusal(sorter: Sorter) -> String {
    match sorter.start() {
        Err(Error::Options(what) | Error::Memory(what)) => what,
        Err(error) => panic!("{error:?}"),
        Ok(_) => panic!("it was taken"),
    }
}

#[test]
fn options_that_make_no_sense_are_refused() {
    let sorter = || Sorter::new(Format::lines());
    assert!(refusal(sorter().top(0)).contains("at least one record"));
    assert!(refusal(sorter().longest(0)).contains("at least one byte"));
    assert!(refusal(sorter().longest(usize::MAX)).contains("does not fit in 268.4 MB"));
    let keys = |format: Format| Sorter::new(format).by_key(|record| record.len());
    assert!(refusal(keys(Format::lines().key("2"))).contains("leave those of the format out"));
    assert!(refusal(keys(Format::lines()).top(0)).contains("at least one record"));
    let formats = [
        Format::named("fixed:10").separator(b','),
        Format::named("tsv").separator(b','),
        Format::named("csv").delimiter(0),
        Format::named("fixed:10").delimiter(0),
        Format::lines().without_header(),
        Format::named("jsonl").without_header(),
    ];
    for format in formats {
        assert!(refusal(Sorter::new(format)).contains("leave"));
    }
    // All of the memory there is.
    let mut feed = sorter().memory(u64::MAX).start().unwrap();
    feed.push_all(["b", "a"]).unwrap();
    assert_eq!(feed.finish().unwrap().read_to_vec().unwrap(), b"a\nb\n");
}

#[test]
fn a_sort_that_has_failed_stays_so() {
    let failed = || {
        let watch = Watch::new();
        let sorter = Sorter::new(Format::fixed(100)).memory(SMALL);
        let mut feed = sorter.watch(&watch).start().unwrap();
        feed.push_all(records(100_000)).unwrap();
        watch.stop();
        while feed.push_all(records(1000)).is_ok() {}
        assert!(matches!(feed.push(&[0; 100]), Err(Error::Stopped)));
        feed.finish().unwrap()
    };
    let mut sorted = failed();
    for _ in 0..3 {
        assert!(matches!(sorted.next(), Err(Error::Stopped)));
        assert!(matches!(sorted.try_next(), Ok(None)));
    }
    assert!(sorted.report().is_none());
    assert!(matches!(sorted.write_to(io::sink()), Err(Error::Stopped)));
    assert!(matches!(failed().read_to_vec(), Err(Error::Stopped)));
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("out");
    assert!(matches!(failed().write_file(&file), Err(Error::Stopped)));
    assert!(!file.exists());
}

#[test]
fn a_sort_is_stopped_before_it_has_begun() {
    let watch = Watch::new();
    let mut feed = Sorter::new(Format::lines()).watch(&watch).start().unwrap();
    feed.push(b"a").unwrap();
    watch.stop();
    assert!(!feed.try_push(b"b").unwrap());
    assert!(matches!(feed.push(b"b"), Err(Error::Stopped)));
    assert!(matches!(
        feed.finish().unwrap().read_to_vec(),
        Err(Error::Stopped)
    ));
}

#[test]
fn a_line_without_an_end_is_refused() {
    let mut feed = Sorter::new(Format::lines()).memory(SMALL).start().unwrap();
    let refused = feed.push_reader(BufReader::new(repeat(b'x'))).unwrap_err();
    assert!(matches!(refused, Error::Memory(_)), "{refused}");
}

/// The longest record is as long as its option says, with a key beside it.
#[test]
fn the_longest_record_has_a_key_too() {
    let sorter = Sorter::new(Format::fixed(300_000)).longest(300_000);
    let mut feed = sorter.by_key(|record| record[0]).start().unwrap();
    for first in [2, 1] {
        feed.push(&[first; 300_000]).unwrap();
    }
    let mut sorted = feed.finish().unwrap();
    assert_eq!(sorted.next().unwrap().unwrap()[0], 1);
    assert_eq!(sorted.next().unwrap().unwrap()[0], 2);
}

#[test]
fn errors_name_the_file() {
    let place = tempfile::tempdir().unwrap();
    let path = |name| place.path().join(name);
    fs::write(path("torn"), "abcde").unwrap();
    fs::write(path("fine"), "ab").unwrap();
    let by_key = || Sorter::new(Format::fixed(2)).by_key(|record| record[0]);
    match by_key().sort_files([path("torn")], path("out")) {
        Err(Error::Input { what, file, .. }) => {
            assert_eq!(file, Some(path("torn")));
            assert!(what.contains("torn: record 3"), "{what}");
        }
        other => panic!("{other:?}"),
    }
    for sorter in [by_key(), Sorter::new(Format::fixed(2))] {
        match sorter.sort_files([place.path()], path("out")) {
            Err(Error::File { file, cause, .. }) => {
                assert_eq!(file, place.path());
                assert_eq!(cause.kind(), io::ErrorKind::IsADirectory);
            }
            other => panic!("{other:?}"),
        }
    }
    match Sorter::new(Format::fixed(2)).sort_files([path("fine")], place.path()) {
        Err(Error::File { file, .. }) => assert_eq!(file, place.path()),
        other => panic!("{other:?}"),
    }
}

/// Options have the names that callers of the library know.
#[test]
fn messages_name_no_option_of_the_command() {
    let place = tempfile::tempdir().unwrap();
    let path = |name| place.path().join(name);
    fs::write(path("torn"), "abcde").unwrap();
    fs::write(path("falling"), "b\na\n").unwrap();
    fs::write(path("long"), "x".repeat(1 << 20)).unwrap();
    let lines = || Sorter::new(Format::lines());
    let out = path("out");
    let failures = [
        Sorter::new(Format::fixed(2)).sort_files([path("torn")], &out),
        Sorter::new(Format::named("varlen:u32be")).sort_files([path("torn")], &out),
        lines().merge_files([path("falling"), path("falling")], &out),
        lines().memory(1000).sort_files([path("long")], &out),
        lines().memory(SMALL).sort_files([path("long")], &out),
    ];
    for failure in failures {
        let words = failure.unwrap_err().to_string();
        for option in [" -S", " -T", " -m", "--"] {
            assert!(!words.contains(option), "{words}");
        }
    }
}

/// A record or a key that no sort of that memory takes is refused before it is copied.
#[test]
fn a_record_beyond_the_memory_is_refused_at_once() {
    let long = vec![b'a'; 300_000];
    let lines = || Sorter::new(Format::lines()).memory(16 << 20);
    let mut feed = lines().start().unwrap();
    let refused = feed.push(&long).unwrap_err().to_string();
    assert!(
        refused.starts_with("record 1 is longer than 65.5 KB"),
        "{refused}"
    );
    let refused = feed.push_reader(&long[..]).unwrap_err().to_string();
    assert!(
        refused.starts_with("record 1 is longer than 65.5 KB"),
        "{refused}"
    );
    feed.push(b"b").unwrap();
    assert_eq!(feed.finish().unwrap().read_to_vec().unwrap(), b"b\n");
    let mut feed = lines()
        .by_key(move |_| "k".repeat(100_000))
        .start()
        .unwrap();
    let refused = feed.push(b"a").unwrap_err().to_string();
    let begins = "record 1, with the key that a function makes of it, is longer than 65.5 KB";
    assert!(refused.starts_with(begins), "{refused}");
    let mut feed = lines().longest(400_000).start().unwrap();
    feed.push(&long).unwrap();
    assert_eq!(feed.finish().unwrap().read_to_vec().unwrap().len(), 300_001);
}

/// A header is read apart, and may be longer than a row.
#[test]
fn a_long_header_is_no_long_record() {
    let columns: Vec<String> = (0..9_000)
        .map(|number| format!("column {number}"))
        .collect();
    let mut feed = Sorter::new(Format::named("csv").key("#1"))
        .memory(16 << 20)
        .start()
        .unwrap();
    let header = columns.join(",");
    feed.push(header.as_bytes()).unwrap();
    feed.push(",".repeat(8_999).as_bytes()).unwrap();
    let sorted = feed.finish().unwrap().read_to_vec().unwrap();
    assert_eq!(sorted.len(), header.len() + 1 + 9_000);
}

/// A slip must not cost a file, nor the rows that an earlier sort has set aside.
#[test]
fn rows_set_aside_replace_no_other_file() {
    let place = tempfile::tempdir().unwrap();
    let path = |name: &str| place.path().join(name);
    let bad = "b x\na 1\n";
    let write = |name: &str, text: &str| fs::write(path(name), text).unwrap();
    let sort = |input: &str, output: &str, aside: &str| {
        let sorter = Sorter::new(Format::lines().key("2:num"));
        let sorter = sorter.bad_records(path(aside));
        sorter.sort_files([path(input)], path(output))
    };
    let refused = |input: &str, output: &str, aside: &str| {
        let refused = sort(input, output, aside).unwrap_err().to_string();
        assert!(refused.contains("cannot set rows aside in"), "{refused}");
        refused
    };
    write("in", bad);
    write("mine", "{\"a\": 1}\n");
    assert!(refused("in", "out", "in").contains("it is an input"));
    std::os::unix::fs::symlink("in", path("link")).unwrap();
    assert!(refused("in", "out", "link").contains("it is an input"));
    assert!(refused("in", "out", "out").contains("it is the output"));
    assert!(refused("in", "out", "mine").contains("does not hold rows set aside"));
    assert_eq!(fs::read_to_string(path("in")).unwrap(), bad);
    assert!(!path("out").exists());
    sort("in", "out", "aside").unwrap();
    sort("in", "out", "aside").unwrap();
    let aside = fs::read_to_string(path("aside")).unwrap();
    assert!(aside.contains("\"b x\""), "{aside}");
    assert!(refused("aside", "out", "aside").contains("it is an input"));
    let told = refused("in", "in", "aside");
    assert!(told.contains("may be nowhere else"), "{told}");
    assert_eq!(fs::read_to_string(path("in")).unwrap(), bad);
    write("aside", "");
    assert_eq!(sort("in", "in", "aside").unwrap().set_aside, 1);
    assert_eq!(fs::read_to_string(path("in")).unwrap(), "a 1\n");
}
