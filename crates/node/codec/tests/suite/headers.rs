//! The first bytes of files: a format is told by its whole header, and records that begin like one
//! are not.

use codec::Header;
use node::Compression;

use crate::common::{MEMORY_BYTES, Numbers, compressed, lines};

fn format(begin: &[u8]) -> Option<Compression> {
    Header::of(begin, MEMORY_BYTES).map(|header| header.format)
}

#[test]
fn every_format_is_told() {
    for format_of in Compression::ALL {
        for bytes in [0, 1, 300, 100_000] {
            let file = compressed(format_of, &lines(bytes, 1));
            let begin = &file[..file.len().min(4096)];
            assert_eq!(format(begin), Some(format_of), "{bytes} bytes");
        }
    }
}

#[test]
fn magic_numbers_alone_are_data() {
    for begin in [
        &b""[..],
        b"\x1f\x8b",
        b"\x1f\x8b\x07\0\0\0\0\0\0\0",
        b"\x1f\x8b\x08\x20\0\0\0\0\0\0",
        b"\x1f\x8b\x08\xff\0\0\0\0\0\0",
        b"\x28\xb5\x2f",
        b"\x28\xb5\x2f\xfd\x08\x58",
        b"\x28\xb5\x2f\xfd\x00\xff",
        b"\x04\x22\x4d\x18\x64\x40\x00",
        b"\x04\x22\x4d\x18\x24\x40\xa7",
        b"\x04\x22\x4d\x18\x64\x30\xa7",
        b"BZh9",
        b"BZh91AY&SX",
        b"BZh01AY&SY",
        b"BZip is a word\n",
        b"\xfd7zXZ\0\x01\x04\xe6\xd6\xb4\x46",
        b"\xfd7zXZ\0\0\x04\xe6\xd6\xb4\x47",
        b"\x50\x2a\x4d\x18\x04\0\0\0abcd",
        b"\x50\x2a\x4d\x18\xff\xff\xff\xff",
        b"\x50\x2a\x4d\x18\0\0\0\0\x1f\x8b\x08\0\0\0\0\0\0\0",
    ] {
        assert_eq!(format(begin), None, "{begin:?}");
    }
}

/// A bad bit is seen as soon as the file goes so far, not only by the checksum behind it.
#[test]
fn each_bit_that_no_format_sets_is_seen_in_the_shortest_file() {
    let told = |begin: &[u8], rest: &[u8]| format(&[begin, rest].concat());
    let bits = |all: u8| (0..8).map(|bit| 1 << bit).filter(move |bit| all & bit != 0);
    let (gzip, zstd) = (&b"\x1f\x8b\x08"[..], &b"\x28\xb5\x2f\xfd"[..]);
    let (lz4, xz) = (&b"\x04\x22\x4d\x18"[..], &b"\xfd7zXZ\0"[..]);
    let formats = [
        (gzip, Compression::Gzip),
        (zstd, Compression::Zstd),
        (lz4, Compression::Lz4),
        (xz, Compression::Xz),
    ];
    for (begin, of) in formats {
        assert_eq!(told(begin, &[]), Some(of));
        for short in 1..begin.len() {
            assert_eq!(format(&begin[..short]), None);
        }
    }
    for bit in bits(0xff) {
        let is_gzip = (bit & 0xe0 == 0).then_some(Compression::Gzip);
        assert_eq!(told(gzip, &[bit]), is_gzip, "{bit:x}");
        let is_zstd = (bit & 0x08 == 0).then_some(Compression::Zstd);
        assert_eq!(told(zstd, &[bit]), is_zstd, "{bit:x}");
        assert_eq!(told(xz, &[bit]), None, "{bit:x}");
        let mut sum = flate2::Crc::new();
        sum.update(&[bit, 4]);
        let rest = [&[bit, 4], &sum.sum().to_le_bytes()[..]].concat();
        for end in 1..=rest.len() {
            assert_eq!(told(xz, &rest[..end]), None, "{bit:x}");
        }
    }
    assert_eq!(told(xz, &[0]), Some(Compression::Xz));
    assert_eq!(told(lz4, &[0x40, 0x40]), Some(Compression::Lz4));
    for flags in [0x00, 0x42, 0xc0, 0x80] {
        assert_eq!(told(lz4, &[flags, 0x40]), None, "{flags:x}");
    }
    for block in [0x30, 0x41, 0x42, 0x44, 0x48, 0xc0] {
        assert_eq!(told(lz4, &[0x40, block]), None, "{block:x}");
    }
}

/// A sort that memory was enough for needs no more of it on several cores, and one more byte of the limit
/// leaves no less.
#[test]
fn cores_take_their_memory_of_large_limits() {
    for format in Compression::ALL {
        let file = compressed(format, &lines(1000, 1));
        let of = |limit: u64| Header::of(&file, limit).unwrap();
        let taken = |limit: u64, cores| of(limit).on_cores(cores, limit).memory.bytes(limit);
        for mib in 1..4096_u64 {
            let limit = mib << 20;
            let alone = of(limit).memory.bytes(limit);
            assert_eq!(taken(limit, 1), alone);
            assert!(mib > 64 || taken(limit, 64) == alone, "{format:?}, {mib}");
            let least = taken(limit, 2).min(taken(limit, 16));
            assert!(alone <= least && taken(limit, 64) <= alone + limit / 8);
            assert!(taken(limit + 1, 16) <= taken(limit, 16) + 1);
            assert!(taken(limit, 64) < 130 << 20, "{format:?}, {mib}");
        }
    }
}

/// Random records behind the magic numbers: few pass for a format.
#[test]
fn random_records_are_seldom_taken_for_a_format() {
    let mut numbers = Numbers(4);
    let magic: [(&[u8], usize); 5] = [
        (b"\x1f\x8b\x08", 2000),
        (b"\x28\xb5\x2f\xfd", 6000),
        (b"\x04\x22\x4d\x18", 10),
        (b"BZh", 0),
        (b"\xfd7zXZ\0", 0),
    ];
    for (magic, most) in magic {
        let is_taken = |_: &usize| {
            let mut record = magic.to_vec();
            record.resize_with(100, || numbers.below(256) as u8);
            format(&record).is_some()
        };
        let taken = (0..10_000).filter(is_taken).count();
        assert!(taken <= most, "{magic:?}: {taken}");
    }
}

#[test]
fn no_bytes_panic() {
    let mut numbers = Numbers(9);
    let seeds: Vec<Vec<u8>> = Compression::ALL
        .map(|format| compressed(format, &lines(300, 2)))
        .into();
    for _ in 0..20_000 {
        let mut begin = seeds[numbers.below(seeds.len())].clone();
        begin.truncate(numbers.below(begin.len()) + 1);
        for _ in 0..numbers.below(4) {
            let at = numbers.below(begin.len());
            begin[at] = numbers.below(256) as u8;
        }
        let found = Header::of(&begin, 1 << (numbers.below(40) + 1));
        for format in Compression::ALL {
            let forced = Header::with(format, &begin, 1 << 24);
            assert_eq!(forced.format, format);
        }
        assert!(found.is_none_or(|header| header.memory_bytes > 0));
    }
}
