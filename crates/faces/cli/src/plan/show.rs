//! A predicted sort, for people and for programs.

use machine::{DiskGroup, Holds, Usage};
use serde_json::{Value, json};
use sort::Report;

use super::Planned;
use simulated_sort::{Prediction, Rule};
use terminal::text::{figure, table};
use units::{amount, counted, grouped};

/// PennySort spreads the price of a machine over three years.
const SECONDS_OF_A_PRICE: f64 = 94_608_000.0;

impl Planned {
    pub(super) fn json(&self) -> Value {
        let (wish, prediction, report) = (&self.wish, &self.prediction, self.report());
        let stages = report.stages.iter().map(|stage| {
            json!({
                "name": stage.name,
                "workers": stage.workers,
                "units": stage.units,
                "bytes": stage.bytes,
                "busy_s": stage.busy_s,
                "starved_s": stage.starved_s,
                "blocked_s": stage.blocked_s,
            })
        });
        let disks = prediction.disks[0].iter().map(|usage| {
            json!({
                "path": usage.under.display().to_string(),
                "read_bytes": usage.read.bytes,
                "written_bytes": usage.written.bytes,
                "busy_s": usage.both().busy_ns as f64 / 1e9,
                "seeks": usage.both().seeks,
            })
        });
        let relieved = self.relieved.iter().map(|(name, prediction)| {
            json!({
                "twice": name,
                "seconds": prediction.seconds,
                "bottleneck": prediction.reports[0].bottleneck,
            })
        });
        let phases = prediction.phases().into_iter().map(|phase| {
            json!({
                "name": phase.name,
                "seconds": phase.seconds,
                "bottleneck": phase.bottleneck,
            })
        });
        let balance = wish.balance(prediction).map(|rule| {
            json!({
                "rule": rule.name,
                "by": rule.source,
                "unit": rule.unit,
                "kept_by": rule.value.is_ok().then(|| [*rule.kept_by.start(), *rule.kept_by.end()]),
                "value": rule.value.ok(),
                "broken": rule.broken(),
                "missing": rule.value.err(),
            })
        });
        json!({
            "machine": wish.server.name,
            "nodes": wish.server.nodes,
            "bytes": wish.bytes,
            "record_bytes": wish.record_bytes,
            "memory_bytes": wish.memory_of_a_node(),
            "seconds": prediction.seconds,
            "bytes_per_second": wish.bytes as f64 / prediction.seconds,
            "as": wish.plan.as_ref().map(|plan| &plan.name),
            "plan": report.plan,
            "reason": report.reason,
            "passes": report.passes,
            "partitions": report.partitions,
            "temp_peak_bytes": report.temp_peak_bytes,
            "bottleneck": report.bottleneck,
            "phases": phases.collect::<Vec<_>>(),
            "stages": stages.collect::<Vec<_>>(),
            "disks": disks.collect::<Vec<_>>(),
            "twice": relieved.collect::<Vec<_>>(),
            "balance": balance,
            "dollars_per_tb": self.dollars_of_a_tb(),
            "joules_per_tb": self.joules_of_a_tb(),
            "extended_from_bytes": wish.step(),
            "events": prediction.events,
        })
    }

    pub(super) fn lines(&self) -> Vec<String> {
        let (wish, prediction, report) = (&self.wish, &self.prediction, self.report());
        let server = &wish.server;
        let disks: usize = server.disks.iter().map(|disks| disks.count).sum();
        let nodes = match server.nodes {
            1 => String::new(),
            nodes => format!("{nodes} nodes of "),
        };
        let mut lines = vec![
            format!(
                "{} of records of {} on {}: {nodes}{}, {}, {} of memory",
                amount(wish.bytes),
                counted(wish.record_bytes as u64, "byte"),
                server.name,
                counted(server.node.cores as u64, "core"),
                counted(disks as u64, "disk"),
                amount(wish.memory_of_a_node()),
            ),
            String::new(),
        ];
        let mut rows = vec![
            row(
                "time",
                format!(
                    "{}, {} a second",
                    duration(prediction.seconds),
                    amount((wish.bytes as f64 / prediction.seconds) as u64)
                ),
            ),
            row("plan", with_reason(report)),
            row("passes", report.passes.to_string()),
            row("partitions", grouped(report.partitions)),
            row("waits for", report.bottleneck.to_owned()),
        ];
        if let Some(plan) = &wish.plan {
            rows.insert(1, row("by the plan of", plan.name.clone()));
        }
        if let Some(step) = wish.step() {
            let text = format!(
                "sorts from {} of a node on, two for each phase",
                amount(step)
            );
            rows.push(row("extended from", text));
        }
        if report.temp_peak_bytes > 0 {
            rows.push(row("spilled at most", amount(report.temp_peak_bytes)));
        }
        rows.extend(self.dollars_of_a_tb().map(|dollars| {
            let text = format!(
                "{} dollars of the machine's price, over three years",
                figure(dollars, 2)
            );
            row("a TB costs", text)
        }));
        rows.extend(self.joules_of_a_tb().map(|joules| {
            let records = 1e12 / wish.record_bytes as f64 / joules;
            let text = format!(
                "{} kJ, {} records a joule",
                figure(joules / 1e3, 0),
                grouped(records as u64)
            );
            row("a TB takes", text)
        }));
        lines.extend(rows);
        lines.push(String::new());
        lines.extend(table(&self.phase_rows()));
        lines.push(String::new());
        lines.extend(table(&self.stage_rows()));
        lines.push(String::new());
        lines.extend(table(&self.disk_rows()));
        if !self.relieved.is_empty() {
            lines.push(String::new());
            lines.extend(table(&self.relief_rows()));
        }
        lines.extend([
            String::new(),
            row("balance", "by rules of thumb".to_owned()),
        ]);
        let rules = wish.balance(prediction);
        lines.extend(rules.iter().map(|rule| row(rule.name, judged(rule))));
        lines
    }

