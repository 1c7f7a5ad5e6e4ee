//! Sorts of several ranks that can be resumed, on the driver.

use std::path::PathBuf;
use std::sync::Arc;

use node::Random;
use pipeline::{Control, Failure};
use record::rows::Dialect;
use record::{Framing, Head, Headed, Keep, LineOrder, Order, RowSpec};
use rehearsal::Driver;
use sort::{Bytes, Choice, Job, Lines, Report, Resume, Source, Target, of_rank};

use super::chained::drawn_chained;
use super::lines::{Shape, distinct_lines, drawn_ties, sorted_lines, text_order, with_ties};
use super::{distinct, drawn_order, drawn_records, drawn_tuning, job, sorted};

/// A sort with three ranks of their own inputs, in a few steps.
pub struct Case {
    pub order: Order,
    /// The order of lines or chained records, if it sorts those.
    pub lines: Option<LineOrder>,
    /// The header of each input and output, if it sorts rows.
    pub header: Vec<u8>,
    pub job: Job,
    pub parts: Vec<Vec<u8>>,
    /// Whether only the first of records with equal keys is kept.
    pub unique: bool,
}

impl Case {
    pub fn new(seed: u64, ranks: u32, records: usize) -> Case {
        let mut random = Random::new(seed);
        let order = drawn_order(&mut random);
        let mut job = job(&[], "/out-{rank}", &order);
        job.plan = Choice::TwoPass;
        job.tuning = drawn_tuning(&mut random);
        job.tuning.steps = Some(1 + random.below(4) as u32);
        let sources = vec![Source::Path("/in-{rank}".into())];
        let (name, target) = ("/out-{rank}".to_owned(), "/out-{rank}".into());
        job.resume = Some(Resume {
            name,
            sources,
            target,
            temporary: Vec::new(),
        });
        let each = |_| {
            let count = random.below(records);
            drawn_records(&mut random, order.record_bytes(), count + 1)
        };
        let parts = (0..ranks).map(each).collect();
        let lines = None;
        Case {
            order,
            lines,
            header: Vec::new(),
            job,
            parts,
            unique: false,
        }
    }

    /// The same sort of lines, or of chained records.
    pub fn of_lines(seed: u64, ranks: u32, are_chained: bool) -> Case {
        let mut case = Case::new(seed, ranks, 1);
        let random = &mut Random::new(seed);
        let (parts, order) = if are_chained {
            drawn_chained(ranks as usize, 40_000 * ranks as usize, random)
        } else {
            let order = text_order(false, drawn_ties(random));
            let part = |_| Shape::Usual.lines(random.below(40_000), b'\n', random);
            let parts = (0..ranks).map(part).collect();
            (parts, LineOrder::lines(order, b'\n'))
        };
        case.job.contents = Arc::new(Lines::new(order.clone()));
        (case.parts, case.lines) = (parts, Some(order));
        case
    }

    /// The same sort of rows with a header, some with newlines in quotes.
    pub fn of_rows(seed: u64, ranks: u32) -> Case {
        let mut case = Case::new(seed, ranks, 1);
        let random = &mut Random::new(seed);
        let row = |random: &mut Random| {
            let quote = [".", "\n", "\"\",\n"][random.below(3)];
            format!("{},\"{quote}\"\n", random.below(1000))
        };
        let part = |_| {
            let rows: String = (0..random.below(2000)).map(|_| row(random)).collect();
            rows.into_bytes()
        };
        case.parts = (0..ranks).map(part).collect();
        case.header = b"number,text\n".to_vec();
        let rows = RowSpec {
            dialect: Dialect::CSV,
            head: Head::of_lines(1),
            keys: Vec::new(),
            keep: Keep::All,
            locale: None,
            nulls: Vec::new(),
            has_short_rows: false,
            sums: Vec::new(),
        };
        let order = rows.order(None).unwrap();
        case.lines = Some(LineOrder::rows(order));
        case.job.headed = Some(Headed::Rows(rows));
        case
    }

