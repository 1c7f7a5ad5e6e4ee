//! Sizes of writes of partitions' chunks.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::common::{job, run};
use node::Costs;
use record::{Order, Ties};
use rehearsal::{DiskModel, Driver};
use sort::{Choice, Counts, Tuning};

/// Bytes of a write on average, of a sort whose temporary disk waits for the input.
fn mean_write(least_write_bytes: Option<usize>) -> f64 {
    let disk = DiskModel::default();
    let driver = Driver::with(1, 1, Costs::default(), disk);
    let disks = driver.disks(0);
    disks.mount(
        Path::new("/in"),
        DiskModel {
            read_ns_per_kib: 100_000,
            ..disk
        },
    );
    disks.put_counted(Path::new("/in"), 600_000_000);
    let mut job = job(&["/in"], "/out", &Order::gensort(Ties::Record));
    job.contents = Arc::new(Counts::new(100, 1.0, 1));
    job.plan = Choice::TwoPass;
    job.temporary = vec![PathBuf::from("/tmp")];
    job.tuning = Tuning {
        unit_records: Some(1000),
        buckets: Some(4),
        chunk_bytes: Some(64 << 10),
        chunks: Some(400),
        writers: Some(1),
        depth: Some(1),
        least_write_bytes,
        ..Tuning::default()
    };
    let report = run(&driver, &job).unwrap();
    report.stage("spiller").unwrap().unit_bytes()
}

/// If a temporary disk waits for the input, its writes may as well be larger (TritonSort 5.3); a size that
/// is asked for stays.
#[test]
fn writes_grow_while_the_temporary_disk_waits() {
    let (grown, asked) = (mean_write(None), mean_write(Some(1 << 20)));
    assert!(grown > 1.1 * asked, "{grown}, {asked}");
}
