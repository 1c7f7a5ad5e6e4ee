//! Reports as JSON: the field names are a contract with scripts.

use ::sort::{RankReport, Report, StripeReport, Warning};
use host::busy::Busy;
use pipeline::StageReport;
use serde_json::{Value, json};

use super::part::{Part, Together};

/// Whether a file that begins with these bytes is a report.
pub(super) fn is_report(front: &[u8]) -> bool {
    let text = String::from_utf8_lossy(front);
    text.starts_with("{\n") && text.contains("\"bottleneck\": ")
}

/// The report of a sort. For a job rank 0 adds the figures of each rank.
pub(super) fn report(report: &Report, together: &Together, peak_rss_bytes: u64) -> Value {
    let mut value = of_node(report, peak_rss_bytes);
    add_busy(&mut value, &together.busy);
    if let Some(seed) = report.seed {
        value["seed"] = seed.into();
    }
    if let Some(striped) = &report.stripes {
        value["stripes"] = stripes(striped);
    }
    if report.ranks.is_empty() {
        return value;
    }
    let mut ranks: Vec<Value> = report.ranks.iter().map(rank).collect();
    for (rank, part) in ranks.iter_mut().zip(&together.parts) {
        add_part(rank, part);
    }
    value["ranks"] = ranks.into();
    value["skew"] = report.skew().into();
    if let Some(passes) = together.parts.iter().map(|part| part.passes).max() {
        value["passes"] = passes.into();
    }
    if let Some(launch) = &together.launch {
        value["launch_seconds"] = launch.seconds.into();
        value["launch_since"] = launch.since.as_str().into();
    }
    let warnings = value["warnings"].as_array_mut().expect("a list");
    warnings.extend(together.warnings().map(|(rank, noticed)| {
        json!({
            "kind": noticed.kind,
            "file": noticed.file,
            "message": noticed.message,
            "rank": rank,
        })
    }));
    value
}

/// Adds how busy cores and devices were.
fn add_busy(value: &mut Value, busy: &Busy) {
    value["cores"] = json!(busy.cores);
    value["devices"] = json!(busy.devices);
}

/// Adds a rank's own figures.
fn add_part(rank: &mut Value, part: &Part) {
    rank["host"] = part.host.as_str().into();
    rank["peak_rss_bytes"] = part.peak_rss_bytes.into();
    rank["passes"] = part.passes.into();
    rank["read_bytes"] = part.read_bytes.into();
    rank["written_bytes"] = part.written_bytes.into();
    rank["temp_peak_bytes"] = part.temp_peak_bytes.into();
    add_busy(rank, &part.busy);
    rank["stages"] = part.stages.iter().map(stage).collect();
}

/// The format of reports; it grows when a member goes or means something else.
const FORMAT_VERSION: u32 = 1;

/// The report of this node.
fn of_node(report: &Report, peak_rss_bytes: u64) -> Value {
    json!({
        "format_version": FORMAT_VERSION,
        "records": report.records,
        "bytes": report.bytes,
        "blank_lines": report.blank_lines,
        "passes": report.passes,
        "plan": report.plan,
        "reason": report.reason,
        "partitions": report.partitions,
        "seconds": report.seconds,
        "read_bytes": report.read_bytes,
        "written_bytes": report.written_bytes,
        "temp_peak_bytes": report.temp_peak_bytes,
        "peak_rss_bytes": peak_rss_bytes,
        "direct_io": {
            "read": report.direct_io.read,
            "write": report.direct_io.write,
            "reason": report.direct_io.reason,
        },
        "checksum": format!("{:x}", report.checksum),
        "bottleneck": report.bottleneck,
        "stages": report.stages.iter().map(stage).collect::<Value>(),
        "sample": {
            "places": report.sample.places,
            "bytes": report.sample.bytes,
            "seconds": report.sample.seconds,
        },
        "unevenness": report.unevenness,
        "warnings": report.warnings.iter().map(warning).collect::<Vec<_>>(),
    })
}

fn stripes(stripes: &StripeReport) -> Value {
    let rebuilt = stripes.rebuilt.iter().map(|rebuilt| {
        json!({
            "directory": rebuilt.directory.display().to_string(),
            "bytes": rebuilt.bytes,
            "cause": rebuilt.cause,
        })
    });
    json!({
        "blocks": stripes.blocks,
        "parity_bytes": stripes.parity_bytes,
        "unprotected_bytes": stripes.unprotected_bytes,
        "rebuilt": rebuilt.collect::<Value>(),
    })
}

fn rank(rank: &RankReport) -> Value {
    json!({
        "read_records": rank.read_records,
        "records": rank.records,
        "bytes": rank.bytes,
        "checksum": format!("{:x}", rank.checksum),
        "seconds": rank.seconds,
        "bottleneck": rank.bottleneck,
    })
}

fn warning(warning: &Warning) -> Value {
    json!({
        "kind": warning.kind(),
        "file": warning.file().display().to_string(),
        "message": warning.to_string(),
    })
}

fn stage<Name: AsRef<str>>(stage: &StageReport<Name>) -> Value {
    json!({
        "name": stage.name.as_ref(),
        "workers": stage.workers,
        "units": stage.units,
        "records": stage.records,
        "bytes": stage.bytes,
        "busy_s": stage.busy_s,
        "starved_s": stage.starved_s,
        "blocked_s": stage.blocked_s,
        "locked_s": stage.locked_s,
        "most": {
            "records": stage.most.records,
            "bytes": stage.most.bytes,
            "busy_s": stage.most.busy_s,
        },
        "mb_per_s": stage.mb_per_s(),
        "unit_bytes": stage.unit_bytes().round() as u64,
    })
}
