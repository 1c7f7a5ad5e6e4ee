//! Output files that cannot be replaced.

use std::fs;
use std::io::Write;

use children::Command;
use gristmill::{Format, Sorter};

use crate::files;

/// Files of a directory that only takes names are written in place, and the report says so.
#[test]
fn a_file_that_keeps_its_name_is_written_in_place() {
    let place = tempfile::tempdir().unwrap();
    let path = |name: &str| place.path().join(name);
    for directory in ["d", "t"] {
        fs::create_dir(path(directory)).unwrap();
    }
    fs::write(path("d/out"), "b\na\n").unwrap();
    let chattr = |change: &str| {
        let mut chattr = Command::new("chattr");
        let ran = chattr.arg(change).arg(path("d")).output();
        ran.is_ok_and(|ran| ran.status.success())
    };
    if !chattr("+a") {
        let _ = writeln!(std::io::stderr(), "skipped: chattr +a: not possible here");
        return;
    }
    let sorter = || Sorter::new(Format::lines()).temporary(path("t"));
    let sorted = sorter().sort_files([path("d/out")], path("d/out"));
    let first = fs::read(path("d/out")).unwrap();
    let merged = sorter().merge_files([path("d/out")], path("d/out"));
    let read = sorter().read_files([path("d/out")]).unwrap();
    let written = read.write_file(path("d/out"));
    let replaced = sorter().sort_files([path("d/out")], path("new"));
    assert!(chattr("-a"));
    for report in [sorted, merged, written] {
        assert!(report.unwrap().in_place);
    }
    assert!(!replaced.unwrap().in_place);
    assert_eq!(first, b"a\nb\n");
    assert_eq!(fs::read(path("d/out")).unwrap(), first);
    assert!(files(&path("t")).is_empty());
}
