//! The balance of a job, for people: a row and a column per rank if they fit on the page, else the
//! spread over the ranks and the worst rank.
//!
//! A stage's share is the busy time of its average worker in % of its rank's time: the largest
//! share of a rank is its bottleneck, and shares of ranks compare. Skew is the largest rank over
//! the mean.

use pipeline::StageReport;
use sort::{RankReport, Report};

use super::done_by;
use crate::sort::part::{Part, Together};
use terminal::launcher::Launch;
use terminal::text::{COLUMNS, figure, labelled, wrapped};
use units::{amount, grouped};

mod spread;

/// The most ranks that have a column each in [`COLUMNS`] columns.
const MOST_COLUMNS: usize = 8;

/// Columns of a host's name in its row.
const HOST: usize = 20;

/// A rank: its part of the common report, and its own report.
pub(super) struct Rank<'a> {
    number: usize,
    did: &'a RankReport,
    part: &'a Part,
}

impl Rank<'_> {
    fn mb_per_s(&self) -> f64 {
        let rate = self.did.bytes as f64 / 1e6 / self.did.seconds;
        if rate.is_finite() { rate } else { 0.0 }
    }

    fn stage(&self, name: &str) -> Option<&StageReport<String>> {
        self.part.stages.iter().find(|stage| stage.name == name)
    }

    /// The share of a stage in % of the rank's time.
    fn busy(&self, name: &str) -> Option<f64> {
        let busy = 100.0 * self.stage(name)?.busy_each_s() / self.did.seconds;
        busy.is_finite().then_some(busy)
    }
}

/// A share of a rank in %.
type Share = fn(&Part) -> Option<f64>;

/// Shares of a rank that are of no stage.
const SHARES: [(&str, Share); 2] = [("cores", cores), ("busiest device", busiest_device)];

fn cores(part: &Part) -> Option<f64> {
    let cores = part.busy.cores;
    (cores.count > 0).then_some(100.0 * cores.busy_share)
}

fn busiest_device(part: &Part) -> Option<f64> {
    let shares = part.busy.devices.iter();
    let shares = shares.map(|device| 100.0 * device.busy_share);
    shares.max_by(f64::total_cmp)
}

/// The tables of a job, in lines of at most [`COLUMNS`] columns.
pub(crate) fn table(report: &Report, together: &Together) -> String {
    let ranks: Vec<Rank> = (0..)
        .zip(report.ranks.iter().zip(&together.parts))
        .map(|(number, (did, part))| Rank { number, did, part })
        .collect();
    let passes = ranks
        .iter()
        .map(|rank| rank.part.passes)
        .max()
        .unwrap_or(report.passes);
    let who = format!("{} on {} ranks", report.plan, ranks.len());
    let mut lines = wrapped(&done_by(&who, passes, report), COLUMNS);
    lines.extend(together.launch.as_ref().map(launched));
    lines.push(String::new());
    let stages = names(&ranks);
    if ranks.len() <= MOST_COLUMNS {
        lines.extend(rows(&ranks, report));
        lines.push(String::new());
        lines.extend(columns(&ranks, &stages));
    } else {
        lines.extend(spread::rows(&ranks));
        lines.push(String::new());
        lines.extend(spread::stages(&ranks, &stages));
    }
    lines.push(String::new());
    lines.extend(foot(&ranks, report));
    lines.join("\n")
}

/// The balance in two or three lines, for a terminal.
pub(crate) fn line(report: &Report, together: &Together, records: &str) -> String {
    let launch = together
        .launch
        .as_ref()
        .map(|launch| format!("launch {:.2} s, ", launch.seconds));
    let rate = amount((report.bytes as f64 / report.seconds) as u64);
    let slowest = slowest(&report.ranks)
        .map(|(rank, did)| format!("; rank {rank} was slowest, its {} busiest", did.bottleneck));
    let told = format!(
        "sorted {} {records} ({}) on {} ranks: {}sort {:.3} s, {rate}/s; the largest rank has {:.2} times the mean{}",
        grouped(report.records),
        amount(report.bytes),
        report.ranks.len(),
        launch.unwrap_or_default(),
        report.seconds,
        report.skew(),
        slowest.unwrap_or_default(),
    );
    wrapped(&told, COLUMNS).join("\n")
}

fn launched(launch: &Launch) -> String {
    let Launch { seconds, since } = launch;
    format!("launch {seconds:.2} s before that, from the start of {since}")
}

/// Stages of all ranks, in the order in which records pass.
fn names<'a>(ranks: &[Rank<'a>]) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    for rank in ranks {
        let mut next = 0;
        for StageReport { name, .. } in &rank.part.stages {
            match names.iter().position(|known| known == name) {
                Some(at) => next = at + 1,
                None => {
                    names.insert(next, name);
                    next += 1;
                }
            }
        }
    }
    names
}

