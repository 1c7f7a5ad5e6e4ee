//! Root sorts into directories of another user or of all users. For root only.

use std::fs::{self, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::attacks::modes;
use crate::case::{Case, Output, Sorting, parts};
use crate::scene::FOREIGN;

/// How often root sorts into the same directory.
const TIMES: usize = 3;

/// Root replaces a set in a directory of another user repeatedly: no old files may pile up.
pub(super) fn replaced(case: &mut Case) -> io::Result<()> {
    if !case.scene.is_root {
        return modes::kept(case);
    }
    let set = case.scene.own("set");
    make(&set, case.pick(&[0o755, 0o700, 0o750]), Some(FOREIGN))?;
    let output = Output::Set(vec![set.clone()]);
    let is_made_by_user = case.draw.bool();
    for time in 0..=TIMES {
        let input = case.any_input();
        let mut sorting = case.sorting(input, &["-S", "8M", "-o", "set/"])?;
        sorting.call.user = (time == 0 && is_made_by_user).then_some(FOREIGN);
        let old_parts = parts(&set).unwrap_or_default();
        let output = output.clone();
        case.sort(&Sorting {
            output,
            old_parts,
            may_refuse: false,
            ..sorting
        })?;
        let listed = parts(&set).unwrap_or_default();
        for path in files(&set)?
            .into_iter()
            .filter(|path| !listed.contains(path))
        {
            case.fail("piled up", path.display().to_string());
        }
    }
    Ok(())
}

/// Root sorts into a directory of all users with a set of another user, which must not decide owner
/// or mode.
pub(super) fn planted(case: &mut Case) -> io::Result<()> {
    if !case.scene.is_root {
        return modes::kept(case);
    }
    let (set, fresh) = (case.scene.own("set"), case.scene.own("fresh"));
    for directory in [&set, &fresh] {
        make(directory, 0o1777, None)?;
    }
    plant(case, &set)?;
    let input = case.any_input();
    let sorting = case.sorting(input, &["-S", "8M"])?;
    let output = |directory: &Path| Output::Set(vec![directory.to_owned()]);
    // Without an old set, the new one has default owner and mode.
    let first = Sorting {
        output: output(&fresh),
        may_refuse: false,
        ..sorting.clone()
    };
    case.sort(&first.and(&["-o", "fresh/"]))?;
    let ran = case.sort(
        &Sorting {
            output: output(&set),
            ..sorting
        }
        .and(&["-o", "set/"]),
    )?;
    if ran.code() != Some(0) {
        return Ok(());
    }
    let access = |seen: Metadata| (seen.mode() & 0o7777, seen.uid(), seen.gid());
    for name in ["manifest.json", "part-"] {
        let (Some(usual), Some(found)) = (first_new(&fresh, name)?, first_new(&set, name)?) else {
            case.fail("wrong output", format!("a set without {name}"));
            continue;
        };
        let (usual, new) = (access(fs::metadata(usual)?), access(fs::metadata(&found)?));
        // A planted manifest may remove rights of the new set, and adds none.
        let is_wider = new.0 & !usual.0 != 0;
        if is_wider || (usual.1, usual.2) != (new.1, new.2) {
            let told = |(mode, user, group): (u32, u32, u32)| format!("{mode:o} of {user}:{group}");
            let detail = format!(
                "{}: {} instead of {}",
                found.display(),
                told(new),
                told(usual)
            );
            case.fail("decided by others", detail);
        }
    }
    Ok(())
}

/// Creates a set of another user, with one part.
fn plant(case: &mut Case, set: &Path) -> io::Result<()> {
    let file = json!({ "path": "part-00000-deadbeef", "records": 0, "checksum": "0", "first_key": "", "last_key": "" });
    let manifest = json!({
        "gristmill_set": 1, "format": "fixed:100", "keys": ["0+10"], "stable": false, "record_bytes": 100,
        "records": 0, "checksum": "0", "directory": set, "files": [file],
    });
    let mode = case.pick(&[0o666, 0o666, 0o600, 0o640]);
    for (name, text) in [
        ("part-00000-deadbeef", String::new()),
        ("manifest.json", manifest.to_string()),
    ] {
        fs::write(set.join(name), text)?;
        chown(set.join(name), Some(FOREIGN), Some(FOREIGN))?;
        fs::set_permissions(set.join(name), Permissions::from_mode(mode))?;
    }
    Ok(())
}

fn make(directory: &Path, mode: u32, owner: Option<u32>) -> io::Result<()> {
    fs::create_dir(directory)?;
    chown(directory, owner, owner)?;
    fs::set_permissions(directory, Permissions::from_mode(mode))
}

/// The files of sets in a directory, whether a manifest lists them or not.
fn files(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let all: io::Result<Vec<PathBuf>> = fs::read_dir(directory)?
        .map(|entry| Ok(entry?.path()))
        .collect();
    Ok(all?
        .into_iter()
        .filter(|path| !path.ends_with("manifest.json"))
        .collect())
}

/// The manifest, or the first file that it lists.
fn first_new(directory: &Path, name: &str) -> io::Result<Option<PathBuf>> {
    let path = match name {
        "part-" => parts(directory).and_then(|all| all.into_iter().next()),
        name => Some(directory.join(name)),
    };
    Ok(path.filter(|path| path.exists()))
}
