//! Sets that the caller may not have written, in directories of several owners.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown};

use tempfile::TempDir;

use super::*;
use crate::files::manifest::ListedFile;
use crate::files::{may_give, run_here};

const STRANGER: u32 = 4242;

/// Another user than the stranger and the caller.
const OTHER: u32 = 4343;

/// A set, its manifest of mode 644, in a directory of mode 755.
struct Set {
    place: TempDir,
    home: PathBuf,
}

impl Set {
    fn of(paths: &[&str]) -> Set {
        let place = TempDir::new().unwrap();
        let home = place.path().join("set");
        fs::create_dir(&home).unwrap();
        let set = Set { place, home };
        set.list(paths);
        set.give([0, 0], [0o755, 0o644]);
        set
    }

    /// Writes a manifest of these paths.
    fn list(&self, paths: &[&str]) {
        let files = paths.iter().map(|&path| ListedFile {
            path: path.to_owned(),
            ..ListedFile::default()
        });
        let manifest = Manifest {
            gristmill_set: 1,
            format: "fixed:100".to_owned(),
            keys: Vec::new(),
            stable: false,
            record_bytes: 100,
            header_bytes: 0,
            records: 0,
            checksum: "0".to_owned(),
            directory: self.home.to_string_lossy().into_owned(),
            files: files.collect(),
        };
        fs::write(self.home.join(Manifest::NAME), manifest.text()).unwrap();
    }

    /// Gives the directory and the manifest these owners and modes; 0 leaves the owner as it is.
    fn give(&self, owners: [u32; 2], modes: [u32; 2]) {
        let paths = [self.home.clone(), self.home.join(Manifest::NAME)];
        for ((path, owner), mode) in paths.iter().zip(owners).zip(modes) {
            fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
            if owner != 0 {
                chown(path, Some(owner), None).unwrap();
            }
        }
    }

    fn put(&self, name: &str, mode: u32) {
        let path = self.home.join(name);
        fs::write(&path, "").unwrap();
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    fn belief(&self) -> Belief {
        let home = self.home.clone();
        run_here(move |node| {
            let home = home.clone();
            async move { Belief::of(&node, &home).await.unwrap() }
        })
    }

    fn access(&self) -> SetAccess {
        let home = self.home.clone();
        run_here(move |node| {
            let home = home.clone();
            async move { SetAccess::of(&node, &home).await.unwrap() }
        })
    }

    /// The files that go, and how many files stay, if a warning says so.
    fn old(&self) -> (Vec<Placed>, Option<usize>) {
        let directories = [self.home.clone(), self.place.path().join("b")];
        let old = run_here(move |node| {
            let directories = directories.clone();
            async move { OldSet::of(&node, &directories).await.unwrap() }
        });
        let count = old.stays.map(|warning| match warning {
            Warning::OldSet { count, .. } => count,
            _ => panic!("another warning"),
        });
        (old.placed, count)
    }
}

#[test]
fn a_manifest_is_believed_as_far_as_its_owner_may_remove_files() {
    let may_give = may_give(STRANGER);
    for (owners, modes, belief) in [
        ([0, 0], [0o755, 0o644], Belief::Whole),
        ([0, 0], [0o775, 0o644], Belief::Whole),
        ([0, 0], [0o755, 0o664], Belief::None),
        ([0, 0], [0o755, 0o646], Belief::None),
        ([STRANGER, STRANGER], [0o755, 0o644], Belief::Directory),
        ([STRANGER, STRANGER], [0o775, 0o644], Belief::None),
        ([STRANGER, STRANGER], [0o755, 0o646], Belief::None),
        ([STRANGER, OTHER], [0o755, 0o644], Belief::None),
        ([0, STRANGER], [0o755, 0o644], Belief::None),
    ] {
        if may_give || owners == [0, 0] {
            let set = Set::of(&[]);
            set.give(owners, modes);
            assert_eq!(set.belief(), belief, "{owners:?}, {modes:?}");
        }
    }
}

#[test]
fn the_files_of_a_set_have_the_access_of_its_first_part() {
    let modes = |set: &Set| {
        let access = set.access();
        let mode = |access: Option<Access>| access.map(|access| access.mode);
        (mode(access.manifest), mode(access.files), access.narrowed)
    };
    let part = "part-00000-deadbeef";
    let elsewhere = format!("/elsewhere/{part}");
    let set = Set::of(&[&elsewhere, "notes", part]);
    set.put("notes", 0o604);
    assert_eq!(modes(&set), (Some(0o644), Some(0o644), None));
    set.put(part, 0o640);
    assert_eq!(modes(&set), (Some(0o644), Some(0o640), None));
    // A directory is no part.
    fs::remove_file(set.home.join(part)).unwrap();
    fs::create_dir(set.home.join(part)).unwrap();
    assert_eq!(modes(&set), (Some(0o644), Some(0o644), None));
    fs::remove_file(set.home.join(Manifest::NAME)).unwrap();
    assert_eq!(modes(&set), (None, None, None));
}

/// A doubtful manifest takes rights away, but gives none.
#[test]
fn a_doubtful_manifest_narrows_the_rights_of_a_new_set() {
    let drafts = |set: &Set| {
        let access = set.access();
        assert!(access.manifest.is_none() && access.files.is_none());
        access.draft_mode(None)
    };
    for (mode, expected) in [
        (0o664, 0o644),
        (0o620, 0o600),
        (0o466, 0o666),
        (0o420, 0o600),
    ] {
        let set = Set::of(&[]);
        set.give([0, 0], [0o755, mode]);
        assert_eq!(drafts(&set), expected, "{mode:o}");
    }
    let believed = Set::of(&[]).access();
    assert_eq!(believed.draft_mode(None), 0o666);
    assert_eq!(believed.draft_mode(believed.manifest), PRIVATE);
}

#[test]
fn files_go_where_the_manifest_is_believed() {
    let name = "part-00000-deadbeef";
    let set = Set::of(&[name]);
    assert_eq!(set.old(), (vec![(0, name.to_owned())], None));
    let beside = set.place.path().join("b").join(name);
    set.list(&[name, beside.to_str().unwrap()]);
    let both = vec![(0, name.to_owned()), (1, name.to_owned())];
    assert_eq!(set.old(), (both, None));
    if may_give(STRANGER) {
        set.give([STRANGER, STRANGER], [0o755, 0o644]);
        assert_eq!(set.old(), (vec![(0, name.to_owned())], Some(1)));
    }
    set.give([0, 0], [0o775, 0o664]);
    assert_eq!(set.old(), (Vec::new(), Some(2)));
    fs::remove_file(set.home.join(Manifest::NAME)).unwrap();
    assert_eq!(set.old(), (Vec::new(), None));
}
