//! Forged journals of sets, which name files that a sweep would remove.
//!
//! A journal has one entry, since a reader that refuses a bad entry may refuse the others, too:
//!
//! ```text
//! since checksums   { "directories": [HOME, ..], "files": [[number, name], ..] }, and a seal
//! before            { "directory": HOME, "files": [path, ..] }
//! ```

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::alter;
use crate::case::{Case, Output, Sorting};
use crate::scene::FOREIGN;

/// Modes of a journal that only its owner writes, and of those that others may write.
const PRIVATE: [u32; 4] = [0o600, 0o644, 0o640, 0o400];
const OPEN: [u32; 3] = [0o666, 0o620, 0o602];

/// A file in the journal's directory with a name that a sort gives.
const BESIDE: &str = "part-00007-deadbeef";

/// Plants journals in directories that a sort sweeps, and sorts.
pub(super) fn forged(case: &mut Case) -> io::Result<()> {
    let input = case.any_input();
    for name in ["tmp", "set", "b"] {
        fs::create_dir(case.scene.own(name))?;
    }
    let plan = case.pick(&["two-pass", "merge", "auto"]);
    let sorting = case.sorting(input, &["-S", "8M", "--plan", plan])?;
    let (sorting, beside) = match case.draw.u32(0..3) {
        0 => {
            let output = Output::Set(vec![case.scene.own("set"), case.scene.own("b")]);
            let sorting = Sorting { output, ..sorting }.and(&["-o", "set/", "-o", "b/"]);
            (sorting, case.pick(&["set", "b"]))
        }
        _ => (
            sorting.and(&["-o", "out", "-T", "tmp"]),
            case.pick(&["tmp", "."]),
        ),
    };
    // A path that leads elsewhere without `..`.
    symlink(
        case.scene.place.join("victim"),
        case.scene.own(beside).join("way"),
    )?;
    let mut protected = Vec::new();
    let mut is_believed = false;
    for _ in 0..case.draw.u32(1..=3) {
        let (journal, is_trusted) = plant(case, beside)?;
        is_believed |= is_trusted;
        protected.extend((!is_trusted).then_some(journal));
    }
    // Only a journal of the caller may name a file in its directory for removal.
    if !is_believed {
        fs::write(case.scene.own(beside).join(BESIDE), b"not of any set")?;
    }
    case.sort(&Sorting {
        protected,
        ..sorting
    })?;
    Ok(())
}

/// The text of a journal that names a file for removal, without a seal; `number` is that of its
/// directory.
pub(super) fn text(directories: &[PathBuf], number: &Value, file: &str, is_old: bool) -> Vec<u8> {
    let text = if is_old {
        json!({ "directory": directories[0], "files": [file] })
    } else {
        json!({ "directories": directories, "files": [[number, file]] })
    };
    text.to_string().into_bytes()
}

/// A text with one bad entry, or by chance a good one.
fn drawn_text(case: &mut Case, home: &Path, up: &str) -> Vec<u8> {
    let victim = case.scene.place.join("victim");
    let part = case.pick(&[
        "part-00000-deadbeef",
        "part-00001-deadbeef",
        "part-00002-0badf00d",
    ]);
    let home = home.to_owned();
    let (directories, number, file) = match case.draw.u32(0..10) {
        0 => (vec![home], json!(0), format!("{up}/{part}")),
        1 => (vec![home], json!(0), format!("{}/{part}", victim.display())),
        2 => (vec![home], json!(0), format!("./{up}/{part}")),
        3 => (vec![home], json!(0), format!("way/{part}")),
        4 => (
            vec![home],
            json!(0),
            case.pick(&["", ".", "..", "way", up, "/"]).to_owned(),
        ),
        // Directories of others.
        5 => (vec![home, victim], json!(1), part.to_owned()),
        6 => {
            let other = case.pick(&[victim, "/".into(), "".into(), up.into()]);
            (vec![other], json!(0), part.to_owned())
        }
        7 => {
            let odd = [
                json!(1),
                json!(7),
                json!(-1),
                json!(1.5),
                json!(u64::MAX),
                json!("0"),
            ];
            (
                vec![home],
                case.pick(&odd),
                case.pick(&[part, BESIDE]).to_owned(),
            )
        }
        8 => (
            Vec::from_iter(case.draw.bool().then_some(victim)),
            json!(0),
            BESIDE.to_owned(),
        ),
        _ => (vec![home], json!(0), BESIDE.to_owned()),
    };
    let is_old = !directories.is_empty() && case.draw.u32(0..3) == 0;
    text(&directories, &number, &file, is_old)
}

/// Writes a journal into a directory; whether a sort may believe its kind of file.
fn plant(case: &mut Case, beside: &str) -> io::Result<(PathBuf, bool)> {
    let directory = fs::canonicalize(case.scene.own(beside))?;
    let name = format!(".gristmill-{:016x}.journal", case.draw.u64(..));
    let path = directory.join(&name);
    let up = if beside == "." {
        "../victim"
    } else {
        "../../victim"
    };
    let json = drawn_text(case, &directory, up);
    let is_sealed = case.draw.u32(0..4) > 0;
    let text = if is_sealed {
        alter::sealed(&name, &json)
    } else {
        json
    };
    let elsewhere = case.scene.own(&format!("linked-{name}"));
    match case.draw.u32(0..10) {
        // A link to a journal of another user.
        0 => {
            fs::write(&elsewhere, &text)?;
            symlink(&elsewhere, &path)?;
        }
        1 => {
            fs::write(&elsewhere, &text)?;
            fs::hard_link(&elsewhere, &path)?;
        }
        2 => {
            fs::write(&path, &text)?;
            fs::set_permissions(&path, Permissions::from_mode(case.pick(&OPEN)))?;
        }
        3 if case.scene.is_root => {
            fs::write(&path, &text)?;
            fs::set_permissions(&path, Permissions::from_mode(case.pick(&PRIVATE)))?;
            chown(&path, Some(FOREIGN), Some(FOREIGN))?;
        }
        4 => fs::write(&path, alter::with_cut(&text, &mut case.draw))?,
        _ => {
            fs::write(&path, &text)?;
            fs::set_permissions(&path, Permissions::from_mode(case.pick(&PRIVATE)))?;
            return Ok((path, true));
        }
    }
    Ok((path, false))
}
