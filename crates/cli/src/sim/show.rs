//! A report for people, in 80 columns.

use lab::{Job, Knob, RunReport, SimReport, Simulated, StageReport};

use crate::failure::CliFailure;
use crate::say;
use crate::size::grouped;

/// What is about to run; the seed first, as it decides everything.
pub fn head(job: &Job) -> Result<(), CliFailure> {
    let seeds = job.seeds();
    match seeds.runs {
        1 => say::out(format!("seed {}", seeds.first))?,
        _ => say::out(format!("seeds {} to {}", seeds.first, seeds.last()))?,
    }
    let told = job.parameters().iter().map(|(name, value)| format!("{name} {value}"));
    let told = told.collect::<Vec<_>>().join(", ");
    say::out(format!("{} on {}", job.program().name, job.place().name()))?;
    say::out(format!("told      {told}"))?;
    let changed = job.place().changes().told();
    if changed.is_empty() {
        return Ok(());
    }
    wrapped("changed   ", &changed)
}

/// Parts of a list in lines of 80 columns, below each other.
fn wrapped(head: &str, parts: &[String]) -> Result<(), CliFailure> {
    const COLUMNS: usize = 80;
    let mut line = head.to_owned();
    for (number, part) in parts.iter().enumerate() {
        let comma = if number + 1 < parts.len() { ", " } else { "" };
        if line.len() > head.len() && (line.len() + part.len() + 1) > COLUMNS {
            say::out(line.trim_end())?;
            line = " ".repeat(head.len());
        }
        line += part;
        line += comma;
    }
    say::out(line)
}

/// What came of it.
pub fn report(report: &SimReport) -> Result<(), CliFailure> {
    let Some(first) = report.runs.first() else { return Ok(()) };
    say::out("")?;
    say::out(format!("result    {}", first.verdict.result))?;
    times(report, first)?;
    if let Some(simulated) = &first.simulated {
        traffic(simulated)?;
        if report.parameters.find(Knob::To).is_some() {
            last_link(simulated, first.time_us)?;
        }
    }
    if first.verdict.max_keys > 0 {
        let (most, skew) = (grouped(first.verdict.max_keys), first.verdict.skew);
        say::out(format!("keys      at most {most} on a core, skew {skew:.3}"))?;
    }
    stages(report, first)?;
    let note = report.note.as_ref().map(|note| format!("note      {note}"));
    let last: Vec<_> = speed(report).into_iter().chain(note).collect();
    if last.is_empty() {
        return Ok(());
    }
    say::out(format!("\n{}", last.join("\n")))
}

fn times(report: &SimReport, first: &RunReport) -> Result<(), CliFailure> {
    let time = report.time_us;
    // What takes less than a microsecond is told in nanoseconds.
    let (unit, scale) = if time.mean < 1.0 { ("ns", 1e3) } else { ("us", 1.0) };
    let [mean, sd, min, max] =
        [time.mean, time.sd, time.min, time.max].map(|us| figure(us * scale));
    let mut line = format!("time      {mean} {unit}");
    if report.runs.len() > 1 {
        line += &format!(" on average, sd {sd}, {min} to {max}");
    }
    if let Some(mac_ns) = first.simulated.as_ref().and_then(|simulated| simulated.mac_ns) {
        line += &format!(", and {mac_ns} ns of MAC and serial I/O");
    }
    say::out(line)
}

fn traffic(simulated: &Simulated) -> Result<(), CliFailure> {
    let counts = simulated.counts;
    let [messages, packets, bytes] =
        [counts.messages, counts.packets, counts.wire_bytes].map(grouped);
    say::out(format!("messages  {messages} in {packets} packets, {bytes} bytes on wires"))?;
    let told = [
        ("trimmed", counts.trimmed),
        ("dropped", counts.dropped),
        ("lost", counts.lost),
        ("sent again", counts.resent),
    ];
    let told = told.into_iter().filter(|(_, count)| *count > 0);
    let told: Vec<_> = told.map(|(what, count)| format!("{} {what}", grouped(count))).collect();
    if told.is_empty() {
        return Ok(());
    }
    say::out(format!("packets   {}", told.join(", ")))
}

/// The one link that all messages end on: it bounds what all cores can send to one NIC.
fn last_link(simulated: &Simulated, time_us: f64) -> Result<(), CliFailure> {
    let flits = grouped(simulated.counts.busiest_down_flits);
    let share = simulated.busiest_down_us / time_us * 100.0;
    say::out(format!("last link: {flits} flits, {share:.1} % of the time"))
}

fn stages(report: &SimReport, first: &RunReport) -> Result<(), CliFailure> {
    if first.stages.is_empty() {
        return Ok(());
    }
    let whose = match report.runs.len() {
        1 => String::new(),
        _ => format!(", seed {}", first.seed),
    };
    say::out(format!("\nstages in us over the cores that went through them{whose}"))?;
    say::out(format!(
        "  {:<14} {:>6} {:>7} {:>7} {:>7} {:>7} {:>7} {:>7} {:>7}",
        "", "cores", "min", "p25", "p50", "p75", "p99", "max", "idle"
    ))?;
    first.stages.iter().try_for_each(stage)?;
    match report.timed() {
        Some(timed) => say::out(format!("  {timed}")),
        None => Ok(()),
    }
}

fn stage(stage: &StageReport) -> Result<(), CliFailure> {
    let mut line = format!("  {:<14} {:>6}", stage.title(), stage.cores);
    for us in stage.quantiles_us.into_iter().chain([stage.idle_us]) {
        line += &format!(" {:>7}", figure(us));
    }
    say::out(line)
}

/// What takes less says nothing of how fast this computer is.
const LEAST_WALL_S: f64 = 0.01;

/// How fast this computer was, for whom simulates much.
fn speed(report: &SimReport) -> Option<String> {
    let wall_s = report.wall_s;
    let simulated = report.runs.iter().filter_map(|run| run.simulated.as_ref());
    let messages: u64 = simulated.map(|simulated| simulated.counts.messages).sum();
    if messages == 0 || wall_s < LEAST_WALL_S {
        return None;
    }
    let millions = messages as f64 / wall_s / 1e6;
    let threads = match report.threads {
        1 => "one thread".to_owned(),
        threads => format!("{threads} threads"),
    };
    let (taken, events) = (duration(wall_s), grouped(report.events));
    Some(format!(
        "speed     {millions:.2} million messages/s: {taken} on {threads}, {events} events"
    ))
}

fn duration(seconds: f64) -> String {
    if seconds < 1.0 { format!("{:.1} ms", seconds * 1e3) } else { format!("{seconds:.2} s") }
}

/// A figure in at most seven columns.
fn figure(us: f64) -> String {
    match us {
        us if us < 100.0 => format!("{us:.3}"),
        us if us < 10_000.0 => format!("{us:.1}"),
        us => format!("{us:.0}"),
    }
}
