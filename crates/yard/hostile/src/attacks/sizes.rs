//! Manifests that are far too long: refused in little memory.

use std::fs::{self, File};
use std::io;

use serde_json::json;

use crate::case::{Case, Output, Sorting};

/// Lengths of a written manifest and of a sparse one, which no set can need.
const WRITTEN_BYTES: usize = 20_000_000;
const SPARSE_BYTES: u64 = 1 << 30;

/// The memory limit of the sorts, and how much more may be resident.
const MEMORY: &str = "8M";
const MEMORY_BYTES: u64 = 8 << 20;
const MORE_BYTES: u64 = 96 << 20;

/// Gives a sort a set with such a manifest, as input or as the set to replace.
pub(super) fn manifests(case: &mut Case) -> io::Result<()> {
    let set = case.scene.own("set");
    fs::create_dir(&set)?;
    let path = set.join("manifest.json");
    match case.draw.u32(0..4) {
        0 => File::create(&path)?.set_len(SPARSE_BYTES)?,
        kind => fs::write(&path, long(kind))?,
    }
    let input = case.any_input();
    let (name, end) = case.pick(&[("set", "out"), ("in", "set/")]);
    let mut sorting = case.sorting(input, &["-S", MEMORY, "-o", end])?;
    let words = sorting.call.arguments.iter_mut();
    words
        .filter(|word| *word == "in")
        .for_each(|word| *word = name.into());
    if end == "set/" {
        sorting.output = Output::Set(vec![set]);
    }
    let ran = case.sort(&Sorting {
        expected: None,
        ..sorting
    })?;
    if ran.code() == Some(0) {
        case.fail("believed", "a manifest that is far too long");
    }
    if ran.peak_bytes > MEMORY_BYTES + MORE_BYTES {
        case.fail(
            "memory",
            format!("{} bytes were resident with -S {MEMORY}", ran.peak_bytes),
        );
    }
    Ok(())
}

/// A text that is not a manifest, one with very many files, or one with few files and much space.
fn long(kind: u32) -> Vec<u8> {
    let file = json!({ "path": "part-00000-deadbeef", "records": 0, "checksum": "0", "first_key": "", "last_key": "" });
    let count = if kind == 2 {
        WRITTEN_BYTES / file.to_string().len()
    } else {
        0
    };
    let manifest = json!({
        "gristmill_set": 1, "format": "fixed:100", "keys": ["0+10"], "stable": false, "record_bytes": 100,
        "records": 0, "checksum": "0", "directory": "", "files": vec![file; count],
    });
    let mut text = if kind == 1 {
        Vec::new()
    } else {
        manifest.to_string().into_bytes()
    };
    let fill = if kind == 1 { b'[' } else { b' ' };
    text.resize(WRITTEN_BYTES, fill);
    text
}
