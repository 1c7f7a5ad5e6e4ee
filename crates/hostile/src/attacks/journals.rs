//! Journals of sets that no sort has written: they name files that a sweep would remove.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::PathBuf;

use serde_json::json;

use crate::alter;
use crate::case::{Case, Sorting};
use crate::scene::FOREIGN;

/// Plants a journal where a sort sweeps, and sorts.
pub fn forged(case: &mut Case) -> io::Result<()> {
    let input = case.any_input();
    fs::create_dir(case.scene.own("tmp"))?;
    let sorting = case.sorting(input, &["-o", "out", "-T", "tmp", "-S", "8M"])?;
    let plan = case.pick(&["two-pass", "merge", "auto"]);
    let sorting = sorting.and(&["--plan", plan]);
    let beside = case.pick(&["tmp", "."]);
    let (journal, is_trusted) = plant(case, beside)?;
    let part = case.scene.own(beside).join("part-00007-deadbeef");
    fs::write(&part, b"not of any set")?;
    // A journal of the caller may say that a file beside it goes; any other may not.
    if is_trusted {
        fs::remove_file(&part)?;
    }
    let sorting = Sorting { protected: Vec::new(), ..sorting };
    case.sort(&sorting)?;
    let _ = fs::remove_file(journal);
    Ok(())
}

/// Writes a journal into a directory; whether its kind of file is one that may be believed.
fn plant(case: &mut Case, beside: &str) -> io::Result<(PathBuf, bool)> {
    let directory = fs::canonicalize(case.scene.own(beside))?;
    let victim = case.scene.place.join("victim");
    let name = format!(".gristmill-{:016x}.journal", case.draw.u64(..));
    let path = directory.join(&name);
    let home = case.pick(&[directory.clone(), victim.clone(), "/".into(), "".into()]);
    let up = if beside == "." { "../victim" } else { "../../victim" };
    let absolute = victim.to_string_lossy().into_owned();
    let part = case.pick(&["part-00000-deadbeef", "part-00001-deadbeef", "part-00002-0badf00d"]);
    let mut files = vec![format!("{absolute}/{part}"), format!("{up}/{part}")];
    files.push("part-00007-deadbeef".to_owned());
    files.push(format!("./{up}/{part}"));
    case.draw.shuffle(&mut files);
    files.truncate(case.draw.usize(1..=4));
    let text = json!({ "directory": home.to_string_lossy(), "files": files }).to_string();
    let text = match case.draw.bool() {
        true => alter::sealed(&name, text.as_bytes()),
        false => text.into_bytes(),
    };
    let mut is_trusted = true;
    match case.draw.u32(0..6) {
        // A link to a journal of somebody else.
        0 => {
            fs::write(case.scene.own("elsewhere"), &text)?;
            symlink(case.scene.own("elsewhere"), &path)?;
            is_trusted = false;
        }
        // Others may write it.
        1 => {
            fs::write(&path, &text)?;
            fs::set_permissions(&path, Permissions::from_mode(case.pick(&[0o666, 0o620, 0o602])))?;
            is_trusted = false;
        }
        2 | 3 if case.scene.is_root => {
            fs::write(&path, &text)?;
            chown(&path, Some(FOREIGN), Some(FOREIGN))?;
            is_trusted = false;
        }
        4 => fs::write(&path, alter::with_cut(&text, &mut case.draw))?,
        _ => {
            fs::write(&path, &text)?;
            fs::set_permissions(&path, Permissions::from_mode(0o600))?;
        }
    }
    Ok((path, is_trusted))
}
