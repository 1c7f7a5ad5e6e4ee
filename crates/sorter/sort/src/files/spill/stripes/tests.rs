use node::Random;

use super::*;

const BLOCK: u64 = 4096;

fn form(blocks: usize) -> StripeForm {
    StripeForm {
        blocks,
        block_bytes: 2 * BLOCK,
    }
}

/// Each byte of each log is in one stripe, whose blocks are in all other directories.
#[test]
fn a_stripe_has_one_block_of_each_directory() {
    for blocks in 1..6 {
        let form = form(blocks);
        let mut stripes: BTreeMap<Stripe, Vec<usize>> = BTreeMap::new();
        for directory in 0..=blocks {
            let range = 0..3 * form.row_bytes();
            let mut at = 0;
            for Piece { stripe, within } in form.pieces(directory, range.clone()) {
                assert_eq!(form.offset(stripe, directory) + within.start, at);
                at += within.end - within.start;
                stripes.entry(stripe).or_default().push(directory);
            }
            assert_eq!(at, range.end);
        }
        assert_eq!(stripes.len(), 3 * (blocks + 1));
        for (stripe, directories) in stripes {
            let others = (0..=blocks).filter(|other| *other != stripe.directory);
            assert_eq!(directories, others.collect::<Vec<_>>());
        }
    }
}

#[test]
fn a_range_is_cut_where_blocks_end() {
    let form = form(2);
    let pieces: Vec<_> = form.pieces(1, BLOCK..6 * BLOCK).collect();
    let lengths = pieces.iter().map(|piece| piece.within.clone());
    let all = [BLOCK..2 * BLOCK, 0..2 * BLOCK, 0..2 * BLOCK];
    assert_eq!(lengths.collect::<Vec<_>>(), all);
    assert_eq!(form.pieces(1, 7..7).count(), 0);
}

/// Logs and parity as disks would have them.
struct Disks {
    stripes: Stripes,
    logs: Vec<Vec<u8>>,
    parity: Vec<Vec<u8>>,
    written: u64,
}

impl Disks {
    fn new(blocks: usize) -> Disks {
        let all = vec![Vec::new(); blocks + 1];
        Disks {
            stripes: Stripes::new(form(blocks), &vec![false; blocks + 1]),
            logs: all.clone(),
            parity: all,
            written: 0,
        }
    }

    fn write_parity(&mut self, full: Vec<Full>) {
        for Full { stripe, parity } in full {
            let at = self.stripes.form.offset(stripe, stripe.directory);
            self.written += parity.capacity() as u64;
            put(&mut self.parity[stripe.directory], at, parity.bytes());
        }
    }

    fn take(&mut self, wanted: usize, bytes: u64) -> (usize, Range<u64>) {
        let directory = self.stripes.directory(wanted, bytes).expect("all are open");
        let begin = self.stripes.end(directory);
        let growth = self.stripes.growth(directory, begin..begin + bytes);
        let before = self.stripes.held;
        self.stripes.take(directory, begin..begin + bytes);
        assert_eq!(self.stripes.held, before + bytes + growth);
        (directory, begin..begin + bytes)
    }

    fn mix(&mut self, (directory, range): (usize, Range<u64>), random: &mut Random) {
        let each = [BLOCK, range.end - range.start][random.below(2)];
        let chunks = (range.end - range.start) / each;
        let mut run: Vec<Buffer> = (0..chunks).map(|_| Buffer::heap(each as usize)).collect();
        for chunk in &mut run {
            let bytes = chunk.bytes_mut();
            bytes
                .iter_mut()
                .for_each(|byte| *byte = random.next_u64() as u8);
        }
        let missing = self.stripes.missing(directory, range.clone());
        let fresh = || Buffer::heap(self.stripes.form.block_bytes as usize);
        let mut fresh: Vec<Buffer> = (0..missing).map(|_| fresh()).collect();
        let bytes = run.iter().flat_map(Buffer::bytes).copied();
        put(
            &mut self.logs[directory],
            range.start,
            &bytes.collect::<Vec<_>>(),
        );
        self.stripes.mix(directory, range, &run, &mut fresh);
        assert!(fresh.is_empty());
        let full = self.stripes.full();
        self.write_parity(full);
    }

