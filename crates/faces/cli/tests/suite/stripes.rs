//! `--stripe`: temporary files on real directories, of which one is lost.

use std::fs::{self, File};
use std::io::Read;
use std::process::{Child, Stdio};

use crate::common::{Place, RECORD_BYTES, Ran, sorted};

const RECORDS: u64 = 200_000;
const LOST: usize = 2;

fn sort(place: &Place, options: &str) -> String {
    let directories = (0..4).map(|number| format!("s{number}"));
    for directory in directories.clone() {
        fs::create_dir_all(place.path(&directory)).unwrap();
    }
    let named: Vec<String> = directories.map(|name| format!("-T {name}")).collect();
    let named = named.join(" ");
    format!("sort --format gensort --parallel 2 -S 12M --stripe 3+1 {named} {options} in")
}

/// Files of the directories.
fn spilled(place: &Place, number: usize) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(place.path(&format!("s{number}"))).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

/// A sort whose output waits in a pipe: phase two has begun.
fn in_phase_two(place: &Place, options: &str) -> (Child, Vec<u8>) {
    let mut command = place.command(&sort(place, options));
    let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut first = vec![0; RECORD_BYTES];
    let output = child.stdout.as_mut().unwrap();
    output.read_exact(&mut first).unwrap();
    (child, first)
}

#[test]
fn files_of_a_directory_are_cut_and_removed_in_phase_two() {
    let place = Place::with_records(RECORDS);
    let expected = sorted(&place.read("in"), RECORD_BYTES);
    for options in [
        "--plan two-pass",
        "--plan merge",
        "--compress lz4 --plan two-pass",
    ] {
        let (mut child, mut output) = in_phase_two(&place, &format!("{options} --report report"));
        let lost = spilled(&place, LOST);
        // Data and parity, of each generation of partitions.
        let count = lost.len();
        assert!(count >= 2 && count.is_multiple_of(2), "{options}: {lost:?}");
        for file in &lost {
            File::options()
                .write(true)
                .open(file)
                .unwrap()
                .set_len(0)
                .unwrap();
        }
        let mut more = vec![0; RECORD_BYTES * RECORDS as usize / 4];
        child
            .stdout
            .as_mut()
            .unwrap()
            .read_exact(&mut more)
            .unwrap();
        output.extend(more);
        lost.iter().for_each(|file| fs::remove_file(file).unwrap());
        child
            .stdout
            .take()
            .unwrap()
            .read_to_end(&mut output)
            .unwrap();
        let ran = Ran::from(child.wait_with_output().unwrap()).succeeded();
        assert!(output == expected, "{options}");
        let told = ran
            .err
            .matches("rebuilt from the other directories")
            .count();
        assert_eq!(told, 1, "{options}: {}", ran.err);
        let report: serde_json::Value = serde_json::from_slice(&place.read("report")).unwrap();
        let rebuilt = &report["stripes"]["rebuilt"];
        assert_eq!(rebuilt.as_array().unwrap().len(), 1, "{options}: {rebuilt}");
        assert_eq!(rebuilt[0]["directory"], format!("s{LOST}"), "{options}");
        assert!(
            rebuilt[0]["bytes"].as_u64() > Some(100_000),
            "{options}: {rebuilt}"
        );
        assert_eq!(report["warnings"][0]["kind"], "rebuilt", "{options}");
        for number in 0..4 {
            assert_eq!(
                spilled(&place, number),
                [] as [std::path::PathBuf; 0],
                "{options}"
            );
        }
    }
}

#[test]
fn a_second_directory_that_is_cut_ends_the_sort() {
    let place = Place::with_records(RECORDS);
    let (mut child, _) = in_phase_two(&place, "--plan two-pass");
    for file in spilled(&place, 0).iter().chain(&spilled(&place, 1)) {
        File::options()
            .write(true)
            .open(file)
            .unwrap()
            .set_len(0)
            .unwrap();
    }
    let mut rest = Vec::new();
    child.stdout.take().unwrap().read_to_end(&mut rest).unwrap();
    let ran = Ran::from(child.wait_with_output().unwrap());
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.contains("does not read back"), "{}", ran.err);
}

#[test]
fn stripes_are_refused_that_do_not_fit() {
    let place = Place::with_records(10);
    for name in ["a", "b", "c"] {
        fs::create_dir_all(place.path(name)).unwrap();
    }
    for (options, says) in [
        ("--stripe 3", "give K+1"),
        ("--stripe 0+1", "give K+1"),
        ("--stripe 2+2", "give K+1"),
        ("--stripe 2+1", "needs 3 directories"),
        ("--stripe 2+1 -T a -T b", "name 3 with -T, not 2"),
        ("--stripe 1+1 -T a -T a", "on disks of their own"),
        ("--stripe 2+1 -T a -T b -T c --resume", "--resume saves"),
        (
            "--stripe 2+1 -T a -T b -T c --spill-layout preallocated",
            "leave --spill-layout",
        ),
    ] {
        let ran = place.run(&format!("sort --format gensort {options} in -o out"));
        assert_eq!(ran.code, 2, "{options}: {}", ran.err);
        assert!(
            ran.complaint().contains(says),
            "{options}: {}",
            ran.complaint()
        );
        assert!(!place.path("out").exists(), "{options}");
    }
    let ran = place
        .run("sort --format gensort --stripe 1+1 -T a -T b in -o out")
        .succeeded();
    assert!(
        ran.err.contains("2 directories of -T are on 1"),
        "{}",
        ran.err
    );
}
