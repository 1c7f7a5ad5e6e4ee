//! Packed chunks: compressed on the way to a spill file, where that saves time.
//!
//! ```text
//! in memory | records | marks |        unused        | footer |
//! packed    | checksum, length, format | packed records, marks and footer | zeros |   disk blocks
//! ```
//!
//! All chunks of a run take the same number of units of some blocks, so that a chunk's place needs no list. A run
//! in which a chunk does not become shorter stays as it is.

mod trial;

use std::sync::Arc;

use codec::{Packer, Packing};
use kernel::block_crc;
use node::{Buffer, Mutex, Node, Work};

use crate::files::spill::packed_unit;
use crate::job::Pack;
use crate::records::block::{BLOCK_BYTES, Chunk, FOOTER_BYTES, MARK_BYTES, Stamp};
use trial::{Cost, Trial, Way};

/// Bytes before the packed ones: a checksum, their length, and their format.
const HEADER_BYTES: usize = 12;

/// Part of every checksum, so that zeros, which were never written, are no chunk.
const SEAL: u32 = 0x7061_636b;

/// Packs and unpacks the chunks of spill files; clones share the trial and the packers.
#[derive(Clone)]
pub(super) struct ChunkPacking {
    shared: Arc<Mutex<State>>,
}

struct State {
    pack: Pack,
    trial: Trial,
    /// Those that are not in use.
    packers: Vec<Packer>,
}

/// The form in which a run is written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Form {
    way: Way,
    /// Length of each chunk, in units; 0 if it is not packed.
    pub units: u8,
    /// Time that the packing took.
    ticks: u64,
}

impl ChunkPacking {
    pub(super) fn new(pack: Pack) -> ChunkPacking {
        let state = State {
            pack,
            trial: Trial::default(),
            packers: Vec::new(),
        };
        ChunkPacking {
            shared: Arc::new(Mutex::new(state)),
        }
    }

    /// Packs the sealed chunks of a run, all or none of them.
    pub(super) fn pack(&self, node: &Node, chunks: &mut [Chunk]) -> Form {
        let way = self.way(chunks);
        let mut form = Form {
            way,
            units: 0,
            ticks: 0,
        };
        if let Some(format) = way {
            let begin = node.now();
            let mut packer = self.take();
            form.units = pack_all(&mut packer, format, chunks).unwrap_or(0);
            self.give(packer);
            let bytes = chunks.iter().map(|chunk| chunk.size.bytes).sum();
            node.work(Work::Copy { bytes });
            form.ticks = node.now().since(begin);
        }
        form
    }

    fn way(&self, chunks: &[Chunk]) -> Way {
        let is_packable = |chunk: &Chunk| {
            !chunk.buffer.is_counted() && chunk.buffer.capacity() > BLOCK_BYTES as usize
        };
        let mut state = self.shared.lock();
        match state.pack {
            _ if !chunks.iter().all(is_packable) => None,
            Pack::Never => None,
            Pack::In(format) => Some(format),
            Pack::Auto => state.trial.next(),
        }
    }

    /// Notes that a run of `bytes` bytes in memory was written, and how long a worker waited for the
    /// disk.
    pub(super) fn wrote(&self, form: Form, bytes: u64, waited: u64) {
        let mut state = self.shared.lock();
        if state.pack == Pack::Auto {
            let ticks = form.ticks + waited;
            state.trial.add(form.way, Cost { ticks, bytes });
        }
    }

    /// Unpacks a chunk that was read from `place` to its buffer. `None` if it is not as written.
    pub(super) fn unpack(&self, buffer: &mut Buffer, place: Stamp) -> Option<()> {
        let mut packer = self.take();
        let unpacked = unpack(&mut packer, buffer.bytes_mut(), place);
        self.give(packer);
        unpacked
    }

    fn take(&self) -> Packer {
        self.shared.lock().packers.pop().unwrap_or_default()
    }

