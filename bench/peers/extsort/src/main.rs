//! Sorts records of 100 bytes by their first 10, from file to file, with the `extsort` crate.
//!
//! ```text
//! extsort INPUT OUTPUT MEMORY_BYTES TMPDIR
//! ```

use std::env::args_os;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use extsort::{ExternalSorter, Sortable};

const KEY_BYTES: usize = 10;
const RECORD_BYTES: usize = 100;

/// A buffer of input and output.
const BUFFER_BYTES: usize = 4 << 20;

/// Memory of the program besides the records of a segment: both buffers, code, threads.
const OWN_BYTES: usize = 12 << 20;

struct Record([u8; RECORD_BYTES]);

impl Sortable for Record {
    fn encode<W: Write>(&self, writer: &mut W) -> io::Result<()> {
        writer.write_all(&self.0)
    }

    fn decode<R: Read>(reader: &mut R) -> io::Result<Record> {
        let mut record = [0; RECORD_BYTES];
        reader.read_exact(&mut record)?;
        Ok(Record(record))
    }
}

fn sort(input: &Path, output: &Path, memory_bytes: usize, temporary: PathBuf) -> io::Result<()> {
    let records = memory_bytes.saturating_sub(OWN_BYTES) / RECORD_BYTES;
    if records == 0 {
        return Err(io::Error::other(format!("give more than {OWN_BYTES} bytes of memory")));
    }
    let mut reader = BufReader::with_capacity(BUFFER_BYTES, File::open(input)?);
    let count = reader.get_ref().metadata()?.len() / RECORD_BYTES as u64;
    // The iterator cannot say that reading failed; what it did not give is missed below.
    let input = (0..count).map_while(|_| Record::decode(&mut reader).ok());
    let sorter = ExternalSorter::new()
        .with_segment_size(records)
        .with_sort_dir(temporary)
        .with_parallel_sort();
    let sorted = sorter.sort_by(input, |a, b| a.0[..KEY_BYTES].cmp(&b.0[..KEY_BYTES]))?;
    let mut writer = BufWriter::with_capacity(BUFFER_BYTES, File::create(output)?);
    let mut written = 0;
    for record in sorted {
        record?.encode(&mut writer)?;
        written += 1;
    }
    writer.flush()?;
    if written != count {
        return Err(io::Error::other(format!("{written} of {count} records came out")));
    }
    Ok(())
}

fn main() -> ExitCode {
    let words: Vec<_> = args_os().skip(1).collect();
    let memory = words.get(2).and_then(|word| word.to_str()?.parse().ok());
    let (4, Some(memory_bytes)) = (words.len(), memory) else {
        eprintln!("usage: extsort INPUT OUTPUT MEMORY_BYTES TMPDIR");
        return ExitCode::from(2);
    };
    let [input, output] = [&words[0], &words[1]].map(Path::new);
    match sort(input, output, memory_bytes, PathBuf::from(&words[3])) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("extsort: {error}");
            ExitCode::FAILURE
        }
    }
}
