//! The parity of blocks: their XOR, of which any one block comes back with all others.

/// Mixes bytes into the parity of as many.
///
/// # Panics
/// If there are not as many.
pub fn mix(parity: &mut [u8], bytes: &[u8]) {
    assert_eq!(parity.len(), bytes.len());
    for (parity, byte) in parity.iter_mut().zip(bytes) {
        *parity ^= byte;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_of_three_blocks_comes_back_from_the_others() {
        let blocks = [[1, 2, 3], [250, 7, 0], [9, 9, 255]];
        let mut parity = [0; 3];
        blocks.iter().for_each(|block| mix(&mut parity, block));
        for lost in 0..3 {
            let mut back = parity;
            for other in (0..3).filter(|other| *other != lost) {
                mix(&mut back, &blocks[other]);
            }
            assert_eq!(back, blocks[lost]);
        }
    }
}
