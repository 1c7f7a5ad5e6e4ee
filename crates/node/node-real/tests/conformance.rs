//! The suite of every backend, on threads and files.

use std::fs::File;
use std::future::Future;
use std::io::Write;

use node::conformance::{Harness, Place, source_bytes};
use node::{Buffer, Node, Open};
use node_real::Cluster;
use rustix::fs::{CWD, FileType, Mode};

struct Threads;

impl Harness for Threads {
    fn run<P, Task>(&self, nodes: u32, program: P)
    where
        P: Fn(Node, Place) -> Task + Clone + Send + Sync + 'static,
        Task: Future<Output = ()> + 'static,
    {
        let top = tempfile::tempdir().unwrap();
        let place = Place {
            directory: top.path().join("data"),
            source: top.path().join("pipe"),
        };
        std::fs::create_dir(&place.directory).unwrap();
        let mode = Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(CWD, &place.source, FileType::Fifo, mode, 0).unwrap();
        // Opening a pipe for writing waits for a reader. In tests that do not read it, the thread
        // ends with the process.
        let source = place.source.clone();
        std::thread::spawn(move || {
            if let Ok(mut pipe) = File::options().write(true).open(source) {
                pipe.write_all(&source_bytes()).unwrap();
            }
        });
        let ended = Cluster::new(nodes, 1).run(move |node| program(node, place.clone()));
        assert_eq!(ended.len(), nodes as usize);
    }
}

node::conformance_suite!(Threads);
active::conformance_suite!(Threads);

/// The suite allows files without a page cache. Files of this machine have one.
#[test]
fn a_written_page_is_resident() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("file");
    let resident = Cluster::new(1, 1).run(move |node| {
        let path = path.clone();
        async move {
            let (direct, mode) = (false, 0o600);
            let create = Open::Create { direct, mode };
            let file = node.open(&path, create).await.unwrap();
            let ticket = file.write(&node, 0, Buffer::heap(4096), 0..4096);
            ticket.wait(&node).await.1.unwrap();
            file.resident(&node, 0..4096).await.unwrap()
        }
    });
    assert_eq!(resident, [4096]);
}
