//! Binary gensort records: ten groups of ten random bytes.
//!
//! ```text
//! record n    | X(n+1) | X(n+2) ^ 1 | X(n+3) ^ 2 | ... | X(n+10) ^ 9 |     10 bytes each
//! record n+1           | X(n+2)     | X(n+3) ^ 1 | ... | X(n+10) ^ 8 | X(n+11) ^ 9 |
//! ```
//!
//! Every group is the upper ten bytes of a state of the generator, exclusive-or'd with a constant
//! of the group. Consecutive records share nine of their ten states, so a window that slides over
//! the sequence costs one step per record. States are made a tile at a time, so that the chain of
//! multiplications runs ahead of the stores instead of between them.
//!
//! Source: the documented layout of gensort 1.5 (Hadoop's TeraGen has the layout of 1.1).

use super::RECORD_BYTES;
use super::lcg::Lcg;
use super::skew;

const GROUPS: usize = 10;
const GROUP_BYTES: usize = 10;

/// Records of one tile: its 73 states are 1.2 KB, a small part of the first-level cache.
const TILE_RECORDS: usize = 64;

/// The mask of each group, in the upper ten bytes.
const GROUP_MASKS: [u128; GROUPS] = [
    0,
    0xF0E8_E4E2_E1D8_D4D2_D1CC << 48,
    0xCAC9_C6C5_C3B8_B4B2_B1AC << 48,
    0xAAA9_A6A5_A39C_9A99_9695 << 48,
    0x938E_8D8B_8778_7472_716C << 48,
    0x6A69_6665_635C_5A59_5655 << 48,
    0x534E_4D4B_473C_3A39_3635 << 48,
    0x332E_2D2B_271E_1D1B_170F << 48,
    0xC8C4_C2C1_9894_9291_8CE0 << 48,
    0x170F_332E_2D2B_271E_1D1B << 48,
];

/// Fills `out` with the records from number `first` on.
pub(super) fn fill(first: u128, skewed: bool, out: &mut [[u8; RECORD_BYTES]]) {
    let mut sequence = Lcg::of_record(first);
    let mut states = [0; TILE_RECORDS + GROUPS - 1];
    for state in &mut states[TILE_RECORDS..] {
        *state = sequence.draw();
    }
    let mut number = first;
    for tile in out.chunks_mut(TILE_RECORDS) {
        states.copy_within(TILE_RECORDS.., 0);
        for state in &mut states[GROUPS - 1..] {
            *state = sequence.draw();
        }
        for (record, window) in tile.iter_mut().zip(states.windows(GROUPS)) {
            write_record(window, record);
        }
        if skewed {
            for (record, &state) in tile.iter_mut().zip(&states) {
                skew::binary(number, state, record);
                number = number.wrapping_add(1);
            }
        }
    }
}

#[inline]
fn write_record(window: &[u128], record: &mut [u8; RECORD_BYTES]) {
    let (groups, _) = record.as_chunks_mut::<GROUP_BYTES>();
    for ((group, state), mask) in groups.iter_mut().zip(window).zip(GROUP_MASKS) {
        let bytes = (state ^ mask).to_be_bytes();
        group.copy_from_slice(&bytes[..GROUP_BYTES]);
    }
}
