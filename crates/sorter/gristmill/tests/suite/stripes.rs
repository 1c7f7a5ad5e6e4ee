//! Stripes of temporary files.

use std::fs::{self, File};
use std::num::NonZero;

use gristmill::{Error, Format, Sorter};

use crate::{files, records};

const RECORDS: u64 = 200_000;

fn blocks(number: usize) -> NonZero<usize> {
    NonZero::new(number).expect("some blocks")
}

#[test]
fn a_directory_of_a_stripe_may_be_lost() {
    let place = tempfile::tempdir().unwrap();
    let directory = |number: usize| place.path().join(number.to_string());
    let mut sorter = Sorter::new(Format::named("gensort"))
        .memory(16 << 20)
        .threads(blocks(2))
        .stripe(blocks(2));
    for number in 0..3 {
        fs::create_dir(directory(number)).unwrap();
        sorter = sorter.temporary(directory(number));
    }
    let mut feed = sorter.start().unwrap();
    feed.push_all(records(RECORDS)).unwrap();
    let sorted = feed.finish().unwrap();
    let names = files(&directory(1));
    assert!(!names.is_empty(), "nothing was spilled");
    for name in &names {
        let file = File::options().write(true).open(directory(1).join(name));
        file.unwrap().set_len(0).unwrap();
    }
    let mut output = Vec::new();
    let report = sorted.write_to(&mut output).unwrap();
    let mut expected: Vec<_> = records(RECORDS).collect();
    expected.sort_unstable();
    assert!(output == expected.concat());
    assert!(report.rebuilt_bytes > 0);
    assert!((0..3).all(|number| files(&directory(number)).is_empty()));
}

#[test]
fn stripes_need_a_directory_more_than_blocks() {
    let place = tempfile::tempdir().unwrap();
    let sorter = Sorter::new(Format::lines())
        .temporary(place.path())
        .stripe(blocks(2));
    let mut feed = sorter.start().unwrap();
    let ended = feed.push(b"a").and_then(|()| feed.finish()?.read_to_vec());
    let Err(Error::Options(what)) = ended else {
        panic!("{ended:?}")
    };
    assert!(what.contains("need 3 temporary directories"), "{what}");
}
