//! What came of a race, as rows and columns.

use record::RECORD_BYTES;
use serde_json::{Map, Value, json};

use crate::child::Took;
use crate::cold::Cold;
use crate::contender::Input;
use crate::external::race::{Race, Standing};
use crate::measure::Row;
use cli::machine;
use cli::size::readable;

/// What holds for everybody.
pub fn facts(race: &Race, memory_bytes: u64, cold: Cold) -> Map<String, Value> {
    let (pattern, records) = race.input();
    let failed = race.standings.iter().filter_map(|standing| {
        Some(json!({ "name": standing.racer.name, "why": standing.failed.as_ref()? }))
    });
    let facts = json!({
        "records": records,
        "bytes": records * RECORD_BYTES as u64,
        "input": pattern.name(),
        "memory_bytes": memory_bytes,
        "cores": machine::cores(),
        "cold": cold.name(),
        "checksum": race.checksum(Input::Binary).to_string(),
        "floor_one_pass_s": race.floors.iter().map(|floor| floor.seconds).collect::<Vec<_>>(),
        "floor_direct": race.floors.iter().all(|floor| floor.direct),
        "failed": failed.collect::<Vec<_>>(),
    });
    facts.as_object().cloned().unwrap_or_default()
}

/// The floor, and everybody who came through.
pub fn rows(race: &Race) -> Vec<Row> {
    // What is read before a round and after it, together: two passes.
    let rounds = race.floors.windows(2);
    let floor = Row {
        name: "floor of two passes".to_owned(),
        command: "read the input and write as much at once, before and after each round".to_owned(),
        seconds: rounds.map(|two| two[0].seconds + two[1].seconds).collect(),
        published: false,
        more: Map::new(),
    };
    let through = race
        .standings
        .iter()
        .filter(|standing| standing.failed.is_none());
    std::iter::once(floor).chain(through.map(row)).collect()
}

fn row(standing: &Standing) -> Row {
    let runs = &standing.runs;
    let most = |figure: fn(&Took) -> Option<u64>| runs.iter().filter_map(figure).max();
    let mut more = json!({
        "validated": standing.wrong.is_none(),
        "wrong": standing.wrong,
        "peak_rss_bytes": most(|run| Some(run.peak_rss_bytes)),
        "temp_peak_bytes": most(|run| Some(run.temp_peak_bytes)),
        "read_bytes": most(|run| run.read_bytes),
        "written_bytes": most(|run| run.written_bytes),
        "cgroup_peak_bytes": most(|run| run.group_peak_bytes),
    });
    if let Some(report) = &standing.report {
        for field in ["plan", "passes", "bottleneck"] {
            more[field] = report[field].clone();
        }
        // Ours knows its own peaks better than samples do.
        for field in ["peak_rss_bytes", "temp_peak_bytes"] {
            more[field] = more[field].as_u64().max(report[field].as_u64()).into();
        }
    }
    Row {
        name: standing.racer.name.clone(),
        command: standing.racer.shown(),
        seconds: runs.iter().map(|run| run.seconds).collect(),
        published: false,
        more: more.as_object().cloned().unwrap_or_default(),
    }
}

/// Who, each run, and what it took.
pub fn columns(rows: &[Row]) -> Vec<Vec<String>> {
    const BYTES: [(&str, &str); 5] = [
        ("resident", "peak_rss_bytes"),
        ("temp peak", "temp_peak_bytes"),
        ("read", "read_bytes"),
        ("written", "written_bytes"),
        ("group peak", "cgroup_peak_bytes"),
    ];
    let mut heading = ["", "seconds", "median", "ratio"]
        .map(str::to_owned)
        .to_vec();
    heading.extend(BYTES.map(|(title, _)| title.to_owned()));
    heading.extend(["output", ""].map(str::to_owned));
    let floor = rows.first().map_or(0.0, Row::median);
    let mut lines = vec![heading];
    for row in rows {
        let seconds: Vec<String> = row.seconds.iter().map(|s| format!("{s:.2}")).collect();
        let figure = |(_, field): (&str, &str)| {
            let bytes = row.more.get(field).and_then(Value::as_u64);
            bytes.map_or("-".to_owned(), readable)
        };
        let output = match row.more.get("validated").and_then(Value::as_bool) {
            Some(true) => "valid",
            Some(false) => "WRONG",
            None => "-",
        };
        let mut line = vec![row.name.clone(), seconds.join(" ")];
        line.push(format!("{:.2}", row.median()));
        line.push(format!("{:.2}", row.median() / floor));
        line.extend(BYTES.map(figure));
        line.extend([output.to_owned(), row.command.clone()]);
        lines.push(line);
    }
    lines
}
