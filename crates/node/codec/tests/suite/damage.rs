//! Damaged files: an error or the right contents, never a panic, never other contents.

use std::io::ErrorKind;

use codec::{Damaged, Decoder, Front, Header, read_past};
use node::{Compression, Decompress};

use crate::common::{MEMORY_BYTES, Numbers, compressed, decoder, decompressed, lines, read};

#[test]
fn a_file_cut_short_anywhere_is_refused() {
    for format in Compression::ALL {
        for contents in [lines(700, 5), lines(200_000, 6)] {
            let file = compressed(format, &contents);
            let step = file.len().div_ceil(700);
            for cut in (0..file.len()).step_by(step) {
                // Less than a header is not told from other data.
                let Some(found) = decoder(&file[..cut], usize::MAX) else {
                    assert!(cut < 16, "{format:?} at {cut}");
                    continue;
                };
                let error = read(found, 4096).expect_err("it is cut short");
                let line = error.to_string();
                let says = line.contains("cut short") && line.contains(format.name());
                assert!(says, "{format:?} at {cut}: {line}");
            }
        }
    }
}

/// The end of one frame and the begin of the next is the end of a file, too.
#[test]
fn a_file_cut_between_frames_ends_there() {
    for format in Compression::ALL {
        let (first, second) = (lines(1000, 1), lines(900, 2));
        let one = compressed(format, &first);
        let file = [one.clone(), compressed(format, &second)].concat();
        for cut in one.len()..file.len() {
            match decompressed(&file[..cut]) {
                Ok(got) => assert!(cut == one.len() && got == first, "{format:?} at {cut}"),
                Err(error) => assert_eq!(error.kind(), ErrorKind::InvalidData),
            }
        }
    }
}

#[test]
fn a_flipped_bit_is_found_or_does_not_matter() {
    for format in Compression::ALL {
        for (contents, bits) in [(lines(300, 8), 8), (lines(40_000, 9), 2)] {
            let file = compressed(format, &contents);
            let step = (file.len() / 200).max(1);
            for at in (0..file.len()).step_by(step) {
                for bit in 0..bits {
                    let mut damaged = file.clone();
                    damaged[at] ^= 1 << bit;
                    check_damaged(format, &damaged, &contents);
                }
            }
        }
    }
}

#[test]
fn drawn_damage_is_found() {
    let mut numbers = Numbers(11);
    for format in Compression::ALL {
        let contents = lines(30_000, 10);
        let file = compressed(format, &contents);
        for _ in 0..300 {
            let mut damaged = file.clone();
            let (from, bytes) = (numbers.below(file.len()), 1 + numbers.below(64));
            match numbers.below(4) {
                0 => damaged.truncate(from),
                1 => drop(damaged.drain(from..(from + bytes).min(file.len()))),
                2 => damaged.extend((0..bytes).map(|_| numbers.below(256) as u8)),
                _ => {
                    for byte in damaged.iter_mut().skip(from).take(bytes) {
                        *byte = numbers.below(256) as u8;
                    }
                }
            }
            check_damaged(format, &damaged, &contents);
        }
    }
}

/// Random bytes behind a valid header.
#[test]
fn noise_behind_a_header_is_refused() {
    let mut numbers = Numbers(12);
    for format in Compression::ALL {
        let header = &compressed(format, &lines(5000, 1))[..14];
        for bytes in [1, 10, 100, 1000, 100_000] {
            let noise = (0..bytes).map(|_| numbers.below(256) as u8);
            let file: Vec<u8> = header.iter().copied().chain(noise).collect();
            assert!(decompressed(&file).is_err(), "{format:?}");
        }
    }
}

#[track_caller]
fn check_damaged(format: Compression, damaged: &[u8], contents: &[u8]) {
    let Some(found) = decoder(damaged, usize::MAX) else {
        return;
    };
    match read(found, 1 << 16) {
        Ok(got) => assert!(got == contents, "{format:?}: other contents"),
        Err(error) => {
            let inner = error.get_ref().expect("an error of this crate");
            assert!(inner.is::<Damaged>(), "{error}");
            assert!(error.to_string().contains("--decompress none"));
        }
    }
}

