//! The balance table of a sort, for people: how long each stage was busy, starved and blocked.
//!
//! TritonSort tunes its pipeline with this table (Figure 8): the size of a stage's units, and the
//! rate of one worker and of the stage while they are busy. The slowest stage sets the rate of the
//! sort and is marked; stages that starve or are blocked have more workers than they need.

pub(super) mod ranks;

use host::busy::{Busy, BusyDevice};
use pipeline::{StageReport, most_uneven};
use sort::{Report, StageName};

use terminal::text::{COLUMNS, figure, labelled, wrapped};
use units::{amount, counted, grouped};

/// Times the mean from which on workers are called uneven.
const NOTED_UNEVENNESS: f64 = 1.5;

/// The table, in lines of at most [`COLUMNS`] columns.
pub(super) fn table(report: &Report, busy: &Busy) -> String {
    let mut lines = Vec::new();
    lines.extend(wrapped(&done(report), COLUMNS));
    lines.extend(wrapped(&report.reason, COLUMNS));
    lines.push(String::new());
    lines.push(format!(
        "{:>43} {:>7} {:>7} {:>20}",
        "mean", "MB/s", "MB/s", "% of run time"
    ));
    lines.push(row(
        " ",
        [
            "stage", "workers", "units", "unit", "of one", "of all", "busy", "starved", "blocked",
        ],
    ));
    for stage in &report.stages {
        let mark = if stage.name == report.bottleneck {
            ">"
        } else {
            " "
        };
        lines.push(row(mark, cells(stage).each_ref().map(String::as_str)));
    }
    lines.push(String::new());
    lines.extend(foot(report));
    lines.extend(devices(busy));
    lines.join("\n")
}

/// The result in one line, for a terminal.
pub(super) fn line(report: &Report, records: &str) -> String {
    let seconds = match report.seconds {
        ..1.0 => format!("{:.3}", report.seconds),
        _ => format!("{:.1}", report.seconds),
    };
    let rate = report.bytes as f64 / 1e6 / report.seconds;
    // A slower one is that of a few bytes.
    let rate = if rate.is_finite() && rate >= 0.05 {
        format!(", {} MB/s", figure(rate, if rate < 10.0 { 1 } else { 0 }))
    } else {
        String::new()
    };
    let dropped = match report.dropped {
        0 => String::new(),
        dropped => format!(", dropped {} with equal keys", grouped(dropped)),
    };
    let blank = match report.blank_lines {
        0 => String::new(),
        1 => ", skipped a blank line".to_owned(),
        blank => format!(", skipped {} blank lines", grouped(blank)),
    };
    format!(
        "sorted {} {records} ({}) in {seconds} s{rate}{dropped}{blank}",
        grouped(report.records),
        amount(report.bytes),
    )
}

/// The plan and its rate.
fn done(report: &Report) -> String {
    done_by(report.plan, report.passes, report)
}

/// The plan and the rate of a report, under the name `who`.
fn done_by(who: &str, passes: u32, report: &Report) -> String {
    let rate = report.bytes as f64 / 1e6 / report.seconds;
    format!(
        "{who}: {} ({}) in {passes} {}, {:.3} s{}",
        counted(report.records, "record"),
        amount(report.bytes),
        if passes == 1 { "pass" } else { "passes" },
        report.seconds,
        if rate.is_finite() {
            format!(", {} MB/s", figure(rate, 1))
        } else {
            String::new()
        },
    )
}

/// A line of the table: nine cells in [`COLUMNS`] columns.
fn row(mark: &str, cells: [&str; 9]) -> String {
    let [name, workers, units, unit, one, all, busy, starved, blocked] = cells;
    format!(
        "{mark} {name:<17} {workers:>7} {units:>7} {unit:>7} {one:>7} {all:>7} {busy:>4} {starved:>7} \
         {blocked:>7}"
    )
}

