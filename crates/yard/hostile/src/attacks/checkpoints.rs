//! Checkpoints of an unfinished sort: altered, sealed again, given other paths, copied to another
//! sort's name.

use std::fs::{self, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};

use crate::alter;
use crate::case::{Case, Output, Sorting, own_names};
use crate::lists;
use crate::scene::{FOREIGN, Scene};
use crate::stash;

/// Longer than any entry of a sort.
const FAR_TOO_LONG: u64 = 900 << 20;

/// Alters one entry of an unfinished sort, and resumes the sort.
pub(super) fn altered(case: &mut Case) -> io::Result<()> {
    let Some(sorting) = resumed(case)? else {
        return Ok(());
    };
    let Some(path) = any_entry(case) else {
        return Ok(());
    };
    let text = fs::read(&path)?;
    let (json, was_sealed) = alter::unsealed(&text);
    let seal = |json: Vec<u8>| reseal(&path, json, was_sealed);
    let end = &text[json.len()..];
    match case.draw.u32(0..12) {
        0..=2 => fs::write(&path, alter::with_flip(&text, &mut case.draw))?,
        3 => fs::write(&path, alter::with_cut(&text, &mut case.draw))?,
        4 => fs::write(&path, seal(alter::with_flip(&json, &mut case.draw)))?,
        5 => fs::write(&path, seal(alter::with_cut(&json, &mut case.draw)))?,
        6 => swapped(case, &path, &json, was_sealed)?,
        7 => OpenOptions::new()
            .write(true)
            .open(&path)?
            .set_len(FAR_TOO_LONG)?,
        kind => {
            if let Some(json) = alter::with_number(&json, &mut case.draw) {
                let raw = [&json[..], end].concat();
                fs::write(&path, if kind == 8 { raw } else { seal(json) })?;
            }
        }
    }
    case.sort(&sorting)?;
    // In any case the same sort without the checkpoint must be right.
    afterwards(case, &sorting)
}

/// Alters a list of an entry, seals it again, and resumes the sort.
pub(super) fn with_lists(case: &mut Case) -> io::Result<()> {
    let Some(sorting) = resumed(case)? else {
        return Ok(());
    };
    let Some(path) = any_entry(case) else {
        return Ok(());
    };
    let (json, was_sealed) = alter::unsealed(&fs::read(&path)?);
    if let Some((json, how)) = lists::altered(&json, &mut case.draw) {
        fs::write(&path, reseal(&path, json, was_sealed))?;
        case.lines.push(format!("({}: {how})", name_of(&path)));
    }
    case.sort(&sorting)?;
    afterwards(case, &sorting)
}

/// Replaces a path in an entry by a path of a victim.
pub(super) fn moved_by_path(case: &mut Case) -> io::Result<()> {
    let Some(sorting) = resumed(case)? else {
        return Ok(());
    };
    let entries = entries(case.scene);
    let Some(path) = entries
        .iter()
        .find(|path| name_of(path).ends_with(".begun"))
    else {
        return Ok(());
    };
    let (json, was_sealed) = alter::unsealed(&fs::read(path)?);
    let names = [
        "data",
        "out",
        "long-0",
        "long-4",
        "long-5",
        "long-6",
        "part-00000-deadbeef",
        "",
        "fifo",
        "link",
    ];
    let victim = case
        .scene
        .victim(case.pick(&names))
        .to_string_lossy()
        .into_owned();
    let up = format!("../victim/{}", case.pick(&names));
    let missing = case.scene.own("missing").to_string_lossy().into_owned();
    let target = case.pick(&[victim.clone(), victim, up, missing]);
    if let Some(json) = alter::with_path(&json, &target, &mut case.draw) {
        fs::write(path, reseal(path, json, was_sealed))?;
    }
    case.sort(&sorting)?;
    Ok(())
}

/// Gives the files of one sort the names of another, as when a temporary directory was copied or
/// restored.
pub(super) fn copied(case: &mut Case) -> io::Result<()> {
    let Some(sorting) = resumed(case)? else {
        return Ok(());
    };
    let other = case.scene.own("other");
    let (old, new) = (case.scene.own("out"), other.clone());
    let job = |path: &Path| {
        format!(
            "{:08x}",
            kernel::block_crc(path.as_os_str().as_encoded_bytes())
        )
    };
    let is_name_altered = case.draw.bool();
    for directory in [case.scene.own(""), case.scene.own("tmp")] {
        for name in own_names(&directory) {
            let renamed = name.replace(&job(&old), &job(&new));
            fs::copy(directory.join(&name), directory.join(&renamed))?;
            let path = directory.join(&renamed);
            if renamed.ends_with(".begun") && is_name_altered {
                let (json, was_sealed) = alter::unsealed(&fs::read(&path)?);
                let from = serde_json::to_vec(&old.to_string_lossy()).expect("a string");
                let to = serde_json::to_vec(&new.to_string_lossy()).expect("a string");
                // The first path is the name of the output; the target remains the other sort's.
                let token = alter::tokens(&json)
                    .into_iter()
                    .find(|token| json[token.at.clone()] == from);
                let json = token.map_or(json.clone(), |token| alter::with(&json, token.at, &to));
                fs::write(&path, reseal(&path, json, was_sealed))?;
            }
        }
    }
    fs::write(&other, fs::read(&old)?)?;
    let protected = own_of_other(case.scene, &job(&old));
    let mut sorting = Sorting {
        output: Output::File(other),
        protected,
        ..sorting
    };
    sorting
        .call
        .arguments
        .iter_mut()
        .filter(|word| *word == "out")
        .for_each(|word| *word = "other".into());
    case.sort(&sorting)?;
    Ok(())
}