/// After an error there is no end: a reader must not take what it got for all.
#[test]
fn an_error_stays() {
    let file = compressed(Compression::Gzip, &lines(5000, 1));
    let mut found = decoder(&file[..1000], usize::MAX).unwrap();
    let mut out = vec![0; 1 << 16];
    for _ in 0..3 {
        assert!(found.fill(&mut out).is_err());
    }
}

/// A frame may ask for more memory than those before it, but not for any amount.
#[test]
fn a_frame_that_asks_for_too_much_memory_is_refused() {
    let small = lines(100, 1);
    let large_window = |log| {
        let mut writer = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
        writer.window_log(log).unwrap();
        std::io::Write::write_all(&mut writer, &lines(1000, 2)).unwrap();
        writer.finish().unwrap()
    };
    let two = |log| [compressed(Compression::Zstd, &small), large_window(log)].concat();
    assert!(decompressed(&two(23)).is_ok());
    let error = decompressed(&two(27)).unwrap_err().to_string();
    assert!(error.contains("memory") && error.contains("-S"), "{error}");
    // As the first frame it gets what it asks for.
    assert!(decompressed(&large_window(27)).is_ok());

    // A pipe's frames get the same, whichever is the first: its plan is made before it is read.
    let of_pipe = |file: Vec<u8>, memory| {
        let mut rest = std::io::empty();
        let front = Front::of(file, &mut rest, Decompress::Auto, read_past).unwrap();
        let header = front.header(memory).unwrap().of_pipe(memory)?;
        Decoder::new(header, front, rest).fill(&mut [0; 4096])
    };
    assert_eq!(of_pipe(two(27), 2 * MEMORY_BYTES).unwrap(), 1100);
    for file in [two(27), large_window(27)] {
        let error = of_pipe(file, 16 << 20).unwrap_err().to_string();
        assert!(error.contains("memory") && error.contains("-S"), "{error}");
    }

    let mut options = lzma_rust2::XzOptions::with_preset(1);
    options.lzma_options.dict_size = 1 << 26;
    let mut writer = lzma_rust2::XzWriter::new(Vec::new(), options).unwrap();
    std::io::Write::write_all(&mut writer, &small).unwrap();
    let large = writer.finish().unwrap();
    let two = [compressed(Compression::Xz, &small), large.clone()].concat();
    let error = decompressed(&two).unwrap_err().to_string();
    assert!(error.contains("memory") && error.contains("-S"), "{error}");
    assert!(decompressed(&large).is_ok());
}

/// With little memory a decoder has no more than an eighth, except what the first frame needs.
#[test]
fn memory_follows_the_first_frame_and_the_limit() {
    let zstd = compressed(Compression::Zstd, &lines(1000, 1));
    let of = |file: &[u8], memory| Header::of(file, memory).unwrap().memory_bytes;
    assert!(of(&zstd, 8 << 20) < 3 << 20);
    assert!(of(&zstd, MEMORY_BYTES) < 14 << 20);
    let gzip = compressed(Compression::Gzip, &lines(1000, 1));
    assert!(of(&gzip, MEMORY_BYTES) < 1 << 20);
    let lz4 = compressed(Compression::Lz4, &lines(1000, 1));
    let limit = 1 << 20;
    let header = Header::of(&lz4, limit).unwrap();
    let file = [lz4.clone(), {
        let info = lz4_flex::frame::FrameInfo::new().block_size(lz4_flex::frame::BlockSize::Max4MB);
        let mut writer = lz4_flex::frame::FrameEncoder::with_frame_info(info, Vec::new());
        std::io::Write::write_all(&mut writer, b"x").unwrap();
        writer.finish().unwrap()
    }]
    .concat();
    let mut rest = std::io::Cursor::new(Vec::new());
    let front = Front::of(file, &mut rest, Decompress::Auto, read_past).unwrap();
    let mut decoder = Decoder::new(header, front, rest);
    let error = decoder.fill(&mut [0; 4096]).unwrap_err().to_string();
    assert!(error.contains("memory"), "{error}");
}
