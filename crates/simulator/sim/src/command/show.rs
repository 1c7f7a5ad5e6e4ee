//! The report of a simulation for people, in 80 columns.

use std::collections::BTreeMap;

use grain::Measured;
use lab::{Job, RequestReport, RunReport, SimReport, Simulated, StageReport};

use terminal::ending::failure::CliFailure;
use terminal::ending::say;
use terminal::text::{self, figure, labelled, with_commas};
use units::grouped;

/// Prints what is about to run: the seed first, since it decides everything.
pub(super) fn head(job: &Job, machine: &str) -> Result<(), CliFailure> {
    say::out(job.seeds().to_string())?;
    let parameters = job
        .parameters()
        .iter()
        .map(|(name, value)| format!("{name} {value}"));
    say::out(with("program", job.name(), &parameters.collect::<Vec<_>>()))?;
    say::out(with("machine", machine, &job.place().changes().told()))
}

fn with(label: &str, name: &str, items: &[String]) -> String {
    let name = if items.is_empty() {
        name.to_owned()
    } else {
        format!("{name} with")
    };
    let items = with_commas(items);
    labelled(
        label,
        [name.as_str()]
            .into_iter()
            .chain(items.iter().map(String::as_str)),
    )
}

pub(super) fn report(report: &SimReport) -> Result<(), CliFailure> {
    let Some(first) = report.runs.first() else {
        return Ok(());
    };
    say::out("")?;
    match report.results() {
        Some(results) => counted(&results)?,
        None => say::out(labelled("result", first.verdict.result.split(' ')))?,
    }
    say::out(times(report, first))?;
    if let Some(requests) = &first.requests {
        say::out(times_of(requests))?;
    }
    if let Some(simulated) = &first.simulated {
        traffic(simulated)?;
        if let Some(rank) = report.parameters.find("to") {
            last_link(simulated, first.time_us, rank)?;
        }
    }
    if first.verdict.max_keys > 0 {
        let (most, skew) = (grouped(first.verdict.max_keys), first.verdict.skew);
        say::out(format!(
            "keys      at most {most} on a core, skew {skew:.3}"
        ))?;
    }
    measured(&first.verdict.measured)?;
    stages(report, first)?;
    say::out("")?;
    say::out(took(report))?;
    match &report.note {
        Some(note) => say::out(labelled("note", note.split(' '))),
        None => Ok(()),
    }
}

/// Prints how often each result occurred.
fn counted(results: &BTreeMap<&str, usize>) -> Result<(), CliFailure> {
    let counts: Vec<_> = results.values().map(|runs| grouped(*runs as u64)).collect();
    let widest = counts.iter().map(String::len).max().unwrap_or(0);
    let labels = ["result"].into_iter().chain(std::iter::repeat(""));
    for ((label, count), result) in labels.zip(&counts).zip(results.keys()) {
        say::out(format!("{label:<10}{count:>widest$} {result}"))?;
    }
    Ok(())
}

fn times(report: &SimReport, first: &RunReport) -> String {
    let time = report.time_us;
    let (unit, scale) = text::unit_of(time.mean);
    let [mean, sd, min, max] =
        [time.mean, time.sd, time.min, time.max].map(|us| figure(us * scale, 3));
    let mut line = format!("time      {mean} {unit}");
    if report.runs.len() > 1 {
        line += &format!(" on average, sd {sd}, {min} to {max}");
    }
    // Machines with software stacks include the MAC in the time of the NIC.
    let mac_ns = first
        .simulated
        .as_ref()
        .and_then(|simulated| simulated.mac_ns);
    if let Some(mac_ns) = mac_ns.filter(|&ns| ns > 0.0) {
        line += &format!(", and {mac_ns} ns of MAC and serial I/O");
    }
    line
}

fn times_of(requests: &RequestReport) -> String {
    let RequestReport {
        mean_us,
        p50_us,
        p99_us,
        max_us,
        ..
    } = *requests;
    let (unit, scale) = text::unit_of(mean_us);
    let [mean, p50, p99, max] = [mean_us, p50_us, p99_us, max_us].map(|us| figure(us * scale, 3));
    format!("requests  mean {mean} {unit}, median {p50}, p99 {p99}, longest {max}")
}

