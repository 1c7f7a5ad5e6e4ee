//! The job that a launcher such as `mpirun` or `srun` started: this process's place among its ranks.
//!
//! Every rank runs the same command line; `{rank}` in a path stands for its number. One line tells how the job
//! ended: rank 0's, unless that one is gone.

use std::process::ExitCode;
use std::sync::{Arc, mpsc};
use std::time::Duration;
use std::{env, thread};

use node::Rank;
use node::backend::Network;
use node_mpi::{NetworkError, Session, launched};

use crate::failure::{CliFailure, Exit};
use crate::{say, scratch};

/// What launchers say of how many ranks there are: one alone needs no MPI.
const SIZES: [&str; 3] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"];

/// What they say of how many are on this host: Open MPI, MPICH, Slurm (`2(x3)`: two on each of three hosts).
const LOCAL_SIZES: [&str; 3] =
    ["OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "SLURM_STEP_TASKS_PER_NODE"];

/// What they say of which rank this is, before MPI does.
const RANKS: [&str; 4] = ["OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"];

/// How many command lines Open MPI has started; others do not say.
const COMMAND_LINES: &str = "OMPI_NUM_APP_CTX";

/// Launchers end all ranks when one has failed, Open MPI within a second or two: who leaves a failure to rank 0 gives
/// it so long to tell it.
const RANK_0_TELLS: Duration = Duration::from_secs(3);

/// After a failure ranks wait for each other so long: one that is gone never comes.
const PARTING: Duration = Duration::from_secs(3);

/// A job of several ranks.
#[derive(Clone)]
pub struct Job {
    session: Arc<Session>,
    /// Whether failures are told as JSON, too.
    json: bool,
}

impl Job {
    /// Joins the other ranks, if a launcher has started some.
    pub fn join(json: bool) -> Result<Option<Job>, CliFailure> {
        if !launched() || is_only_rank() {
            return Ok(None);
        }
        let session = Arc::new(Session::start().map_err(|error| no_start(&error, json))?);
        let job = (session.nodes() > 1).then_some(Job { session, json });
        if job.as_ref().is_some_and(|job| !job.is_first()) {
            say::leave_it_to_another();
        }
        Ok(job)
    }

    /// How letters go to the other ranks.
    pub fn network(&self) -> Arc<Session> {
        Arc::clone(&self.session)
    }

    /// Whether this rank speaks for all.
    pub fn is_first(&self) -> bool {
        self.session.rank() == Rank(0)
    }

    /// This rank.
    pub fn rank(&self) -> Rank {
        self.session.rank()
    }

    /// How many there are.
    pub fn ranks(&self) -> u32 {
        self.session.nodes()
    }

    /// What to do when the network fails: then every rank ends itself.
    pub fn on_failure(&self, remove: impl Fn() + Send + 'static) {
        let (is_first, json) = (self.is_first(), self.json);
        self.session.on_failure(move |error| {
            remove();
            scratch::remove_all();
            if is_first || error.peer == Some(Rank(0)) {
                no_network(error).with_json(json).tell();
            }
        });
    }

    /// Ends this rank's part: the result, if it is this rank that tells it.
    pub fn leave(&self, ended: Result<Exit, CliFailure>) -> Result<Exit, CliFailure> {
        let Err(failure) = ended else {
            self.session.end().map_err(|error| no_network(&error))?;
            return ended;
        };
        let first_is_gone = failure.kind == "silent" && failure.message.contains("rank 0 ");
        if self.is_first() || first_is_gone {
            let _: ExitCode = failure.tell();
        }
        let (session, (end, ended)) = (self.network(), mpsc::channel());
        let parting = thread::spawn(move || drop(end.send(session.end())));
        if ended.recv_timeout(PARTING).is_err() {
            drop(parting);
            self.session.abort(failure.code.into());
        }
        Err(CliFailure { kind: say::TOLD, ..failure })
    }
}

/// Whether a launcher has started this process, and no other.
pub fn is_only_rank() -> bool {
    launched() && number(&SIZES) == Some(1)
}

/// Whether rank 0 tells what is wrong with the command line, which all ranks have; it has had time to when this
/// comes back.
pub fn leaves_usage_to_another() -> bool {
    let sorts = env::args_os().nth(1).is_some_and(|command| command == "sort");
    let leaves = sorts && is_later_rank() && number(&[COMMAND_LINES]).unwrap_or(1) == 1;
    if leaves {
        thread::sleep(RANK_0_TELLS);
    }
    leaves
}

/// Whether a launcher has started this process, and not as the first one.
fn is_later_rank() -> bool {
    launched() && number(&RANKS).is_some_and(|rank| rank > 0)
}

/// A rank that cannot join. Mostly none can, and rank 0 tells why; where it could not have known, the launcher
/// has not ended this one meanwhile, which tells it.
fn no_start(error: &NetworkError, json: bool) -> CliFailure {
    let failure = no_network(error);
    if !is_later_rank() {
        return failure.with_json(json);
    }
    thread::sleep(RANK_0_TELLS);
    let rank = number(&RANKS).unwrap_or(0);
    let message = format!("rank {rank} on {}: {}", node_real::host_name(), failure.message);
    CliFailure { message, ..failure }
}

/// Ranks on this host, which share its memory and its cores.
pub fn ranks_here() -> u64 {
    number(&LOCAL_SIZES).filter(|&ranks| ranks > 0 && launched()).unwrap_or(1)
}

fn number(names: &[&str]) -> Option<u64> {
    let of = |text: String| text.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok();
    names.iter().find_map(|name| of(env::var(name).ok()?))
}

fn no_network(error: &NetworkError) -> CliFailure {
    CliFailure::new("network", error.to_string())
}