/// Resumes a checkpoint without alteration, which must succeed.
pub(super) fn untouched(case: &mut Case) -> io::Result<()> {
    let Some(sorting) = resumed(case)? else {
        return Ok(());
    };
    match case.draw.u32(0..4) {
        // With more memory than at the start.
        0 => {
            let mut sorting = sorting;
            for (old, new) in [("8M", "10M"), ("1", "2")] {
                let words = sorting.call.arguments.iter_mut();
                words
                    .filter(|word| *word == old)
                    .for_each(|word| *word = new.into());
            }
            case.sort(&sorting)?;
            return Ok(());
        }
        // Files that no longer belong to the caller may be refused.
        1 if case.scene.is_root => {
            for path in entries(case.scene) {
                chown(path, Some(FOREIGN), Some(FOREIGN))?;
            }
        }
        2 => {
            for path in entries(case.scene) {
                fs::set_permissions(path, Permissions::from_mode(0o666))?;
            }
        }
        _ => {
            case.sort(&Sorting {
                may_refuse: false,
                ..sorting
            })?;
            return Ok(());
        }
    }
    case.sort(&sorting)?;
    Ok(())
}

/// Restores an unfinished sort; `None` if none was caught.
pub(super) fn resumed(case: &mut Case) -> io::Result<Option<Sorting>> {
    let stashes = &case.scene.stashes;
    if stashes.is_empty() {
        return Ok(None);
    }
    let stash = &stashes[case.draw.usize(0..stashes.len())];
    let sorting = stash::sorting(case, stash.input)?;
    stash.restore(case.scene)?;
    case.lines
        .push(format!("(a sort that was killed at {})", stash.stage));
    Ok(Some(sorting))
}

/// The text files of the checkpoint.
pub(super) fn entries(scene: &Scene) -> Vec<PathBuf> {
    let directory = scene.own("tmp");
    let names = own_names(&directory).into_iter();
    let is_entry = |name: &String| {
        let end = name.rsplit('.').next().unwrap_or_default();
        end == "begun" || end.starts_with("epoch-") || end.starts_with("part-")
    };
    names
        .filter(is_entry)
        .map(|name| directory.join(name))
        .collect()
}

/// Draws an entry: the first, which says the most, as often as all others together.
fn any_entry(case: &mut Case) -> Option<PathBuf> {
    let all = entries(case.scene);
    let begun = all
        .iter()
        .find(|path| name_of(path).ends_with(".begun"))
        .cloned();
    match case.draw.bool() {
        true => begun,
        false if all.is_empty() => None,
        false => Some(case.pick(&all)),
    }
}

/// Exchanges the texts of two entries, each sealed for its new name.
fn swapped(case: &mut Case, path: &Path, json: &[u8], was_sealed: bool) -> io::Result<()> {
    let all = entries(case.scene);
    let other = case.pick(&all);
    let (other_json, _) = alter::unsealed(&fs::read(&other)?);
    fs::write(path, reseal(path, other_json, was_sealed))?;
    fs::write(&other, reseal(&other, json.to_vec(), was_sealed))
}

/// Runs the same sort without `--resume`, where no unfinished sort prevents it.
pub(super) fn afterwards(case: &mut Case, sorting: &Sorting) -> io::Result<()> {
    if case.draw.u32(0..4) > 0 {
        return Ok(());
    }
    let mut plain = Sorting {
        may_refuse: false,
        may_keep: false,
        ..sorting.clone()
    };
    plain.call.arguments.retain(|word| word != "--resume");
    case.sort(&plain)?;
    Ok(())
}

fn own_of_other(scene: &Scene, job: &str) -> Vec<PathBuf> {
    let of = |directory: PathBuf| {
        let names = own_names(&directory)
            .into_iter()
            .filter(|name| name.contains(job));
        names.map(|name| directory.join(name)).collect::<Vec<_>>()
    };
    [of(scene.own("")), of(scene.own("tmp"))].concat()
}

pub(super) fn reseal(path: &Path, json: Vec<u8>, was_sealed: bool) -> Vec<u8> {
    if was_sealed {
        alter::sealed(&name_of(path), &json)
    } else {
        json
    }
}

pub(super) fn name_of(path: &Path) -> String {
    path.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}
