//! Modes and owners of replaced files.

use std::fs::{self, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::PathBuf;

use crate::case::{Case, Output, Sorting, parts};
use crate::scene::FOREIGN;

const MODES: [u32; 9] = [
    0o600, 0o640, 0o444, 0o664, 0o755, 0o4755, 0o2755, 0o6711, 0o400,
];

/// Set-id bits, which no replacement has.
const SET_ID: u32 = 0o6000;

/// Write rights with which others would decide which files the next sort removes.
const OTHERS_WRITE: u32 = 0o022;

/// Replaces a file or a set of a drawn mode and owner.
pub(super) fn kept(case: &mut Case) -> io::Result<()> {
    let mode = case.pick(&MODES);
    let is_foreign = case.scene.is_root && case.draw.bool();
    let owner = is_foreign.then_some(FOREIGN);
    let input = case.any_input();
    match case.draw.u32(0..3) {
        0 => file(case, input, mode, owner, "in"),
        1 => file(case, input, mode, owner, "out"),
        _ => set(case, input, mode, owner),
    }
}

fn file(
    case: &mut Case,
    input: usize,
    mode: u32,
    owner: Option<u32>,
    name: &str,
) -> io::Result<()> {
    let target = case.scene.own(name);
    fs::write(&target, b"old")?;
    let plan = case.pick(&["two-pass", "merge", "auto"]);
    let sorting = case.sorting(input, &["-o", name, "-S", "8M", "--plan", plan])?;
    dress(std::slice::from_ref(&target), mode, owner)?;
    let before = fs::metadata(&target)?;
    // Only root can read a file without read rights.
    let may_refuse = !case.scene.is_root && name == "in";
    let ran = case.sort(&Sorting {
        output: Output::File(target.clone()),
        may_refuse,
        ..sorting
    })?;
    if ran.code() == Some(0) {
        compare(case, &before, &target, SET_ID)?;
    }
    Ok(())
}

fn set(case: &mut Case, input: usize, mode: u32, owner: Option<u32>) -> io::Result<()> {
    let directory = case.scene.own("set");
    let output = Output::Set(vec![directory.clone()]);
    let sorting = case.sorting(input, &["-o", "set/", "-S", "8M"])?;
    let sorting = Sorting {
        output,
        may_refuse: false,
        ..sorting
    };
    case.sort(&sorting)?;
    let old_parts = parts(&directory).unwrap_or_default();
    let manifest = directory.join("manifest.json");
    // Executable sets make no sense.
    let mode = mode & !0o111;
    dress(&old_parts, mode, owner)?;
    // A manifest is not believed if others may write it, or if its owner does not own the
    // directory.
    dress(std::slice::from_ref(&manifest), mode & !OTHERS_WRITE, owner)?;
    if owner.is_some() {
        chown(&directory, owner, owner)?;
    }
    let Some(part) = old_parts.first() else {
        return Ok(());
    };
    let (before, manifest_before) = (fs::metadata(part)?, fs::metadata(&manifest)?);
    let ran = case.sort(&Sorting {
        old_parts,
        may_refuse: !case.scene.is_root,
        ..sorting
    })?;
    if ran.code() == Some(0) {
        for part in parts(&directory).unwrap_or_default() {
            compare(case, &before, &part, SET_ID)?;
        }
        compare(case, &manifest_before, &manifest, SET_ID)?;
    }
    Ok(())
}

fn dress(paths: &[PathBuf], mode: u32, owner: Option<u32>) -> io::Result<()> {
    for path in paths {
        if owner.is_some() {
            chown(path, owner, owner)?;
        }
        fs::set_permissions(path, Permissions::from_mode(mode))?;
    }
    Ok(())
}

/// Checks the mode without these bits and, if the caller may set it, the owner.
fn compare(case: &mut Case, before: &Metadata, target: &PathBuf, lost: u32) -> io::Result<()> {
    let after = fs::metadata(target)?;
    let (old, new) = (before.mode() & 0o7777 & !lost, after.mode() & 0o7777);
    if old != new {
        let detail = format!(
            "{}: {:o} became {new:o}",
            target.display(),
            before.mode() & 0o7777
        );
        case.fail("mode", detail);
    }
    let (old, new) = ((before.uid(), before.gid()), (after.uid(), after.gid()));
    if old != new {
        case.fail(
            "owner",
            format!("{}: {old:?} became {new:?}", target.display()),
        );
    }
    Ok(())
}
