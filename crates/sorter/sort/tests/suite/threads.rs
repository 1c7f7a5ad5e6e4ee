//! The same sort on threads and real files.

use crate::common::{drawn_records, job, sorted};
use codec::{Decoder, Front, Header, read_past};
use node::{Compression, Decompress, Random};
use node_real::Cluster;
use pipeline::Control;
use record::{Order, Ties};
use sort::{IoChoice, Job, Report, Target, Tuning};

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

/// A program may sort more than once on its node.
#[test]
fn a_node_sorts_twice() {
    let place = tempfile::tempdir().unwrap();
    let (input, output) = (place.path().join("in"), place.path().join("out"));
    let records = drawn_records(&mut Random::new(3), 100, 500);
    std::fs::write(&input, &records).unwrap();
    let order = Order::gensort(Ties::Record);
    let paths = [&input, &output].map(|path| path.to_str().unwrap());
    let again = job(&[paths[0]], paths[1], &order);
    let ends = Cluster::new(1, 1).run(move |node| {
        let first = again.clone();
        let second = Job {
            control: Control::default(),
            ..again.clone()
        };
        async move {
            sort::run(&node, &first).await?;
            sort::run(&node, &second).await
        }
    });
    assert!(ends.into_iter().all(|end| end.is_ok()));
    assert!(std::fs::read(&output).unwrap() == sorted(&records, &order));
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

/// Each of two ranks writes its range to a compressed file of its own; a file of both is refused.
#[test]
fn ranks_write_compressed_files_of_their_own() {
    let place = tempfile::tempdir().unwrap();
    let input = place.path().join("in");
    let mut records = vec![0; 1_000_000];
    record::Generator::default().fill(0, &mut records);
    std::fs::write(&input, &records).unwrap();
    let order = Order::gensort(Ties::Record);
    let job = job(&[input.to_str().unwrap()], "", &order);
    let path = |rank: u32| place.path().join(format!("out-{rank}"));
    let paths = [path(0), path(1)];
    let run = |targets: [Target; 2]| {
        let job = job.clone();
        Cluster::new(2, 1).run(move |node| {
            let job = Job {
                shared: true,
                compress: Some(Compression::Zstd),
                target: targets[node.rank().0 as usize].clone(),
                control: Control::default(),
                ..job.clone()
            };
            async move {
                sort::run(&node, &job)
                    .await
                    .map_err(|failure| failure.to_string())
            }
        })
    };
    let ends = run(paths.clone().map(Target::Path));
    assert!(ends.iter().all(Result::is_ok), "{ends:?}");
    let contents = paths.clone().map(|path| {
        let file = std::fs::read(path).unwrap();
        let header = Header::of(&file[..4096], 1 << 30).unwrap();
        let mut all = vec![0; records.len()];
        let mut rest = std::io::Cursor::new(file);
        let front = Front::of(Vec::new(), &mut rest, Decompress::Never, read_past).unwrap();
        let read = Decoder::new(header, front, rest).fill(&mut all);
        all.truncate(read.unwrap());
        all
    });
    assert!(contents.iter().all(|all| !all.is_empty()));
    assert!(contents.concat() == sorted(&records, &order));
    let both = Target::Together(place.path().join("both"));
    for end in run([both.clone(), both]) {
        let error = end.unwrap_err();
        assert!(error.contains("put {rank} in -o"), "{error}");
    }
    // A compressed input has no parts for ranks.
    std::fs::rename(&paths[0], &input).unwrap();
    for end in run(paths.map(Target::Path)) {
        let error = end.unwrap_err();
        assert!(
            error.contains("is compressed") && error.contains("on one node"),
            "{error}"
        );
    }
}
