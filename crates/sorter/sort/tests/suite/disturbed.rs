//! Drawn sorts over one to four ranks, while another program edits or exchanges an input at some
//! moment. A sort has the records of one form of each file, or it is refused and leaves the old
//! output.

use std::path::{Path, PathBuf};

use crate::common::cluster::KINDS;
use crate::common::{drawn_order, drawn_tuning, job, sorted};
use kernel::patterns::{Pattern, draw};
use node::{Costs, Random, Time};
use pipeline::Control;
use record::Order;
use rehearsal::DiskModel;
use rehearsal::Driver;
use sort::{Choice, IoChoice, Job, Resume, Source, Target, of_rank};

/// Requests take a while, so that a sort has many moments.
const DISK: DiskModel = DiskModel {
    latency_ns: 1000,
    read_ns_per_kib: 10,
    write_ns_per_kib: 10,
};

/// A change that another program makes to a file; its length stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meddling {
    /// Some records are overwritten in place.
    Edit,
    /// Another file gets the name.
    Exchange,
    /// A copy of the file gets the name.
    Copy,
}

/// A sort that is disturbed.
#[derive(Clone)]
struct Case {
    seed: u64,
    ranks: u32,
    order: Order,
    job: Job,
    /// Before and after: by file its content.
    forms: [Vec<Vec<u8>>; 2],
    /// The file that is disturbed.
    file: usize,
    meddling: Meddling,
}

impl Case {
    fn new(seed: u64) -> Case {
        let mut random = Random::new(seed);
        let ranks = 1 + random.below(4) as u32;
        let shared = random.below(2) == 0;
        let order = drawn_order(&mut random);
        let files = if shared { 1 } else { ranks as usize };
        let record = order.record_bytes();
        let most = (200_000 / record).min(3000);
        let drawn = |random: &mut Random, count| {
            let pattern = Pattern::ALL[random.below(Pattern::ALL.len())];
            draw(pattern, random.next_u64(), count, record)
        };
        let before: Vec<Vec<u8>> = (0..files)
            .map(|_| {
                let count = 1 + random.below(most);
                drawn(&mut random, count)
            })
            .collect();
        let (file, meddling) = (
            random.below(files),
            [Meddling::Edit, Meddling::Exchange, Meddling::Copy][random.below(3)],
        );
        let mut after = before.clone();
        let count = before[file].len() / record;
        match meddling {
            Meddling::Copy => {}
            Meddling::Exchange => after[file] = drawn(&mut random, count),
            Meddling::Edit => {
                // Where no probe may look.
                let begin = random.below(count);
                let edited = (1 + random.below(20)).min(count - begin);
                let range = begin * record..(begin + edited) * record;
                after[file][range].copy_from_slice(&drawn(&mut random, edited));
            }
        }
        let mut job = job(&[], "", &order);
        job.shared = shared;
        job.host = ["", "one"][random.below(2)].to_owned();
        job.tuning = drawn_tuning(&mut random);
        job.exchange = KINDS[random.below(2)];
        job.resources.io = [IoChoice::Direct, IoChoice::Buffered][random.below(2)];
        if random.below(2) == 0 {
            job.plan = Choice::TwoPass;
        }
        if random.below(4) == 0 {
            job.plan = Choice::TwoPass;
            let target = PathBuf::from("/out-{rank}");
            job.resume = Some(Resume {
                name: "/out-{rank}".to_owned(),
                sources: vec![Source::Path(Case::input(shared))],
                target,
                temporary: Vec::new(),
            });
        }
        Case {
            seed,
            ranks,
            order,
            job,
            forms: [before, after],
            file,
            meddling,
        }
    }

    fn input(shared: bool) -> PathBuf {
        PathBuf::from(if shared { "/in" } else { "/in-{rank}" })
    }

    fn path(&self, file: usize) -> PathBuf {
        of_rank(&Case::input(self.job.shared), file as u32)
    }

