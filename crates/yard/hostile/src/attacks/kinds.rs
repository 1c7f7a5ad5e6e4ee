//! Pipes, devices, sockets, links and directories in the place of regular files.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};
use serde_json::json;

use crate::case::{Case, Output, Sorting};

/// Major and minor number of `/dev/zero` on Linux, an endless device.
const ZERO: (u32, u32) = (1, 5);

/// The message of a command that reached the file size limit: it read an endless device.
const TOO_LARGE: &str = "File too large";

/// Plants a file at a name that a sort looks for by itself, and sorts.
pub(super) fn planted(case: &mut Case) -> io::Result<()> {
    let input = case.any_input();
    fs::create_dir(case.scene.own("tmp"))?;
    fs::create_dir(case.scene.own("set"))?;
    let is_set = case.draw.bool();
    let is_resumed = !is_set && case.draw.u32(0..3) == 0;
    let number = case.draw.u64(..);
    let job = kernel::block_crc(case.scene.own("out").as_os_str().as_encoded_bytes());
    let name = match case.draw.u32(0..4) {
        0 => format!(".gristmill-{number:016x}.tmp"),
        1 => format!(".gristmill-{number:016x}.journal"),
        2 if is_resumed => format!(".gristmill-{job:08x}-0.begun"),
        2 if is_set => "manifest.json".to_owned(),
        2 => format!(".gristmill-{job:08x}-0.epoch-0"),
        _ => format!(".gristmill-{number:016x}.journal"),
    };
    let beside = if name == "manifest.json" {
        "set"
    } else {
        case.pick(&["tmp", ".", "set"])
    };
    let path = case.scene.own(beside).join(name);
    put(case, &path)?;
    let plan = case.pick(&["two-pass", "auto"]);
    let sorting = case.sorting(input, &["-T", "tmp", "-S", "8M", "--plan", plan])?;
    let protected = vec![path];
    let set = Output::Set(vec![case.scene.own("set")]);
    let sorting = if is_set {
        Sorting {
            output: set,
            protected,
            ..sorting
        }
        .and(&["-o", "set"])
    } else {
        Sorting {
            protected,
            may_keep: is_resumed,
            ..sorting
        }
        .and(&["-o", "out"])
    };
    let sorting = if is_resumed {
        sorting.and(&["--resume"])
    } else {
        sorting
    };
    case.sort(&sorting)?;
    Ok(())
}

/// Gives a command a name that is not a regular file.
pub(super) fn given(case: &mut Case) -> io::Result<()> {
    let thing = case.scene.own("thing");
    let is_text = case.draw.bool();
    if !is_text && case.draw.u32(0..3) == 0 {
        return of_proc(case);
    }
    put(case, &thing)?;
    let before = case.look()?;
    let arguments: &[&str] = match (is_text, case.draw.u32(0..2)) {
        (true, 0) => &["sim", "loopback", "--machine", "thing"],
        (true, _) => &["lab", "run", "thing"],
        // A command rightly waits for a pipe without a writer; a link may lead to one.
        (false, _) => &["sort", "--format", "gensort", "missing", "-o", "thing/out"],
    };
    let call = case.call(arguments);
    let ran = case.run(&call)?;
    if ran.code() == Some(0) {
        case.fail("believed", "no regular file was taken for one");
    }
    for change in case.look()?.changes_since(&before) {
        case.fail(
            "touched",
            format!("{}: {}", change.path.display(), change.how),
        );
    }
    Ok(())
}

/// A file of the system with size 0 and content.
fn of_proc(case: &mut Case) -> io::Result<()> {
    let file = case.pick(&[
        "/proc/version",
        "/proc/sys/kernel/ostype",
        "/proc/filesystems",
    ]);
    let mut expected = fs::read(file)?;
    expected.sort_unstable();
    let input = case.any_input();
    let mut sorting = case.sorting(input, &[])?;
    let arguments = [
        "sort", "--format", "fixed:1", "--key", "0+1", file, "-o", "out", "-S", "64M",
    ];
    sorting.call.arguments = arguments.iter().map(OsString::from).collect();
    sorting.expected = Some(expected);
    case.sort(&sorting)?;
    Ok(())
}

/// A set that lists other things than regular files, as an input and as the set to replace.
pub(super) fn listed(case: &mut Case) -> io::Result<()> {
    let set = case.scene.own("set");
    fs::create_dir(&set)?;
    let thing = set.join("part-00000-deadbeef");
    put(case, &thing)?;
    let records = case.draw.u64(0..1 << 40);
    let path = case.pick(&["part-00000-deadbeef", "/dev/zero", "../../victim/fifo", "."]);
    let file = json!({ "path": path, "records": records, "checksum": "0", "first_key": "", "last_key": "" });
    let manifest = json!({
        "gristmill_set": 1, "format": "fixed:100", "keys": ["0+10"], "stable": false, "record_bytes": 100,
        "records": records, "checksum": "0", "directory": set.to_string_lossy(), "files": [file],
    });
    fs::write(set.join("manifest.json"), manifest.to_string())?;
    let input = case.any_input();
    let is_read = case.draw.bool();
    let ran = if is_read {
        let mut sorting = case.sorting(input, &["-S", "8M", "-o", "out"])?;
        sorting
            .call
            .arguments
            .iter_mut()
            .filter(|word| *word == "in")
            .for_each(|word| *word = "set".into());
        sorting.expected = None;
        case.sort(&sorting)?
    } else {
        let sorting = case.sorting(input, &["-S", "8M", "-o", "set"])?;
        let output = Output::Set(vec![set]);
        case.sort(&Sorting {
            output,
            old_parts: vec![thing],
            ..sorting
        })?
    };
    if ran.said.contains(TOO_LARGE) {
        case.fail("read for ever", ran.last_line());
    }
    Ok(())
}

/// Creates something that is not a regular file.
fn put(case: &mut Case, path: &Path) -> io::Result<()> {
    let mode = Mode::RUSR | Mode::WUSR;
    let victim = |name: &str| case.scene.victim(name);
    let link: Option<PathBuf> = match case.draw.u32(0..9) {
        0..=2 => return Ok(mknodat(CWD, path, FileType::Fifo, mode, 0)?),
        3 => return fs::create_dir(path),
        4 => return Ok(mknodat(CWD, path, FileType::Socket, mode, 0)?),
        5 if case.scene.is_root => {
            let zero = makedev(ZERO.0, ZERO.1);
            match mknodat(CWD, path, FileType::CharacterDevice, mode, zero) {
                Ok(()) => return Ok(()),
                // Some containers do not allow devices.
                Err(_) => Some("/dev/zero".into()),
            }
        }
        5 => Some("/dev/zero".into()),
        6 => Some(victim("fifo")),
        7 => Some(victim("missing")),
        _ => Some(victim("data")),
    };
    link.map_or(Ok(()), |target| symlink(target, path))
}
