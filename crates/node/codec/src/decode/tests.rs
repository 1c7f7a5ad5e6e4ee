//! Any number of workers delivers what one decoder does: the same contents, and the same fault of what is damaged.

use std::io::{Cursor, Read, Write};

use flate2::GzBuilder;
use lz4_flex::frame::{BlockMode, BlockSize, FrameEncoder, FrameInfo};
use node::{Compression, Decompress};

use super::Decoder;
use super::ahead::Ahead;
use super::frames::Format;
use super::gzip::Gzip;
use super::lz4::Lz4;
use super::zstd::Zstd;
use crate::front::{Front, read_past};
use crate::header::{AheadOf, Header, LONGEST_HEADER};
use crate::input::Input;

const FORMATS: [Compression; 3] = [Compression::Gzip, Compression::Zstd, Compression::Lz4];

struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ (bits >> 31)) % bound as u64) as usize
    }

    fn one_in(&mut self, bound: usize) -> bool {
        self.below(bound) == 0
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    /// Words, which repeat, or noise, or zeros, or members of gzip.
    fn contents(&mut self, bytes: usize) -> Vec<u8> {
        let kind = self.below(8);
        let mut all = Vec::with_capacity(bytes + 100);
        while all.len() < bytes {
            match kind {
                0 => all.push(self.below(256) as u8),
                1 => all.push(0),
                2 => all.extend(gzip(self, b"a few words")),
                3 => all.extend(b"\x1f\x8b\x08\0\0\0\0\0\0\x03"),
                _ => writeln!(all, "{:x}", self.below(5000)).unwrap(),
            }
        }
        all.truncate(bytes);
        all
    }
}

fn gzip(numbers: &mut Numbers, contents: &[u8]) -> Vec<u8> {
    let mut header = GzBuilder::new().operating_system(numbers.of(&[3, 0, 255, 77]));
    if numbers.one_in(3) {
        header = header.mtime(7).filename("name").extra(vec![1; 30]);
    }
    let level = flate2::Compression::new(numbers.of(&[0, 1, 4, 9]));
    let mut member = header.write(Vec::new(), level);
    member.write_all(contents).unwrap();
    member.finish().unwrap()
}

fn zstd(numbers: &mut Numbers, contents: &[u8]) -> Vec<u8> {
    let mut frame = zstd::stream::write::Encoder::new(Vec::new(), numbers.of(&[-5, 1, 3])).unwrap();
    frame.include_checksum(numbers.one_in(2)).unwrap();
    frame.window_log(numbers.of(&[10, 12, 17, 20])).unwrap();
    if numbers.one_in(2) {
        let bytes = contents.len() as u64;
        frame.set_pledged_src_size(Some(bytes)).unwrap();
    }
    frame.write_all(contents).unwrap();
    frame.finish().unwrap()
}

fn lz4(numbers: &mut Numbers, contents: &[u8]) -> Vec<u8> {
    let size = numbers.of(&[BlockSize::Max64KB, BlockSize::Max64KB, BlockSize::Max256KB]);
    let mode = numbers.of(&[BlockMode::Independent, BlockMode::Linked]);
    let info = FrameInfo::new().block_size(size).block_mode(mode);
    let info = info
        .content_checksum(numbers.one_in(2))
        .block_checksums(numbers.one_in(2))
        .content_size(numbers.one_in(2).then_some(contents.len() as u64));
    let mut frame = FrameEncoder::with_frame_info(info, Vec::new());
    frame.write_all(contents).unwrap();
    frame.finish().unwrap()
}

fn skippable(bytes: usize) -> Vec<u8> {
    let mut frame = b"\x53\x2a\x4d\x18".to_vec();
    frame.extend((bytes as u32).to_le_bytes());
    frame.resize(frame.len() + bytes, 7);
    frame
}

