//! Paths of this machine: the kind of what they lead to, and the space there.

use node::{FileKind, Open};
use node_real::Cluster;

#[test]
fn a_directory_is_one_and_has_the_space_of_its_file_system() {
    let place = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = place.path().to_owned();
    let told = rustix::fs::statvfs(&path).unwrap();
    let free = told.f_bavail * told.f_frsize;
    let found = Cluster::new(1, 1).run(move |node| {
        let path = path.clone();
        async move {
            let kind = node.metadata(&path).await.unwrap().kind;
            (kind, node.space(&path).await.unwrap())
        }
    });
    let (kind, space) = found[0];
    assert_eq!(kind, FileKind::Directory);
    // Others write there meanwhile.
    assert!(
        space.abs_diff(free) < free / 4 + (1 << 30),
        "{space} bytes, not {free}"
    );
}

/// A draft that has the rights of a read-only output already is opened again, by its owner.
#[test]
fn a_read_only_file_of_an_earlier_run_is_opened_again() {
    use std::os::unix::fs::PermissionsExt;
    if rustix::process::geteuid().is_root() {
        // Root opens any file for writing: this runs again as nobody.
        let place = tempfile::TempDir::new().unwrap();
        let binary = place.path().join("paths");
        std::fs::copy(std::env::current_exe().unwrap(), &binary).unwrap();
        std::fs::set_permissions(place.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
        let mut again = std::process::Command::new(&binary);
        again.args([
            "--exact",
            "a_read_only_file_of_an_earlier_run_is_opened_again",
        ]);
        again.env("TMPDIR", place.path()).current_dir(place.path());
        let ran = std::os::unix::process::CommandExt::uid(&mut again, 65534)
            .output()
            .unwrap();
        assert!(
            ran.status.success(),
            "{}",
            String::from_utf8_lossy(&ran.stdout)
        );
        return;
    }
    let place = tempfile::TempDir::new().unwrap();
    let path = place.path().join("draft");
    std::fs::write(&path, "records").unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o444)).unwrap();
    Cluster::new(1, 1).run(move |node| {
        let path = path.clone();
        async move {
            let file = node
                .open(&path, Open::Again { direct: false })
                .await
                .unwrap();
            file.truncate(&node, 3).await.unwrap();
        }
    });
    assert_eq!(std::fs::read(place.path().join("draft")).unwrap(), b"rec");
}
