//! The options of a sort.

use std::num::NonZero;
use std::path::PathBuf;

use super::Sorter;
use crate::key::Key;
use crate::watch::Watch;

impl Sorter {
    /// Compares records by a key that a function makes of each, instead of the keys of the format. It
    /// is called once for each record, in their order, and sees a line without its delimiter, and a
    /// record without its length. Records with equal keys keep their order.
    ///
    /// The key travels with its record, in memory and in temporary files.
    #[must_use]
    pub fn by_key<K: Key>(mut self, make: impl Fn(&[u8]) -> K + Send + 'static) -> Sorter {
        self.make_key = Some(Box::new(move |record, out| make(record).write(out)));
        self
    }

    /// Keeps the order of records with equal keys. Otherwise the rest of their bytes decides.
    #[must_use]
    pub fn stable(mut self) -> Sorter {
        self.stable = true;
        self
    }

    /// Keeps only the first of the records with equal keys.
    #[must_use]
    pub fn unique(mut self) -> Sorter {
        (self.unique, self.keeps_last) = (true, false);
        self
    }

    /// Keeps only the last of the records with equal keys.
    ///
    /// ```
    /// # use gristmill::{Format, Sorter};
    /// let mut feed = Sorter::new(Format::lines().key("1,1")).keep_last().start()?;
    /// feed.push_all(["lamp off", "door shut", "lamp on"])?;
    /// assert_eq!(feed.finish()?.read_to_vec()?, b"door shut\nlamp on\n");
    /// # Ok::<(), gristmill::Error>(())
    /// ```
    #[must_use]
    pub fn keep_last(mut self) -> Sorter {
        (self.unique, self.keeps_last) = (true, true);
        self
    }

    /// Adds up the numbers of a column in records with equal keys, exactly, into the one that [`Sorter::unique`] or
    /// [`Sorter::keep_last`] keeps; call it again for more of them. A column is one of rows as in a key, the number of
    /// a field of lines, or `OFFSET+LENGTH:TYPE` of records. Where a total would have more than 38 digits, or more than
    /// its bytes hold, records stay apart, and [`Report::apart`](crate::Report::apart) tells how many.
    ///
    /// ```
    /// # use gristmill::{Format, Sorter};
    /// let sales = Format::named("csv").without_header().key("#1");
    /// let mut feed = Sorter::new(sales).unique().sum("#2").start()?;
    /// feed.push_all(["Oslo,9.5", "Bonn,7", "Oslo,3.25"])?;
    /// assert_eq!(feed.finish()?.read_to_vec()?, b"Bonn,7\nOslo,12.75\n");
    /// # Ok::<(), gristmill::Error>(())
    /// ```
    #[must_use]
    pub fn sum(mut self, column: &str) -> Sorter {
        self.sums.push(column.to_owned());
        self
    }

    /// Keeps only the first `records` of the sorted records.
    #[must_use]
    pub fn top(mut self, records: u64) -> Sorter {
        self.top = Some(records);
        self
    }

    /// The limit on memory in bytes; 256 MiB if it is not called. Small sorts take less, and a limit
    /// above the machine's memory is the machine's.
    #[must_use]
    pub fn memory(mut self, bytes: u64) -> Sorter {
        self.memory_bytes = bytes;
        self
    }

    /// Threads that work at a time; as many as there are cores if it is not called, and no more than
    /// these or 256.
    #[must_use]
    pub fn threads(mut self, threads: NonZero<usize>) -> Sorter {
        self.threads = Some(threads.get());
        self
    }

    /// A directory for temporary files, best on a disk of its own; call it again for more of them.
    /// Without one they go to [`std::env::temp_dir`]. A relative one is below the directory that the
    /// process has when the sort begins.
    #[must_use]
    pub fn temporary(mut self, directory: impl Into<PathBuf>) -> Sorter {
        self.temporary.push(directory.into());
        self
    }

    /// Protects temporary files by parity: stripes of so many blocks over one directory more, each of
    /// [`Sorter::temporary`] and best on a disk of its own. One of them may be lost while the sort goes on.
    ///
    /// ```
    /// use gristmill::{Format, Sorter};
    /// let blocks = std::num::NonZero::new(2).expect("two of three disks");
    /// let sorter = Sorter::new(Format::lines()).stripe(blocks);
    /// let sorter = ["/mnt/a", "/mnt/b", "/mnt/c"].into_iter().fold(sorter, Sorter::temporary);
    /// # drop(sorter);
    /// ```
    #[must_use]
    pub fn stripe(mut self, blocks: NonZero<usize>) -> Sorter {
        self.stripe = Some(blocks.get());
        self
    }

    /// Bytes of the longest line or record with a length that is pushed, if it exceeds a 256th of the
    /// memory. A key that a function makes has at most 4 KiB beside it.
    #[must_use]
    pub fn longest(mut self, bytes: usize) -> Sorter {
        self.longest = Some(bytes);
        self
    }

    /// Lets a watch follow and stop this sort.
    #[must_use]
    pub fn watch(mut self, watch: &Watch) -> Sorter {
        self.watch = watch.clone();
        self
    }

    /// Sets records with mistakes aside in a file, and sorts the others: rows; and lines whose keys have types, or whose
    /// fields are added up. The file has the input, the line and the reason of each, and replaces one of its name: name a
    /// new one where the output replaces an input, since the records are nowhere else. Without it, the first mistake
    /// ends the sort. [`Report::set_aside`](crate::Report::set_aside) tells how many there were.
    ///
    /// ```
    /// use gristmill::{Format, Sorter};
    /// # let place = tempfile::tempdir()?;
    /// let path = |name| place.path().join(name);
    /// std::fs::write(path("in"), "a 7\nb ?\nc 5\n")?;
    /// let sorter = Sorter::new(Format::lines().key("2:num")).bad_records(path("bad.csv"));
    /// assert_eq!(sorter.sort_files([path("in")], path("out"))?.set_aside, 1);
    /// assert_eq!(std::fs::read(path("out"))?, b"c 5\na 7\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn bad_records(mut self, file: impl Into<PathBuf>) -> Sorter {
        self.bad_records = Some(file.into());
        self
    }
}
