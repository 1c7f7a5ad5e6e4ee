//! Shared directories with the sort's own names that belong to another user. For root only.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::PathBuf;

use serde_json::json;

use crate::alter;
use crate::attacks::{journals, modes};
use crate::case::{Case, Sorting};
use crate::scene::FOREIGN;

/// Plants files of another user in a shared directory, and sorts there.
pub(super) fn planted(case: &mut Case) -> io::Result<()> {
    if !case.scene.is_root {
        return modes::kept(case);
    }
    let input = case.any_input();
    let shared = case.scene.own("shared");
    fs::create_dir(&shared)?;
    fs::set_permissions(&shared, Permissions::from_mode(0o1777))?;
    // The other user attacks root, or finds files of root in the directory.
    let is_root_attacked = case.draw.bool();
    let path = plant(case, &shared)?;
    let mut sorting = sorting(case, input)?;
    if is_root_attacked {
        chown(&path, Some(FOREIGN), Some(FOREIGN))?;
    } else {
        sorting.call.user = Some(FOREIGN);
        chown(case.scene.own(""), Some(FOREIGN), Some(FOREIGN))?;
    }
    case.sort(&sorting)?;
    Ok(())
}

/// Writes a file under a name of the sort's own, which names a file that is not the sort's.
fn plant(case: &mut Case, shared: &PathBuf) -> io::Result<PathBuf> {
    let number = case.draw.u64(..);
    let job = kernel::block_crc(case.scene.own("out").as_os_str().as_encoded_bytes());
    let end = case.pick(&["tmp", "journal", "begun"]);
    let victim = case.scene.victim("part-00000-deadbeef");
    let beside = shared.join("part-00009-deadbeef");
    fs::write(&beside, b"not of any set")?;
    let files = [
        "part-00009-deadbeef".to_owned(),
        victim.to_string_lossy().into_owned(),
        beside.to_string_lossy().into_owned(),
        "../../victim/part-00001-deadbeef".to_owned(),
    ];
    let file = case.pick(&files);
    let (name, json) = if end == "begun" {
        let begun = json!({ "name": case.scene.own("out") }).to_string();
        (format!(".gristmill-{job:08x}-0.begun"), begun.into_bytes())
    } else {
        let directories = std::slice::from_ref(shared);
        let journal = journals::text(directories, &json!(0), &file, case.draw.bool());
        (format!(".gristmill-{number:016x}.{end}"), journal)
    };
    let is_sealed = case.draw.bool();
    let text = if is_sealed {
        alter::sealed(&name, &json)
    } else {
        json
    };
    let path = shared.join(name);
    fs::write(&path, text)?;
    let mode = case.pick(&[0o600, 0o644, 0o666]);
    fs::set_permissions(&path, Permissions::from_mode(mode))?;
    Ok(path)
}

/// A sort that spills to the shared directory, resumable or not.
fn sorting(case: &mut Case, input: usize) -> io::Result<Sorting> {
    const SPILLS: [&str; 6] = ["-o", "out", "-T", "shared", "-S", "8M"];
    let is_resumed = case.draw.bool();
    let mut sorting = case.sorting(input, &SPILLS)?;
    sorting.may_keep = is_resumed;
    let rest: &[&str] = if is_resumed {
        &["--resume"]
    } else {
        &["--plan", "two-pass"]
    };
    Ok(sorting.and(rest))
}
