//! The program that `gristmill-bench library` measures: a user of the library.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use gristmill::{Error, Feed, Format, Sorted, Sorter};
use record::RECORD_BYTES;
use terminal::ending::failure::CliFailure;

/// Bytes of a read or a write.
const BUFFER_BYTES: usize = 1 << 20;

/// The word before the time of a sort in memory.
const TIME: &str = "seconds ";

/// Sorts a file of gensort records one by one, through the library.
#[derive(Args)]
pub struct Arguments {
    input: PathBuf,
    output: PathBuf,
    memory_bytes: u64,
    temporary: PathBuf,
    /// Push from an array, only look at the sorted records, and write the time to the output
    #[arg(long)]
    in_memory: bool,
}

impl Arguments {
    /// # Errors
    /// A failure of the sort or of a file.
    pub fn run(&self) -> Result<(), CliFailure> {
        let done = if self.in_memory {
            self.in_memory()
        } else {
            self.files()
        };
        done.map_err(|error| CliFailure::new("library", error.to_string()))
    }

    fn start(&self) -> Result<Feed, Error> {
        Sorter::new(Format::fixed(RECORD_BYTES).key("0+10"))
            .memory(self.memory_bytes)
            .temporary(&self.temporary)
            .start()
    }

    fn files(&self) -> Result<(), Error> {
        let mut feed = self.start()?;
        let mut input = BufReader::with_capacity(BUFFER_BYTES, File::open(&self.input)?);
        let mut record = [0; RECORD_BYTES];
        loop {
            match input.read_exact(&mut record) {
                Ok(()) => feed.push(&record)?,
                Err(end) if end.kind() == ErrorKind::UnexpectedEof => break,
                Err(error) => return Err(error.into()),
            }
        }
        let mut sorted = feed.finish()?;
        let mut output = BufWriter::with_capacity(BUFFER_BYTES, File::create(&self.output)?);
        while let Some(record) = sorted.next()? {
            output.write_all(record)?;
        }
        output.into_inner().map_err(io::Error::from)?.sync_all()?;
        Ok(())
    }

    fn in_memory(&self) -> Result<(), Error> {
        let records = fs::read(&self.input)?;
        let begin = Instant::now();
        let mut feed = self.start()?;
        feed.push_all(records.chunks_exact(RECORD_BYTES))?;
        let seen = look(feed.finish()?)?;
        let seconds = begin.elapsed().as_secs_f64();
        assert_eq!(seen, records.len() / RECORD_BYTES, "all records come back");
        fs::write(&self.output, format!("{TIME}{seconds}"))?;
        Ok(())
    }
}

/// The number of the records, whose order is checked.
fn look(mut sorted: Sorted) -> Result<usize, Error> {
    let (mut seen, mut last) = (0, [0; 10]);
    while let Some(record) = sorted.next()? {
        assert!(record[..10] >= last[..], "records are in order");
        last.copy_from_slice(&record[..10]);
        seen += 1;
    }
    Ok(seen)
}

/// The time that a sort in memory has written instead of records.
pub fn time_in(output: &Path) -> Option<f64> {
    let mut front = String::new();
    let file = File::open(output).ok()?;
    file.take(100).read_to_string(&mut front).ok()?;
    front.strip_prefix(TIME)?.parse().ok()
}
