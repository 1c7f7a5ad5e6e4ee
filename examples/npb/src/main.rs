//! The command: a benchmark, on threads, on a simulated machine, or as a rank of MPI; and experiments with them.

use std::process::ExitCode;
use std::sync::Arc;

use gristmill_sim::clap::{Parser, Subcommand};
use gristmill_sim::prelude::*;
use gristmill_sim::{Seeds, experiments, simulate};
use node::backend::{Network, Session as _};
use node_mpi::Session;
use node_real::Cluster;
use npb::echo::Echoed;
use npb::outcome::Outcome;
use npb::{Bt, Echo, Lu};

/// Run LU or BT of the NAS Parallel Benchmarks, or an echo of messages.
#[derive(Parser)]
#[command(after_help = "Examples:
  npb lu --class S --ranks 4
  npb bt --class S --ranks 9 --on nanopu
  npb lu --class A --ranks 16 --on nanopu --skeleton --iterations 2
  mpirun -n 4 npb bt --on mpi
  npb echo --bytes 8K --on now
  npb lab run figures/figure-7.toml --full")]
struct Npb {
    #[command(subcommand)]
    benchmark: Benchmark,
}

#[derive(Subcommand)]
enum Benchmark {
    /// Symmetric successive over-relaxation, on a power of two of ranks
    Lu(Asked<Lu>),
    /// Block-tridiagonal systems, on a square of ranks
    Bt(Asked<Bt>),
    /// A message to and fro between two ranks
    Echo(Asked<Echo>),
    /// Run experiments with these programs, and with those of gristmill
    Lab(experiments::Arguments),
}

#[derive(Args)]
struct Asked<P: Args> {
    /// Ranks; under mpirun those that it starts
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    ranks: Option<u32>,
    /// `threads`, `mpi`, a simulated machine, or the file of one
    #[arg(long, value_name = "WHERE", default_value = "threads")]
    on: String,
    /// The report in JSON, of threads and simulated machines
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    program: P,
}

/// A program with its own options and verdict.
trait Chosen: Program + Described + Args {
    /// Its options that are set, by name.
    fn told(&self) -> Vec<(&'static str, String)>;
    /// The verdict on the answers of some of `ranks` ranks.
    fn judge(&self, answers: &[Self::Answer], ranks: u32) -> Verdict;
    /// Seconds of what is timed.
    fn seconds(answer: &Self::Answer) -> f64;
}

impl Chosen for Lu {
    fn told(&self) -> Vec<(&'static str, String)> {
        let own = ("per-point", self.per_point.to_string());
        self.options.told().into_iter().chain([own]).collect()
    }

    fn judge(&self, outcomes: &[Outcome], ranks: u32) -> Verdict {
        self.verdict(outcomes, ranks)
    }

    fn seconds(outcome: &Outcome) -> f64 {
        outcome.seconds
    }
}

impl Chosen for Bt {
    fn told(&self) -> Vec<(&'static str, String)> {
        self.options.told()
    }

    fn judge(&self, outcomes: &[Outcome], ranks: u32) -> Verdict {
        self.verdict(outcomes, ranks)
    }

    fn seconds(outcome: &Outcome) -> f64 {
        outcome.seconds
    }
}

impl Chosen for Echo {
    fn told(&self) -> Vec<(&'static str, String)> {
        let (bytes, rounds) = (self.bytes.to_string(), self.rounds.to_string());
        vec![("bytes", bytes), ("rounds", rounds)]
    }

    fn judge(&self, echoed: &[Echoed], ranks: u32) -> Verdict {
        self.verdict(echoed, ranks)
    }

    fn seconds(echoed: &Echoed) -> f64 {
        echoed.seconds
    }
}

/// The end of a run, or why there was none.
type Ended = Result<Verdict, String>;

fn main() -> ExitCode {
    let ended = match Npb::parse().benchmark {
        Benchmark::Lu(asked) => run(asked),
        Benchmark::Bt(asked) => run(asked),
        Benchmark::Echo(asked) => run(asked),
        Benchmark::Lab(asked) => {
            experiments::add::<Lu>();
            experiments::add::<Bt>();
            experiments::add::<Echo>();
            return experiments::main(&asked);
        }
    };
    match ended {
        Ok(Verdict { fault: None, .. }) => ExitCode::SUCCESS,
        Ok(Verdict {
            fault: Some(fault), ..
        }) => {
            eprintln!("npb: {fault}");
            ExitCode::FAILURE
        }
        Err(why) => {
            eprintln!("npb: {why}");
            ExitCode::from(2)
        }
    }
}

fn run<P: Chosen>(asked: Asked<P>) -> Ended {
    if asked.on == "mpi" {
        over_mpi(&asked)
    } else {
        simulated(&asked)
    }
}

/// Runs it on threads or a simulated machine, as the door for authors does.
fn simulated<P: Chosen>(asked: &Asked<P>) -> Ended {
    let ranks = asked.ranks.unwrap_or(P::CORES);
    let mut told = asked.program.told();
    told.push(("cores", ranks.to_string()));
    let told: Vec<_> = told
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    let report =
        simulate::<P>(&asked.on, &told, Seeds::default()).map_err(|error| error.to_string())?;
    let verdict = report.runs[0].verdict.clone();
    if asked.json {
        println!("{:#}", report.to_json());
    } else {
        let time = report.time_us.mean / 1e6;
        println!(
            "{}; {} on {}, {time:.6} s",
            verdict.result,
            ranks_of(ranks),
            report.machine
        );
    }
    Ok(verdict)
}

/// Runs it as a rank of MPI; the first one tells the end.
fn over_mpi<P: Chosen>(asked: &Asked<P>) -> Ended {
    let session = Session::start()
        .map_err(|error| format!("{error}; start it with mpirun, or name another --on"))?;
    let session = Arc::new(session);
    let (rank, ranks) = (Network::rank(&*session), session.nodes());
    let refused = asked.program.objection(ranks);
    let other = asked.ranks.filter(|asked| *asked != ranks);
    let refused = refused.or_else(|| Some(format!("--ranks {}: mpirun started {ranks}", other?)));
    let outcomes = match &refused {
        Some(_) => Vec::new(),
        None => {
            let program = asked.program.clone();
            Cluster::over(session.clone(), 1).run(move |node| program.clone().run(node))
        }
    };
    session.end().map_err(|error| error.to_string())?;
    if rank != Rank::ROOT {
        return Ok(Verdict::default());
    }
    if let Some(refused) = refused {
        return Err(refused);
    }
    let verdict = asked.program.judge(&outcomes, ranks);
    let seconds = P::seconds(&outcomes[0]);
    println!(
        "{}; {} of MPI, {seconds:.6} s",
        verdict.result,
        ranks_of(ranks)
    );
    Ok(verdict)
}

fn ranks_of(ranks: u32) -> String {
    let end = if ranks == 1 { "" } else { "s" };
    format!("{ranks} rank{end}")
}
