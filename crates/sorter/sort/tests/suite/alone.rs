//! Every stage alone, on both backends: it handles all bytes and leaves no file behind.

use std::path::{Path, PathBuf};

use machine::Driver;
use node_real::Cluster;
use pipeline::{Control, StageReport};
use sort::alone::{Alone, Stage, alone};
use sort::{IoChoice, Resources, Tuning};

const RECORDS: u64 = 5_000;
const BYTES: u64 = 100 * RECORDS;
const BLOCK_BYTES: u64 = 4096;

fn job(stage: Stage, directory: &Path) -> Alone {
    let tuning = Tuning {
        unit_records: Some(130),
        buckets: Some(7),
        ..Tuning::default()
    };
    Alone {
        stage,
        records: RECORDS,
        directory: directory.to_owned(),
        resources: Resources {
            cores: 2,
            memory_bytes: 1 << 30,
            io: IoChoice::Direct,
        },
        tuning,
        control: Control::default(),
    }
}

/// The writer writes whole disk blocks, the sampler reads few; all others see every byte once.
fn check(stage: Stage, report: &StageReport) {
    assert_eq!(report.name, stage.name());
    assert!(report.units > 0, "{report:?}");
    match stage {
        Stage::Sampler => assert!(report.bytes > 0 && report.bytes < BYTES, "{report:?}"),
        Stage::Writer => assert_eq!(report.bytes, BYTES.next_multiple_of(BLOCK_BYTES)),
        _ => assert_eq!(report.bytes, BYTES, "{report:?}"),
    }
}

#[test]
fn every_stage_runs_alone_on_any_schedule() {
    for stage in Stage::ALL {
        for seed in 0..20 {
            let driver = Driver::new(seed, 1);
            let job = job(stage, Path::new("/place"));
            let ends = driver.run(move |node| {
                let job = job.clone();
                async move { alone(&node, &job).await }
            });
            let mut ends = ends.unwrap_or_else(|stuck| panic!("{stage:?}: {stuck}"));
            let report = ends
                .pop()
                .unwrap()
                .unwrap_or_else(|failure| panic!("{failure}"));
            check(stage, &report);
            assert_eq!(driver.disks(0).paths(), Vec::<PathBuf>::new());
        }
    }
}

#[test]
fn every_stage_runs_alone_on_threads() {
    for stage in Stage::ALL {
        let place = tempfile::tempdir().unwrap();
        let job = job(stage, place.path());
        let mut ends = Cluster::new(1, 1).run(move |node| {
            let job = job.clone();
            async move { alone(&node, &job).await }
        });
        let report = ends
            .pop()
            .unwrap()
            .unwrap_or_else(|failure| panic!("{failure}"));
        check(stage, &report);
        assert!(report.busy_s > 0.0);
        assert_eq!(
            std::fs::read_dir(place.path()).unwrap().count(),
            0,
            "a file is left"
        );
    }
}
