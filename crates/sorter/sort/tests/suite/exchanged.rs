//! A disk that returns another chunk than the one requested: each is as it was written, but
//! elsewhere.
//!
//! ```text
//! written    | A | B | C | D |
//! on disk    | A | D | C | B |        the sort names the disk, and one of the two places
//! ```

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use crate::common::run;
use crate::common::survival::{Case, Output, WAYS};
use kernel::patterns::{Pattern, draw};
use node::Random;
use pipeline::Control;
use record::{Order, Ties};
use rehearsal::Driver;
use rehearsal::MemoryDisks;
use sort::{Choice, Job, Resume, SortError, Source, Target, Tuning};

/// Pairs of chunks for each way to sort and each order.
const PAIRS: usize = 20;

/// One seed, so that all runs of a case write the same.
const SEED: u64 = 3;

/// A chunk as it was written.
#[derive(Clone)]
struct Written {
    path: PathBuf,
    offset: u64,
    bytes: Vec<u8>,
}

impl Written {
    fn is_at(&self, path: &Path, offset: u64) -> bool {
        self.path == path && self.offset == offset
    }

    fn spoilt(&self) -> String {
        SortError::Spoilt {
            file: self.path.clone(),
            offset: self.offset,
        }
        .to_string()
    }
}

/// The chunks written from now on to spill files.
fn watch(disks: &MemoryDisks, is_spilled: fn(&Path) -> bool) -> Arc<Mutex<Vec<Written>>> {
    let all = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&all);
    disks.spoil(move |path, offset, bytes| {
        if is_spilled(path) {
            let chunk = Written {
                path: path.to_owned(),
                offset,
                bytes: bytes.to_vec(),
            };
            seen.lock().unwrap().push(chunk);
        }
    });
    all
}

/// Two chunks of different content.
fn pair<'a>(chunks: &'a [Written], random: &mut Random) -> [&'a Written; 2] {
    loop {
        let two = [(); 2].map(|()| &chunks[random.below(chunks.len())]);
        if two[0].bytes != two[1].bytes && two[0].bytes.len() == two[1].bytes.len() {
            return two;
        }
    }
}

#[test]
fn two_exchanged_chunks_are_found_on_the_disk() {
    let mut random = Random::new(SEED);
    let (mut of_one_file, mut pairs) = (0, 0);
    for (way, ties) in WAYS
        .into_iter()
        .flat_map(|way| [(way, Ties::Record), (way, Ties::Position)])
    {
        let case = Case::to("/out", way, way.records, ties);
        if !case.spills() {
            continue;
        }
        let driver = case.driver(SEED);
        let chunks = watch(driver.disks(0), Case::is_spilled);
        run(&driver, &case.job()).unwrap_or_else(|failure| panic!("{failure}"));
        let chunks = std::mem::take(&mut *chunks.lock().unwrap());
        for _ in 0..PAIRS {
            let [a, b] = pair(&chunks, &mut random);
            let here = format!("{}: {} and {}", way.name, a.offset, b.offset);
            let driver = case.driver(SEED);
            let both = [a.clone(), b.clone()];
            driver.disks(0).spoil(move |path, offset, bytes| {
                if let Some(at) = both.iter().position(|chunk| chunk.is_at(path, offset)) {
                    bytes.copy_from_slice(&both[1 - at].bytes);
                }
            });
            let failure = run(&driver, &case.job()).err();
            let found = failure
                .unwrap_or_else(|| panic!("{here} are not found"))
                .to_string();
            assert!([a.spoilt(), b.spoilt()].contains(&found), "{here}: {found}");
            let checked = case
                .check(&driver, Output::Old)
                .and_then(|_| case.check_alone(&driver));
            checked.unwrap_or_else(|wrong| panic!("{here}: {wrong}"));
            of_one_file += usize::from(a.path == b.path);
            pairs += 1;
        }
    }
    assert!(
        of_one_file > 20 && pairs - of_one_file > 20,
        "{of_one_file} of {pairs} in one file"
    );
}

/// A sort of one node that can be resumed.
fn resumable() -> Job {
    let mut job = crate::common::job(&["/in"], "/out", &Order::gensort(Ties::Record));
    job.plan = Choice::TwoPass;
    job.tuning = Tuning {
        unit_records: Some(50),
        buckets: Some(5),
        chunk_bytes: Some(4096),
        distributors: Some(1),
        steps: Some(3),
        ..Tuning::default()
    };
    let (sources, target) = (
        vec![Source::Path("/in".into())],
        Target::Path("/out".into()),
    );
    let Target::Path(target) = target else {
        unreachable!()
    };
    job.resume = Some(Resume {
        name: "/out".into(),
        sources,
        target,
        temporary: Vec::new(),
    });
    job
}

fn is_kept(path: &Path) -> bool {
    path.to_string_lossy().contains("spill-")
}

/// The disk exchanges two chunks while no sort runs, and the resumed sort reads them again.
#[test]
fn chunks_exchanged_before_a_sort_resumes_are_found() {
    let records = draw(Pattern::Uniform, 8, 2000, 100);
    let sorted = crate::common::sorted(&records, &Order::gensort(Ties::Record));
    let (mut found, mut resumed, mut died) = (0, 0, 0);
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let driver = Driver::new(seed, 1);
        crate::common::put(&driver, "/in", &records);
        crate::common::put(&driver, "/out", b"old");
        let chunks = watch(driver.disks(0), is_kept);
        driver.kill(0, 200 + random.below(3000) as u64);
        if crate::common::run_unless_killed(&driver, &resumable()).is_some() {
            continue;
        }
        died += 1;
        let next = Driver::new(seed + 1000, 1);
        for path in crate::common::paths(&driver) {
            next.disks(0).move_here(driver.disks(0), &path);
        }
        let chunks = chunks.lock().unwrap();
        let there = |chunk: &&Written| {
            let file = next.disks(0).get(&chunk.path).unwrap_or_default();
            file.get(chunk.offset as usize..)
                .is_some_and(|rest| rest.starts_with(&chunk.bytes))
        };
        let there: Vec<Written> = chunks.iter().filter(there).cloned().collect();
        if there.len() < 2 {
            continue;
        }
        let [a, b] = pair(&there, &mut random);
        let mut file = next.disks(0).get(&a.path).expect("its spill file");
        assert_eq!(a.path, b.path, "one directory, one file");
        for (from, to) in [(a, b), (b, a)] {
            file[to.offset as usize..][..from.bytes.len()].copy_from_slice(&from.bytes);
        }
        next.disks(0).put(&a.path, file);
        resumed += 1;
        let job = Job {
            control: Control::default(),
            ..resumable()
        };
        match run(&next, &job) {
            Ok(_) => assert!(
                crate::common::get(&next, "/out").as_ref() == Some(&sorted),
                "seed {seed}"
            ),
            Err(failure) => {
                let failure = failure.to_string();
                assert!(
                    [a.spoilt(), b.spoilt()].contains(&failure),
                    "seed {seed}: {failure}"
                );
                assert_eq!(
                    crate::common::get(&next, "/out").as_deref(),
                    Some(&b"old"[..])
                );
                found += 1;
            }
        }
    }
    assert!(
        found > 10,
        "{found} found of {resumed} that were resumed, {died} died"
    );
}
