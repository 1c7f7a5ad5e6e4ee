//! Whole files: the contents come out, whatever the sizes of reads, over any number of frames.

use codec::{Encoder, encoder_memory};
use node::{Compress, Compression};

use crate::common::{MEMORY_BYTES, compressed, decoder, decompressed, lines, read};

#[test]
fn the_contents_of_every_format_come_out() {
    for format in Compression::ALL {
        for (bytes, most, piece) in [
            (0, 1, 10),
            (1, 1, 1),
            (5000, 1, 7),
            (5000, 4096, 5000),
            (700_000, 1000, 65_536),
            (2_000_000, usize::MAX, 1 << 20),
        ] {
            let contents = lines(bytes, 7);
            let file = compressed(format, &contents);
            let found = decoder(&file, most).expect("a header");
            let got = read(found, piece).unwrap_or_else(|error| panic!("{format:?}: {error}"));
            assert!(got == contents, "{format:?}, {bytes} bytes");
        }
    }
}

#[test]
fn frames_follow_each_other() {
    for format in Compression::ALL {
        let parts: Vec<Vec<u8>> = [3000, 0, 1, 200_000, 0].map(|n| lines(n, n as u64)).into();
        let all: Vec<u8> = parts
            .iter()
            .flat_map(|part| compressed(format, part))
            .collect();
        assert!(decompressed(&all).unwrap() == parts.concat(), "{format:?}");
    }
}

/// Frames that a decoder skips, as parallel compressors write them.
#[test]
fn skippable_frames_are_skipped() {
    let skippable = |mark: u8, bytes: usize| {
        let mut frame = vec![0x50 + mark, 0x2a, 0x4d, 0x18];
        frame.extend((bytes as u32).to_le_bytes());
        frame.resize(frame.len() + bytes, 7);
        frame
    };
    let contents = lines(10_000, 3);
    for format in [Compression::Zstd, Compression::Lz4] {
        let frame = compressed(format, &contents);
        let file = [
            skippable(0, 4),
            skippable(15, 0),
            frame.clone(),
            skippable(3, 300_000),
            frame.clone(),
            skippable(1, 1),
        ]
        .concat();
        let expected = [contents.clone(), contents.clone()].concat();
        assert!(decompressed(&file).unwrap() == expected, "{format:?}");
        let cut = file.len() - 1;
        assert!(decompressed(&file[..cut]).is_err(), "{format:?}");
    }
}

#[test]
fn zeros_behind_gzip_are_padding() {
    let contents = lines(1000, 1);
    for zeros in [1, 511, 300_000] {
        let mut file = compressed(Compression::Gzip, &contents);
        file.resize(file.len() + zeros, 0);
        assert!(decompressed(&file).unwrap() == contents);
        file.push(1);
        assert!(decompressed(&file).is_err());
    }
}

/// The output of the encoder, in pieces of any size, on any number of cores, in little memory and in
/// much.
#[test]
fn the_encoder_is_undone_by_the_decoder() {
    for format in Compression::ALL {
        for (cores, memory_bytes) in [(1, 1 << 20), (2, MEMORY_BYTES)] {
            let how = Compress {
                format,
                cores,
                memory_bytes,
            };
            assert!(encoder_memory(how).bytes(memory_bytes) > 0);
            for (bytes, piece) in [(0, 1), (10, 3), (100_000, 777), (5_000_000, 1 << 20)] {
                let contents = lines(bytes, 4);
                let mut encoder = Encoder::new(how, Vec::new()).unwrap();
                for piece in contents.chunks(piece) {
                    encoder.write(piece).unwrap();
                }
                let file = encoder.end().unwrap();
                assert!(bytes < 1000 || file.len() < bytes, "{format:?}");
                assert!(decompressed(&file).unwrap() == contents, "{format:?}");
            }
        }
    }
}

/// A sort that failed must not leave a file that looks whole.
#[test]
fn an_encoder_that_is_dropped_leaves_the_file_cut_short() {
    struct Shared(std::sync::Arc<std::sync::Mutex<Vec<u8>>>);
    impl std::io::Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    for format in Compression::ALL {
        let how = Compress {
            format,
            cores: 1,
            memory_bytes: MEMORY_BYTES,
        };
        let out = std::sync::Arc::default();
        let mut encoder = Encoder::new(how, Shared(std::sync::Arc::clone(&out))).unwrap();
        encoder.write(&lines(2_000_000, 1)).unwrap();
        drop(encoder);
        let file = out.lock().unwrap().clone();
        assert!(
            decompressed(&file).is_err(),
            "{format:?}: {} bytes",
            file.len()
        );
    }
}
