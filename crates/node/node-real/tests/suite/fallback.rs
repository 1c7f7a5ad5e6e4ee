//! A file system may accept the flag for direct I/O and refuse the requests. From the first refusal
//! on, the file then uses the page cache, including the requests in flight.

use std::io::Write;

use node::{Buffer, Open};
use node_real::Cluster;

/// Neither lengths nor addresses are whole disk blocks, which every disk refuses.
const ODD_BYTES: usize = 1001;

#[test]
fn requests_that_direct_io_refuses_use_the_page_cache() {
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = place.path().join("file");
    let ends = Cluster::new(1, 1).run(move |node| {
        let path = path.clone();
        async move {
            let how = Open::Create {
                direct: true,
                mode: 0o600,
            };
            let file = node.open(&path, how).await.unwrap();
            if !file.is_direct() {
                return false;
            }
            let write = |number: usize| {
                let mut buffer = Buffer::heap(ODD_BYTES);
                buffer.bytes_mut().fill(number as u8);
                file.write(&node, (number * ODD_BYTES) as u64, buffer, 0..ODD_BYTES)
            };
            let tickets: Vec<_> = (0..12).map(write).collect();
            for ticket in tickets {
                ticket.wait(&node).await.1.unwrap();
            }
            assert!(
                !file.is_direct(),
                "the requests were refused and tried again"
            );

            let again = node.open(&path, Open::Read { direct: true }).await.unwrap();
            let read = |number: usize| {
                again.read(
                    &node,
                    (number * ODD_BYTES) as u64,
                    ODD_BYTES,
                    Buffer::heap(ODD_BYTES),
                )
            };
            let tickets: Vec<_> = (0..12).map(read).collect();
            for (number, ticket) in tickets.into_iter().enumerate() {
                let (buffer, result) = ticket.wait(&node).await;
                result.unwrap();
                assert!(buffer.filled() == [number as u8; ODD_BYTES]);
            }

            let again = node.open(&path, Open::Read { direct: true }).await.unwrap();
            let chain = (0..12).map(|_| Buffer::heap(ODD_BYTES)).collect();
            let (chain, result) = again.read_chain(&node, 0, chain).wait(&node).await;
            result.unwrap();
            assert!(!again.is_direct());
            assert!((0..12).all(|number| chain[number].filled() == [number as u8; ODD_BYTES]));

            let other = node.open(&path.with_extension("chain"), how).await.unwrap();
            let (chain, result) = other.write_chain(&node, 0, chain).wait(&node).await;
            result.unwrap();
            assert!(!other.is_direct());
            let (chain, result) = other.read_chain(&node, 0, chain).wait(&node).await;
            result.unwrap();
            assert!((0..12).all(|number| chain[number].filled() == [number as u8; ODD_BYTES]));
            true
        }
    });
    if ends != [true] {
        // Past the test runner's capture: a skip is never silent.
        let _ = writeln!(
            std::io::stderr(),
            "skipped: this file system has no direct I/O"
        );
    }
}