fn cells(stage: &StageReport) -> [String; 9] {
    let if_any = |any: bool, cell: String| if any { cell } else { "-".to_owned() };
    let rate = |rate: f64| if_any(rate > 0.0, figure(rate, 1));
    let alive = stage.alive_s();
    let part = |seconds: f64| if_any(alive > 0.0, format!("{:.0}%", 100.0 * seconds / alive));
    [
        stage.name.to_owned(),
        stage.workers.to_string(),
        count(stage.units),
        if_any(stage.units > 0, bytes(stage.unit_bytes())),
        rate(stage.worker_mb_per_s()),
        rate(stage.mb_per_s()),
        part(stage.busy_s),
        part(stage.starved_s),
        part(stage.blocked_s),
    ]
}

fn foot(report: &Report) -> Vec<String> {
    let sample = report.sample;
    let disk = [
        format!("read {},", amount(report.read_bytes)),
        format!("written {},", amount(report.written_bytes)),
        format!("temporary {} at most", amount(report.temp_peak_bytes)),
    ];
    let sample = [
        format!("{} places,", grouped(sample.places)),
        format!("{} read for it,", amount(sample.bytes)),
        format!("{:.3} s", sample.seconds),
    ];
    let uneven = [
        format!("the largest of {} partitions", grouped(report.partitions)),
        format!("is {:.2} times their mean", report.unevenness),
    ];
    let line = |label, parts: &[String]| labelled(label, parts.iter().map(String::as_str));
    let mut lines = vec![
        line("disk", &disk),
        line("sample", &sample),
        line("uneven", &uneven),
    ];
    lines.extend(workers(report).map(|parts| line("workers", &parts)));
    lines.extend(single(report).map(|parts| line("limit", &parts)));
    lines
}

/// The shares of cores and devices, and the phases in which a device was read and written at once.
fn devices(busy: &Busy) -> Vec<String> {
    let percent = |share: f64| format!("{:.0}%", 100.0 * share);
    let line = |label, parts: &[String]| labelled(label, parts.iter().map(String::as_str));
    let device = |device: &BusyDevice| {
        let mut parts = vec![
            format!("{}: {} busy,", device.name, percent(device.busy_share)),
            format!("read {},", amount(device.read_bytes)),
            format!("written {}", amount(device.written_bytes)),
        ];
        let phases = &device.read_and_written_at_once;
        if !phases.is_empty() {
            parts[2].push(',');
            parts.push(format!("at once in {}", phases.join(" and ")));
        }
        line("device", &parts)
    };
    let cores = busy.cores;
    let each = counted(cores.count as u64, "core");
    let of_cores = (cores.count > 0).then(|| {
        line(
            "cores",
            &[format!("{} of {each} busy", percent(cores.busy_share))],
        )
    });
    of_cores
        .into_iter()
        .chain(busy.devices.iter().map(device))
        .collect()
}

/// Busy time of the worker that had most of it, where a stage has several and one had notably more.
fn workers(report: &Report) -> Option<[String; 2]> {
    let stage = most_uneven(&report.stages, report.seconds)?;
    let (name, times) = (stage.name, stage.unevenness()[2]);
    (times >= NOTED_UNEVENNESS).then(|| {
        [
            format!("the busiest {name} worked {times:.2} times as long"),
            "as their mean".to_owned(),
        ]
    })
}

/// The bottleneck, if it is a stage that more cores do not help. Those that follow the cores may have one worker
/// because there is one core, or little memory.
fn single(report: &Report) -> Option<[String; 2]> {
    let stage = report.stage(report.bottleneck)?;
    let is_alone = !StageName::of(stage.name).is_some_and(StageName::follows_cores);
    let is_limit = is_alone && stage.workers == 1 && stage.busy_s >= report.seconds / 2.0;
    is_limit.then(|| {
        [
            format!("the {} has one worker:", stage.name),
            "more cores would not make this sort faster".to_owned(),
        ]
    })
}

/// A number in at most seven characters, in millions if it has more digits.
fn count(number: u64) -> String {
    const EXACT: u64 = 10_000_000;
    if number < EXACT {
        number.to_string()
    } else {
        format!("{}M", number / 1_000_000)
    }
}

