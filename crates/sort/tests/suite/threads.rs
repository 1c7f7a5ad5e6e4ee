//! The same sort on threads and real files.

use crate::common::{drawn_records, job, sorted};
use node::Random;
use node_real::Cluster;
use record::{Order, Ties};
use sort::{IoChoice, Job, Report, Tuning};

fn run(job: &Job) -> Report {
    let job = job.clone();
    let ends = Cluster::new(1, 1).run(move |node| {
        let job = job.clone();
        async move { sort::run(&node, &job).await }
    });
    ends.into_iter()
        .next()
        .unwrap()
        .unwrap_or_else(|failure| panic!("{failure}"))
}

#[test]
fn one_to_three_workers_of_each_stage_give_the_same_bytes() {
    let place = tempfile::tempdir().unwrap();
    let (input, output) = (place.path().join("in"), place.path().join("out"));
    let (input, output) = (input.to_str().unwrap(), output.to_str().unwrap());
    let mut random = Random::new(1);
    for ties in [Ties::Record, Ties::Position] {
        let order = Order::gensort(ties);
        let mut records = drawn_records(&mut random, 100, 50_000);
        while records.len() < 100_000 {
            records = drawn_records(&mut random, 100, 50_000);
        }
        std::fs::write(input, &records).unwrap();
        let expected = sorted(&records, &order);
        for workers in 0..81_usize {
            let count = |place: u32| Some(1 + workers / 3_usize.pow(place) % 3);
            let mut job = job(&[input], output, &order);
            job.tuning = Tuning {
                readers: count(0),
                distributors: count(1),
                sorters: count(2),
                writers: count(3),
                unit_records: Some(1000),
                buckets: Some(10),
                ..Tuning::default()
            };
            job.resources.io = [IoChoice::Auto, IoChoice::Direct, IoChoice::Buffered][workers % 3];
            let report = run(&job);
            assert!(
                std::fs::read(output).unwrap() == expected,
                "{:?}",
                job.tuning
            );
            assert_eq!(report.bytes, records.len() as u64);
        }
        assert_eq!(
            std::fs::read_dir(place.path()).unwrap().count(),
            2,
            "a file is left"
        );
    }
}

#[test]
fn the_default_plan_sorts_a_larger_file() {
    let place = tempfile::tempdir().unwrap();
    let (input, output) = (place.path().join("in"), place.path().join("out"));
    let mut records = vec![0; 20_000_000];
    record::Generator::default().fill(0, &mut records);
    std::fs::write(&input, &records).unwrap();
    let order = Order::gensort(Ties::Record);
    let report = run(&job(
        &[input.to_str().unwrap()],
        output.to_str().unwrap(),
        &order,
    ));
    assert!(std::fs::read(&output).unwrap() == sorted(&records, &order));
    assert_eq!(
        (report.records, report.passes, report.plan),
        (200_000, 1, "one-pass")
    );
    assert!(report.read_bytes >= report.bytes && report.read_bytes < report.bytes * 11 / 10);
    assert_eq!(report.written_bytes, report.bytes.next_multiple_of(4096));
}
