//! Formats, keys and options.

use std::cmp::Reverse;

use gristmill::{Error, Format, Sorter};

fn sorted(sorter: Sorter, records: &[&str]) -> Vec<u8> {
    let mut feed = sorter.start().unwrap();
    feed.push_all(records).unwrap();
    feed.finish().unwrap().read_to_vec().unwrap()
}

#[test]
fn every_format_is_sorted() {
    let fields = Format::lines().separator(b',').key("2,2n").key("1,1");
    let lines = sorted(Sorter::new(fields), &["b,10", "a,9\n", "a,10"]);
    assert_eq!(lines, b"a,9\na,10\nb,10\n");
    let fixed = sorted(
        Sorter::new(Format::fixed(3).key("2+1")),
        &["ab2", "xx1", "aa3"],
    );
    assert_eq!(fixed, b"xx1ab2aa3");
    let rows = Format::named("csv").key("n:num:desc");
    let rows = sorted(Sorter::new(rows), &["n,text\n", "2,\"a\nb\"", "10,c"]);
    assert_eq!(rows, b"n,text\n10,c\n2,\"a\nb\"\n");
    let lengths = sorted(
        Sorter::new(Format::named("varlen:u8")),
        &["\x02bb", "\x01a", "\0"],
    );
    assert_eq!(lengths, b"\0\x01a\x02bb");
    let ends = sorted(Sorter::new(Format::lines().delimiter(0)), &["b\n", "a"]);
    assert_eq!(ends, b"a\0b\n\0");
}

#[test]
fn options_change_the_result() {
    let first = || Format::lines().key("1,1");
    let lines = ["b 2", "a 2", "b 1", "a 1"];
    assert_eq!(
        sorted(Sorter::new(first()), &lines),
        b"a 1\na 2\nb 1\nb 2\n"
    );
    let stable = Sorter::new(first().separator(b' ')).stable();
    assert_eq!(sorted(stable, &lines), b"a 2\na 1\nb 2\nb 1\n");
    let unique = Sorter::new(first().separator(b' ')).unique();
    assert_eq!(sorted(unique, &lines), b"a 2\nb 2\n");
    assert_eq!(sorted(Sorter::new(first()).top(1), &lines), b"a 1\n");
    let of_key = |lines: &[&str]| {
        let by_length = |line: &[u8]| Reverse(line.len());
        sorted(Sorter::new(Format::lines()).by_key(by_length), lines)
    };
    assert_eq!(of_key(&["a", "ccc", "bbb", "dd"]), b"ccc\nbbb\ndd\na\n");
    assert_eq!(of_key(&[]), b"");
}

#[test]
fn records_of_no_format_are_refused() {
    let refused = |format: Format, record: &[u8]| {
        let mut feed = Sorter::new(format).start().unwrap();
        feed.push(b"\x01a").unwrap();
        feed.push(record).unwrap_err().to_string()
    };
    let of = |name: &str, record: &[u8]| refused(Format::named(name), record);
    assert_eq!(
        of("fixed:2", b"abc"),
        "record 2: it has another length than the format says"
    );
    assert_eq!(
        of("varlen:u8", b"\x02a"),
        "record 2: it has another length than it says"
    );
    assert!(of("lines", b"a\nb").starts_with("record 2: it has bytes after its delimiter"));
    assert!(of("csv", b"\"a").starts_with("record 2: a quote in it is never closed"));
    let wrong = Sorter::new(Format::fixed(10).key("8+4")).start();
    assert!(matches!(wrong, Err(Error::Options(_))));
    let rows = Sorter::new(Format::named("csv"))
        .by_key(|row| row.len())
        .start();
    assert!(matches!(rows, Err(Error::Options(_))));
}

#[test]
fn files_are_sorted_by_their_format_or_a_key() {
    let place = tempfile::tempdir().unwrap();
    let path = |name: &str| place.path().join(name);
    std::fs::write(path("a"), "b\nccc\n").unwrap();
    std::fs::write(path("b"), "aa").unwrap();
    let inputs = || [path("a"), path("b")];
    let report = Sorter::new(Format::lines())
        .sort_files(inputs(), path("out"))
        .unwrap();
    assert_eq!((report.records, report.bytes, report.passes), (3, 9, 1));
    assert_eq!(std::fs::read(path("out")).unwrap(), b"aa\nb\nccc\n");
    let longest = || Sorter::new(Format::lines()).by_key(|line| Reverse(line.len()));
    longest().sort_files(inputs(), path("a")).unwrap();
    assert_eq!(std::fs::read(path("a")).unwrap(), b"ccc\naa\nb\n");
    let mut read = Sorter::new(Format::lines()).read_files(inputs()).unwrap();
    assert_eq!(read.next().unwrap(), Some(&b"aa\n"[..]));
    assert!(read.report().is_none());
    while read.next().unwrap().is_some() {}
    assert_eq!(read.report().unwrap().records, 4);
    let missing = longest().sort_files([path("no")], path("out")).unwrap_err();
    assert!(missing.to_string().contains("cannot open"), "{missing}");
    let Err(Error::File { file, cause, .. }) =
        Sorter::new(Format::lines()).sort_files([path("no")], path("out"))
    else {
        panic!("a file that is not there")
    };
    assert_eq!(
        (file, cause.kind()),
        (path("no"), std::io::ErrorKind::NotFound)
    );
    assert_eq!(crate::files(place.path()), ["a", "b", "out"]);
}
