//! Reports as JSON: the field names are a contract with scripts.
//!
//! Outside of `wall_s`, `peak_rss_bytes` and `threads`, the bytes of a simulated run do not depend
//! on the computer it ran on.

use serde_json::{Map, Value, json};

use crate::report::{QUANTILES, RunReport, SimReport, Simulated, StageReport};
use crate::spread::Spread;

impl SimReport {
    /// The report as JSON.
    pub fn to_json(&self) -> Value {
        json!({
            "program": self.program,
            "machine": self.machine,
            "machine_hash": self.machine_hash.map(|hash| format!("{hash:016x}")),
            "cores": self.cores,
            "parameters": self.told_to_json(),
            "runs": self.runs.iter().map(RunReport::to_json).collect::<Vec<_>>(),
            "time_us": self.time_us.to_json(),
            "wall_s": self.wall_s,
            // Threads count none, which is not 0.
            "events": self.machine_hash.map(|_| self.events),
            "peak_rss_bytes": self.peak_rss_bytes,
            "threads": self.threads,
            "note": self.note,
        })
    }

    /// All that decided a run but its machine and seed, under the options' names.
    fn told_to_json(&self) -> Value {
        let changes = self.changes.named();
        let values = self.parameters.values().clone();
        let told = values.into_iter().chain(changes);
        told.map(|(name, value)| (name.replace('-', "_"), value))
            .collect()
    }
}

impl Spread {
    fn to_json(self) -> Value {
        json!({ "mean": self.mean, "sd": self.sd, "min": self.min, "max": self.max })
    }
}

impl RunReport {
    fn to_json(&self) -> Value {
        let counts = self.simulated.as_ref().map(|simulated| simulated.counts);
        let mut run = json!({
            "seed": self.seed,
            "time_us": self.time_us,
            "messages": counts.map(|counts| counts.messages),
            "wire_bytes": counts.map(|counts| counts.wire_bytes),
            "max_keys": self.verdict.max_keys,
            "skew": self.verdict.skew,
            "sorted": self.verdict.sorted,
            "stages": self.stages.iter().map(StageReport::to_json).collect::<Vec<_>>(),
        });
        let fields = run.as_object_mut().expect("an object");
        if let Some(simulated) = &self.simulated {
            simulated.put(fields);
        }
        fields.insert("result".to_owned(), self.verdict.result.clone().into());
        fields.insert("figure".to_owned(), self.verdict.figure.into());
        let fault = self.verdict.fault.as_deref();
        let check = json!({ "passed": fault.is_none(), "fault": fault });
        fields.insert("check".to_owned(), check);
        run
    }
}

impl Simulated {
    fn put(&self, fields: &mut Map<String, Value>) {
        let counts = self.counts;
        let mut put = |name: &str, value: Value| fields.insert(name.to_owned(), value);
        if let Some(mac_ns) = self.mac_ns {
            put("mac_ns", mac_ns.into());
        }
        put("packets", counts.packets.into());
        put("trimmed", counts.trimmed.into());
        put("returned", counts.returned.into());
        put("dropped", counts.dropped.into());
        put("lost", counts.lost.into());
        put("resent", counts.resent.into());
        put("busiest_down_flits", counts.busiest_down_flits.into());
        put("longest_send_wait_us", self.longest_send_wait_us.into());
        put("events", counts.events.into());
        let windows = self.windows;
        put(
            "windows",
            json!({ "ticks": windows.ticks, "blocks": windows.blocks }),
        );
    }
}

impl StageReport {
    fn to_json(&self) -> Value {
        let mut stage = Map::new();
        stage.insert("name".to_owned(), self.name.into());
        for ((_, name), figure) in QUANTILES.iter().zip(self.quantiles_us) {
            stage.insert((*name).to_owned(), figure.into());
        }
        stage.insert("idle_us".to_owned(), self.idle_us.into());
        stage.insert("busy_us".to_owned(), self.busy_us.into());
        stage.insert("cores".to_owned(), self.cores.into());
        stage.insert("tasks".to_owned(), self.tasks.into());
        Value::Object(stage)
    }
}
