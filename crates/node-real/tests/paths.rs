//! Paths of this machine: the kind of what they lead to, and the space there.

use node::FileKind;
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
    assert!(space.abs_diff(free) < free / 4 + (1 << 30), "{space} bytes, not {free}");
}