/// A row per rank.
fn rows(ranks: &[Rank], report: &Report) -> Vec<String> {
    let row = |cells: [String; 8]| {
        let [rank, host, read, sorted, part, rate, memory, seconds] = cells;
        format!(
            "{rank:>4} {host:<HOST$}{read:>8}{sorted:>10}{part:>9}{rate:>8}{memory:>9}{seconds:>10}"
        )
    };
    let head = [
        "rank",
        "host",
        "read MB",
        "sorted MB",
        "of mean",
        "MB/s",
        "peak MB",
        "seconds",
    ];
    let record_bytes = report.bytes as f64 / report.records.max(1) as f64;
    let mean = report.bytes as f64 / ranks.len() as f64;
    let of = |rank: &Rank| {
        let (did, part) = (rank.did, rank.part);
        row([
            rank.number.to_string(),
            shortened(host(part), HOST),
            megabytes(did.read_records as f64 * record_bytes),
            megabytes(did.bytes as f64),
            if mean > 0.0 {
                format!("{:.2}", did.bytes as f64 / mean)
            } else {
                "-".to_owned()
            },
            figure(rank.mb_per_s(), 1),
            megabytes(part.peak_rss_bytes as f64),
            format!("{:.3}", did.seconds),
        ])
    };
    [row(head.map(str::to_owned))]
        .into_iter()
        .chain(ranks.iter().map(of))
        .collect()
}

/// A row per stage, with a column per rank.
fn columns(ranks: &[Rank], stages: &[&str]) -> Vec<String> {
    let row = |name: &str, cells: Vec<String>, rate: &str| {
        let cells: String = cells.iter().map(|cell| format!("{cell:>6}")).collect();
        format!("{name:<19}{cells}{rate:>13}")
    };
    let head = ranks.iter().map(|rank| rank.number.to_string()).collect();
    let mut lines = vec![row("busy %, > busiest", head, "MB/s of all")];
    for name in stages {
        let cell = |rank: &Rank| {
            let mark = if rank.did.bottleneck == *name {
                ">"
            } else {
                ""
            };
            rank.busy(name)
                .map_or("-".to_owned(), |busy| format!("{mark}{busy:.0}%"))
        };
        let cells = ranks.iter().map(cell).collect();
        lines.push(row(&format!("  {name}"), cells, &rate_of_all(ranks, name)));
    }
    for (name, share) in SHARES {
        let cell =
            |rank: &Rank| share(rank.part).map_or("-".to_owned(), |share| format!("{share:.0}%"));
        lines.push(row(name, ranks.iter().map(cell).collect(), "-"));
    }
    lines
}

/// The rate of a stage on all ranks, as if its workers never waited.
fn rate_of_all(ranks: &[Rank], name: &str) -> String {
    let each = ranks.iter().filter_map(|rank| rank.stage(name));
    let rate: f64 = each.map(StageReport::mb_per_s).sum();
    if rate > 0.0 {
        figure(rate, 1)
    } else {
        "-".to_owned()
    }
}

fn foot(ranks: &[Rank], report: &Report) -> Vec<String> {
    let sum = |of: fn(&Part) -> u64| ranks.iter().map(|rank| of(rank.part)).sum::<u64>();
    let temporary = ranks.iter().max_by_key(|rank| rank.part.temp_peak_bytes);
    let mut disk = vec![
        format!("read {},", amount(sum(|part| part.read_bytes))),
        format!("written {}", amount(sum(|part| part.written_bytes))),
    ];
    if let Some(rank) = temporary.filter(|rank| rank.part.temp_peak_bytes > 0) {
        disk[1].push(',');
        let most = amount(rank.part.temp_peak_bytes);
        disk.push(format!("temporary {most} at most (rank {})", rank.number));
    }
    let mut skew = Vec::new();
    if let Some(largest) = ranks.iter().max_by_key(|rank| rank.did.records) {
        skew.push(format!(
            "records {:.2} times the mean (rank {}),",
            report.skew(),
            largest.number
        ));
    }
    if let Some((rank, did)) = slowest(&report.ranks) {
        let mean = ranks.iter().map(|rank| rank.did.seconds).sum::<f64>() / ranks.len() as f64;
        let times = if mean > 0.0 { did.seconds / mean } else { 1.0 };
        skew.push(format!("seconds {times:.2} times (rank {rank})"));
    }
    let line = |label, parts: &[String]| labelled(label, parts.iter().map(String::as_str));
    vec![line("disk", &disk), line("skew", &skew)]
}

fn slowest(ranks: &[RankReport]) -> Option<(usize, &RankReport)> {
    ranks
        .iter()
        .enumerate()
        .max_by(|(_, a), (_, b)| a.seconds.total_cmp(&b.seconds))
}

fn megabytes(bytes: f64) -> String {
    figure(bytes / 1e6, 1)
}

/// A host's name without its domain.
fn host(part: &Part) -> &str {
    let is_address = !part
        .host
        .contains(|letter: char| letter.is_ascii_alphabetic());
    let name = if is_address {
        None
    } else {
        part.host.split('.').next()
    };
    name.unwrap_or(&part.host)
}

/// A name cut to fewer than `columns` characters.
fn shortened(name: &str, columns: usize) -> String {
    match name.chars().count() {
        length if length < columns => name.to_owned(),
        _ => name.chars().take(columns - 2).chain(['~']).collect(),
    }
}

#[cfg(test)]
mod tests;
