//! Altered manifests. A set is sorted completely or refused in one line, and `valsort` finds the
//! faults that the sort refuses.

use std::path::{Path, PathBuf};

use crate::common::set::{check, content, driver, into_set, manifest};
use crate::common::{get, job, put, run, sorted};
use kernel::patterns::{Pattern, draw};
use record::{Order, Ties};
use rehearsal::Driver;
use serde_json::{Value, json};
use sort::Tuning;

const RECORDS: usize = 60;
const MANIFEST: &str = "/set/manifest.json";

/// A driver with a set of two files, and the sorted records.
fn with_set() -> (Driver, Vec<u8>) {
    let (driver, order) = (driver(1), Order::gensort(Ties::Record));
    let records = draw(Pattern::Uniform, 3, RECORDS, 100);
    put(&driver, "/in", &records);
    let mut job = into_set(&["/in"], &["/set", "/b"], &order);
    job.tuning = Tuning {
        unit_records: Some(20),
        buckets: Some(6),
        ..Tuning::default()
    };
    run(&driver, &job).unwrap();
    assert_eq!(manifest(&driver, "/set").files.len(), 2);
    (driver, sorted(&records, &order))
}

/// Sorts the set with this manifest. Returns the error; `None` if its records are the output.
fn sort_with(driver: &Driver, text: &[u8], records: &[u8]) -> Option<String> {
    put(driver, MANIFEST, text);
    put(driver, "/out", b"old");
    match run(
        driver,
        &job(&["/set"], "/out", &Order::gensort(Ties::Record)),
    ) {
        Ok(_) => {
            let text = String::from_utf8_lossy(text);
            assert!(
                get(driver, "/out").as_deref() == Some(records),
                "another output of {text}"
            );
            None
        }
        Err(failure) => {
            assert_eq!(
                get(driver, "/out").as_deref(),
                Some(&b"old"[..]),
                "{failure}"
            );
            Some(failure.to_string())
        }
    }
}

#[test]
fn a_wrong_total_is_refused_by_both() {
    let (driver, records) = with_set();
    let honest = manifest(&driver, "/set");
    let text = get(&driver, MANIFEST).unwrap();
    assert_eq!(sort_with(&driver, &text, &records), None);
    assert!(check(&driver, "/set").unwrap().is_right());
    let mut lies = vec![honest.clone(), honest.clone(), honest.clone()];
    lies[0].records += 1;
    lies[1].records = u64::MAX;
    lies[2].checksum = format!("1{}", honest.checksum);
    for lie in lies {
        let text = serde_json::to_vec(&lie).unwrap();
        let failure = sort_with(&driver, &text, &records).expect("it is refused");
        let what = format!("/set/manifest.json lists {} records", lie.records);
        assert!(
            failure.contains(&what) && failure.contains("its files have 60"),
            "{failure}"
        );
        let found = check(&driver, "/set").unwrap();
        let (file, said) = &found.wrong[0];
        assert_eq!(
            (file.as_path(), found.wrong.len()),
            (Path::new(MANIFEST), 1),
            "{said}"
        );
        assert!(failure.contains(said), "{failure}: {said}");
    }
}

/// Sums that overflow are wrong for any files.
#[test]
fn sums_do_not_overflow() {
    let (driver, records) = with_set();
    let mut lie = manifest(&driver, "/set");
    lie.files[0].records = u64::MAX;
    lie.files[1].records = RECORDS as u64 + 1;
    lie.files[0].checksum = "f".repeat(32);
    let text = serde_json::to_vec(&lie).unwrap();
    let failure = sort_with(&driver, &text, &records).expect("it is refused");
    assert!(
        failure.contains("its files have 18446744073709551676 with"),
        "{failure}"
    );
}

/// The paths of all values in a text.
fn values(value: &Value, path: &str, all: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            fields
                .iter()
                .for_each(|(name, value)| values(value, &format!("{path}/{name}"), all));
        }
        Value::Array(each) => {
            each.iter()
                .enumerate()
                .for_each(|(at, value)| values(value, &format!("{path}/{at}"), all));
        }
        _ => all.push(path.to_owned()),
    }
}

#[test]
fn no_value_makes_it_panic_or_lose_records() {
    let (driver, records) = with_set();
    let honest: Value = serde_json::from_slice(&get(&driver, MANIFEST).unwrap()).unwrap();
    let mut places = Vec::new();
    values(&honest, "", &mut places);
    let digits = "f".repeat(32);
    let others = [
        json!(0),
        json!(1),
        json!(-1),
        json!(u64::MAX),
        json!(1e300),
        json!(null),
        json!([]),
        json!(""),
        json!("0"),
        json!("+1"),
        json!("-1"),
        json!(digits),
        json!(format!("{digits}0")),
        json!("fixed:0"),
        json!("fixed:18446744073709551615"),
        json!("0+18446744073709551615"),
        json!("\u{e9}"),
    ];
    let (mut sorted, mut refused) = (0, 0);
    for place in &places {
        for other in &others {
            let mut text = honest.clone();
            *text.pointer_mut(place).unwrap() = other.clone();
            let failure = sort_with(&driver, &serde_json::to_vec(&text).unwrap(), &records);
            let is_validated = check(&driver, "/set").is_ok_and(|found| found.is_right());
            // Only the validator looks at first and last keys.
            assert!(
                failure.is_none() || !is_validated,
                "{place} {other}: {failure:?}"
            );
            let counts = if failure.is_some() {
                &mut refused
            } else {
                &mut sorted
            };
            *counts += 1;
        }
    }
    assert!(
        sorted > 50 && refused > 100,
        "{sorted} sorted, {refused} refused"
    );
}

#[test]
fn no_flipped_byte_makes_it_panic_or_lose_records() {
    let (driver, records) = with_set();
    let honest = get(&driver, MANIFEST).unwrap();
    assert_eq!(content(&driver, "/set"), records);
    let mut refused = 0;
    for at in 0..honest.len() {
        for bit in [0, 3, 7] {
            let mut text = honest.clone();
            text[at] ^= 1 << bit;
            refused += usize::from(sort_with(&driver, &text, &records).is_some());
        }
    }
    assert!(refused > honest.len(), "{refused} refused");
    let input = get(&driver, "/in").map(|bytes| bytes.len());
    assert_eq!(input, Some(RECORDS * 100));
    assert!(driver.disks(0).paths().contains(&PathBuf::from(MANIFEST)));
}