/// Bytes in at most seven characters, with three significant digits.
fn bytes(bytes: f64) -> String {
    const UNITS: [(&str, f64); 5] = [
        ("TB", 1e12),
        ("GB", 1e9),
        ("MB", 1e6),
        ("KB", 1e3),
        ("B", 1.0),
    ];
    let unit = UNITS.into_iter().find(|(_, unit)| bytes >= *unit);
    let (name, unit) = unit.unwrap_or(UNITS[4]);
    let value = bytes / unit;
    let decimals = match value {
        _ if unit == 1.0 => 0,
        ..10.0 => 2,
        ..100.0 => 1,
        _ => 0,
    };
    format!("{value:.decimals$} {name}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use sort::{DirectIo, SampleCost};

    fn stage(name: &'static str, workers: usize, did: (u64, u64), times: [f64; 3]) -> StageReport {
        let ((units, bytes), [busy_s, starved_s, blocked_s]) = (did, times);
        StageReport {
            name,
            workers,
            units,
            bytes,
            busy_s,
            starved_s,
            blocked_s,
            ..StageReport::default()
        }
    }

    /// Two passes over ten gigabytes, with all stages, one of which was idle.
    fn report() -> Report {
        Report {
            records: 100_000_000,
            bytes: 10_000_000_000,
            dropped: 0,
            blank_lines: 0,
            header_bytes: 0,
            seed: None,
            passes: 2,
            plan: "two-pass",
            reason: "10000000000 bytes do not fit in 1073741824 bytes of memory".to_owned(),
            partitions: 1017,
            seconds: 24.8,
            read_bytes: 18_700_000_000,
            written_bytes: 19_500_000_000,
            temp_peak_bytes: 9_500_000_000,
            stripes: None,
            direct_io: DirectIo {
                read: true,
                write: true,
                reason: String::new(),
            },
            checksum: 1,
            bottleneck: "writer",
            stages: vec![
                stage("sampler", 1, (2034, 16_660_000), [0.4, 0.0, 0.0]),
                stage("reader", 2, (2385, 10_000_000_000), [20.0, 0.0, 4.0]),
                stage("distributor", 2, (2385, 10_000_000_000), [9.0, 11.0, 4.0]),
                stage(
                    "partition buffers",
                    1,
                    (12_500_000, 10_000_000_000),
                    [0.012, 11.9, 0.1],
                ),
                stage("spiller", 2, (2500, 9_500_000_000), [22.0, 2.0, 0.0]),
                stage("reloader", 1, (0, 0), [0.0, 0.0, 0.0]),
                stage("loader", 1, (2500, 9_500_000_000), [9.0, 0.0, 3.0]),
                stage("sorter", 2, (1017, 10_000_000_000), [16.0, 4.0, 4.0]),
                stage("writer", 2, (2800, 10_000_000_000), [23.5, 0.5, 0.0]),
            ],
            sample: SampleCost {
                places: 2034,
                bytes: 16_660_000,
                seconds: 0.4,
            },
            unevenness: 1.27,
            warnings: Vec::new(),
            ranks: Vec::new(),
            written: Vec::new(),
        }
    }

    fn busy() -> Busy {
        use host::busy::{BusyCores, Files};
        let device = |name: &str, busy_share, bytes: [u64; 2], at_once: &[&str]| BusyDevice {
            name: name.to_owned(),
            holds: vec![Files::Inputs],
            busy_share,
            read_bytes: bytes[0],
            written_bytes: bytes[1],
            read_and_written_at_once: at_once.iter().map(|phase| (*phase).to_owned()).collect(),
        };
        Busy {
            cores: BusyCores {
                count: 2,
                busy_share: 0.87,
            },
            devices: vec![
                device("sda", 0.31, [10_000_000_000; 2], &[]),
                device(
                    "nvme0n1",
                    0.98,
                    [8_700_000_000, 9_500_000_000],
                    &["phase two"],
                ),
            ],
        }
    }

    #[test]
    fn the_table_as_people_see_it() {
        let expected = "\
two-pass: 100,000,000 records (10.0 GB) in 2 passes, 24.800 s, 403 MB/s
10000000000 bytes do not fit in 1073741824 bytes of memory

                                       mean    MB/s    MB/s        % of run time
  stage             workers   units    unit  of one  of all busy starved blocked
  sampler                 1    2034 8.19 KB    41.6    41.6 100%      0%      0%
  reader                  2    2385 4.19 MB     500    1000  83%      0%     17%
  distributor             2    2385 4.19 MB    1111    2222  38%     46%     17%
  partition buffers       1     12M   800 B  833333  833333   0%     99%      1%
  spiller                 2    2500 3.80 MB     432     864  92%      8%      0%
  reloader                1       0       -       -       -    -       -       -
  loader                  1    2500 3.80 MB    1056    1056  75%      0%     25%
  sorter                  2    1017 9.83 MB     625    1250  67%     17%     17%
> writer                  2    2800 3.57 MB     426     851  98%      2%      0%

disk      read 18.7 GB, written 19.5 GB, temporary 9.5 GB at most
sample    2,034 places, 16.7 MB read for it, 0.400 s
uneven    the largest of 1,017 partitions is 1.27 times their mean
cores     87% of 2 cores busy
device    sda: 31% busy, read 10.0 GB, written 10.0 GB
device    nvme0n1: 98% busy, read 8.7 GB, written 9.5 GB, at once in phase two";
        assert_eq!(table(&report(), &busy()), expected);
    }

    #[test]
    fn no_line_is_wider_than_the_page() {
        let long = "the input, of unknown length, did not fit ".repeat(5);
        let long = Report {
            reason: long,
            ..report()
        };
        let told = table(&long, &busy());
        assert!(
            told.lines().all(|line| line.chars().count() <= COLUMNS),
            "{told}"
        );
    }

    #[test]
    fn a_sort_of_nothing_has_a_table() {
        let stages = vec![stage("reader", 1, (0, 0), [0.0; 3])];
        let nothing = Report {
            records: 0,
            bytes: 0,
            seconds: 0.0,
            passes: 1,
            stages,
            ..report()
        };
        let told = table(&nothing, &Busy::default());
        assert!(
            told.starts_with("two-pass: 0 records (0 bytes) in 1 pass, 0.000 s\n"),
            "{told}"
        );
        assert!(!told.contains("NaN"), "{told}");
    }

    #[test]
    fn a_bottleneck_of_one_worker_is_told() {
        let reader = stage("reader", 1, (9, 900), [8.0, 0.0, 0.0]);
        let mut sorters = stage("sorter", 4, (9, 900), [8.0, 0.0, 24.0]);
        sorters.most.busy_s = 5.0;
        let mut report = Report {
            seconds: 10.0,
            bottleneck: "reader",
            stages: vec![reader, sorters],
            ..report()
        };
        let told = table(&report, &busy());
        let limit =
            "\nlimit     the reader has one worker: more cores would not make this sort faster";
        assert!(told.contains(limit), "{told}");
        let workers = "\nworkers   the busiest sorter worked 2.50 times as long as their mean";
        assert!(told.contains(workers), "{told}");
        (report.stages[1].workers, report.bottleneck) = (1, "sorter");
        assert!(
            !table(&report, &busy()).contains("limit"),
            "there may be one core"
        );
        report.bottleneck = "reader";
        report.stages[0].workers = 2;
        assert!(!table(&report, &busy()).contains("limit"), "more workers");
        report.stages[0].workers = 1;
        report.seconds = 20.0;
        assert!(
            !table(&report, &busy()).contains("limit"),
            "it waited for most of the time"
        );
    }

    #[test]
    fn three_digits_count() {
        let cases = [
            (0.0, "0 B"),
            (999.0, "999 B"),
            (1000.0, "1.00 KB"),
            (65_536.0, "65.5 KB"),
            (524_288.0, "524 KB"),
            (4_194_304.0, "4.19 MB"),
            (1e13, "10.0 TB"),
        ];
        for (given, told) in cases {
            assert_eq!(bytes(given), told);
        }
        assert_eq!([count(9_999_999), count(10_000_000)], ["9999999", "10M"]);
    }
}
