//! The critical path of a run, for people: microseconds by stage and kind, and its longest parts.

use lab::{PathKind, PathReport, PathSegment, PathStage, SimReport};

use terminal::ending::failure::CliFailure;
use terminal::ending::say;
use terminal::text::{self, figure};

/// The longest parts that are printed.
const MOST_PARTS: usize = 8;

/// Prints the critical path of the first run, if it was asked for.
pub(super) fn show(report: &SimReport) -> Result<(), CliFailure> {
    let simulated = report.runs.first().and_then(|run| run.simulated.as_ref());
    let Some(path) = simulated.and_then(|simulated| simulated.path.as_ref()) else {
        return Ok(());
    };
    let unit = text::unit_of_table(path.time_us);
    let whose = match report.runs.len() {
        1 => String::new(),
        _ => format!(", seed {}", report.runs[0].seed),
    };
    say::out(format!(
        "\ncritical path in {}: {} over {} messages, {} of them below one leaf{whose}",
        unit.0,
        figure(path.time_us * unit.1, 3),
        path.messages,
        path.messages_in_leaf
    ))?;
    print(&by_stage(path, unit))?;
    say::out("  its longest parts")?;
    print(&longest(path, unit))
}

fn print(rows: &[Vec<String>]) -> Result<(), CliFailure> {
    let lines = text::table(rows);
    lines
        .iter()
        .try_for_each(|line| say::out(format!("  {line}")))
}

/// A row per stage and one for all, with a column per kind that is on the path.
fn by_stage(path: &PathReport, (_, scale): text::Unit) -> Vec<Vec<String>> {
    let kinds = PathKind::ALL.into_iter();
    let kinds: Vec<_> = kinds.filter(|kind| path.of(*kind) > 0.0).collect();
    let words = kinds.iter().map(|kind| kind.word().to_owned());
    let head = ["", "all"].map(str::to_owned).into_iter().chain(words);
    let cells = |name: &str, all: f64, of: &dyn Fn(PathKind) -> f64| {
        let times = [all].into_iter().chain(kinds.iter().map(|kind| of(*kind)));
        let times = times.map(|us| figure(us * scale, 2));
        [name.to_owned()].into_iter().chain(times).collect()
    };
    let row = |stage: &PathStage| {
        let name = if stage.stage.is_empty() {
            "no stage"
        } else {
            stage.stage
        };
        cells(name, stage.total(), &|kind| stage.of(kind))
    };
    let rows = path.stages.iter().map(row);
    let all = cells("all", path.time_us, &|kind| path.of(kind));
    [head.collect()]
        .into_iter()
        .chain(rows)
        .chain([all])
        .collect()
}

fn longest(path: &PathReport, (_, scale): text::Unit) -> Vec<Vec<String>> {
    let length = |part: &PathSegment| part.end_us - part.begin_us;
    let mut parts: Vec<_> = path.segments.iter().collect();
    parts.sort_by(|one, other| length(other).total_cmp(&length(one)));
    let head = ["", "from", "to", "time", "core", "stage"].map(str::to_owned);
    let row = |part: &&PathSegment| {
        let times = [part.begin_us, part.end_us, length(part)];
        let times = times.map(|us| figure(us * scale, 2));
        let core = if part.kind.is_message() {
            format!("{} to {}", part.from, part.core)
        } else {
            part.core.to_string()
        };
        let words = [core, part.stage.to_owned()];
        let cells = [part.kind.word().to_owned()].into_iter().chain(times);
        cells.chain(words).collect()
    };
    let rows = parts.iter().take(MOST_PARTS).map(row);
    [head.to_vec()].into_iter().chain(rows).collect()
}
