//! Runs tests of permissions again as another user, since permissions do not bind root.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use children::Command;

/// A user and a group without rights.
const NOBODY: u32 = 65534;

/// If root runs the test with this full name, runs it again as nobody, where it must pass, and
/// returns true. The test gets a directory for its temporary files.
#[track_caller]
pub fn ran_as_nobody(test: &str) -> bool {
    if !rustix::process::geteuid().is_root() {
        return false;
    }
    let place = tempfile::TempDir::new().unwrap();
    fs::set_permissions(place.path(), Permissions::from_mode(0o777)).unwrap();
    // The user `nobody` may lack the right to search the program's directory; this path needs none.
    let mut again = Command::new("/proc/self/exe");
    again.args(["--exact", test]).uid(NOBODY).gid(NOBODY);
    again.env("TMPDIR", place.path()).current_dir(place.path());
    let ran = again.output().unwrap();
    let output = String::from_utf8_lossy(&ran.stdout);
    let has_passed = ran.status.success() && output.contains("1 passed");
    assert!(has_passed, "{output}");
    true
}
