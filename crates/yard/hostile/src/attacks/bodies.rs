//! Attacks on the large files of an unfinished sort: the draft of its output, and its spill files.
//!
//! A resuming sort writes the parts that the checkpoint does not list, and keeps the rest. It may
//! refuse, or end with the right bytes. No sort finds a draft that is altered in place with its
//! length kept, so that is not drawn.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use crate::alter;
use crate::attacks::checkpoints::{afterwards, entries, name_of, resumed};
use crate::case::{Case, own_names};

/// Bytes to exchange if the checkpoint does not give the length of a chunk.
const BLOCK_BYTES: usize = 4096;

/// Cuts the draft, or puts another file in its place.
pub(super) fn draft(case: &mut Case) -> io::Result<()> {
    let Some(sorting) = resumed(case)? else {
        return Ok(());
    };
    let drafts = bodies(&case.scene.own(""), |name| name.ends_with("-output"));
    let Some(path) = drafts.first() else {
        return Ok(());
    };
    let length = fs::metadata(path)?.len();
    let shorter = case.draw.u64(0..length.max(1));
    let how = match case.draw.u32(0..6) {
        0 => cut(path, 0)?,
        1 => cut(path, shorter)?,
        2 => cut(path, length.saturating_sub(1))?,
        3 => replaced(path, &vec![b'x'; length as usize])?,
        4 => replaced(path, &vec![0; length as usize])?,
        _ => {
            fs::remove_file(path)?;
            "the draft is removed".to_owned()
        }
    };
    case.lines.push(format!("({how})"));
    case.sort(&sorting)?;
    afterwards(case, &sorting)
}

/// Alters a spill file.
pub(super) fn spilled(case: &mut Case) -> io::Result<()> {
    let Some(sorting) = resumed(case)? else {
        return Ok(());
    };
    let files = bodies(&case.scene.own("tmp"), |name| name.contains("-spill-"));
    if files.is_empty() {
        return Ok(());
    }
    let path = case.pick(&files);
    let bytes = fs::read(&path)?;
    let shorter = case.draw.u64(0..bytes.len().max(1) as u64);
    let chunk = chunk_bytes(case)?;
    let how = match case.draw.u32(0..8) {
        0 => cut(&path, 0)?,
        1 => cut(&path, shorter)?,
        2 => {
            fs::remove_file(&path)?;
            "a spill file is removed".to_owned()
        }
        3 | 4 => {
            fs::write(&path, alter::with_flip(&bytes, &mut case.draw))?;
            "a byte of a spill file is another one".to_owned()
        }
        5 => replaced(&path, &vec![0; bytes.len()])?,
        kind => {
            let unit = if kind == 6 { BLOCK_BYTES } else { chunk };
            exchange(case, &path, bytes, unit)?
        }
    };
    case.lines.push(format!("({how})"));
    case.sort(&sorting)?;
    afterwards(case, &sorting)
}

fn bodies(directory: &Path, is_one: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let names = own_names(directory).into_iter().filter(|name| is_one(name));
    names.map(|name| directory.join(name)).collect()
}

fn cut(path: &Path, length: u64) -> io::Result<String> {
    OpenOptions::new().write(true).open(path)?.set_len(length)?;
    Ok(format!("{} is cut to {length} bytes", name_of(path)))
}

/// Replaces a file by a new one. It is created while the old one exists, so its inode number
/// differs.
fn replaced(path: &Path, bytes: &[u8]) -> io::Result<String> {
    let new = path.with_file_name("new");
    fs::write(&new, bytes)?;
    fs::set_permissions(&new, fs::metadata(path)?.permissions())?;
    fs::rename(&new, path)?;
    Ok(format!("{} is another file of its length", name_of(path)))
}

/// Exchanges two units of a file.
fn exchange(case: &mut Case, path: &Path, mut bytes: Vec<u8>, unit: usize) -> io::Result<String> {
    let units = (bytes.len() / unit).max(1);
    let (a, b) = (case.draw.usize(0..units), case.draw.usize(0..units));
    if a != b {
        let (low, high) = bytes.split_at_mut(a.max(b) * unit);
        low[a.min(b) * unit..][..unit].swap_with_slice(&mut high[..unit]);
        fs::write(path, bytes)?;
    }
    Ok(format!(
        "{}: units {a} and {b} of {unit} bytes are exchanged",
        name_of(path)
    ))
}

/// The length of a chunk of the unfinished sort.
fn chunk_bytes(case: &Case) -> io::Result<usize> {
    for path in entries(case.scene)
        .iter()
        .filter(|path| name_of(path).ends_with(".begun"))
    {
        let (json, _) = alter::unsealed(&fs::read(path)?);
        let begun: serde_json::Value = serde_json::from_slice(&json).unwrap_or_default();
        if let Some(bytes) = begun["chunk_bytes"].as_u64().filter(|&bytes| bytes > 0) {
            return Ok(bytes as usize);
        }
    }
    Ok(BLOCK_BYTES)
}
