//! Many ranks on one page: least, median, most, and the worst rank.

use super::{Rank, SHARES, host, megabytes, rate_of_all, shortened};
use terminal::text::figure;

/// Columns for the worst rank and its host.
const WORST: usize = 18;

/// A row per measure of the ranks.
pub(super) fn rows(ranks: &[Rank]) -> Vec<String> {
    let mean = ranks.iter().map(|rank| rank.did.bytes as f64).sum::<f64>() / ranks.len() as f64;
    let of_mean = |rank: &Rank| {
        if mean > 0.0 {
            rank.did.bytes as f64 / mean
        } else {
            1.0
        }
    };
    let times = |value: f64| format!("{value:.2}");
    let rate = |value: f64| figure(value, 1);
    let seconds = |value: f64| format!("{value:.3}");
    let head = format!("{} ranks", ranks.len());
    vec![
        row(
            &head,
            ["least", "median", "most"].map(str::to_owned),
            "worst rank",
        ),
        measured(
            "sorted MB",
            ranks,
            |rank| Some(rank.did.bytes as f64),
            Shown(&megabytes, Worst::Most),
        ),
        measured(
            "  of mean",
            ranks,
            |rank| Some(of_mean(rank)),
            Shown(&times, Worst::Most),
        ),
        measured(
            "MB/s",
            ranks,
            |rank| Some(rank.mb_per_s()),
            Shown(&rate, Worst::Least),
        ),
        measured(
            "peak memory, MB",
            ranks,
            |rank| Some(rank.part.peak_rss_bytes as f64),
            Shown(&megabytes, Worst::Most),
        ),
        measured(
            "seconds",
            ranks,
            |rank| Some(rank.did.seconds),
            Shown(&seconds, Worst::Most),
        ),
    ]
}

/// A row per stage, with the number of ranks whose bottleneck it is.
pub(super) fn stages(ranks: &[Rank], names: &[&str]) -> Vec<String> {
    let per_cent = |value: f64| format!("{value:.0}%");
    let head = ["least", "median", "most"].map(str::to_owned);
    let line =
        |spread: String, slows: &str, rate: &str| format!("{spread:<61}{slows:>6} {rate:>11}");
    let head = row("busy, % of seconds", head, "busiest rank");
    let mut lines = vec![line(head, "slows", "MB/s of all")];
    for name in names {
        let slows = ranks
            .iter()
            .filter(|rank| rank.did.bottleneck == *name)
            .count();
        let slows = if slows > 0 {
            slows.to_string()
        } else {
            "-".to_owned()
        };
        let spread = measured(
            &format!("  {name}"),
            ranks,
            |rank| rank.busy(name),
            Shown(&per_cent, Worst::Most),
        );
        lines.push(line(spread, &slows, &rate_of_all(ranks, name)));
    }
    for (name, share) in SHARES {
        let spread = measured(
            name,
            ranks,
            |rank| share(rank.part),
            Shown(&per_cent, Worst::Most),
        );
        lines.push(line(spread, "-", "-"));
    }
    lines
}

fn row(name: &str, cells: [String; 3], worst: &str) -> String {
    let [least, median, most] = cells;
    format!("{name:<19}{least:>7}{median:>8}{most:>8} {worst}")
        .trim_end()
        .to_owned()
}

/// The bad end of a measure.
#[derive(PartialEq, Eq)]
enum Worst {
    Least,
    Most,
}

/// The format of a measure, and its bad end.
struct Shown<'a>(&'a dyn Fn(f64) -> String, Worst);

fn measured(
    name: &str,
    ranks: &[Rank],
    of: impl Fn(&Rank) -> Option<f64>,
    Shown(shown, worst): Shown,
) -> String {
    let mut all: Vec<(f64, &Rank)> = ranks
        .iter()
        .filter_map(|rank| Some((of(rank)?, rank)))
        .collect();
    // The sort is stable: among equal ranks the first stays in front.
    all.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    let (Some(least), Some(most)) = (all.first(), all.last()) else {
        return row(name, ["-", "-", "-"].map(str::to_owned), "");
    };
    let median = all[all.len() / 2].0;
    // As far as the printed digits show.
    let is_even = shown(least.0) == shown(most.0);
    let (_, rank) = if worst == Worst::Least { least } else { most };
    let named = shortened(&format!("{} {}", rank.number, host(rank.part)), WORST);
    let worst = if is_even { "-".to_owned() } else { named };
    row(name, [least.0, median, most.0].map(shown), &worst)
}
