//! `gristmill plan`: the time of a sort on a machine that need not be there.

mod show;

use std::path::PathBuf;

use clap::Args;
use machine::Server;
use simulated_sort::{Changes, ForeignPlan, Prediction, Wish};
use sort::Tuning;

use crate::doctor::measure::{self, Measured};
use terminal::ending::failure::{CliFailure, Exit};
use terminal::ending::say;
use units::{positive, size};

/// The shortest of the sorts from which a long one is extended has at least so many bytes of a node: with
/// fewer, beginnings and ends of phases are most of it.
const STEP_BYTES: u64 = 20_000_000_000;

const EXAMPLES: &str = "\
Examples:
  gristmill plan 1TB                              # on a server of 2026
  gristmill plan 100GB -S 8GiB --machine cloud-2026
  gristmill plan 1TB --machine tritonsort-2011 --nodes 4
  gristmill plan --machine now-1997 > my.toml     # a machine file, to be changed
  gristmill plan 1TB --machine my.toml --json";

/// Predict a sort on a machine: passes, time by phase, what it waits for.
///
/// The sort itself runs, on simulated disks, cores and links, over records that are only counted. Rates of
/// disks and stages come from the machine file. Only the machine differs from a real sort. The last lines
/// judge the machine by rules of balance: Amdahl's, Case's, and the five-minute rule.
#[derive(Args)]
#[command(before_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Bytes to sort, on all nodes together, such as 100GB; without them, the machine file is printed
    #[arg(value_name = "SIZE", value_parser = size)]
    bytes: Option<u64>,
    /// A built-in machine, or a file
    #[arg(long, value_name = "NAME|FILE", default_value = "server-2026")]
    machine: String,
    /// Measure this machine first, with all files in DIR, which takes some twenty seconds [default DIR: .]
    #[arg(long, value_name = "DIR", num_args = 0..=1, require_equals = true, default_missing_value = ".",
          conflicts_with = "machine", requires = "bytes")]
    this: Option<PathBuf>,
    /// Take the times of stages with lines, where the machine has them
    #[arg(long)]
    lines: bool,
    /// Bytes of each record
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    record_bytes: u32,
    /// Memory of each node; by default that of the machine
    #[arg(short = 'S', long = "memory", value_name = "SIZE", value_parser = size)]
    memory: Option<u64>,
    /// The plan of a paper (tritonsort, now-sort, psort) or of a file, instead of the sort's own
    #[arg(long = "as", value_name = "NAME|FILE")]
    plan: Option<String>,
    /// Simulate all of a long sort by such a plan, which may take hours; otherwise four short ones are extended
    #[arg(long, requires = "plan")]
    whole: bool,
    /// Nodes; by default those of the machine
    #[arg(long, value_name = "N", value_parser = positive)]
    nodes: Option<u64>,
    /// Another number of the machine, or of the plan, as `disks.read_mb_s=250` or `plan.depth=1`
    #[arg(long, value_name = "KEY=VALUE", requires = "bytes")]
    set: Vec<String>,
    /// Decides the sizes of partitions, and the order of events at the same time
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Predict, too, what twice the disks, cores, memory or links would give
    #[arg(long)]
    relief: bool,
    /// List the built-in machines and plans
    #[arg(long, conflicts_with = "bytes")]
    list: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Exit, CliFailure> {
    let told = match arguments.bytes {
        _ if arguments.list => list(),
        None => print(&arguments.machine),
        Some(bytes) => plan(arguments, bytes).and_then(|planned| planned.tell(arguments.json)),
    };
    told.map(|()| Exit::Done)
        .map_err(|failure| failure.with_json(arguments.json))
}

fn list() -> Result<(), CliFailure> {
    say::out("machines, for --machine")?;
    for (name, text) in Server::BUILT_IN {
        let server = Server::parse(text).map_err(|error| refused(error.to_string()))?;
        say::out(format!("  {name:<16} {}", server.description))?;
    }
    say::out("plans, for --as")?;
    for (name, _) in ForeignPlan::BUILT_IN {
        let plan = ForeignPlan::load(name).map_err(|error| refused(error.to_string()))?;
        say::out(format!("  {name:<16} {}", plan.description))?;
    }
    Ok(())
}

/// Prints the file of a built-in machine. Without bytes to sort, nothing else can be done.
fn print(machine: &str) -> Result<(), CliFailure> {
    let text = Server::text_of(machine).ok_or_else(|| {
        refused(format!(
            "say how many bytes to sort on {machine}, such as 100GB; only a built-in machine is printed"
        ))
    })?;
    say::out(text.trim_end())
}

/// A sort that was predicted.
struct Planned {
    wish: Wish,
    prediction: Prediction,
    /// The same sort on a machine with twice as much of something, by its name.
    relieved: Vec<(&'static str, Prediction)>,
}

impl Planned {
    fn tell(&self, json: bool) -> Result<(), CliFailure> {
        if json {
            return say::out(format!("{:#}", self.json()));
        }
        self.lines().into_iter().try_for_each(say::out)
    }
}

fn plan(arguments: &Arguments, bytes: u64) -> Result<Planned, CliFailure> {
    if bytes == 0 {
        let why = "there is nothing to plan: give a SIZE above 0";
        return Err(refused(why.to_owned()));
    }
    let changes = Changes::of(&arguments.set);
    if let Some(change) = changes.of_plan.first().filter(|_| arguments.plan.is_none()) {
        return Err(refused(format!("--set {change}: name a plan with --as")));
    }
    let server = match &arguments.this {
        Some(place) => {
            say::err("measuring this machine takes some twenty seconds");
            let measured = Measured::new(std::slice::from_ref(place), &[], measure::SECONDS)?;
            Server::parse_changed(&measured.text(), &changes.of_server)
        }
        None => Server::load_changed(&arguments.machine, &changes.of_server),
    };
    let mut server = server.map_err(|error| refused(error.to_string()))?;
    if let Some(nodes) = arguments.nodes {
        let most = u64::from(Server::MOST_NODES);
        if nodes > most {
            return Err(refused(format!("--nodes {nodes}: at most {most}")));
        }
        server.nodes = nodes as u32;
        server
            .checked()
            .map_err(|error| refused(error.to_string()))?;
    }
    let plan = arguments.plan.as_deref();
    let plan = plan.map(|name| ForeignPlan::load_changed(name, &changes.of_plan));
    let plan = plan
        .transpose()
        .map_err(|error| refused(error.to_string()))?;
    let wish = Wish {
        server,
        plan,
        asked_layout: None,
        step_bytes: (!arguments.whole).then_some(STEP_BYTES),
        bytes,
        record_bytes: arguments.record_bytes as usize,
        is_of_lines: arguments.lines,
        memory_bytes: arguments.memory,
        tuning: Tuning::default(),
        seed: arguments.seed,
    };
    let predict = |wish: &Wish| wish.predict().map_err(|error| refused(error.to_string()));
    let prediction = predict(&wish)?;
    let mut relieved = Vec::new();
    if arguments.relief {
        for (name, wish) in wish.relieved() {
            relieved.push((name, predict(&wish)?));
        }
    }
    Ok(Planned {
        wish,
        prediction,
        relieved,
    })
}

fn refused(why: String) -> CliFailure {
    CliFailure::usage(why)
}