    /// The disks with the inputs before any is disturbed. One file system, so that all ranks see one
    /// file.
    fn driver(&self) -> Driver {
        let driver = Driver::with(self.seed, self.ranks, Costs::default(), DISK).sharing_disks();
        for (file, content) in self.forms[0].iter().enumerate() {
            driver.disks(0).put(&self.path(file), content.clone());
        }
        driver
    }

    /// Runs the sort, and disturbs a file at a moment. The reason of each rank that refused.
    fn run(&self, driver: &Driver, at: Option<Time>) -> Vec<Option<String>> {
        let (case, disks) = (self.clone(), driver.disks(0).clone());
        let ends = driver.run(move |node| {
            let (case, disks) = (case.clone(), disks.clone());
            let rank = node.rank().0;
            let job = Job {
                control: Control::default(),
                sources: vec![Source::Path(of_rank(&Case::input(case.job.shared), rank))],
                target: Target::Path(of_rank(Path::new("/out-{rank}"), rank)),
                ..case.job.clone()
            };
            async move {
                let at = at.filter(|_| rank == 0);
                let meddler = at.map(|at| {
                    node.spawn("meddler", move |node| async move {
                        node.sleep_until(at).await;
                        case.meddle(&disks);
                    })
                });
                let end = sort::run(&node, &job).await;
                if let Some(meddler) = meddler {
                    meddler.wait(&node).await.unwrap();
                }
                end.err().map(|failure| failure.to_string())
            }
        });
        ends.unwrap_or_else(|stuck| panic!("seed {}: {stuck}", self.seed))
    }

    fn meddle(&self, disks: &rehearsal::MemoryDisks) {
        let (path, [before, after]) = (self.path(self.file), &self.forms);
        let (before, after) = (&before[self.file], &after[self.file]);
        if self.meddling != Meddling::Edit {
            return disks.put(&path, after.clone());
        }
        let differs = |at: &usize| before[*at] != after[*at];
        let first = (0..before.len()).find(differs).unwrap_or(0);
        let last = (0..before.len()).rfind(differs).unwrap_or(0);
        disks.edit(&path, first as u64, &after[first..=last]);
    }

    fn outputs(&self, driver: &Driver) -> Option<Vec<u8>> {
        let of = |rank| {
            driver
                .disks(0)
                .get(&of_rank(Path::new("/out-{rank}"), rank))
        };
        let all: Option<Vec<_>> = (0..self.ranks).map(of).collect();
        all.map(|all| all.concat())
    }

    fn expected(&self, form: usize) -> Vec<u8> {
        sorted(&self.forms[form].concat(), &self.order)
    }
}

#[test]
fn disturbed_sorts_have_one_form_of_each_file_or_are_refused() {
    let cases = std::env::var("CASES")
        .ok()
        .and_then(|count| count.parse().ok());
    let (mut refused, mut old, mut new) = (0, 0, 0);
    for seed in 0..cases.unwrap_or(400) {
        let case = Case::new(seed);
        let (what, undisturbed) = (format!("seed {seed}, {:?}", case.meddling), case.driver());
        let ends = case.run(&undisturbed, None);
        assert_eq!(ends, vec![None; case.ranks as usize], "{what}");
        assert!(
            case.outputs(&undisturbed) == Some(case.expected(0)),
            "{what}"
        );
        let whole = undisturbed.now().0;
        let mut random = Random::new(seed ^ 0xD157);
        let at = Time(whole * random.below(1000) as u64 / 1000);
        let driver = case.driver();
        let ends = case.run(&driver, Some(at));
        let (output, what) = (
            case.outputs(&driver),
            format!("{what} at {at:?} of {whole}: {ends:?}"),
        );
        if ends.iter().any(Option::is_some) {
            assert!(ends.iter().all(Option::is_some), "{what}");
            assert_eq!(output, None, "{what}");
            refused += 1;
            continue;
        }
        let forms = [0, 1].map(|form| output.as_ref() == Some(&case.expected(form)));
        assert!(forms.contains(&true), "{what}: records of two forms");
        old += usize::from(forms[0]);
        new += usize::from(!forms[0]);
    }
    assert!(
        refused > 20 && old > 20 && new > 0,
        "{refused} refused, {old} as before, {new} as after"
    );
}
