//! Files that are read as a view shows them.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::sync::Arc;

use node::{Buffer, Decompress, Decompression, Node, Open, Stretch, View};
use node_real::Cluster;

/// Shows each byte as the next one, and the last of all as `$`; counts all if it is not local.
#[derive(Debug)]
struct Next {
    is_local: bool,
}

impl View for Next {
    fn is_local(&self) -> bool {
        self.is_local
    }

    fn show(&self, stretch: Stretch<'_>) -> io::Result<()> {
        let bytes = stretch.bytes;
        if !self.is_local {
            assert_eq!(*stretch.kept, stretch.offset);
            *stretch.kept += bytes.len() as u64;
        }
        let next = [bytes.get(1..).unwrap_or_default(), stretch.ahead].concat();
        for (place, byte) in bytes.iter_mut().zip(next.into_iter().chain([b'$'])) {
            *place = byte;
        }
        Ok(())
    }

    fn hide(&self, bytes: &mut [u8]) {
        bytes.fill(b'h');
    }
}

async fn seen(node: &Node, file: node::File, is_local: bool) -> node::File {
    let view = Arc::new(Next { is_local });
    let reading = Decompression {
        decompress: Decompress::Auto,
        cores: 1,
        memory_bytes: 1 << 24,
        view: Some(view),
        lots: None,
    };
    file.decompressed(node, reading).await.unwrap()
}

#[test]
fn stretches_see_what_is_behind_them_up_to_the_length_at_the_beginning() {
    let place = tempfile::TempDir::new().unwrap();
    let path = place.path().join("file");
    let contents: Vec<u8> = (0..100_000_u32).map(|number| (number / 7) as u8).collect();
    let mut expected = contents[1..].to_vec();
    expected.push(b'$');
    Cluster::new(1, 1).run(move |node| {
        let (path, contents, expected) = (path.clone(), contents.clone(), expected.clone());
        async move {
            for (direct, is_local, bytes) in [
                (false, true, 1000),
                (false, true, 4096),
                (true, true, 8192),
                (false, false, 1000),
                (true, false, 100_000),
            ] {
                fs::write(&path, &contents).unwrap();
                let file = node.open(&path, Open::Read { direct }).await.unwrap();
                let file = seen(&node, file, is_local).await;
                assert_eq!(
                    (file.is_sequential(), file.is_coded()),
                    (!is_local, !is_local)
                );
                // A file with a length has no bytes that are appended later.
                let mut grown = OpenOptions::new().append(true).open(&path).unwrap();
                if is_local {
                    grown.write_all(&[b'+'; 5000]).unwrap();
                }
                let mut all = Vec::new();
                while all.len() < contents.len() {
                    let room = Buffer::heap(bytes + 4096);
                    let mut aligned = node.buffers(1, bytes, node::Filled::Often).unwrap();
                    let buffer = if direct { aligned.pop().unwrap() } else { room };
                    let read = file.read(&node, all.len() as u64, bytes, buffer);
                    let (buffer, result) = read.wait(&node).await;
                    result.unwrap();
                    all.extend_from_slice(buffer.filled());
                }
                all.truncate(contents.len());
                assert!(all == expected, "{direct} {is_local} {bytes}");
            }
        }
    });
}

#[test]
fn what_is_written_is_hidden() {
    let place = tempfile::TempDir::new().unwrap();
    let path = place.path().join("file");
    let written = path.clone();
    Cluster::new(1, 1).run(move |node| {
        let path = written.clone();
        async move {
            let how = Open::Create {
                direct: false,
                mode: 0o600,
            };
            let file = node.open(&path, how).await.unwrap();
            let file = file.hiding(Arc::new(Next { is_local: true }));
            let mut buffer = Buffer::heap(8);
            buffer.bytes_mut().copy_from_slice(b"01234567");
            let (_, result) = file.write(&node, 0, buffer, 2..5).wait(&node).await;
            result.unwrap();
        }
    });
    assert_eq!(fs::read(path).unwrap(), b"hhh");
}
