//! Shared directories with the sort's own names that belong to another user. For root only.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{PermissionsExt, chown};

use serde_json::json;

use crate::alter;
use crate::attacks::{journals, modes};
use crate::case::{Case, Sorting};
use crate::scene::FOREIGN;

/// Plants files of another user in a shared directory, and sorts there.
pub fn planted(case: &mut Case) -> io::Result<()> {
    if !case.scene.is_root {
        return modes::kept(case);
    }
    let input = case.any_input();
    let shared = case.scene.own("shared");
    fs::create_dir(&shared)?;
    fs::set_permissions(&shared, Permissions::from_mode(0o1777))?;
    // The other user attacks root, or finds files of root in the directory.
    let is_root_attacked = case.draw.bool();
    let number = case.draw.u64(..);
    let job = kernel::block_crc(case.scene.own("out").as_os_str().as_encoded_bytes());
    let end = case.pick(&["tmp", "journal", "begun"]);
    let name = match end {
        "begun" => format!(".gristmill-{job:08x}-0.begun"),
        end => format!(".gristmill-{number:016x}.{end}"),
    };
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
    let json = match end {
        "begun" => json!({ "name": case.scene.own("out") })
            .to_string()
            .into_bytes(),
        _ => journals::text(
            std::slice::from_ref(&shared),
            &json!(0),
            &file,
            case.draw.bool(),
        ),
    };
    let is_sealed = case.draw.bool();
    let text = if is_sealed {
        alter::sealed(&name, &json)
    } else {
        json
    };
    let path = shared.join(name);
    fs::write(&path, text)?;
    fs::set_permissions(
        &path,
        Permissions::from_mode(case.pick(&[0o600, 0o644, 0o666])),
    )?;
    let is_resumed = case.draw.bool();
    let sorting = case.sorting(
        input,
        &[
            "-o", "out", "-T", "shared", "-S", "8M", "--plan", "two-pass",
        ],
    );
    let mut sorting = Sorting {
        may_keep: is_resumed,
        ..sorting?
    };
    if is_resumed {
        sorting
            .call
            .arguments
            .truncate(sorting.call.arguments.len() - 2);
        sorting = sorting.and(&["--resume"]);
    }
    if is_root_attacked {
        chown(&path, Some(FOREIGN), Some(FOREIGN))?;
    } else {
        sorting.call.user = Some(FOREIGN);
        chown(case.scene.own(""), Some(FOREIGN), Some(FOREIGN))?;
    }
    case.sort(&sorting)?;
    Ok(())
}