    fn report(&self) -> &Report {
        &self.prediction.reports[0]
    }

    /// The phases, each on the node that is slowest in it.
    fn phase_rows(&self) -> Vec<Vec<String>> {
        let head = ["phase", "time", "of all", "waits for"];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        for phase in self.prediction.phases() {
            let part = percent(phase.seconds / self.prediction.seconds);
            let mut cells = vec![phase.name.to_owned(), duration(phase.seconds), part];
            cells.extend(phase.bottleneck.map(str::to_owned));
            rows.push(cells);
        }
        rows
    }

    /// The stages of the first node, and how much of their time they were busy.
    fn stage_rows(&self) -> Vec<Vec<String>> {
        let seconds = self.prediction.seconds;
        let mut rows = vec![
            ["stage", "workers", "bytes", "busy"]
                .map(str::to_owned)
                .to_vec(),
        ];
        for stage in self.report().stages.iter().filter(|stage| stage.units > 0) {
            rows.push(vec![
                stage.name.to_owned(),
                stage.workers.to_string(),
                amount(stage.bytes),
                percent(stage.busy_s / stage.workers.max(1) as f64 / seconds),
            ]);
        }
        rows
    }

    /// The disks of the first node, those that are alike in one row.
    fn disk_rows(&self) -> Vec<Vec<String>> {
        let seconds = self.prediction.seconds;
        let head = ["disks", "for", "read", "written", "busy", "seeks"];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        let mut usages = self.prediction.disks[0].iter();
        for group in &self.wish.server.disks {
            let these: Vec<&Usage> = usages.by_ref().take(group.count).collect();
            let sum = |of: fn(&Usage) -> u64| these.iter().map(|usage| of(usage)).sum::<u64>();
            let busy = sum(|usage| usage.both().busy_ns) as f64 / 1e9 / these.len() as f64;
            rows.push(vec![
                group.count.to_string(),
                held(group).to_owned(),
                amount(sum(|usage| usage.read.bytes)),
                amount(sum(|usage| usage.written.bytes)),
                percent(busy / seconds),
                grouped(sum(|usage| usage.both().seeks)),
            ]);
        }
        rows
    }

    fn relief_rows(&self) -> Vec<Vec<String>> {
        let head = ["twice the", "time", "of this one", "waits for"];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        for (
            name,
            Prediction {
                seconds, reports, ..
            },
        ) in &self.relieved
        {
            rows.push(vec![
                (*name).to_owned(),
                duration(*seconds),
                figure(seconds / self.prediction.seconds, 2),
                reports[0].bottleneck.to_owned(),
            ]);
        }
        rows
    }

    /// Dollars of the machine's price, which its use over three years pays.
    fn dollars_of_a_tb(&self) -> Option<f64> {
        let price = self.wish.server.node.price_usd?;
        Some(self.of_a_tb(price / SECONDS_OF_A_PRICE))
    }

    fn joules_of_a_tb(&self) -> Option<f64> {
        Some(self.of_a_tb(self.wish.server.node.watts?))
    }

    /// The use of a TB, if each node uses so much a second.
    fn of_a_tb(&self, each_second: f64) -> f64 {
        let nodes = f64::from(self.wish.server.nodes);
        each_second * nodes * self.prediction.seconds * 1e12 / self.wish.bytes as f64
    }
}

fn row(name: &str, value: String) -> String {
    format!("{name:<15}  {value}")
}

fn with_reason(report: &Report) -> String {
    match &report.reason[..] {
        "" => report.plan.to_owned(),
        reason => format!("{}: {reason}", report.plan),
    }
}

/// Whether a rule of balance is kept, by which value.
fn judged(rule: &Rule) -> String {
    let value = match rule.value {
        Ok(value) => value,
        Err(missing) => return format!("not judged: the machine has no {missing}"),
    };
    let number = |value: f64| match value {
        0.0..1000.0 if value.fract() > 0.0 => figure(value, 1),
        _ => grouped(value as u64),
    };
    let kept_by = match (*rule.kept_by.start(), *rule.kept_by.end()) {
        (least, f64::INFINITY) => format!("at least {}", number(least)),
        (0.0, most) => format!("at most {}", number(most)),
        (least, most) => format!("{} to {}", number(least), number(most)),
    };
    let verdict = rule.broken().map(|why| format!("broken, {why}"));
    format!(
        "{}: {} {}, {kept_by} by {}",
        verdict.as_deref().unwrap_or("kept"),
        number(value),
        rule.unit,
        rule.source
    )
}

fn held(group: &DiskGroup) -> &'static str {
    match group.holds {
        Holds::Files => "files",
        Holds::Temporary => "temporary files",
        Holds::Both => "all files",
    }
}

fn percent(part: f64) -> String {
    format!("{} %", figure(part * 100.0, 0))
}

fn duration(seconds: f64) -> String {
    match seconds {
        0.0..120.0 => format!("{} s", figure(seconds, 2)),
        120.0..7200.0 => format!("{} min", figure(seconds / 60.0, 1)),
        _ => format!("{} h", figure(seconds / 3600.0, 1)),
    }
}
