//! A sort that is described, and its beginning.

mod job;
mod options;

use std::fmt;
use std::path::{Path, PathBuf};

use node_real::Take;
use sort::{CheckResult, Checked, Choice, Source, Target};

use crate::encoder::{Encoder, MakeKey};
use crate::error::Error;
use crate::feed::Feed;
use crate::format::Format;
use crate::front::Front;
use crate::report::{Disorder, Report};
use crate::running::{Running, check, run};
use crate::sorted::{Decoder, Sorted};
use crate::watch::Watch;

use job::resolved;

/// The memory of a sort that gives no limit.
const MEMORY_BYTES: u64 = 256 << 20;

/// A sort that is being described. Each method takes it and returns it; [`Sorter::sort_files`],
/// [`Sorter::read_files`] and [`Sorter::start`] begin the sort.
///
/// ```
/// use gristmill::{Format, Sorter, Watch};
/// let watch = Watch::new();
/// let mut feed = Sorter::new(Format::lines().separator(b' ').key("2,2n"))
///     .stable()
///     .top(2)
///     .memory(64 << 20)
///     .threads(std::num::NonZero::<usize>::MIN)
///     .temporary(std::env::temp_dir())
///     .longest(1 << 16)
///     .watch(&watch)
///     .start()?;
/// feed.push_all(["b 7", "c 10", "a 7"])?;
/// assert_eq!(feed.finish()?.read_to_vec()?, b"b 7\na 7\n");
/// # Ok::<(), gristmill::Error>(())
/// ```
///
/// A merge and a check take the same options, so they are methods too: [`Sorter::merge_files`],
/// [`Sorter::check_file`].
pub struct Sorter {
    format: Format,
    stable: bool,
    unique: bool,
    keeps_last: bool,
    sums: Vec<String>,
    top: Option<u64>,
    memory_bytes: u64,
    threads: Option<usize>,
    temporary: Vec<PathBuf>,
    stripe: Option<usize>,
    longest: Option<usize>,
    bad_records: Option<PathBuf>,
    watch: Watch,
    make_key: Option<MakeKey>,
}

impl Sorter {
    /// A sort of records in this format.
    pub fn new(format: Format) -> Sorter {
        Sorter {
            format,
            stable: false,
            unique: false,
            keeps_last: false,
            sums: Vec::new(),
            top: None,
            memory_bytes: MEMORY_BYTES,
            threads: None,
            temporary: Vec::new(),
            stripe: None,
            longest: None,
            bad_records: None,
            watch: Watch::new(),
            make_key: None,
        }
    }

    /// Sorts files into a file, which appears in one step when it is complete; it may be one of them.
    ///
    /// ```
    /// use gristmill::{Format, Sorter};
    /// # let place = tempfile::tempdir()?;
    /// # std::env::set_current_dir(place.path())?;
    /// std::fs::write("prices.csv", "item,price\nchair,90\nlamp,45.5\n")?;
    /// let by_price = Format::named("csv").key("price:num");
    /// let report = Sorter::new(by_price).sort_files(["prices.csv"], "sorted.csv")?;
    /// assert_eq!(report.records, 2);
    /// assert_eq!(std::fs::read("sorted.csv")?, b"item,price\nlamp,45.5\nchair,90\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When an option, an input or a disk is wrong; the output has its old content then.
    pub fn sort_files<P: AsRef<Path>>(
        self,
        inputs: impl IntoIterator<Item = P>,
        output: impl AsRef<Path>,
    ) -> Result<Report, Error> {
        if self.make_key.is_some() {
            return self.read_files(inputs)?.write_file(output);
        }
        let target = Target::Path(output.as_ref().to_owned());
        let job = self.job(&self.spec()?, paths(inputs), target);
        Ok(Report::of(&run(job, &self.watch, None, None)?))
    }

    /// Merges files that are sorted into a file, without sorting them again. A set of options that a
    /// merge cannot stream, such as rows, sorts instead.
    ///
    /// ```
    /// use gristmill::{Format, Sorter};
    /// # let place = tempfile::tempdir()?;
    /// let path = |name| place.path().join(name);
    /// std::fs::write(path("a"), "1\n3\n")?;
    /// std::fs::write(path("b"), "2\n")?;
    /// Sorter::new(Format::lines()).merge_files([path("a"), path("b")], path("out"))?;
    /// assert_eq!(std::fs::read(path("out"))?, b"1\n2\n3\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Sorter::sort_files`], and when an input is out of order.
    pub fn merge_files<P: AsRef<Path>>(
        self,
        inputs: impl IntoIterator<Item = P>,
        output: impl AsRef<Path>,
    ) -> Result<Report, Error> {
        self.without_key("merge_files")?;
        let target = Target::Path(output.as_ref().to_owned());
        let mut job = self.job(&self.spec()?, paths(inputs), target);
        job.plan = Choice::MergeInputs;
        Ok(Report::of(&run(job, &self.watch, None, None)?))
    }

