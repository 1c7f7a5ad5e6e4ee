//! Files on every backend: data, locks, lengths, pipes, direct I/O.

use std::ops::Range;

use super::{Harness, source_bytes};
use crate::{Access, Buffer, File, FileKind, Filled, Node, NotBelieved, Open};

fn create(direct: bool) -> Open {
    Open::Create {
        direct,
        mode: 0o600,
    }
}

fn patterned(node: &Node, bytes: usize, salt: u8) -> Buffer {
    let mut buffer = node.buffers(1, bytes, Filled::Once).unwrap().pop().unwrap();
    for (at, byte) in buffer.bytes_mut().iter_mut().enumerate() {
        *byte = (at / 3) as u8 ^ salt;
    }
    buffer.set_len(bytes);
    buffer
}

/// Writes the range of a patterned buffer at `offset`.
async fn put(node: &Node, file: &File, offset: u64, (salt, range): (u8, Range<usize>)) {
    let buffer = patterned(node, range.end, salt);
    let (_, result) = file.write(node, offset, buffer, range).wait(node).await;
    result.unwrap();
}

/// A read returns the bytes that were written, and a file has the given metadata.
pub fn files_read_what_was_written(harness: &impl Harness) {
    harness.run(1, |node, place| async move {
        let path = place.directory.join("file");
        let file = node.open(&path, create(false)).await.unwrap();
        let (buffer, result) = file
            .write(&node, 5, patterned(&node, 3000, 1), 0..3000)
            .wait(&node)
            .await;
        result.unwrap();
        file.sync(&node).await.unwrap();
        let metadata = node.metadata(&path).await.unwrap();
        assert_eq!((metadata.kind, metadata.length), (FileKind::Regular, 3005));
        assert_eq!(metadata.mode & 0o700, 0o600);
        let again = node
            .open(&path, Open::Read { direct: false })
            .await
            .unwrap();
        let into = Buffer::heap(4096);
        let (read, result) = again.read(&node, 5, 3000, into).wait(&node).await;
        result.unwrap();
        assert_eq!(read.filled(), buffer.filled());
        assert_eq!(again.metadata().identity, file.metadata().identity);
    });
}

/// Several requests of one file may be in flight.
pub fn several_requests_are_in_flight(harness: &impl Harness) {
    harness.run(1, |node, place| async move {
        let file = node
            .open(&place.directory.join("file"), create(false))
            .await
            .unwrap();
        let write = |number: u8| {
            file.write(
                &node,
                u64::from(number) * 5000,
                patterned(&node, 5000, number),
                0..5000,
            )
        };
        let tickets: Vec<_> = (0..9).map(write).collect();
        for ticket in tickets {
            ticket.wait(&node).await.1.unwrap();
        }
        let read = |number: u64| file.read(&node, number * 5000, 5000, Buffer::heap(5000));
        let tickets: Vec<_> = (0..9).map(read).collect();
        for (number, ticket) in tickets.into_iter().enumerate() {
            let (buffer, result) = ticket.wait(&node).await;
            result.unwrap();
            assert_eq!(
                buffer.filled(),
                patterned(&node, 5000, number as u8).filled()
            );
        }
    });
}

/// A read returns all the bytes asked for, or the rest of the file.
pub fn reads_are_short_at_the_end_only(harness: &impl Harness) {
    harness.run(1, |node, place| async move {
        let file = node
            .open(&place.directory.join("file"), create(false))
            .await
            .unwrap();
        put(&node, &file, 0, (3, 0..5000)).await;
        for (offset, expected) in [(0, 4096), (4096, 904), (5000, 0), (9000, 0)] {
            let (buffer, result) = file
                .read(&node, offset, 4096, Buffer::heap(4096))
                .wait(&node)
                .await;
            result.unwrap();
            assert_eq!(buffer.len(), expected);
        }
    });
}

/// Another node's file is opened for writing; a missing file is not created.
pub fn files_of_other_nodes_are_joined(harness: &impl Harness) {
    harness.run(1, |node, place| async move {
        let (path, how) = (place.directory.join("file"), Open::Join { direct: false });
        let missing = node.open(&path, how).await.expect_err("it does not exist");
        assert_eq!(missing.cause.kind(), std::io::ErrorKind::NotFound);
        let first = node.open(&path, create(false)).await.unwrap();
        put(&node, &first, 0, (1, 0..100)).await;
        let other = node.open(&path, how).await.unwrap();
        put(&node, &other, 50, (2, 50..100)).await;
        let (read, result) = first
            .read(&node, 0, 200, Buffer::heap(200))
            .wait(&node)
            .await;
        result.unwrap();
        assert_eq!(read.filled()[..50], patterned(&node, 100, 1).filled()[..50]);
        assert_eq!(read.filled()[50..], patterned(&node, 100, 2).filled()[50..]);
    });
}

