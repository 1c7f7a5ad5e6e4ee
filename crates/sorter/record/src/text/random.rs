//! A shuffled order in which equal keys stay together (`-R`).
//!
//! ```text
//! MD5( salt, 16 bytes | key )  | key
//!       the order                only if two hashes are equal
//! ```
//!
//! With the first 16 bytes of GNU's `--random-source=FILE` as the salt, the order is GNU's.

use md5::{Digest, Md5};

use super::words::Sink;

/// Writes bytes in the order of the hashes.
pub(super) fn encode(key: &[u8], salt: [u8; 16], out: &mut impl Sink) {
    let hash = Md5::new().chain_update(salt).chain_update(key).finalize();
    out.push_all(&hash);
    for &byte in key {
        if out.is_full() {
            break;
        }
        out.push(byte);
    }
}

/// The most bytes that a key of so many bytes is encoded in.
pub(super) fn most_bytes(key: usize) -> usize {
    key.saturating_add(16)
}
