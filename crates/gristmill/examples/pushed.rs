//! Times a sort of pushed records: `pushed RECORDS MEMORY_MB`. `gristmill-bench` is for files.

use std::time::Instant;

use gristmill::gensort::Records;
use gristmill::{Error, Format, Sorter};

fn main() -> Result<(), Error> {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<u64>());
    let mut next = |usual: u64| arguments.next().and_then(Result::ok).unwrap_or(usual);
    let (count, megabytes) = (next(10_000_000), next(4096));
    let records: Vec<[u8; 100]> = Records::binary(0).take(count as usize).collect();
    let sorter = Sorter::new(Format::fixed(100).key("0+10")).memory(megabytes << 20);
    let begin = Instant::now();
    let mut feed = sorter.start()?;
    feed.push_all(&records)?;
    let pushed = begin.elapsed();
    let mut sorted = feed.finish()?;
    let (mut read, mut last) = (0_u64, [0; 10]);
    while let Some(record) = sorted.next()? {
        assert!(record[..10] >= last[..]);
        last.copy_from_slice(&record[..10]);
        read += 1;
    }
    assert_eq!(read, count);
    let passes = sorted.report().map_or(0, |report| report.passes);
    println!(
        "{count} records, pushed in {pushed:.2?}, sorted and read in {:.2?}, {passes} passes",
        begin.elapsed()
    );
    Ok(())
}
