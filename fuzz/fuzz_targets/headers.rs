//! Compressed files and packed chunks: whatever they hold, they are read within their memory, and the same
//! in pieces as at once.

#![no_main]

use std::io::{self, Read};

use codec::{Decoder, Header, LONGEST_HEADER, Packer, Packing};
use libfuzzer_sys::fuzz_target;
use node::Compression;

/// A small limit, so that a header that asks for more is met.
const MEMORY_BYTES: u64 = 32 << 20;

/// Contents that are looked at: a few bytes of a file may stand for many.
const MOST_CONTENTS: usize = 1 << 20;

struct Pieces {
    bytes: io::Cursor<Vec<u8>>,
    most: usize,
}

impl Read for Pieces {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let most = out.len().min(self.most);
        self.bytes.read(&mut out[..most])
    }
}

/// The contents up to a fault or [`MOST_CONTENTS`], and whether there was a fault.
fn contents(header: Header, file: &[u8], most: usize) -> (Vec<u8>, bool) {
    let (begin, rest) = file.split_at(file.len().min(LONGEST_HEADER));
    let bytes = io::Cursor::new(rest.to_vec());
    let mut decoder = Decoder::new(header, begin.to_vec(), Pieces { bytes, most });
    let (mut all, mut out) = (Vec::new(), vec![0; most.clamp(100, 10_000)]);
    while all.len() < MOST_CONTENTS {
        match decoder.fill(&mut out) {
            Ok(filled) => {
                all.extend_from_slice(&out[..filled]);
                if filled < out.len() {
                    break;
                }
            }
            Err(error) => {
                let said = error.to_string();
                assert!(!said.is_empty() && !said.contains('\n'), "{said:?}");
                return (all, true);
            }
        }
    }
    (all, false)
}

fuzz_target!(|data: &[u8]| {
    let [choice, file @ ..] = data else {
        return;
    };
    let begin = &file[..file.len().min(LONGEST_HEADER)];
    let found = match choice % 16 {
        number @ 0..5 => {
            let format = Compression::ALL[usize::from(number)];
            Some(Header::with(format, begin, MEMORY_BYTES))
        }
        _ => Header::of(begin, MEMORY_BYTES),
    };
    if let Some(header) = found.filter(|header| header.of_pipe(MEMORY_BYTES).is_ok()) {
        let (whole, failed) = contents(header, file, usize::MAX);
        let (pieces, failed_in_pieces) = contents(header, file, 1 + usize::from(choice >> 4));
        let shorter = whole.len().min(pieces.len());
        assert_eq!(whole[..shorter], pieces[..shorter]);
        // The last read may go beyond the limit, and is not looked at if it fails.
        let is_short = shorter + 10_000 < MOST_CONTENTS;
        assert!(!is_short || failed == failed_in_pieces);
        assert!(!is_short || failed || whole.len() == pieces.len());
    }
    for format in [Packing::Lz4, Packing::Zstd] {
        let mut packer = Packer::default();
        let mut room = vec![0; 20_000.max(file.len())];
        room[..file.len()].copy_from_slice(file);
        if let Ok(length) = packer.unpack(format, &mut room, 0..file.len()) {
            assert!(length <= room.len());
        }
        let packed = packer
            .pack(format, file)
            .expect("memory for a few bytes")
            .to_vec();
        room[..packed.len()].copy_from_slice(&packed);
        let length = packer
            .unpack(format, &mut room, 0..packed.len())
            .expect("its own bytes");
        assert_eq!(&room[..length], file);
    }
});