/// The caller's own file and a regular file are opened for reading. A missing file is refused, and
/// so is a pipe, without a wait for its writer.
pub fn only_regular_files_are_trusted(harness: &impl Harness) {
    harness.run(1, |node, place| async move {
        let path = place.directory.join("file");
        for how in [Open::Own, Open::Regular { direct: false }] {
            let missing = node.open(&path, how).await.expect_err("it does not exist");
            assert_eq!(missing.cause.kind(), std::io::ErrorKind::NotFound);
            let refused = node
                .open(&place.source, how)
                .await
                .expect_err("it is a pipe");
            let why = NotBelieved::of(&refused.cause).expect("it is not trusted");
            assert_eq!(why.to_string(), "it is not a regular file");
        }
        let keep = Open::Keep {
            direct: false,
            mode: 0o600,
        };
        assert!(
            node.open(&place.source, keep).await.is_err(),
            "a pipe is no file to keep"
        );
        node.open(&path, create(false)).await.unwrap();
        for how in [Open::Own, Open::Regular { direct: false }] {
            let file = node.open(&path, how).await.unwrap();
            let (_, result) = file.read(&node, 0, 1, Buffer::heap(1)).wait(&node).await;
            result.unwrap();
        }
    });
}

/// A file that outlives its run can be read and written by the next one.
pub fn kept_files_are_opened_again(harness: &impl Harness) {
    harness.run(1, |node, place| async move {
        let (path, how) = (
            place.directory.join("file"),
            Open::Keep {
                direct: false,
                mode: 0o600,
            },
        );
        let first = node.open(&path, how).await.unwrap();
        put(&node, &first, 0, (1, 0..100)).await;
        drop(first);
        let again = node.open(&path, how).await.unwrap();
        assert_eq!(again.metadata().length, 100);
        put(&node, &again, 50, (2, 50..100)).await;
        let (read, result) = again
            .read(&node, 0, 200, Buffer::heap(200))
            .wait(&node)
            .await;
        result.unwrap();
        assert_eq!(read.filled()[..50], patterned(&node, 100, 1).filled()[..50]);
        assert_eq!(read.filled()[50..], patterned(&node, 100, 2).filled()[50..]);
    });
}

/// A rename replaces the old file; names are listed in order; a removed file is gone.
pub fn files_are_replaced_in_one_step(harness: &impl Harness) {
    harness.run(1, |node, place| async move {
        let (old, new) = (place.directory.join("a"), place.directory.join("b"));
        for (path, salt) in [(&old, 1), (&new, 2)] {
            let file = node.open(path, create(false)).await.unwrap();
            put(&node, &file, 0, (salt, 0..10)).await;
        }
        assert!(
            node.open(&new, create(false)).await.is_err(),
            "a new file is new"
        );
        assert_eq!(node.list(&place.directory).await.unwrap(), ["a", "b"]);
        let missing = place.directory.join("missing");
        for path in [&new, &missing, &place.directory, &place.source] {
            assert_eq!(node.obstacle(path).await, None, "{}", path.display());
        }
        node.rename(&old, &new).await.unwrap();
        assert_eq!(node.list(&place.directory).await.unwrap(), ["b"]);
        let file = node.open(&new, Open::Read { direct: false }).await.unwrap();
        let (buffer, _) = file.read(&node, 0, 10, Buffer::heap(10)).wait(&node).await;
        assert_eq!(buffer.filled(), patterned(&node, 10, 1).filled());
        node.remove(&new).await.unwrap();
        assert!(node.list(&place.directory).await.unwrap().is_empty());
        assert!(node.space(&place.directory).await.unwrap() > 0);
        assert_eq!(
            node.resolve(&new).await.unwrap().file_name(),
            new.file_name()
        );
    });
}

