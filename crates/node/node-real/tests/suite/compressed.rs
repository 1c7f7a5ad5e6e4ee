//! Compressed files and pipes, read as their contents.

use std::fs;
use std::io::Write;
use std::path::Path;

use codec::Encoder;
use node::{Buffer, Compress, Compression, Decompress, Decompression, File, FileKind, Node, Open};
use node_real::Cluster;

const MEMORY_BYTES: u64 = 1 << 24;

fn reading(decompress: Decompress) -> Decompression {
    Decompression {
        decompress,
        cores: 2,
        memory_bytes: MEMORY_BYTES,
        view: None,
        lots: None,
    }
}

/// All bytes of a file that is read front to back, in requests of `bytes`.
async fn read_all(node: &Node, file: &File, bytes: usize) -> Vec<u8> {
    let mut all = Vec::new();
    loop {
        let read = file.read(node, 0, bytes, Buffer::heap(bytes));
        let (buffer, result) = read.wait(node).await;
        result.unwrap();
        all.extend_from_slice(buffer.filled());
        if buffer.len() < bytes {
            return all;
        }
    }
}

fn compressed(contents: &[u8]) -> Vec<u8> {
    let how = Compress {
        format: Compression::Zstd,
        cores: 1,
        memory_bytes: MEMORY_BYTES,
    };
    let mut encoder = Encoder::new(how, Vec::new()).unwrap();
    encoder.write(contents).unwrap();
    encoder.end().unwrap()
}

fn contents() -> Vec<u8> {
    (0..300_000_u32)
        .flat_map(|n| (n / 7).to_le_bytes())
        .collect()
}

#[test]
fn a_compressed_file_is_read_as_its_contents() {
    let place = tempfile::TempDir::new().unwrap();
    let path = place.path().join("file");
    fs::write(&path, compressed(&contents())).unwrap();
    Cluster::new(1, 1).run(move |node| {
        let path = path.clone();
        async move {
            for direct in [false, true] {
                for bytes in [1000, 1 << 16, 10 << 20] {
                    let file = node.open(&path, Open::Read { direct }).await.unwrap();
                    let found = file.decompressed(&node, reading(Decompress::Auto)).await;
                    let found = found.unwrap();
                    assert!(found.is_coded() && found.is_sequential() && !found.is_direct());
                    assert!(found.coding_memory().bytes(MEMORY_BYTES) > 1 << 20);
                    assert!(read_all(&node, &found, bytes).await == contents());
                }
            }
            let file = node
                .open(&path, Open::Read { direct: false })
                .await
                .unwrap();
            let plain = file
                .decompressed(&node, reading(Decompress::Never))
                .await
                .unwrap();
            assert_eq!(plain.metadata().kind, FileKind::Regular);
        }
    });
}

/// A pipe is not waited for when it is opened, and its first bytes are not lost.
#[test]
fn a_pipe_is_read_as_its_contents() {
    let sent = [
        compressed(&contents()),
        contents(),
        b"few".to_vec(),
        Vec::new(),
    ];
    for (sent, expected) in
        sent.into_iter()
            .zip([contents(), contents(), b"few".to_vec(), Vec::new()])
    {
        let place = tempfile::TempDir::new().unwrap();
        let path = place.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RWXU).unwrap();
        let (into, data) = (path.clone(), sent.clone());
        let (opened, may_send) = std::sync::mpsc::channel();
        let sender = std::thread::spawn(move || {
            let mut pipe = fs::OpenOptions::new().write(true).open(into).unwrap();
            may_send.recv().unwrap();
            pipe.write_all(&data).unwrap();
        });
        Cluster::new(1, 1).run(move |node| {
            let (path, expected, opened) = (path.clone(), expected.clone(), opened.clone());
            async move {
                let file = node
                    .open(Path::new(&path), Open::Read { direct: false })
                    .await
                    .unwrap();
                let file = file
                    .decompressed(&node, reading(Decompress::Auto))
                    .await
                    .unwrap();
                opened.send(()).unwrap();
                assert!(read_all(&node, &file, 1 << 20).await == expected);
            }
        });
        sender.join().unwrap();
    }
}

#[test]
fn damaged_data_names_the_file_and_no_offset() {
    let place = tempfile::TempDir::new().unwrap();
    let path = place.path().join("file");
    let whole = compressed(&contents());
    fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    Cluster::new(1, 1).run(move |node| {
        let path = path.clone();
        async move {
            let file = node
                .open(&path, Open::Read { direct: false })
                .await
                .unwrap();
            let file = file
                .decompressed(&node, reading(Decompress::Auto))
                .await
                .unwrap();
            let bytes = 4 << 20;
            let (_, result) = file
                .read(&node, 0, bytes, Buffer::heap(bytes))
                .wait(&node)
                .await;
            let error = result.unwrap_err();
            assert_eq!((error.verb, error.offset), ("decompress", None));
            assert!(error.to_string().contains("cut short"), "{error}");
        }
    });
}
