//! Sets with altered manifests: a sort into their directory, and a sort of their records.

use std::fs;
use std::io;
use std::path::PathBuf;

use serde_json::Value;

use crate::alter;
use crate::case::{Case, Output, Sorting, content_of_set, parts};

/// A set in its directories, and its records.
struct Set {
    directories: Vec<PathBuf>,
    parts: Vec<PathBuf>,
    content: Vec<u8>,
}

/// Alters the manifest of a set, and sorts another one in its place.
pub(super) fn replaced(case: &mut Case) -> io::Result<()> {
    let Some(set) = made(case)? else {
        return Ok(());
    };
    let manifest = set.directories[0].join("manifest.json");
    let text = fs::read(&manifest)?;
    fs::write(&manifest, altered(case, &text))?;
    let input = case.any_input();
    let plan = case.pick(&["two-pass", "merge", "auto"]);
    let sorting = case
        .sorting(input, &["-S", "8M", "--plan", plan])?
        .and(&targets(set.directories.len()));
    let output = Output::Set(set.directories);
    case.sort(&Sorting {
        output,
        old_parts: set.parts,
        ..sorting
    })?;
    Ok(())
}

/// Alters the manifest of a set, and sorts or validates its records.
pub(super) fn read(case: &mut Case) -> io::Result<()> {
    let Some(set) = made(case)? else {
        return Ok(());
    };
    let manifest = set.directories[0].join("manifest.json");
    let text = fs::read(&manifest)?;
    let bytes = altered(case, &text);
    fs::write(&manifest, &bytes)?;
    let says_so = |text: &[u8]| {
        serde_json::from_slice::<Value>(text)
            .ok()
            .map(|all| total(&all))
    };
    let is_files_same = parts(&set.directories[0]) == Some(set.parts.clone());
    let is_lie = is_files_same && says_so(&bytes).is_some_and(|told| Some(told) != says_so(&text));
    if case.draw.u32(0..3) == 0 {
        let call = case.call(&["valsort", "set"]);
        case.lines.push(call.line());
        let ran = call.run(&case.scene.place.join("said"), case.scene.limit)?;
        // It may report that the set is not in order.
        if let Some((what, detail)) = ran.wrong().filter(|_| ran.code() != Some(1)) {
            case.fail(what, detail);
        }
        return Ok(());
    }
    let input = case.any_input();
    let mut sorting = case.sorting(input, &["-S", "8M", "-o", "out"])?;
    sorting
        .call
        .arguments
        .iter_mut()
        .filter(|word| *word == "in")
        .for_each(|word| *word = "set".into());
    sorting.expected = is_files_same.then_some(set.content);
    let ran = case.sort(&sorting)?;
    if is_lie && ran.code() == Some(0) {
        case.fail(
            "believed",
            format!("a manifest that lies: {}", String::from_utf8_lossy(&bytes)),
        );
    }
    Ok(())
}

/// Makes a set by a sort.
fn made(case: &mut Case) -> io::Result<Option<Set>> {
    let input = case.any_input();
    let count = case.draw.usize(1..=3);
    let directories: Vec<PathBuf> = ["set", "b", "c"][..count]
        .iter()
        .map(|name| case.scene.own(name))
        .collect();
    let output = Output::Set(directories.clone());
    let sorting = case.sorting(input, &["-S", "8M"])?.and(&targets(count));
    case.sort(&Sorting {
        output,
        may_refuse: false,
        ..sorting
    })?;
    let (Some(parts), Some(content)) = (parts(&directories[0]), content_of_set(&directories[0]))
    else {
        return Ok(None);
    };
    Ok(Some(Set {
        directories,
        parts,
        content,
    }))
}

fn targets(count: usize) -> Vec<&'static str> {
    ["-o", "set/", "-o", "b/", "-o", "c/"][..2 * count].to_vec()
}

fn altered(case: &mut Case, text: &[u8]) -> Vec<u8> {
    let victim = case
        .scene
        .place
        .join("victim")
        .to_string_lossy()
        .into_owned();
    let part = case.pick(&[
        "part-00000-deadbeef",
        "part-00001-deadbeef",
        "part-00002-0badf00d",
        "data",
    ]);
    let outside = [
        format!("../../victim/{part}"),
        format!("{victim}/{part}"),
        format!("./../../victim/{part}"),
    ];
    match case.draw.u32(0..8) {
        0 => alter::with_flip(text, &mut case.draw),
        1 => alter::with_cut(text, &mut case.draw),
        2 => alter::with_number(text, &mut case.draw).unwrap_or_default(),
        3 => alter::with_path(text, &victim, &mut case.draw).unwrap_or_default(),
        4 => with_total(case, text),
        _ => with_listed(case, text, &outside),
    }
}

/// Alters the total of records or their checksum.
fn with_total(case: &mut Case, text: &[u8]) -> Vec<u8> {
    let mut manifest: Value = serde_json::from_slice(text).unwrap_or_default();
    if case.draw.bool() {
        let records = manifest["records"].as_u64().unwrap_or(0);
        manifest["records"] = (records + case.draw.u64(1..100)).into();
    } else {
        manifest["checksum"] = format!("{:x}", case.draw.u64(1..)).into();
    }
    serde_json::to_vec_pretty(&manifest).expect("a value")
}

/// Lists a file outside, in addition or in the place of a file of the set.
fn with_listed(case: &mut Case, text: &[u8], outside: &[String]) -> Vec<u8> {
    let mut manifest: Value = serde_json::from_slice(text).unwrap_or_default();
    let path = case.pick(outside);
    let is_added = case.draw.bool();
    if let Some(files) = manifest["files"]
        .as_array_mut()
        .filter(|files| !files.is_empty())
    {
        let at = case.draw.usize(0..files.len());
        if is_added {
            files.insert(at, files[at].clone());
        }
        files[at]["path"] = path.into();
    }
    serde_json::to_vec_pretty(&manifest).expect("a value")
}

/// The totals of a manifest (records and checksum), which reveal a lost file.
fn total(manifest: &Value) -> (Value, Value) {
    (manifest["records"].clone(), sum(&manifest["checksum"]))
}

/// The value of a checksum; upper-case digits are equivalent.
fn sum(text: &Value) -> Value {
    let number = u128::from_str_radix(text.as_str().unwrap_or_default(), 16);
    number.map_or(Value::Null, |number| number.to_string().into())
}
