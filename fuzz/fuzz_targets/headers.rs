//! Compressed files and packed chunks: whatever they hold, they are read within their memory, and the same
//! in pieces as at once.

#![no_main]

use std::io::{self, Read};

use codec::{Decoder, Front, LONGEST_HEADER, Packer, Packing, read_past};
use libfuzzer_sys::fuzz_target;
use node::{Compression, Decompress};

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

/// The contents up to a fault or [`MOST_CONTENTS`], and whether there was a fault; nothing if the
/// file is not compressed or takes too much memory.
fn contents(decompress: Decompress, file: &[u8], most: usize) -> Option<(Vec<u8>, bool)> {
    let (begin, rest) = file.split_at(file.len().min(LONGEST_HEADER));
    let bytes = io::Cursor::new(rest.to_vec());
    let mut source = Pieces { bytes, most };
    let front = match Front::of(begin.to_vec(), &mut source, decompress, read_past) {
        Ok(front) => front,
        Err(error) => return Some((Vec::new(), is_told(&error))),
    };
    let header = front.header(MEMORY_BYTES)?.of_pipe(MEMORY_BYTES).ok()?;
    let mut decoder = Decoder::new(header, front, source);
    let (mut all, mut out) = (Vec::new(), vec![0; most.clamp(100, 10_000)]);
    while all.len() < MOST_CONTENTS {
        match decoder.fill(&mut out) {
            Ok(filled) => {
                all.extend_from_slice(&out[..filled]);
                if filled < out.len() {
                    break;
                }
            }
            Err(error) => return Some((all, is_told(&error))),
        }
    }
    Some((all, false))
}

/// True, if the error is one line.
fn is_told(error: &io::Error) -> bool {
    let said = error.to_string();
    assert!(!said.is_empty() && !said.contains('\n'), "{said:?}");
    true
}

fuzz_target!(|data: &[u8]| {
    let [choice, file @ ..] = data else {
        return;
    };
    let decompress = match choice % 16 {
        number @ 0..5 => Decompress::From(Compression::ALL[usize::from(number)]),
        _ => Decompress::Auto,
    };
    if let Some((whole, failed)) = contents(decompress, file, usize::MAX) {
        let (pieces, failed_in_pieces) =
            contents(decompress, file, 1 + usize::from(choice >> 4)).expect("the same header");
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
