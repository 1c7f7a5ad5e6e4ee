//! Tests of rights, which do not bind root: they run again as another user.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// A user and a group without rights of their own.
const NOBODY: u32 = 65534;

/// Runs this test again as nobody if root runs it, and says whether it did. The test must pass
/// there. It gets a directory of its own for its temporary files.
#[track_caller]
pub fn ran_as_nobody(test: &str) -> bool {
    if !rustix::process::geteuid().is_root() {
        return false;
    }
    let place = tempfile::TempDir::new().unwrap();
    fs::set_permissions(place.path(), Permissions::from_mode(0o777)).unwrap();
    // The program may lie in a directory that nobody may not search.
    let mut again = Command::new("/proc/self/exe");
    again.args(["--exact", test]).uid(NOBODY).gid(NOBODY);
    again.env("TMPDIR", place.path()).current_dir(place.path());
    let ran = again.output().unwrap();
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success() && said.contains("1 passed"), "{said}");
    true
}
