//! Inputs and their sorted content.

use fastrand::Rng;

/// The length of a gensort record.
pub(crate) const RECORD_BYTES: usize = 100;

/// Records in the inputs of most cases; every fourth input has few different keys.
const SMALL: [usize; 6] = [1, 700, 3_000, 5_000, 12_000, 20_000];

/// Records for which a sort needs two epochs in the memory of the suite.
const LARGE: usize = 150_000;

pub(crate) struct Input {
    pub bytes: Vec<u8>,
    /// The records in the order of a naive sort.
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
pub(crate) fn pool(seed: u64) -> Vec<Input> {
    let mut draw = Rng::with_seed(seed);
    let small = SMALL.into_iter().enumerate();
    let mut all: Vec<Input> = small
        .map(|(number, records)| Input::new(records, &mut draw, number % 4 == 2))
        .collect();
    all.push(Input::new(LARGE, &mut draw, false));
    all
}
