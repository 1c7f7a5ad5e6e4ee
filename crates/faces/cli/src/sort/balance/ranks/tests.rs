use super::*;
use host::busy::{Busy, BusyCores, BusyDevice};
use sort::{DirectIo, SampleCost};

const SECONDS: f64 = 20.0;

/// A stage of two workers that were busy for a percentage of the time.
fn stage(name: &str, per_cent: f64, bytes: u64) -> StageReport<String> {
    let busy_s = 2.0 * SECONDS * per_cent / 100.0;
    let (name, rest) = (name.to_owned(), 2.0 * SECONDS - busy_s);
    StageReport {
        name,
        workers: 2,
        units: 100,
        bytes,
        busy_s,
        starved_s: rest,
        ..StageReport::default()
    }
}

/// Ranks that are a little uneven; rank 1 sorts for longer than it writes, and has divided again.
fn job(ranks: usize) -> (Report, Together) {
    let records = |rank: usize| 25_000_000 + 100_000 * (rank as u64 % 7);
    let did = |rank: usize| RankReport {
        read_records: 25_000_000,
        records: records(rank),
        bytes: 100 * records(rank),
        checksum: 1,
        seconds: SECONDS + 0.001 * rank as f64,
        bottleneck: if rank == 1 { "sorter" } else { "writer" }.to_owned(),
    };
    let part = |rank: usize| {
        let mut stages = vec![
            stage("sampler", 0.4, 4_000_000),
            stage("reader", 61.0 + rank as f64 % 9.0, 2_500_000_000),
            stage("node distributor", 30.0, 2_500_000_000),
            stage("partition buffers", 0.0, 0),
            stage("sorter", if rank == 1 { 99.0 } else { 45.0 }, 2_500_000_000),
            stage("writer", 88.0, 2_500_000_000),
        ];
        if rank == 1 {
            stages.insert(4, stage("reloader", 3.0, 70_000_000));
        }
        Part {
            host: format!("node{:03}.cluster.example.org", rank + 7),
            passes: 2,
            peak_rss_bytes: 536_000_000,
            read_bytes: 4_500_000_000,
            written_bytes: 4_500_000_000,
            temp_peak_bytes: 2_000_000_000 + rank as u64,
            busy: busy(rank),
            stages,
            warnings: Vec::new(),
        }
    };
    let report = Report {
        records: 0,
        bytes: 0,
        dropped: 0,
        blank_lines: 0,
        header_bytes: 0,
        seed: None,
        passes: 1,
        plan: "two-pass",
        reason: String::new(),
        partitions: 1017,
        seconds: 20.5,
        read_bytes: 1,
        written_bytes: 1,
        temp_peak_bytes: 1,
        stripes: None,
        direct_io: DirectIo {
            read: true,
            write: true,
            reason: String::new(),
        },
        checksum: 1,
        bottleneck: "writer",
        stages: Vec::new(),
        sample: SampleCost::default(),
        unevenness: 1.27,
        warnings: Vec::new(),
        ranks: (0..ranks).map(did).collect(),
        written: Vec::new(),
    };
    let launch = Some(Launch {
        seconds: 0.42,
        since: "mpirun".to_owned(),
    });
    (
        report.of_all(),
        Together {
            parts: (0..ranks).map(part).collect(),
            launch,
            ..Together::default()
        },
    )
}

/// Rank 1 has no device that the system counts.
fn busy(rank: usize) -> Busy {
    let device = |busy_share| BusyDevice {
        name: "sda".to_owned(),
        holds: Vec::new(),
        busy_share,
        read_bytes: 0,
        written_bytes: 0,
        read_and_written_at_once: Vec::new(),
    };
    Busy {
        cores: BusyCores {
            count: 8,
            busy_share: 0.75,
        },
        devices: match rank {
            1 => Vec::new(),
            _ => vec![device(0.5), device(0.95), device(0.3)],
        },
    }
}

