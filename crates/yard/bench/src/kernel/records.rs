//! Whole records of 100 bytes: into a second buffer in order, and the kernels on the way there.

use kernel::patterns::Random;
use kernel::{
    Bin, Classifier, Entry, RecordCrc, Rows, Slab, WholeRecords, gather_parallel, row, scatter,
    sort_parallel,
};
use record::RECORD_BYTES;
use serde_json::json;
use terminal::ending::failure::CliFailure;

use crate::buffers::{checked, copy, on_threads, timed, touch};
use crate::host::threads_in_words;
use crate::race::{Race, Run};
use crate::table::Section;

/// Buckets to classify and scatter into: what a sort of a hundred megabytes has, about.
const BUCKETS: usize = 128;

/// Records classified and scattered at a time: a block of 400 KB, as a distributor's.
const BLOCK_RECORDS: usize = 4096;

/// Bytes of memory for each record: twice itself, two entries, a prefix, a bucket number.
pub(super) const BYTES_EACH: u64 =
    (2 * RECORD_BYTES + 2 * size_of::<Entry>() + size_of::<u64>() + size_of::<u32>()) as u64;

/// Measures kernels over `count` records.
pub(super) fn measure_on(runs: u16, count: usize, threads: usize) -> Result<Section, CliFailure> {
    let mut race = Race::new();
    race.enter(
        "copy",
        "memory copy of the records",
        |records: &mut Records| Ok(copy(&records.records, &mut records.out, records.threads)),
    );
    race.enter(
        "build, sort, gather",
        "entries > kernel::sort_parallel > kernel::gather_parallel",
        Records::time_sort,
    );
    if threads == 1 {
        let command = "kernel::RecordCrc, a CRC-32 a record";
        race.enter("checksum", command, |records: &mut Records| {
            Ok(records.time_checksum())
        });
        let command = format!("kernel::Classifier, {BUCKETS} buckets");
        race.enter("classify", command, |records: &mut Records| {
            Ok(records.time_classify())
        });
        let command = format!("kernel::scatter, {BUCKETS} buckets");
        race.enter("scatter", command, |records: &mut Records| {
            Ok(records.time_scatter())
        });
    }
    let rows = race.run(runs, &mut Records::new(count, threads)?)?;
    let title = format!("whole records of 100 bytes, {}", threads_in_words(threads));
    Ok(Section::new(title, (count as u64, "record"), rows))
}

struct Records {
    records: Slab<u8>,
    out: Slab<u8>,
    entries: Slab<Entry>,
    scratch: Slab<Entry>,
    prefixes: Slab<u64>,
    bins: Slab<u32>,
    classifier: Classifier,
    threads: usize,
}

impl Records {
    fn new(count: usize, threads: usize) -> Result<Records, CliFailure> {
        let mut records = touch(Slab::<u8>::new(count * RECORD_BYTES))?;
        Random::new(2).fill(&mut records);
        let mut prefixes = touch(Slab::<u64>::new(count))?;
        for (prefix, record) in prefixes.iter_mut().zip(records.chunks_exact(RECORD_BYTES)) {
            *prefix = prefix_of(record);
        }
        let step = u64::MAX / BUCKETS as u64;
        let splitters: Vec<u64> = (1..BUCKETS as u64).map(|bucket| bucket * step).collect();
        let classifier = Classifier::new(&splitters);
        let mut bins = touch(Slab::<u32>::new(count))?;
        classifier.classify(&prefixes, &mut bins);
        Ok(Records {
            records,
            out: touch(Slab::<u8>::new(count * RECORD_BYTES))?,
            entries: touch(Slab::<Entry>::new(count))?,
            scratch: touch(Slab::<Entry>::new(count))?,
            prefixes,
            bins,
            classifier,
            threads,
        })
    }

    /// A run's figures are the seconds of its parts.
    fn time_sort(&mut self) -> Result<Run, CliFailure> {
        let Records {
            records,
            out,
            entries,
            scratch,
            threads,
            ..
        } = self;
        let chunks = [&records[..]];
        let rows = Rows::new(&chunks, RECORD_BYTES);
        let built = timed(|| build(records, entries, *threads));
        let sorted = timed(|| sort_parallel(entries, scratch, &WholeRecords(rows), *threads));
        let gathered = timed(|| gather_parallel(&rows, entries, out, *threads));
        let is_sorted = out.chunks_exact(RECORD_BYTES).is_sorted();
        let seconds = checked(built + sorted + gathered, is_sorted, "our sort of records")?;
        Ok(Run {
            seconds: Some(seconds),
            figures: json!({ "build_s": built, "sort_s": sorted, "gather_s": gathered }),
        })
    }

    fn time_checksum(&mut self) -> f64 {
        let crc = RecordCrc::new(RECORD_BYTES);
        timed(|| _ = std::hint::black_box(crc.sum(&self.records)))
    }

    fn time_classify(&mut self) -> f64 {
        timed(|| {
            let blocks = self.prefixes.chunks(BLOCK_RECORDS);
            for (prefixes, bins) in blocks.zip(self.bins.chunks_mut(BLOCK_RECORDS)) {
                self.classifier.classify(prefixes, bins);
            }
        })
    }

    fn time_scatter(&mut self) -> f64 {
        let mut sizes = vec![0; BUCKETS];
        self.bins
            .iter()
            .for_each(|&bin| sizes[bin as usize] += RECORD_BYTES);
        let mut rest = &mut self.out[..];
        let mut bins = Vec::new();
        for size in sizes {
            let (bin, behind) = rest.split_at_mut(size);
            bins.push(Bin::new(bin, []));
            rest = behind;
        }
        let blocks = self.records.chunks(BLOCK_RECORDS * RECORD_BYTES);
        timed(|| {
            for (records, numbers) in blocks.zip(self.bins.chunks(BLOCK_RECORDS)) {
                scatter(records, RECORD_BYTES, numbers, &mut bins);
            }
        })
    }
}

fn build(records: &[u8], entries: &mut [Entry], threads: usize) {
    let share = entries.len().div_ceil(threads).max(1);
    let shares = records
        .chunks(share * RECORD_BYTES)
        .zip(entries.chunks_mut(share));
    on_threads(shares.enumerate(), |(number, (records, entries))| {
        let starts = (number * share * RECORD_BYTES..).step_by(RECORD_BYTES);
        let records = records.chunks_exact(RECORD_BYTES).zip(starts);
        for (entry, (record, start)) in entries.iter_mut().zip(records) {
            *entry = Entry {
                prefix: prefix_of(record),
                row: row(0, start as u32),
            };
        }
    });
}

fn prefix_of(record: &[u8]) -> u64 {
    record.first_chunk().copied().map_or(0, u64::from_be_bytes)
}