    fn give(&self, packer: Packer) {
        self.shared.lock().packers.push(packer);
    }
}

/// Adds a place to a packed chunk's checksum; the same place again removes it.
pub(crate) fn stamp(packed: &mut Buffer, place: Stamp) {
    let checksum = packed.bytes_mut().first_chunk_mut().expect("a header");
    *checksum = (u32::from_le_bytes(*checksum) ^ place.0).to_le_bytes();
}

/// Packs all chunks, and narrows their buffers to the units of the longest. If one does not become
/// shorter, none is packed.
fn pack_all(packer: &mut Packer, format: Packing, chunks: &mut [Chunk]) -> Option<u8> {
    let mut longest = 0;
    for at in 0..chunks.len() {
        match pack(packer, format, &mut chunks[at]) {
            Some(bytes) => longest = longest.max(bytes),
            None => {
                for chunk in &mut chunks[..at] {
                    unpack(packer, chunk.buffer.bytes_mut(), Stamp::default())
                        .expect("it was packed just now, and the packer has its memory");
                }
                return None;
            }
        }
    }
    let unit = packed_unit(chunks[0].buffer.capacity());
    let units = longest.div_ceil(unit);
    for chunk in chunks {
        chunk.buffer.set_capacity(units * unit);
        let used = HEADER_BYTES + field(chunk.buffer.bytes(), 1) as usize;
        chunk.buffer.bytes_mut()[used..].fill(0);
    }
    Some(units as u8)
}

/// Packs a sealed chunk in its buffer. Returns its bytes, or `None` if it would be no unit shorter.
fn pack(packer: &mut Packer, format: Packing, chunk: &mut Chunk) -> Option<usize> {
    let used = chunk.size.bytes as usize + chunk.marks.len() * MARK_BYTES;
    let bytes = chunk.buffer.bytes_mut();
    let (footer, end) = (bytes.len() - FOOTER_BYTES, used + FOOTER_BYTES);
    let unit = packed_unit(bytes.len());
    let room = (bytes.len() - 1) / unit * unit;
    // The unused bytes are not packed. If there are few, the footer moves over its own beginning.
    bytes.copy_within(footer.., used);
    let packed = packer.pack(format, &bytes[..end]).ok();
    let packed = packed.filter(|packed| HEADER_BYTES + packed.len() <= room);
    let Some(packed) = packed else {
        bytes.copy_within(used..end, footer);
        return None;
    };
    let end = HEADER_BYTES + packed.len();
    bytes[HEADER_BYTES..end].copy_from_slice(packed);
    let format = match format {
        Packing::Lz4 => 1_u32,
        Packing::Zstd => 2,
    };
    bytes[4..8].copy_from_slice(&(packed.len() as u32).to_le_bytes());
    bytes[8..12].copy_from_slice(&format.to_le_bytes());
    let checksum = SEAL ^ block_crc(&bytes[4..end]);
    bytes[..4].copy_from_slice(&checksum.to_le_bytes());
    Some(end)
}

fn unpack(packer: &mut Packer, bytes: &mut [u8], place: Stamp) -> Option<()> {
    let end = HEADER_BYTES.checked_add(field(bytes, 1) as usize)?;
    let checksum = SEAL ^ block_crc(bytes.get(4..end)?);
    if checksum ^ place.0 != field(bytes, 0) {
        return None;
    }
    let format = match field(bytes, 2) {
        1 => Packing::Lz4,
        2 => Packing::Zstd,
        _ => return None,
    };
    let length = packer.unpack(format, bytes, HEADER_BYTES..end).ok()?;
    let footer = bytes.len() - FOOTER_BYTES;
    bytes.copy_within(length.checked_sub(FOOTER_BYTES)?..length, footer);
    Some(())
}

fn field(bytes: &[u8], number: usize) -> u32 {
    let at = 4 * number;
    u32::from_le_bytes(*bytes[at..].first_chunk().expect("a header"))
}