fn traffic(simulated: &Simulated) -> Result<(), CliFailure> {
    let counts = simulated.counts;
    let (messages, packets) = (
        grouped(counts.messages),
        units::counted(counts.packets, "packet"),
    );
    let bytes = units::counted(counts.wire_bytes, "byte");
    say::out(format!(
        "messages  {messages} in {packets}, {bytes} on wires"
    ))?;
    let counted = [
        ("trimmed", counts.trimmed),
        ("returned", counts.returned),
        ("dropped", counts.dropped),
        ("lost", counts.lost),
        ("sent again", counts.resent),
    ];
    let counted = counted.into_iter().filter(|(_, count)| *count > 0);
    let counted: Vec<_> = counted
        .map(|(what, count)| format!("{} {what}", grouped(count)))
        .collect();
    if counted.is_empty() {
        return Ok(());
    }
    say::out(labelled(
        "packets",
        with_commas(&counted).iter().map(String::as_str),
    ))
}

/// Parameters that the program measured, a line each.
fn measured(measured: &[Measured]) -> Result<(), CliFailure> {
    if measured.is_empty() {
        return Ok(());
    }
    say::out("\nmeasured  in us, G in us for a byte: median, and range of the repetitions")?;
    let rows: Vec<_> = measured.iter().map(row_of).collect();
    text::table(&rows)
        .iter()
        .try_for_each(|line| say::out(format!("  {line}")))
}

fn row_of(one: &Measured) -> Vec<String> {
    let [median, low, high] = [one.median, one.low, one.high].map(|us| figure(us, 4));
    let most = if one.at_most { "at most " } else { "" };
    let range = if low == high {
        String::new()
    } else {
        format!("{low} to {high}")
    };
    let rate = if !one.is_told() {
        "below the clock".to_owned()
    } else if one.name == "G" {
        format!("{most}{median} ({} MB/s)", figure(1.0 / one.median, 3))
    } else {
        format!("{most}{median}")
    };
    [one.name.clone(), one.method.clone(), rate, range].into()
}

/// The load of the link on which all messages end, which bounds their rate.
fn last_link(simulated: &Simulated, time_us: f64, rank: u64) -> Result<(), CliFailure> {
    let flits = grouped(simulated.counts.busiest_down_flits);
    let mut line = format!("{flits} flits to the NIC of core {rank}");
    if let Some(share) = share(simulated.busiest_down_us, time_us) {
        line += &format!(", which kept it busy {share:.1} % of the time");
    }
    say::out(labelled("last link", line.split(' ')))
}

/// `part` in % of `whole`; `None` if that is 0.
fn share(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole * 100.0)
}

fn stages(report: &SimReport, first: &RunReport) -> Result<(), CliFailure> {
    if first.stages.is_empty() {
        return Ok(());
    }
    let whose = match report.runs.len() {
        1 => String::new(),
        _ => format!(", seed {}", first.seed),
    };
    let figures = first.stages.iter().flat_map(|stage| stage.quantiles_us);
    let unit = text::unit_of_table(figures.fold(0.0, f64::max));
    say::out(format!(
        "\nstages    in {}, over the cores that ran them{whose}",
        unit.0
    ))?;
    let titles = [
        "", "cores", "min", "p25", "p50", "p75", "p99", "max", "idle",
    ];
    let titles = titles.map(str::to_owned).to_vec();
    let rows = first.stages.iter().map(|stage| row(stage, unit));
    let rows: Vec<_> = [titles].into_iter().chain(rows).collect();
    text::table(&rows)
        .iter()
        .try_for_each(|line| say::out(format!("  {line}")))?;
    match report.timed() {
        Some(timed) => say::out(format!("  {timed}")),
        None => Ok(()),
    }
}

fn row(stage: &StageReport, (_, scale): text::Unit) -> Vec<String> {
    let times = stage.quantiles_us.into_iter().chain([stage.idle_us]);
    let times = times.map(|us| figure(us * scale, 3));
    [stage.title(), stage.cores.to_string()]
        .into_iter()
        .chain(times)
        .collect()
}

/// The time and threads of this computer.
fn took(report: &SimReport) -> String {
    let wall_s = report.wall_s;
    let threads = match report.threads {
        1 => "one thread".to_owned(),
        threads => format!("{} threads", grouped(threads as u64)),
    };
    let mut line = format!("took      {} on {threads}", text::time(wall_s * 1e6));
    let simulated: Vec<_> = report
        .runs
        .iter()
        .filter_map(|run| run.simulated.as_ref())
        .collect();
    if !simulated.is_empty() {
        let events = report.events.unwrap_or(0);
        line += &format!(": {}", units::counted(events, "event"));
    }
    let messages: u64 = simulated
        .iter()
        .map(|simulated| simulated.counts.messages)
        .sum();
    if messages > 0 && wall_s > 0.0 {
        line += &format!(", {:.2} million messages/s", messages as f64 / wall_s / 1e6);
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_has_no_share() {
        assert_eq!(share(1.0, 4.0), Some(25.0));
        assert_eq!(share(0.0, 0.0), None);
    }
}
