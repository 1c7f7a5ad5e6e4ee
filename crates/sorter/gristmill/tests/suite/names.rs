//! Names of files: relative ones mean the directory in which the sort began, and no name is special.

use std::env::set_current_dir;
use std::fs;

use gristmill::{Error, Format, Sorter};

use crate::{SMALL, files, records};

/// One test, since a process has one directory.
#[test]
fn relative_names_are_those_of_the_beginning() {
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    set_current_dir(first.path()).unwrap();
    fs::create_dir("spill").unwrap();
    let sorter = Sorter::new(Format::fixed(100)).memory(SMALL);
    let mut feed = sorter.temporary("spill").start().unwrap();
    fs::write("in", "b\na\n").unwrap();
    let read = Sorter::new(Format::lines()).read_files(["in"]).unwrap();
    set_current_dir(second.path()).unwrap();
    feed.push_all(records(200_000)).unwrap();
    assert!(!files(&first.path().join("spill")).is_empty());
    set_current_dir("/").unwrap();
    drop(feed);
    assert!(files(&first.path().join("spill")).is_empty());
    assert_eq!(read.read_to_vec().unwrap(), b"a\nb\n");
    assert!(files(second.path()).is_empty());

    // A library has no standard streams: this is a file.
    set_current_dir(first.path()).unwrap();
    let lines = || Sorter::new(Format::lines());
    lines().sort_files(["in"], "-").unwrap();
    assert_eq!(fs::read("-").unwrap(), b"a\nb\n");
    let read = lines().read_files(["-"]).unwrap();
    read.write_file("again").unwrap();
    lines().merge_files(["-", "again"], "-").unwrap();
    assert_eq!(fs::read("-").unwrap(), b"a\na\nb\nb\n");
    assert_eq!(lines().check_file("-").unwrap(), None);
    lines().read_files(["in"]).unwrap().write_file("-").unwrap();
    assert_eq!(fs::read("-").unwrap(), b"a\nb\n");
    assert_eq!(files(first.path()), ["-", "again", "in", "spill"]);
    set_current_dir("/").unwrap();
}

/// Pushed records come from no stream and no file.
#[test]
fn messages_about_pushed_records_name_no_stream() {
    let wrong: [(&str, Option<&str>, &str, &str); 6] = [
        ("csv", Some("a:num"), "a,b\n1,2\nx,3\n", "num"),
        ("csv", Some("c"), "a,b\n1,2\n", "c"),
        ("csv", Some("a"), "a,b\n1\n", "column"),
        ("tsv", Some("b:date"), "a\tb\n1\tnever\n", "date"),
        ("jsonl", Some("a"), "{\"a\":1}\n{\"a\":\n", "EOF"),
        ("csv", Some("a"), "a,a\n1,2\n", "a"),
    ];
    for (format, key, text, about) in wrong {
        let format = key.into_iter().fold(Format::named(format), Format::key);
        let mut feed = Sorter::new(format).start().unwrap();
        feed.push_reader(text.as_bytes()).unwrap();
        match feed.finish().unwrap().read_to_vec() {
            Err(Error::Input { what, file, .. }) => {
                assert!(what.starts_with("the pushed records"), "{what}");
                assert!(what.contains(about) && !what.contains("standard"), "{what}");
                assert_eq!(file, None, "{what}");
            }
            other => panic!("{text}: {other:?}"),
        }
    }
}

#[test]
fn a_key_that_is_too_long_is_no_record_that_is() {
    let keyed = |key: usize| {
        let sorter = Sorter::new(Format::lines()).memory(SMALL).longest(100_000);
        let mut feed = sorter.by_key(move |_| vec![b'k'; key]).start().unwrap();
        feed.push_all(["b", "a"])?;
        feed.finish()?.read_to_vec()
    };
    assert_eq!(keyed(4000).unwrap(), b"b\na\n");
    let refused = keyed(300_000).unwrap_err().to_string();
    assert!(
        refused.contains("with the key that a function makes of it, is longer than"),
        "{refused}"
    );
}
