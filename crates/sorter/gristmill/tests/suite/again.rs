//! Sorts that begin again: a line that the first attempt did not expect is anywhere in the file, and
//! the caller gets each record once.

use std::fs;

use gristmill::{Error, Format, Sorter};

use crate::drawn::{Random, drain};
use crate::files;

/// Bytes before the line that is not expected.
const PLACES: [usize; 4] = [0, 1000, 300_000, 5_000_000];

/// The lines, which are in no order, with one of another kind among them; and the header.
fn text(header: &str, line: impl Fn(usize) -> String, other: &str, before: usize) -> Vec<String> {
    let mut lines = vec![header.to_owned()];
    let mut bytes = 0;
    let count = before / 12;
    for number in 0..count + 1000 {
        if bytes >= before && bytes != usize::MAX {
            lines.push(other.to_owned());
            bytes = usize::MAX;
        }
        let next = line(number.wrapping_mul(7919) % (count + 1000));
        bytes = bytes.saturating_add(next.len());
        lines.push(next);
    }
    lines.retain(|line| !line.is_empty());
    lines
}

/// Sorts the file in each way, with each memory.
fn check(case: &str, format: &dyn Fn() -> Format, lines: &[String], header: bool) {
    let place = tempfile::tempdir().unwrap();
    let [spill, file, out] = ["spill", "in", "out"].map(|name| place.path().join(name));
    fs::create_dir(&spill).unwrap();
    fs::write(&file, lines.concat()).unwrap();
    let mut expected: Vec<&String> = lines.iter().skip(usize::from(header)).collect();
    expected.sort_unstable();
    let mut all = if header {
        lines[0].clone()
    } else {
        String::new()
    };
    expected.into_iter().for_each(|line| all += line);
    let random = &mut Random(lines.len() as u64);
    for memory in [16_u64, 64, 256, 1024].map(|mib| mib << 20) {
        for top in [None, Some(u64::MAX)] {
            let sorter = || {
                let sorter = Sorter::new(format()).memory(memory).temporary(&spill);
                top.into_iter().fold(sorter, Sorter::top)
            };
            let read = || sorter().read_files([&file]);
            let got = match read().and_then(|sorted| drain(sorted, &out, random)) {
                Ok((got, report)) => {
                    let records = lines.len() - usize::from(header);
                    assert_eq!(report.records, records as u64, "{case}, {memory}");
                    got
                }
                // A line may be too long for the least memory.
                Err(Error::Memory(_)) if memory < 1 << 30 => continue,
                Err(error) => panic!("{case}, {memory}: {error}"),
            };
            assert!(
                got == all.as_bytes(),
                "{case}, {memory}: {} bytes of {}",
                got.len(),
                all.len()
            );
            sorter().sort_files([&file], &out).unwrap();
            assert!(
                fs::read(&out).unwrap() == all.as_bytes(),
                "{case}, {memory}, file"
            );
            assert!(files(&spill).is_empty());
        }
    }
}

#[test]
fn a_newline_in_quotes_is_found_anywhere() {
    let row = |number: usize| format!("{number:08},b\n");
    for before in PLACES {
        let lines = text("a,b\n", row, "5,\"x\ny\"\n", before);
        check(
            &format!("csv {before}"),
            &|| Format::named("csv"),
            &lines,
            true,
        );
        let lines = text("", row, "5,\"x\ny\"\n", before);
        let unnamed = || Format::named("csv").without_header();
        check(&format!("no header {before}"), &unnamed, &lines, false);
    }
    let few = ["a,b\n", "2,\"x\ny\"\n", "1,z\n"].map(str::to_owned);
    check("few", &|| Format::named("csv"), &few, true);
}

#[test]
fn a_long_line_is_found_anywhere() {
    let line = |number: usize| format!("{number:08}\n");
    let long = format!("5{}\n", "x".repeat(3_000_000));
    for before in PLACES {
        let lines = text("", line, &long, before);
        check(&format!("lines {before}"), &Format::lines, &lines, false);
        let rows = text(
            "a,b\n",
            |n| format!("{n:08},b\n"),
            &format!("5,{long}"),
            before,
        );
        check(
            &format!("csv {before}"),
            &|| Format::named("csv"),
            &rows,
            true,
        );
        let object = |number: usize| format!("{{\"a\":\"{number:08}\"}}\n");
        let long = format!("{{\"a\":\"{}\"}}\n", "x".repeat(3_000_000));
        let objects = text("", object, &long, before);
        check(
            &format!("jsonl {before}"),
            &|| Format::named("jsonl"),
            &objects,
            false,
        );
    }
}