/// A file that is opened twice can be locked only once.
pub fn locks_are_exclusive(harness: &impl Harness) {
    harness.run(1, |node, place| async move {
        let path = place.directory.join("file");
        let first = node.open(&path, create(false)).await.unwrap();
        let second = node
            .open(&path, Open::Read { direct: false })
            .await
            .unwrap();
        assert!(first.lock(&node).await.unwrap());
        assert!(!second.lock(&node).await.unwrap());
    });
}

/// Lengths and modes are as they were set, and released ranges read as zeros.
pub fn files_change_length(harness: &impl Harness) {
    harness.run(1, |node, place| async move {
        let path = place.directory.join("file");
        let file = node.open(&path, create(false)).await.unwrap();
        for range in [0..4096, 4096..20_000] {
            let end = range.end;
            file.preallocate(&node, range).await.unwrap();
            assert_eq!(node.metadata(&path).await.unwrap().length, end);
        }
        put(&node, &file, 0, (9, 0..20_000)).await;
        file.truncate(&node, 12_288).await.unwrap();
        file.release(&node, 4096..8192).await.unwrap();
        let access = node.access(&path).await.unwrap();
        file.set_access(
            &node,
            Access {
                mode: 0o6640,
                ..access
            },
        )
        .await
        .unwrap();
        assert_eq!(
            node.access(&path).await.unwrap(),
            Access {
                mode: 0o640,
                ..access
            }
        );
        let metadata = node.metadata(&path).await.unwrap();
        assert_eq!((metadata.length, metadata.mode), (12_288, 0o640));
        let (buffer, _) = file
            .read(&node, 0, 20_000, Buffer::heap(20_000))
            .wait(&node)
            .await;
        assert_eq!(buffer.len(), 12_288);
        assert!(buffer.filled()[4096..8192].iter().all(|&byte| byte == 0));
        assert_eq!(
            buffer.filled()[8192..],
            patterned(&node, 20_000, 9).filled()[8192..12_288]
        );
        // The cache holds whole pages.
        let resident = file.resident(&node, 0..4096).await.unwrap();
        assert!(
            resident == 0 || resident == 4096,
            "{resident} bytes of a page are resident"
        );
    });
}

/// A pipe is read front to back to its end.
pub fn sources_are_read_front_to_back(harness: &impl Harness) {
    harness.run(1, |node, place| async move {
        let source = node
            .open(&place.source, Open::Read { direct: true })
            .await
            .unwrap();
        assert!(source.is_sequential());
        let (mut all, mut buffer) = (Vec::new(), Buffer::heap(3000));
        loop {
            let result;
            (buffer, result) = source
                .read(&node, all.len() as u64, 3000, buffer)
                .wait(&node)
                .await;
            result.unwrap();
            all.extend_from_slice(buffer.filled());
            if buffer.len() < 3000 {
                break;
            }
        }
        assert_eq!(all, source_bytes());
    });
}

/// An error names the operation, the file and the cause.
pub fn missing_files_are_errors(harness: &impl Harness) {
    harness.run(1, |node, place| async move {
        let path = place.directory.join("missing");
        let error = node
            .open(&path, Open::Read { direct: false })
            .await
            .unwrap_err();
        assert_eq!((error.verb, &error.path), ("open", &path));
        assert!(
            error.to_string().contains("missing") && error.to_string().contains("check the name")
        );
        assert!(node.metadata(&path).await.is_err());
        assert!(node.remove(&path).await.is_err());
        assert!(
            node.rename(&path, &place.directory.join("other"))
                .await
                .is_err()
        );
    });
}

/// A direct file (where the file system allows it) moves whole blocks, and is then truncated.
pub fn direct_files_take_whole_blocks(harness: &impl Harness) {
    harness.run(1, |node, place| async move {
        let path = place.directory.join("file");
        let file = node.open(&path, create(true)).await.unwrap();
        put(&node, &file, 4096, (5, 4096..12_288)).await;
        file.truncate(&node, 10_001).await.unwrap();
        let again = node.open(&path, Open::Read { direct: true }).await.unwrap();
        let buffer = node
            .buffers(1, 16_384, Filled::Once)
            .unwrap()
            .pop()
            .unwrap();
        let (buffer, result) = again.read(&node, 4096, 8192, buffer).wait(&node).await;
        result.unwrap();
        assert_eq!(
            buffer.filled(),
            &patterned(&node, 12_288, 5).filled()[4096..10_001]
        );
    });
}

