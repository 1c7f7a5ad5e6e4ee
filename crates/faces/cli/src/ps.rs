//! `gristmill ps`: the ranks of this user's jobs, as GLUnix's `ps` listed a program on all workstations
//! (NOW, section 2.3).

use clap::Args;
use node::{Collective, Node, Port, Rank};
use serde_json::json;
use terminal::ending::failure::{CliFailure, Exit};
use terminal::ending::say;
use terminal::launcher::{Listed, listed};
use terminal::text;
use units::amount;

use host::job::RankJob;

const EXAMPLES: &str = "\
Examples:
  gristmill ps
  mpirun -N 1 --host n1,n2,n3 gristmill ps     # of all these hosts";

/// Exchanges between ranks that list; no port of a sort.
const MEETING: Port = Port(112);

/// List the jobs of this user: ranks, hosts, times and memory.
///
/// Of this host, or of all hosts on which a launcher starts it.
#[derive(Args)]
#[command(before_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Exit, CliFailure> {
    let json = arguments.json;
    let with_json = |failure: CliFailure| failure.with_json(json);
    let Some(job) = RankJob::join(json)? else {
        return own().and_then(|all| tell(all, json)).map_err(with_json);
    };
    let told = gathered(&job).and_then(|all| {
        if job.is_first() {
            tell(all, json)
        } else {
            Ok(Exit::Done)
        }
    });
    job.leave(told.map_err(with_json))
}

/// The processes of this host, without those that list.
fn own() -> Result<Vec<Listed>, CliFailure> {
    listed("ps").map_err(|cause| {
        let told = format!("cannot list processes: /proc: {cause}; mount it");
        CliFailure::new("system", told)
    })
}

/// The lists of all ranks, at rank 0.
fn gathered(job: &RankJob) -> Result<Vec<Listed>, CliFailure> {
    let own = serde_json::to_vec(&own()?).expect("fields have names");
    let cluster = node_real::Cluster::over(job.network(), 1);
    let mut ends = cluster.run(move |node: Node| {
        let own = own.clone();
        async move {
            let mut together = Collective::new(&node, MEETING);
            together.gather(&node, Rank::ROOT, own).await
        }
    });
    let heard = ends.pop().expect("one node");
    let failed = |told: &str| CliFailure::new("network", told);
    let heard = heard.map_err(|_| {
        failed("a rank ended, or is no gristmill ps: start the same one on all hosts")
    })?;
    let lists: Result<Vec<Vec<Listed>>, _> = heard
        .iter()
        .map(|list| serde_json::from_slice(list))
        .collect();
    let foreign = |_| failed("a rank is of another version: start the same one on all hosts");
    Ok(lists.map_err(foreign)?.concat())
}

/// Each process once, by job and rank.
fn tell(mut all: Vec<Listed>, json: bool) -> Result<Exit, CliFailure> {
    all.sort_by(|a, b| {
        let place = |one: &Listed| (one.job.clone(), one.rank, one.host.clone(), one.pid);
        place(a).cmp(&place(b))
    });
    all.dedup_by(|a, b| (&a.host, a.pid) == (&b.host, b.pid));
    if json {
        say::out(json!({ "processes": all }).to_string())?;
        return Ok(Exit::Done);
    }
    if all.is_empty() {
        say::out("no other gristmill of this user runs here")?;
        return Ok(Exit::Done);
    }
    let titles = [
        "job", "rank", "host", "pid", "state", "elapsed", "busy", "memory",
    ];
    let titles = titles.map(str::to_owned).to_vec();
    let rows: Vec<_> = [titles].into_iter().chain(all.iter().map(cells)).collect();
    let commands = ["command"]
        .into_iter()
        .chain(all.iter().map(|one| one.command.as_str()));
    for (line, command) in text::table(&rows).iter().zip(commands) {
        say::out(format!("{line}  {}", text::printable(command)))?;
    }
    Ok(Exit::Done)
}

fn cells(one: &Listed) -> Vec<String> {
    let rank = match (one.rank, one.ranks) {
        (Some(rank), Some(ranks)) => format!("{rank} of {ranks}"),
        (Some(rank), None) => rank.to_string(),
        (None, _) => "-".to_owned(),
    };
    let seconds = |seconds: f64| text::time(seconds * 1e6);
    vec![
        one.job.clone().unwrap_or_else(|| "-".to_owned()),
        rank,
        one.host.clone(),
        one.pid.to_string(),
        state(one.state).to_owned(),
        seconds(one.elapsed_s),
        seconds(one.used_s),
        amount(one.resident_bytes),
    ]
}

fn state(letter: char) -> &'static str {
    match letter {
        'R' => "runs",
        'S' => "waits",
        'D' => "disk",
        'T' | 't' => "stopped",
        'Z' | 'X' => "ended",
        _ => "other",
    }
}
