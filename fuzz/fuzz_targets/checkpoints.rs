//! Checkpoints, on two simulated nodes: a sort that ended half way goes on from entries of which one was
//! altered under its seal. It gives the right output, or is refused and leaves the old one.

#![no_main]

#[path = "../../crates/sorter/sort/tests/suite/common/mod.rs"]
mod common;

use std::path::PathBuf;

use common::resumable::{Case, again, run};
use libfuzzer_sys::fuzz_target;
use machine::Driver;

const RANKS: u32 = 2;

fn sealed(path: &PathBuf, text: &[u8]) -> Vec<u8> {
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    let crc = kernel::block_crc(&[name, &[0], text].concat());
    [text, format!("\ngristmill-seal {crc:08x}\n").as_bytes()].concat()
}

/// The entries of a checkpoint, each with its text.
fn entries(driver: &Driver, rank: u32) -> Vec<(PathBuf, Vec<u8>)> {
    let paths = driver.disks(rank).paths().into_iter();
    let texts = paths.filter_map(|path| {
        let whole = driver.disks(rank).get(&path)?;
        let end = b"\ngristmill-seal ";
        let at = whole.windows(end.len()).rposition(|part| part == end)?;
        Some((path, whole[..at].to_vec()))
    });
    texts.collect()
}

fuzz_target!(|data: &[u8]| {
    let [seed, strike, which, place, removed, bytes @ ..] = data else {
        return;
    };
    let case = Case::new(u64::from(seed % 8), RANKS, 60);
    let driver = case.begin(1);
    driver.kill(u32::from(seed & 1), 1 + 16 * u64::from(*strike));
    let _ = run(&driver, &case.job);
    let all: Vec<_> = (0..RANKS)
        .flat_map(|rank| entries(&driver, rank).into_iter().map(move |it| (rank, it)))
        .collect();
    let Some((rank, (path, mut text))) = all.get(usize::from(*which) % all.len().max(1)).cloned()
    else {
        return;
    };
    let at = usize::from(*place) * text.len() / 256;
    let end = text.len().min(at + usize::from(*removed));
    text.splice(at..end, bytes.iter().copied());
    driver.disks(rank).put(&path, sealed(&path, &text));
    let next = again(&driver, 2, &[vec![0], vec![1]]);
    let ends = run(&next, &case.job);
    if ends.iter().all(Result::is_ok) {
        assert!(
            case.outputs(&next, RANKS) == Some(case.expected()),
            "another output"
        );
    }
});