    /// Looks for the first record of a file that is out of order; none if all are in order.
    ///
    /// ```
    /// use gristmill::{Format, Sorter};
    /// # let place = tempfile::tempdir()?;
    /// let file = place.path().join("cities");
    /// std::fs::write(&file, "Bonn\nRome\nOslo\n")?;
    /// let found = Sorter::new(Format::lines()).check_file(&file)?.unwrap();
    /// assert_eq!((found.number, &found.record[..]), (3, &b"Oslo\n"[..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When an option or the file is wrong.
    pub fn check_file(self, file: impl AsRef<Path>) -> Result<Option<Disorder>, Error> {
        self.without_key("check_file")?;
        self.format.check_order()?;
        if !self.sums.is_empty() {
            let what = "check_file only looks at records; leave sum out";
            return Err(Error::Options(what.to_owned()));
        }
        if self.bad_records.is_some() {
            let what = "check_file only looks at records; leave bad_records out";
            return Err(Error::Options(what.to_owned()));
        }
        let spec = self.spec()?;
        let job = self.job(&spec, paths([file]), Target::Standard);
        let checked = Checked {
            source: job.sources.into_iter().next().expect("one file"),
            contents: job.contents,
            longest_line: job.longest_line.at_least(),
            headed: job.headed,
            io: job.resources.io,
            decompress: job.decompress,
            cores: job.resources.cores,
            memory_bytes: job.resources.memory_bytes,
            control: job.control,
        };
        Ok(match check(checked)? {
            CheckResult::Kept { .. } => None,
            CheckResult::Broken { number, record, .. } => {
                Some(Disorder::of(number, record, spec.order()))
            }
        })
    }

    fn without_key(&self, method: &str) -> Result<(), Error> {
        match self.make_key {
            Some(_) => Err(Error::Options(format!(
                "{method} compares the keys of the format; leave by_key out"
            ))),
            None => Ok(()),
        }
    }

    /// Sorts files, and gives the records back one by one.
    ///
    /// ```
    /// use gristmill::{Format, Sorter};
    /// # let place = tempfile::tempdir()?;
    /// let file = place.path().join("cities");
    /// std::fs::write(&file, "Rome\nBonn\n")?;
    /// let mut sorted = Sorter::new(Format::lines()).read_files([&file])?;
    /// assert_eq!(sorted.next()?, Some(&b"Bonn\n"[..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When an option is wrong, or a file cannot be opened. Others come with the records.
    pub fn read_files<P: AsRef<Path>>(
        self,
        inputs: impl IntoIterator<Item = P>,
    ) -> Result<Sorted, Error> {
        // They are opened when the call has ended: by then the program may be in another directory.
        let inputs = inputs.into_iter().map(|path| path.as_ref().to_owned());
        let sources = paths(inputs.map(resolved));
        if self.make_key.is_some() {
            let memory_bytes = self.limit();
            let mut feed = self.start()?;
            for source in &sources {
                let path = source.path().expect("a path");
                feed.push_file(path, memory_bytes)?;
            }
            return feed.finish();
        }
        self.format.check_single()?;
        let spec = self.spec()?;
        let decoder = Decoder::plain(spec.framing());
        let (take, output) = Take::new();
        let job = self.job(&spec, sources, Target::Standard);
        Ok(Sorted::new(
            take,
            decoder,
            Running::start(job, &self.watch, None, output)?,
        ))
    }

    /// Begins a sort of records that are pushed.
    ///
    /// # Errors
    /// When an option is wrong.
    pub fn start(mut self) -> Result<Feed, Error> {
        let framing = self.format.framing()?;
        let front = self.front()?;
        let most = self.longest_pushed(framing);
        let mut encoder = Encoder::new(framing, self.make_key.take(), most);
        encoder.has_header = front.has_header();
        Ok(Feed::new(encoder, front))
    }

    pub(crate) fn front(&self) -> Result<Front, Error> {
        self.format.check_single()?;
        let has_keys = self.make_key.is_some();
        let spec = if has_keys {
            self.spec_of_pairs()?
        } else {
            self.spec()?
        };
        let framing = spec.framing();
        let decoder = if has_keys {
            Decoder::of_pairs()
        } else {
            Decoder::plain(framing)
        };
        let job = self.job(&spec, vec![Source::Standard], Target::Standard);
        Ok(Front::new(job, framing, decoder, &self.watch))
    }
}

impl fmt::Debug for Sorter {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Sorter")
            .field("format", &self.format)
            .finish_non_exhaustive()
    }
}

fn paths<P: AsRef<Path>>(inputs: impl IntoIterator<Item = P>) -> Vec<Source> {
    let source = |path: P| Source::Path(path.as_ref().to_owned());
    inputs.into_iter().map(source).collect()
}
