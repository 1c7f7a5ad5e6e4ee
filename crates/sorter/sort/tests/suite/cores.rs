//! Sorts on more cores than this machine has: on simulated ones, for which tasks queue. Each stage is charged
//! by the rate that it had on a real core, those with one worker, too.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use node::Random;
use record::{Order, Ties};
use rehearsal::Driver;
use sort::{Choice, Counts, Report, Tuning};

use crate::common::lines::{LineSort, Shape, seeds, text_order};
use crate::common::{job, run};

/// Thousandths of a nanosecond per byte of each stage, for whole lines of 100 bytes in memory: "Stages" of
/// docs/benchmarks.md, where its command is.
const RATES: [(&str, u64); 6] = [
    ("sampler", 10_000),
    ("reader", 174),
    ("distributor", 1000),
    ("partition buffers", 9),
    ("sorter", 910),
    ("writer", 460),
];

const CORES: [usize; 6] = [1, 2, 4, 8, 16, 32];

/// A sort of 10 GB in memory, of which only the sizes are there.
fn sorted_on(cores: usize, tuning: Tuning) -> Report {
    let driver = Driver::new(40, 1);
    driver.limit_cores(cores);
    driver.charge(&RATES);
    driver
        .disks(0)
        .put_counted(Path::new("/in"), 10_000_000_000);
    let mut job = job(&["/in"], "/out", &Order::gensort(Ties::Record));
    job.contents = Arc::new(Counts::new(100, 1.0, 1));
    (job.resources.memory_bytes, job.resources.cores) = (64 << 30, cores);
    job.tuning = tuning;
    let report = run(&driver, &job).unwrap();
    assert_eq!((report.records, report.passes), (100_000_000, 1));
    report
}

#[test]
fn thirty_two_cores_sort_twenty_four_times_as_fast_as_one() {
    let all = CORES.map(|cores| sorted_on(cores, Tuning::default()));
    let one = all[0].seconds;
    let times = all.each_ref().map(|report| one / report.seconds);
    println!("times as fast as one core, of {CORES:?}: {times:.2?}");
    for (cores, times) in CORES.iter().zip(times) {
        assert!(times >= 0.75 * *cores as f64, "{cores} cores: {times}");
    }
    assert_eq!(all[5].bottleneck, "writer");
    let again = sorted_on(32, Tuning::default());
    assert_eq!(again, all[5], "a seed decides all");
}

/// So many workers as keep a disk busy would hold up the others.
#[test]
fn few_writers_are_a_bottleneck_that_is_named() {
    let tuning = Tuning {
        readers: Some(2),
        writers: Some(2),
        ..Tuning::default()
    };
    let [one, all] = [1, 32].map(|cores| sorted_on(cores, tuning));
    let times = one.seconds / all.seconds;
    println!("times as fast as one core, with 2 readers and 2 writers: {times:.2}");
    assert!(times < 12.0, "{times}");
    assert_eq!(all.bottleneck, "writer");
}

#[test]
fn any_number_of_cores_gives_the_same_bytes() {
    for seed in 0..seeds(3, 12) {
        let mut random = Random::new(seed);
        let shape = Shape::ALL[random.below(Shape::ALL.len())];
        let lines = shape.lines(400_000, b'\n', &mut random);
        let order = text_order(random.below(2) == 0, Ties::Position);
        let mut sort = LineSort::new(vec![lines], order, b'\n');
        let expected = sort.expected();
        for plan in [Choice::Auto, Choice::TwoPass, Choice::Merge] {
            for cores in CORES {
                sort.job.plan = plan;
                (sort.job.resources.cores, sort.job.resources.memory_bytes) = (cores, 64 << 20);
                sort.job.temporary = vec![PathBuf::from("/tmp")];
                let driver = sort.driver(seed);
                driver.limit_cores(cores);
                driver.charge(&RATES);
                run(&driver, &sort.job())
                    .unwrap_or_else(|failure| panic!("seed {seed}, {cores} cores: {failure}"));
                let got = driver.disks(0).get(Path::new("/out"));
                assert!(
                    got.as_ref() == Some(&expected),
                    "seed {seed}, {plan:?}, {cores} cores"
                );
            }
        }
    }
}
