//! `gristmill-bench logp`: LogP of threads, of ranks over MPI, and of simulated machines in one table.
//!
//! The program is that of `gristmill sim logp`, on every kind of node.

use clap::Args;
use grain::{LogP, Measured, Program, Verdict};
use machine::{Cluster, Profile, Setting};
use serde_json::{Value, json};

use host::job::RankJob;
use terminal::ending::failure::{CliFailure, Exit};
use terminal::ending::say;
use terminal::text;

/// Measure LogP of this computer beside machines from 1993 to the nanoPU.
///
/// Under mpirun the first and the last rank measure MPI, otherwise two threads measure messages in memory.
#[derive(Args)]
pub struct Arguments {
    /// Repetitions on real nodes, of which the median is shown
    #[arg(long, value_name = "N", default_value_t = 51, value_parser = grain::count)]
    rounds: u32,
    /// Requests without a reply at most
    #[arg(long, value_name = "W", default_value_t = 8, value_parser = grain::count)]
    window: u32,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The simulated machines: name, year, and how sure the parameters are that their files were made from.
const MACHINES: [(&str, u16, &str); 9] = [
    ("cs-2", 1993, "remembered"),
    ("t3d", 1993, "o, L, g guessed"),
    ("paragon", 1994, "remembered"),
    ("sp-2", 1994, "o, L, g guessed"),
    ("now", 1996, "remembered"),
    ("ramcloud", 2015, "published, split guessed"),
    ("erpc", 2019, "published, split guessed"),
    ("nebula", 2020, "published, split guessed"),
    ("nanopu", 2021, "published"),
];

struct Row {
    name: String,
    year: u16,
    source: &'static str,
    measured: Vec<Measured>,
    /// A parameter that came out below zero, on a real node.
    fault: Option<String>,
}

/// Measures; under a launcher its first rank tells.
///
/// # Errors
/// A failure of the network; parameters that come out below zero.
pub fn run(arguments: &Arguments) -> Result<Exit, CliFailure> {
    let json = arguments.json;
    let with_json = |failure: CliFailure| failure.with_json(json);
    let Some(job) = RankJob::join(json).map_err(with_json)? else {
        let rows = simulated(arguments.window).and_then(|mut rows| {
            rows.push(on_threads(arguments)?);
            tell(arguments, &rows)
        });
        return rows.map_err(with_json);
    };
    // First, since ranks that are done do not wait long for rank 0.
    let rows = if job.is_first() {
        simulated(arguments.window)
    } else {
        Ok(Vec::new())
    };
    let told = rows.and_then(|mut rows| {
        rows.push(over_mpi(arguments, &job)?);
        if job.is_first() {
            tell(arguments, &rows)
        } else {
            Ok(Exit::Done)
        }
    });
    job.leave(told.map_err(with_json))
}

/// The rows of simulated machines, by their years.
fn simulated(window: u32) -> Result<Vec<Row>, CliFailure> {
    let row = |(name, year, source): (&str, u16, &'static str)| {
        let profile = Profile::named(name).expect("it is built in");
        Ok(Row {
            name: name.to_owned(),
            year,
            source,
            measured: on_machine(profile, window)?,
            fault: None,
        })
    };
    MACHINES.into_iter().map(row).collect()
}

fn tell(arguments: &Arguments, rows: &[Row]) -> Result<Exit, CliFailure> {
    if arguments.json {
        let rows: Vec<Value> = rows.iter().map(Row::to_json).collect();
        let report = json!({ "bench": "logp", "window": arguments.window, "rows": rows });
        say::out(report.to_string())?;
        return Ok(Exit::Done);
    }
    say::out("LogP in us by PRTT, 1/G in MB/s; <= where another parameter hides it\n")?;
    let titles = [
        "",
        "year",
        "o_s",
        "o_r",
        "L",
        "g",
        "1/G",
        "round trip",
        "inputs",
    ];
    let titles = titles.map(str::to_owned).to_vec();
    let rows: Vec<_> = [titles]
        .into_iter()
        .chain(rows.iter().map(Row::cells))
        .collect();
    for line in text::table(&rows) {
        say::out(line)?;
    }
    Ok(Exit::Done)
}

fn on_threads(arguments: &Arguments) -> Result<Row, CliFailure> {
    let program = program(arguments.rounds, arguments.window);
    let task = program.clone();
    let cluster = node_real::Cluster::new(2, 1);
    let answers = cluster.run(move |node| task.clone().run(node));
    Ok(here("threads".to_owned(), program.check(&answers)))
}

/// Rank 0 measures.
fn over_mpi(arguments: &Arguments, job: &RankJob) -> Result<Row, CliFailure> {
    let program = program(arguments.rounds, arguments.window);
    if let Some(objection) = program.objection(job.ranks()) {
        return Err(CliFailure::usage(objection));
    }
    let task = program.clone();
    let cluster = node_real::Cluster::over(job.network(), 1);
    let mut answers = cluster.run(move |node| task.clone().run(node));
    let own = answers.pop().expect("one node");
    let library = job.library().split(',').next().unwrap_or("MPI").to_owned();
    if !job.is_first() {
        return Ok(here(library, Verdict::default()));
    }
    // The check looks at the answer of rank 0 alone.
    let mut all = vec![own];
    all.resize_with(job.ranks() as usize, Default::default);
    Ok(here(library, program.check(&all)))
}

fn here(name: String, verdict: Verdict) -> Row {
    Row {
        name,
        year: 2026,
        source: "measured here",
        measured: verdict.measured,
        fault: verdict.fault,
    }
}

fn on_machine(profile: Profile, window: u32) -> Result<Vec<Measured>, CliFailure> {
    let program = program(1, window);
    let task = program.clone();
    let failed = |error: String| CliFailure::new("machine", error);
    let cluster =
        Cluster::new(profile, Setting::new(2)).map_err(|error| failed(error.to_string()))?;
    let outcome = cluster.run(move |node| task.clone().run(node));
    let outcome = outcome.map_err(|error| failed(error.to_string()))?;
    let verdict = program.check(&outcome.answers);
    verdict
        .fault
        .map_or(Ok(verdict.measured), |fault| Err(failed(fault)))
}

fn program(rounds: u32, window: u32) -> LogP {
    LogP {
        rounds,
        window,
        ..LogP::default()
    }
}

impl Row {
    /// By PRTT, where it gives the parameter.
    fn of(&self, name: &str) -> Option<&Measured> {
        self.measured.iter().rfind(|one| one.name == name)
    }

    fn cells(&self) -> Vec<String> {
        let shown = |name: &str, value: &dyn Fn(f64) -> f64| {
            self.of(name).map_or_else(String::new, |one| {
                if !one.is_told() {
                    return "below the clock".to_owned();
                }
                let most = match (one.at_most, name) {
                    (false, _) => "",
                    (true, "G") => ">= ",
                    (true, _) => "<= ",
                };
                format!("{most}{}", text::figure(value(one.median), 3))
            })
        };
        let us = |median: f64| median;
        let times = ["o_s", "o_r", "L", "g"].map(|name| shown(name, &us));
        let mut cells = vec![self.name.clone(), self.year.to_string()];
        cells.extend(times);
        cells.push(shown("G", &|us| 1.0 / us));
        cells.push(shown("RTT", &us));
        cells.push(self.source.to_owned());
        cells
    }

    fn to_json(&self) -> Value {
        json!({
            "name": self.name,
            "year": self.year,
            "inputs": self.source,
            "measured": self.measured,
            "fault": self.fault,
        })
    }
}