/// A file of drawn frames.
fn drawn_file(numbers: &mut Numbers, format: Compression) -> Vec<u8> {
    let mut file = Vec::new();
    let sizes: &[usize] = numbers.of(&[
        &[0, 1, 10, 1000, 20_000][..],
        &[0, 1, 1][..],
        &[30_000, 30_000, 30_000, 30_000, 1, 400_000][..],
    ]);
    for _ in 0..1 + numbers.below(40) {
        let bytes = numbers.of(sizes);
        let contents = numbers.contents(bytes);
        let frame = match format {
            Compression::Gzip => gzip(numbers, &contents),
            Compression::Zstd => zstd(numbers, &contents),
            _ => lz4(numbers, &contents),
        };
        file.extend(frame);
        if format != Compression::Gzip && numbers.one_in(5) {
            file.extend(skippable(numbers.of(&[0, 4, 5000])));
        }
        if format == Compression::Gzip && numbers.one_in(50) {
            file.resize(file.len() + 1 + numbers.below(3), 0);
        }
    }
    file
}

fn damage(numbers: &mut Numbers, file: &mut Vec<u8>) {
    let (at, bytes) = (numbers.below(file.len()), 1 + numbers.below(40));
    match numbers.below(8) {
        0 => file.truncate(at.max(20)),
        1 => drop(file.drain(at..(at + bytes).min(file.len()))),
        2 => file.extend((0..bytes).map(|_| numbers.below(256) as u8)),
        3 => file.extend(vec![0; bytes]),
        4 | 5 => file[at] ^= 1 << numbers.below(8),
        _ => {}
    }
}

/// A source that gives few bytes at a time.
struct Short {
    bytes: Cursor<Vec<u8>>,
    most: usize,
}

impl Read for Short {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let most = out.len().min(self.most);
        self.bytes.read(&mut out[..most])
    }
}

/// A decoder of a file with these workers; none if its front is refused.
fn decoder(file: &[u8], ahead: AheadOf, (limit, most): (u64, usize)) -> Option<Decoder<Short>> {
    let (begin, rest) = file.split_at(file.len().min(LONGEST_HEADER));
    let bytes = Cursor::new(rest.to_vec());
    let mut rest = Short { bytes, most };
    let front = Front::of(begin.to_vec(), &mut rest, Decompress::Auto, read_past).ok()?;
    let header = front.header(limit)?;
    Some(Decoder::new(Header { ahead, ..header }, front, rest))
}

/// The contents, read in pieces of `piece` bytes, and the error behind them.
fn outcome(mut decoder: Decoder<Short>, piece: usize) -> (Vec<u8>, Option<String>) {
    let (mut all, mut out) = (Vec::new(), vec![0; piece]);
    loop {
        match decoder.fill(&mut out) {
            Ok(read) => {
                all.extend_from_slice(&out[..read]);
                if read < piece {
                    return (all, None);
                }
            }
            Err(error) => return (all, Some(error.to_string())),
        }
    }
}

#[test]
fn workers_deliver_what_one_decoder_does() {
    let mut numbers = Numbers(21);
    let alone = AheadOf::default();
    for round in 0..150 {
        let format = FORMATS[round % 3];
        let mut file = drawn_file(&mut numbers, format);
        damage(&mut numbers, &mut file);
        // Later frames of zstd and lz4 may take more memory than the smaller ones allow.
        let limit = numbers.of(&[1 << 20, 3 << 20, 64 << 20]);
        let given = (limit, numbers.of(&[700, 100_000, usize::MAX]));
        let piece = numbers.of(&[100, 5000, 1 << 20]);
        let Some(one) = decoder(&file, alone, given) else {
            continue;
        };
        let expected = outcome(one, piece);
        for workers in [1, 2, 3, 8] {
            let ahead = AheadOf {
                workers,
                memory_bytes: numbers.of(&[100_000, 1 << 20, 8 << 20]),
                piece_bytes: numbers.of(&[1, 5000, 50_000]),
            };
            let got = outcome(decoder(&file, ahead, given).unwrap(), piece);
            let what = format!("round {round}, {format:?}, {ahead:?}, {given:?}, {piece}");
            assert_eq!(got.1, expected.1, "{what}");
            assert!(got.0 == expected.0, "{what}");
        }
    }
}

/// The contents that workers decode of a file in which all frames are fit, in how many pieces.
fn decoded_ahead<F: Format<Cursor<Vec<u8>>>>(
    format: &F,
    file: &[u8],
    of: AheadOf,
) -> (Vec<u8>, usize) {
    let mut ahead = Ahead::new(of);
    let mut input = Input::new(&[], Cursor::new(file.to_vec()));
    let (mut all, mut pieces) = (Vec::new(), 0);
    while let Some(contents) = ahead.next(format, &mut input) {
        let held = ahead.held_bytes() + contents.len() as u64;
        assert!(held <= of.memory_bytes, "{of:?}: {held}");
        all.extend(contents);
        pieces += 1;
    }
    (all, pieces)
}

