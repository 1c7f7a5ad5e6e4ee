//! The report of several runs of a program, for people and as JSON.
//!
//! The field names of the JSON are a contract with scripts. Outside of `wall_s`, `peak_rss_bytes`
//! and `threads`, its bytes do not depend on the computer.

use std::collections::BTreeMap;

use grain::{Timing, Verdict};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use crate::changes::Changes;
use crate::parameters::Parameters;
use crate::place::DRIVER;
use crate::report::{RunReport, Simulated};
use crate::spread::Spread;

/// Several runs of one program.
#[derive(Clone, Debug, Serialize)]
pub struct SimReport {
    /// Name of the program.
    pub program: &'static str,
    /// Name of the machine, or `threads`.
    pub machine: String,
    /// Hash of the machine's file; none on threads.
    #[serde(serialize_with = "in_hexadecimal")]
    pub machine_hash: Option<u64>,
    /// Number of simulated cores, or of threads.
    pub cores: u32,
    /// The program's options and the changes of the machine, by option name.
    #[serde(rename = "parameters")]
    pub(crate) told: Map<String, Value>,
    /// Runs in the order of their seeds.
    #[serde(serialize_with = "all_written")]
    pub runs: Vec<RunReport>,
    /// The program's time over the runs, in microseconds.
    pub time_us: Spread,
    /// Wall time of all runs, in seconds.
    pub wall_s: f64,
    /// Events of all simulations; none on threads.
    pub events: Option<u64>,
    /// Largest resident set of this process.
    pub peak_rss_bytes: u64,
    /// Threads of this computer that ran them.
    pub threads: usize,
    /// Remark on the runs.
    pub note: Option<String>,
    /// The program with its options.
    #[serde(skip)]
    pub parameters: Parameters,
    /// Meaning of the program's time.
    #[serde(skip)]
    pub timing: Timing,
}

impl SimReport {
    /// The report as JSON.
    pub fn to_json(&self) -> Value {
        versioned(self).expect("maps have words as keys")
    }

    /// Explains the program's time where it is not the time of the whole run.
    pub fn timed(&self) -> Option<String> {
        match self.timing {
            Timing::Busy { rank, stage } => Some(format!(
                "time is what core {} was busy in its loop, '{stage}'",
                rank.0
            )),
            Timing::Tap(rank) => Some(format!(
                "time is from a message's first flit into core {}'s NIC to its last out (median)",
                rank.0
            )),
            Timing::Part { of } => Some(format!(
                "time is that of {of}, from the first begin to the last end of a core"
            )),
            Timing::LastEnd => None,
        }
    }

    /// Several trials of the sort: how many runs had which result.
    pub fn results(&self) -> Option<BTreeMap<&str, usize>> {
        let is_counted = self.machine == DRIVER && self.runs.len() > 1;
        is_counted.then(|| {
            let mut results = BTreeMap::new();
            for run in &self.runs {
                *results.entry(run.verdict.result.as_str()).or_default() += 1;
            }
            results
        })
    }

    /// Whether the answers of every run were right.
    pub fn is_right(&self) -> bool {
        self.runs.iter().all(|run| run.verdict.fault.is_none())
    }
}

/// Everything besides machine and seeds that decides a run.
pub(crate) fn told(parameters: &Parameters, changes: &Changes) -> Map<String, Value> {
    let values = parameters.values().clone().into_iter();
    let told = values.chain(changes.named());
    told.map(|(name, value)| (name.replace('-', "_"), value))
        .collect()
}

fn in_hexadecimal<S: Serializer>(hash: &Option<u64>, out: S) -> Result<S::Ok, S::Error> {
    hash.map(|hash| format!("{hash:016x}")).serialize(out)
}

fn all_written<S: Serializer>(runs: &[RunReport], out: S) -> Result<S::Ok, S::Error> {
    out.collect_seq(runs.iter().map(written))
}

/// A run in JSON. Real nodes count no messages.
fn written(run: &RunReport) -> Value {
    let Verdict { fault, .. } = &run.verdict;
    let counts = run.simulated.as_ref().map(|simulated| simulated.counts);
    let mut value = json!({
        "seed": run.seed,
        "time_us": run.time_us,
        "messages": counts.map(|counts| counts.messages),
        "wire_bytes": counts.map(|counts| counts.wire_bytes),
        "max_keys": run.verdict.max_keys,
        "skew": run.verdict.skew,
        "sorted": run.verdict.sorted,
        "stages": run.stages,
    });
    if let Some(requests) = &run.requests {
        value["requests"] = json!(requests);
    }
    if !run.verdict.measured.is_empty() {
        value["measured"] = json!(run.verdict.measured);
    }
    if let Some(simulated) = &run.simulated {
        extend(&mut value, counted(simulated));
    }
    extend(
        &mut value,
        json!({
            "result": run.verdict.result,
            "figure": run.verdict.figure,
            "check": { "passed": fault.is_none(), "fault": fault },
        }),
    );
    value
}

/// The part of a run that only a simulated machine has.
fn counted(simulated: &Simulated) -> Value {
    let Simulated {
        counts, windows, ..
    } = simulated;
    let mut value = json!({});
    if let Some(mac_ns) = simulated.mac_ns {
        value["mac_ns"] = json!(mac_ns);
    }
    extend(
        &mut value,
        json!({
            "packets": counts.packets,
            "trimmed": counts.trimmed,
            "returned": counts.returned,
            "dropped": counts.dropped,
            "lost": counts.lost,
            "resent": counts.resent,
            "busiest_down_flits": counts.busiest_down_flits,
            "longest_send_wait_us": simulated.longest_send_wait_us,
            "events": counts.events,
            "windows": { "ticks": windows.ticks, "blocks": windows.blocks },
        }),
    );
    if let Some(path) = &simulated.path {
        value["critical_path"] = json!(path);
    }
    value
}

/// The format of reports; it grows when a member goes or means something else.
const FORMAT_VERSION: u32 = 1;

/// A report as JSON, behind the number of its format.
///
/// # Errors
/// If its type has no form in JSON.
pub fn versioned(report: &impl Serialize) -> serde_json::Result<Value> {
    let mut value = json!({ "format_version": FORMAT_VERSION });
    extend(&mut value, serde_json::to_value(report)?);
    Ok(value)
}

/// Adds the members of an object to another one.
pub(crate) fn extend(value: &mut Value, more: Value) {
    if let (Value::Object(value), Value::Object(more)) = (value, more) {
        value.extend(more);
    }
}
