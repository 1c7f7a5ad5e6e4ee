//! Unusual names: not UTF-8, with blanks and line ends, like options, of the greatest length.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;

use crate::case::{Case, Output, Sorting, is_own};
use crate::tree::Tree;

const LONGEST: [u8; 255] = [b'n'; 255];

const NAMES: [&[u8]; 7] = [
    b"\xff\xfe",
    b"caf\xe9",
    b"two words",
    b"a\nline",
    b"{rank}",
    b"-o",
    &LONGEST,
];

/// Sorts into an odd name, with temporary files in an odd directory.
pub(super) fn odd(case: &mut Case) -> io::Result<()> {
    let input = case.any_input();
    let (name, scratch) = (case.pick(&NAMES), case.pick(&NAMES));
    let is_resumed = case.draw.bool();
    let place = case.scene.own("inside");
    fs::create_dir(&place)?;
    let output = place.join(OsStr::from_bytes(name));
    let mut sorting = case.sorting(input, &["-S", "8M"])?;
    sorting.output = Output::File(output);
    let path = |name: &[u8]| OsString::from(OsStr::from_bytes(&[b"inside/", name].concat()));
    sorting.call.arguments.extend(["-o".into(), path(name)]);
    if name != scratch {
        let directory = case.scene.own("").join(path(scratch));
        fs::create_dir(&directory)?;
        sorting.call.arguments.extend(["-T".into(), path(scratch)]);
    }
    let sorting = if is_resumed {
        sorting.and(&["--resume"])
    } else {
        sorting
    };
    let sorting = Sorting {
        may_keep: is_resumed,
        ..sorting
    };
    let ran = case.sort(&sorting)?;
    // A refusal comes first, so it leaves no files.
    if ran.code() == Some(2) {
        let own = Tree::of(&[&case.scene.own("")])?.entries.into_keys();
        for path in own.filter(|path| is_own(path) && path.is_file()) {
            case.fail("left", path.display().to_string());
        }
    }
    Ok(())
}
