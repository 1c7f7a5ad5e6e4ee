//! Inputs, and what they must look like when they are sorted.

use fastrand::Rng;

/// As gensort makes them.
pub const RECORD_BYTES: usize = 100;

/// Records of the inputs of most cases; every fourth of them has few different keys.
const SMALL: [usize; 6] = [1, 700, 3_000, 5_000, 12_000, 20_000];

/// A sort of this number of records needs two epochs in the memory that the suite gives.
const LARGE: usize = 150_000;

/// An input.
pub struct Input {
    pub bytes: Vec<u8>,
    /// By a naive sort.
    pub sorted: Vec<u8>,
}

impl Input {
    fn new(records: usize, draw: &mut Rng, is_plain: bool) -> Input {
        let mut bytes = vec![0; records * RECORD_BYTES];
        draw.fill(&mut bytes);
        if is_plain {
            bytes.iter_mut().for_each(|byte| *byte &= 1);
        }
        let mut all: Vec<&[u8]> = bytes.chunks(RECORD_BYTES).collect();
        all.sort_unstable();
        let sorted = all.concat();
        Input { bytes, sorted }
    }
}

/// All inputs; the last is the large one.
pub fn pool(seed: u64) -> Vec<Input> {
    let mut draw = Rng::with_seed(seed);
    let small = SMALL.into_iter().enumerate();
    let mut all: Vec<Input> = small
        .map(|(number, records)| Input::new(records, &mut draw, number % 4 == 2))
        .collect();
    all.push(Input::new(LARGE, &mut draw, false));
    all
}
