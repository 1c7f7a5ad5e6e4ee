//! Whole files: the contents come out, whatever the sizes of reads, over any number of frames.

use codec::{Decoder, Encoder, Front, Header, LONGEST_HEADER, encoder_memory, read_past};
use node::{Compress, Compression, Decompress};

use crate::common::{
    MEMORY_BYTES, compressed, decoder, decompressed, lines, opened, read, skippable,
};

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

/// Bytes before the first frame may be of any length, also where a buffer ends.
#[test]
fn skippable_frames_of_any_length_come_first() {
    let contents = lines(10_000, 3);
    let lengths = (4068..4100).chain([0, 1, 8183, 8184, 8185, 70_000, 1_000_000]);
    let of_length = |length| vec![skippable(0, length)];
    let several = vec![
        vec![skippable(7, 0); 600],
        vec![skippable(1, 4080), skippable(15, 4080), skippable(0, 12)],
        vec![skippable(2, 300_000), skippable(3, 0), skippable(4, 9000)],
    ];
    for format in [Compression::Zstd, Compression::Lz4] {
        let frame = compressed(format, &contents);
        for before in lengths.clone().map(of_length).chain(several.clone()) {
            let before = before.concat();
            let file = [&before[..], &frame].concat();
            for most in [1, 1000, usize::MAX] {
                let found = opened(&file, most).unwrap().expect("a header");
                let got = read(found, 1 << 16).unwrap();
                assert!(got == contents, "{format:?} behind {} bytes", before.len());
            }
            let place = |file: &[u8]| decompressed(file).unwrap_err().to_string();
            let cut = file.len() - 1;
            assert!(place(&file[..cut]).contains("cut short"));
        }
    }
}

#[test]
fn skippable_frames_alone_are_empty_and_cut_ones_are_refused() {
    for file in [
        skippable(0, 0),
        skippable(9, 100),
        skippable(5, 300_000),
        [skippable(5, 5000), skippable(6, 4088), skippable(0, 1)].concat(),
    ] {
        assert!(decompressed(&file).unwrap().is_empty());
        for missing in [1, 5, 100, 4096, 5000] {
            let Some(left) = file.len().checked_sub(missing).filter(|&left| left > 8) else {
                continue;
            };
            let error = opened(&file[..left], 1000).err().expect("it is cut");
            let says = format!("cut short after {left} bytes");
            assert!(error.to_string().contains(&says), "{error}");
        }
        for cut in 1..8 {
            for frame in [compressed(Compression::Zstd, b"a"), skippable(3, 9)] {
                let file = [&file[..], &frame[..cut]].concat();
                assert!(opened(&file, 1000).is_err(), "{cut}");
            }
        }
    }
}

/// It may be what is left of a compressed file, however long the frame is.
#[test]
fn other_data_behind_a_skippable_frame_is_refused() {
    for bytes in [0, 100, 4088, 4089] {
        for behind in [&b"records\nand more\n"[..], b"\x1f\x8b\x08\0\0\0\0\0\0\0"] {
            let file = [&skippable(2, bytes), behind].concat();
            let error = opened(&file, 10).err().expect("no frame of data is there");
            assert!(
                error.to_string().contains("no frame follows"),
                "{bytes}: {error}"
            );
        }
    }
}

/// Headers with fields of any length, and data that ends with padding.
#[test]
fn long_headers_and_padding_are_read() {
    let contents = lines(1000, 2);
    for bytes in [1, 4000, 4096, 60_000] {
        let builder = flate2::GzBuilder::new();
        let builder = builder.extra(vec![1; bytes]).filename(vec![b'n'; bytes]);
        let builder = builder.comment(vec![b'c'; bytes]);
        let mut writer = builder.write(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut writer, &contents).unwrap();
        let file = writer.finish().unwrap();
        assert!(decompressed(&file).unwrap() == contents, "{bytes}");
    }
    let one = compressed(Compression::Xz, &contents);
    for zeros in [4, 4096, 300_000] {
        let padded = [&one[..], &vec![0; zeros], &one].concat();
        let expected = [&contents[..], &contents].concat();
        assert!(decompressed(&padded).unwrap() == expected, "{zeros}");
    }
}