    /// A range of a directory, from all others.
    fn rebuilt(&self, directory: usize, range: Range<u64>) -> Vec<u8> {
        let form = self.stripes.form;
        let mut all = Vec::new();
        for Piece { stripe, within } in form.pieces(directory, range) {
            let mut part = vec![0; (within.end - within.start) as usize];
            for other in (0..self.logs.len()).filter(|other| *other != directory) {
                let of_parity = other == stripe.directory;
                let files = if of_parity { &self.parity } else { &self.logs };
                let at = (form.offset(stripe, other) + within.start) as usize;
                let there = files[other].get(at..).unwrap_or_default();
                let length = there.len().min(part.len());
                mix(&mut part[..length], &there[..length]);
            }
            all.extend(part);
        }
        all
    }
}

fn put(file: &mut Vec<u8>, at: u64, bytes: &[u8]) {
    let end = at as usize + bytes.len();
    file.resize(file.len().max(end), 0);
    file[at as usize..end].copy_from_slice(bytes);
}

/// Runs of drawn lengths are taken, and mixed in another order. All of each directory comes back from the
/// others; memory for parity is bounded.
#[test]
fn each_directory_comes_back_from_all_others() {
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let blocks = 1 + random.below(4);
        let mut disks = Disks::new(blocks);
        let (mut taken, mut written) = (Vec::new(), Vec::new());
        let longest = 1 + random.below(9) as u64;
        for _ in 0..200 {
            let bytes = BLOCK * (1 + random.below(longest as usize) as u64);
            taken.push(disks.take(random.below(blocks + 1), bytes));
            while taken.len() > random.below(4) {
                let run = taken.swap_remove(random.below(taken.len()));
                written.push(run.clone());
                disks.mix(run, &mut random);
            }
            let window = (RUNS_AHEAD + 1) * longest * BLOCK;
            let rows = window.div_ceil(disks.stripes.form.row_bytes()) as usize + 3;
            let begun = disks.stripes.begun.len();
            assert!(
                begun <= rows * (blocks + 1),
                "seed {seed}: {begun} in memory"
            );
            if random.below(50) == 0 {
                for run in taken.drain(..) {
                    written.push(run.clone());
                    disks.mix(run, &mut random);
                }
                let full = disks.stripes.end_all();
                disks.write_parity(full);
            }
        }
        for run in std::mem::take(&mut taken) {
            written.push(run.clone());
            disks.mix(run, &mut random);
        }
        let full = disks.stripes.end_all();
        disks.write_parity(full);
        for (directory, range) in &written {
            let log = &disks.logs[*directory];
            let there = &log[range.start as usize..range.end as usize];
            let back = disks.rebuilt(*directory, range.clone());
            assert!(back == there, "seed {seed}: {directory}, {range:?}");
        }
        let data: u64 = written
            .iter()
            .map(|(_, range)| range.end - range.start)
            .sum();
        assert_eq!(data + disks.written, disks.stripes.held, "seed {seed}");
        let freed = written.into_iter().flat_map(|(directory, range)| {
            let freed = disks.stripes.release(directory, range);
            freed.into_iter().map(|freed| freed.data.start)
        });
        let mut freed: Vec<u64> = freed.collect();
        freed.sort_unstable();
        freed.dedup();
        assert_eq!(freed.len(), disks.stripes.segments.len(), "seed {seed}");
        assert_eq!(disks.stripes.held, 0, "seed {seed}");
    }
}

#[test]
fn no_directory_is_far_ahead_unless_the_others_are_closed() {
    let mut stripes = Stripes::new(form(2), &[false, false, true]);
    let take = |stripes: &mut Stripes| {
        let directory = stripes.directory(0, BLOCK)?;
        let begin = stripes.end(directory);
        stripes.take(directory, begin..begin + BLOCK);
        Some(directory)
    };
    let taken: Vec<_> = (0..8).map(|_| take(&mut stripes).unwrap()).collect();
    assert_eq!(taken, [0, 0, 1, 0, 1, 0, 1, 0]);
    stripes.close(1);
    assert_eq!(
        (0..9).map(|_| take(&mut stripes)).collect::<Vec<_>>(),
        [Some(0); 9]
    );
    stripes.close(0);
    assert_eq!(take(&mut stripes), None);
}
