//! Buckets that wait for a sorter.
//!
//! ```text
//! waiting      A  A  B  C        a sorter takes the oldest bucket of the output directory for which the
//! in work      A                 fewest are in work: here that of B
//! ```
//!
//! A sorter holds its bucket until the disk has taken it. Without a choice, sorters would meet at one disk
//! and leave others idle: as many sorters as disks keep two thirds of them busy.

use std::sync::Arc;

use node::{Closed, Mutex, Queue};
use pipeline::Worker;

use crate::files::output::Layout;
use crate::records::block::Bucket;

/// The buckets; clones share them.
#[derive(Clone)]
pub(crate) struct Ready {
    buckets: Queue<Bucket>,
    /// The directory of each file of the output.
    pub files: Arc<Vec<usize>>,
    /// Whether buckets are begun in key order.
    in_order: bool,
    /// Buckets in work, by directory.
    in_work: Arc<Mutex<Vec<usize>>>,
}

impl Ready {
    pub(crate) fn new(buckets: Queue<Bucket>, layout: &Layout) -> Ready {
        let files = layout.directories.clone();
        let count = files.iter().max().map_or(1, |last| last + 1);
        Ready {
            buckets,
            files: Arc::new(files),
            in_order: layout.order.is_sorted(),
            in_work: Arc::new(Mutex::new(vec![0; count])),
        }
    }

    /// The next bucket; `None` at the end. Those of one file keep their order.
    ///
    /// # Errors
    /// When the pipeline ended early.
    pub(crate) async fn next(&self, worker: &Worker) -> Result<Option<Bucket>, Closed> {
        let rank = |bucket: &Bucket| {
            let in_work = self.in_work.lock()[self.directory(bucket)];
            if self.in_order { 0 } else { in_work }
        };
        let bucket = worker.pop_least(&self.buckets, rank).await?;
        if let Some(bucket) = &bucket {
            self.in_work.lock()[self.directory(bucket)] += 1;
        }
        Ok(bucket)
    }

    /// Notes that a bucket is sorted, and all of it is with writers.
    pub(crate) fn is_done(&self, bucket: &Bucket) {
        self.in_work.lock()[self.directory(bucket)] -= 1;
    }

    fn directory(&self, bucket: &Bucket) -> usize {
        self.files.get(bucket.to.file).copied().unwrap_or(0)
    }
}