    /// The same sort of records that occur in the inputs of two ranks, of which it keeps the first or the last.
    pub fn unique(mut self, keep: Keep) -> Case {
        self.unique = true;
        let ends = |part: &Vec<u8>| match self.lines.as_ref()?.framing {
            Framing::Prefixed(_) => None,
            _ => part.last().filter(|&&last| last != b'\n').map(|_| b'\n'),
        };
        let whole = self.parts.iter().map(|part| {
            let end = ends(part);
            part.iter().copied().chain(end).collect::<Vec<u8>>()
        });
        let whole: Vec<Vec<u8>> = whole.collect();
        let next = whole.iter().cycle().skip(1);
        self.parts = whole
            .iter()
            .zip(next)
            .map(|(part, next)| [&part[..], next].concat())
            .collect();
        match (&mut self.lines, &mut self.job.headed) {
            (Some(_), Some(Headed::Rows(rows))) => {
                rows.keep = keep;
                let order = rows.order(None).unwrap();
                self.lines = Some(LineOrder::rows(order));
            }
            (Some(order), _) => {
                *order = with_ties(order, keep.ties());
                self.job.contents = Arc::new(Lines::new(order.clone()).keeping(keep));
            }
            (None, _) => {
                self.order = super::with_ties(&self.order, keep.ties());
                self.job.contents = Arc::new(Bytes::new(self.order.clone()).unique());
            }
        }
        self
    }

    /// Records of all parts.
    pub fn records(&self) -> usize {
        let all = self.sorted();
        match &self.lines {
            Some(order) => order.framing.split(&all).count(),
            None => all.len() / self.order.record_bytes(),
        }
    }

    pub fn begin(&self, seed: u64) -> Driver {
        let driver = Driver::new(seed, self.parts.len() as u32);
        for (rank, part) in (0..).zip(&self.parts) {
            let file = [&self.header[..], part].concat();
            driver.disks(rank).put(&input(rank), file);
        }
        driver
    }

    pub fn expected(&self) -> Vec<u8> {
        let sorted = self.sorted();
        match &self.lines {
            _ if !self.unique => sorted,
            Some(order) => {
                let kept = distinct_lines(&sorted, order);
                kept.iter().flat_map(|(_, line)| *line).copied().collect()
            }
            None => distinct(&sorted, &self.order),
        }
    }

    /// All records in order.
    fn sorted(&self) -> Vec<u8> {
        match &self.lines {
            Some(order) => sorted_lines(&self.parts, order),
            None => sorted(&self.parts.concat(), &self.order),
        }
    }

    /// The outputs of all ranges, one behind the other, on any rank's disks.
    pub fn outputs(&self, driver: &Driver, ranks: u32) -> Option<Vec<u8>> {
        let find = |range| {
            let found = (0..ranks).find_map(|rank| driver.disks(rank).get(&output(range)));
            found.and_then(|file| Some(file.strip_prefix(&self.header[..])?.to_vec()))
        };
        let ranges = 0..self.parts.len() as u32;
        ranges
            .map(find)
            .collect::<Option<Vec<_>>>()
            .map(|parts| parts.concat())
    }
}

pub fn input(rank: u32) -> PathBuf {
    of_rank(&PathBuf::from("/in-{rank}"), rank)
}

pub fn output(range: u32) -> PathBuf {
    of_rank(&PathBuf::from("/out-{rank}"), range)
}

pub fn run(driver: &Driver, job: &Job) -> Vec<Result<Report, Failure>> {
    let job = job.clone();
    let ends = driver.run(move |node| {
        let mut job = Job {
            control: Control::default(),
            ..job.clone()
        };
        let rank = node.rank().0;
        job.sources = vec![Source::Path(input(rank))];
        job.target = Target::Path(output(rank));
        async move { sort::run(&node, &job).await }
    });
    ends.unwrap_or_else(|stuck| panic!("{stuck}"))
}

pub fn check(ends: Vec<Result<Report, Failure>>, what: &str) -> Vec<Report> {
    ends.into_iter()
        .map(|end| end.unwrap_or_else(|failure| panic!("{what}: {failure}")))
        .collect()
}

/// Restarts the machine with the files on its disks: rank `r` gets the disks of `from[r]`.
pub fn again(driver: &Driver, seed: u64, from: &[Vec<u32>]) -> Driver {
    let next = Driver::new(seed, from.len() as u32);
    for (rank, all) in (0..).zip(from) {
        for &old in all {
            for path in driver.disks(old).paths() {
                next.disks(rank).move_here(driver.disks(old), &path);
            }
        }
    }
    next
}