#[test]
fn zeros_behind_gzip_are_padding() {
    let contents = lines(1000, 1);
    for zeros in [1, 511, 300_000] {
        let mut file = compressed(Compression::Gzip, &contents);
        file.resize(file.len() + zeros, 0);
        assert!(decompressed(&file).unwrap() == contents);
        file.extend(b"1 \n");
        let refused = decompressed(&file).unwrap_err().to_string();
        assert!(refused.contains("follow its end"), "{refused}");
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
                // Where the high byte comes first, lz4_flex finds only repeats of eight bytes.
                let shortens = format != Compression::Lz4 || cfg!(target_endian = "little");
                assert!(
                    bytes < 1000 || !shortens || file.len() < bytes,
                    "{format:?}"
                );
                assert!(decompressed(&file).unwrap() == contents, "{format:?}");
            }
        }
    }
}

/// Any number of workers writes the same members.
#[test]
fn the_number_of_cores_does_not_change_the_bytes() {
    let contents = lines(5_000_000, 1);
    for format in Compression::ALL
        .into_iter()
        .filter(|&all| all != Compression::Zstd)
    {
        let files = [1, 2, 5].map(|cores| {
            let how = Compress {
                format,
                cores,
                memory_bytes: 1 << 30,
            };
            let mut encoder = Encoder::new(how, Vec::new()).unwrap();
            for part in contents.chunks(700_001) {
                encoder.write(part).unwrap();
            }
            encoder.end().unwrap()
        });
        assert!(decompressed(&files[0]).unwrap() == contents, "{format:?}");
        assert!(files.iter().all(|file| *file == files[0]), "{format:?}");
    }
}

/// Members and frames of all sizes, in a file and in a pipe.
#[test]
fn any_number_of_cores_reads_the_same() {
    let parts = [lines(5_000_000, 1), Vec::new(), lines(3_000_000, 2)];
    for format in Compression::ALL {
        let how = Compress {
            format,
            cores: 2,
            memory_bytes: MEMORY_BYTES,
        };
        let members = parts.iter().flat_map(|part| {
            let mut encoder = Encoder::new(how, Vec::new()).unwrap();
            encoder.write(part).unwrap();
            [encoder.end().unwrap(), compressed(format, part)].concat()
        });
        let file: Vec<u8> = members.collect();
        let expected = parts.iter().flat_map(|part| [&part[..], part].concat());
        let expected: Vec<u8> = expected.collect();
        for (cores, limit) in [
            (1, 128 << 20),
            (2, 128 << 20),
            (3, 200 << 20),
            (64, 1 << 40),
        ] {
            let header = Header::of(&file, limit).unwrap().on_cores(cores, limit);
            for header in [header, header.of_pipe(limit).unwrap()] {
                let mut rest = std::io::Cursor::new(file[LONGEST_HEADER..].to_vec());
                let begin = file[..LONGEST_HEADER].to_vec();
                let front = Front::of(begin, &mut rest, Decompress::Auto, read_past).unwrap();
                let mut got = vec![0; expected.len() + 1];
                let read = Decoder::new(header, front, rest).fill(&mut got).unwrap();
                assert!(got[..read] == expected, "{format:?}, {cores} cores");
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
    // Some end with a member.
    let lengths = [2_000_000, 2 << 20, 1_800_000];
    for (format, length) in Compression::ALL
        .into_iter()
        .flat_map(|f| lengths.map(|l| (f, l)))
    {
        let how = Compress {
            format,
            cores: 1 + length % 3,
            memory_bytes: MEMORY_BYTES,
        };
        let out = std::sync::Arc::default();
        let mut encoder = Encoder::new(how, Shared(std::sync::Arc::clone(&out))).unwrap();
        encoder.write(&lines(length, 1)).unwrap();
        drop(encoder);
        let file = out.lock().unwrap().clone();
        assert!(
            file.is_empty() || decompressed(&file).is_err(),
            "{format:?}: {} bytes",
            file.len()
        );
    }
}