#[test]
fn frames_are_decoded_ahead_within_their_memory() {
    let mut numbers = Numbers(5);
    for memory_bytes in [4 << 20, 16 << 20] {
        for workers in [1, 2, 8] {
            let of = AheadOf {
                workers,
                memory_bytes,
                piece_bytes: 60_000,
            };
            let parts: Vec<Vec<u8>> = (0..100).map(|_| numbers.contents(30_000)).collect();
            let memory_bytes = 1 << 20;
            let joined = |compress: fn(&mut Numbers, &[u8]) -> Vec<u8>, numbers: &mut Numbers| {
                let frames = parts.iter().map(|part| compress(numbers, part));
                frames.collect::<Vec<_>>().concat()
            };
            let file = joined(
                |_, part| zstd::bulk::compress(part, 1).unwrap(),
                &mut numbers,
            );
            let (all, pieces) = decoded_ahead(&Zstd::new(1 << 20), &file, of);
            assert!(all == parts.concat() && pieces == 50, "{of:?}: {pieces}");
            let file = joined(lz4, &mut numbers);
            let (all, pieces) = decoded_ahead(&Lz4 { memory_bytes }, &file, of);
            assert!(all == parts.concat() && pieces >= 50, "{of:?}: {pieces}");
        }
    }
}

/// Where members begin is guessed, and contents that look like members are no reason to stop.
#[test]
fn members_are_decoded_ahead_and_not_those_in_contents() {
    let mut numbers = Numbers(6);
    let of = AheadOf {
        workers: 3,
        memory_bytes: 8 << 20,
        piece_bytes: 60_000,
    };
    let member = |numbers: &mut Numbers, contents: &[u8]| {
        let level = flate2::Compression::new(numbers.of(&[0, 4]));
        let mut member = GzBuilder::new().write(Vec::new(), level);
        member.write_all(contents).unwrap();
        member.finish().unwrap()
    };
    let mut text = || {
        (0..30_000 / 5)
            .flat_map(|_| format!("{:04}\n", numbers.below(9999)).into_bytes())
            .collect::<Vec<u8>>()
    };
    let parts: Vec<Vec<u8>> = (0..100).map(|_| text()).collect();
    let file: Vec<u8> = parts
        .iter()
        .flat_map(|part| member(&mut numbers, part))
        .collect();
    let (all, pieces) = decoded_ahead(&Gzip, &file, of);
    assert!(all == parts.concat() && pieces == 50, "{pieces}");
    // The whole file, stored within a member.
    let outer = [&file[..], &stored(&file), &file].concat();
    let (all, _) = decoded_ahead(&Gzip, &outer, of);
    assert!(
        parts.concat().starts_with(&all) && all.len() > 2_800_000,
        "{}",
        all.len()
    );
    let expected = [&parts.concat()[..], &file, &parts.concat()].concat();
    let got = outcome(decoder(&outer, of, (64 << 20, 70_000)).unwrap(), 9999);
    assert!(got == (expected, None));
}

fn stored(contents: &[u8]) -> Vec<u8> {
    let mut member = GzBuilder::new().write(Vec::new(), flate2::Compression::none());
    member.write_all(contents).unwrap();
    member.finish().unwrap()
}

/// Work ahead is under way then.
#[test]
fn a_decoder_is_dropped_anywhere() {
    let mut numbers = Numbers(7);
    for format in FORMATS {
        let file = std::iter::repeat_with(|| drawn_file(&mut numbers, format)).take(4);
        let file = file.collect::<Vec<_>>().concat();
        for reads in [0, 1, 2, 5, 20] {
            let of = AheadOf {
                workers: 4,
                memory_bytes: 4 << 20,
                piece_bytes: 2000,
            };
            let mut decoder = decoder(&file, of, (64 << 20, usize::MAX)).unwrap();
            for _ in 0..reads {
                decoder.fill(&mut [0; 7000]).unwrap();
            }
        }
    }
}