/// Empty buffers of these capacities.
fn chain(node: &Node, capacities: &[usize]) -> Vec<Buffer> {
    let one = |&bytes: &usize| node.buffers(1, bytes, Filled::Once).unwrap().pop().unwrap();
    capacities.iter().map(one).collect()
}

/// The filled parts of a chain, concatenated.
fn joined(chain: &[Buffer]) -> Vec<u8> {
    chain.iter().flat_map(Buffer::filled).copied().collect()
}

fn lens(chain: &[Buffer]) -> Vec<usize> {
    chain.iter().map(Buffer::len).collect()
}

/// A chain is written contiguously, and can be read as one buffer or as another chain.
pub fn chains_keep_their_order(harness: &impl Harness) {
    harness.run(1, |node, place| async move {
        let file = node
            .open(&place.directory.join("file"), create(false))
            .await
            .unwrap();
        let mut parts: Vec<_> = (0..3)
            .map(|at| patterned(&node, [3000, 1, 8192][at], at as u8))
            .collect();
        let whole = joined(&parts);
        parts[0].set_len(17);
        let ticket = file.write_chain(&node, 5, parts);
        let (parts, result) = ticket.wait(&node).await;
        result.unwrap();
        assert_eq!(
            lens(&parts),
            [17, 1, 8192],
            "a write leaves the lengths unchanged"
        );

        let (one, result) = file
            .read(&node, 5, 11_193, Buffer::heap(12_000))
            .wait(&node)
            .await;
        result.unwrap();
        assert!(one.filled() == whole);
        let (cut, result) = file
            .read_chain(&node, 5, chain(&node, &[100, 9000, 2093]))
            .wait(&node)
            .await;
        result.unwrap();
        assert_eq!(lens(&cut), [100, 9000, 2093]);
        assert!(joined(&cut) == whole);

        let (none, result) = file.write_chain(&node, 0, Vec::new()).wait(&node).await;
        result.unwrap();
        assert!(none.is_empty());
    });
}

/// A chain that reaches past the end of the file is filled up to the end.
pub fn chains_are_short_at_the_end_only(harness: &impl Harness) {
    harness.run(1, |node, place| async move {
        let path = place.directory.join("file");
        let file = node.open(&path, create(true)).await.unwrap();
        let whole = patterned(&node, 16_384, 7);
        let (whole, result) = file.write(&node, 0, whole, 0..16_384).wait(&node).await;
        result.unwrap();
        file.truncate(&node, 10_001).await.unwrap();
        let mut parts = chain(&node, &[4096, 8192, 4096]);
        for (offset, expected) in [
            (0, [4096, 5905, 0]),
            (8192, [1809, 0, 0]),
            (12_288, [0; 3]),
            (4096, [4096, 1809, 0]),
        ] {
            let result;
            (parts, result) = file.read_chain(&node, offset, parts).wait(&node).await;
            result.unwrap();
            assert_eq!(lens(&parts), expected);
            let end = offset as usize + expected.iter().sum::<usize>();
            assert!(joined(&parts) == whole.bytes()[offset as usize..end]);
        }
    });
}

/// A chain may have more buffers than the system accepts in one call.
pub fn long_chains_go_in_one_request(harness: &impl Harness) {
    harness.run(1, |node, place| async move {
        let file = node
            .open(&place.directory.join("file"), create(true))
            .await
            .unwrap();
        let mut parts = node.buffers(1100, 4096, Filled::Once).unwrap();
        for (number, part) in parts.iter_mut().enumerate() {
            part.bytes_mut().fill(number as u8);
            part.bytes_mut()[..2].copy_from_slice(&(number as u16).to_le_bytes());
        }
        let (parts, result) = file.write_chain(&node, 8192, parts).wait(&node).await;
        result.unwrap();
        let all = node
            .buffers(1, 1100 * 4096, Filled::Once)
            .unwrap()
            .pop()
            .unwrap();
        let (all, result) = file.read(&node, 8192, 1100 * 4096, all).wait(&node).await;
        result.unwrap();
        let (again, result) = file
            .read_chain(&node, 8192, node.buffers(1100, 4096, Filled::Once).unwrap())
            .wait(&node)
            .await;
        result.unwrap();
        for (number, part) in parts.iter().enumerate() {
            assert!(part.bytes() == again[number].filled());
            assert!(part.bytes() == &all.filled()[number * 4096..][..4096]);
        }
    });
}