#[test]
fn few_ranks_have_a_column_each() {
    let (report, together) = job(3);
    let expected = "\
two-pass on 3 ranks: 75,300,000 records (7.5 GB) in 2 passes, 20.500 s, 367 MB/s
launch 0.42 s before that, from the start of mpirun

rank host                 read MB sorted MB  of mean    MB/s  peak MB   seconds
   0 node007                 2500      2500     1.00     125      536    20.000
   1 node008                 2500      2510     1.00     125      536    20.001
   2 node009                 2500      2520     1.00     126      536    20.002

busy %, > busiest       0     1     2  MB/s of all
  sampler              0%    0%    0%          150
  reader              61%   62%   63%          605
  node distributor    30%   30%   30%         1250
  partition buffers    0%    0%    0%            -
  reloader              -    3%     -          117
  sorter              45%  >99%   45%          682
  writer             >88%   88%  >88%          426
cores                 75%   75%   75%            -
busiest device        95%     -   95%            -

disk      read 13.5 GB, written 13.5 GB, temporary 2.0 GB at most (rank 2)
skew      records 1.00 times the mean (rank 2), seconds 1.00 times (rank 2)";
    assert_eq!(table(&report, &together), expected);
}

#[test]
fn many_ranks_are_a_spread() {
    let (report, together) = job(64);
    let expected = "\
two-pass on 64 ranks: 1,618,900,000 records (161.9 GB) in 2 passes, 20.500 s,
7897 MB/s
launch 0.42 s before that, from the start of mpirun

64 ranks             least  median    most worst rank
sorted MB             2500    2530    2560 62 node069
  of mean             0.99    1.00    1.01 62 node069
MB/s                   125     126     128 63 node070
peak memory, MB        536     536     536 -
seconds             20.000  20.032  20.063 63 node070

busy, % of seconds   least  median    most busiest rank       slows MB/s of all
  sampler               0%      0%      0% -                      -        3200
  reader               61%     65%     69% 8 node015              -       12339
  node distributor     30%     30%     30% -                      -       26667
  partition buffers     0%      0%      0% -                      -           -
  reloader              3%      3%      3% -                      -         117
  sorter               45%     45%     99% 1 node008              1       17626
  writer               88%     88%     88% -                     63        9091
cores                  75%     75%     75% -                      -           -
busiest device         95%     95%     95% -                      -           -

disk      read 288.0 GB, written 288.0 GB, temporary 2.0 GB at most (rank 63)
skew      records 1.01 times the mean (rank 62), seconds 1.00 times (rank 63)";
    assert_eq!(table(&report, &together), expected);
}

#[test]
fn a_line_for_a_terminal() {
    let (report, together) = job(3);
    let expected = "\
sorted 75,300,000 records (7.5 GB) on 3 ranks: launch 0.42 s, sort 20.500 s,
367.3 MB/s; the largest rank has 1.00 times the mean; rank 2 was slowest, its
writer busiest";
    assert_eq!(line(&report, &together, "records"), expected);
}

/// Every number of ranks, and long names.
#[test]
fn no_line_is_wider_than_the_page() {
    for ranks in [2, 8, 9, 64, 1000] {
        let (report, together) = job(ranks);
        let told = table(&report, &together);
        assert!(
            told.lines().all(|line| line.chars().count() <= COLUMNS),
            "{told}"
        );
        assert!(told.lines().all(|line| line.trim_end() == line), "{told}");
    }
}

/// A sort of nothing, by ranks of whom one has told nothing.
#[test]
fn nothing_is_shown_as_nothing() {
    let (mut report, mut together) = job(2);
    for rank in &mut report.ranks {
        (rank.records, rank.bytes, rank.read_records, rank.seconds) = (0, 0, 0, 0.0);
    }
    (together.parts[1], together.launch) = (Part::default(), None);
    let told = table(&report.of_all(), &together);
    assert!(
        !told.contains("NaN") && !told.contains("inf") && !told.contains("launch"),
        "{told}"
    );
}
