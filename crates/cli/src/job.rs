//! The job that a launcher such as `mpirun` or `srun` started: this process's place among its
//! ranks.
//!
//! Every rank runs the same command line; `{rank}` in a path stands for its number. One line tells
//! how the job ended: that of the first rank that can be heard.

use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};
use std::{env, thread};

use node::Rank;
use node::backend::Network;
use node_mpi::{NetworkError, Session, exit_now, launched};
use pipeline::{Control, Failure};
use rustix::process::{Signal, getpid, getppid, kill_process};

use crate::failure::{CliFailure, Exit};
use crate::progress::{Progress, wait};
use crate::{say, scratch, signals};

/// What launchers say of how many ranks there are: one alone needs no MPI.
const SIZES: [&str; 3] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"];

/// What they say of how many are on this host: Open MPI, MPICH, Slurm (`2(x3)`: two on each of
/// three hosts).
const LOCAL_SIZES: [&str; 3] = [
    "OMPI_COMM_WORLD_LOCAL_SIZE",
    "MPI_LOCALNRANKS",
    "SLURM_STEP_TASKS_PER_NODE",
];

/// What they say of which rank this is, before MPI does.
const RANKS: [&str; 4] = [
    "OMPI_COMM_WORLD_RANK",
    "PMIX_RANK",
    "PMI_RANK",
    "SLURM_PROCID",
];

/// How many command lines Open MPI has started; others do not say.
const COMMAND_LINES: &str = "OMPI_NUM_APP_CTX";

/// Launchers end all ranks when one has failed, Open MPI within a second or two: who leaves a
/// failure to rank 0 gives it so long to tell it.
const RANK_0_TELLS: Duration = Duration::from_secs(3);

/// After a failure ranks wait for each other so long: one that is gone never comes.
const PARTING: Duration = Duration::from_secs(3);

/// After a success they do: then nothing is left but to say good-bye, and rank 0 to write a report.
const GOOD_BYE: Duration = Duration::from_secs(60);

/// Ranks at work are heard every second at least. Who was not heard for that long is out of reach,
/// and named when the job ends.
const SILENCE: Duration = Duration::from_secs(5);

/// When a rank or a host is lost, Open MPI 4 wakes the others (SIGCONT), ends them (SIGTERM) a
/// second later, and kills them after another one. All that are alive say that they stop, or that
/// they are here: it is listened for so long.
const ANSWER: Duration = Duration::from_millis(400);

/// How often.
const LOOK: Duration = Duration::from_millis(10);

/// Then who was not heard since before that SIGCONT is the lost one; a beat is a second at most.
const MISSED: Duration = Duration::from_millis(1200);

/// When a rank is silent its host may be out of reach. Then mpirun must see that by itself before
/// it hears of a rank's end: as soon as it has sent a word to a daemon that does not answer, TCP
/// does not look any more whether that one lives (keepalive), but sends the word again and again,
/// for a quarter of an hour. Ranks are done 16 s after a link is cut; mpirun that was told to look
/// sees it within 20 (docs/cluster.md).
const HOLD: Duration = Duration::from_secs(8);

/// How often it is looked whether the launcher is still there.
const PARENT: Duration = Duration::from_millis(250);

/// A sort that has failed winds up within this, or is ended: a disk may hang, too.
const WIND_UP: Duration = Duration::from_secs(8);

/// A job of several ranks.
#[derive(Clone)]
pub struct Job {
    session: Arc<Session>,
    /// Whether failures are told as JSON, too.
    json: bool,
}

impl Job {
    /// Joins the other ranks, if a launcher has started some.
    ///
    /// # Errors
    /// None: a rank that cannot join ends the process.
    pub fn join(json: bool) -> Result<Option<Job>, CliFailure> {
        if !launched() {
            return Ok(None);
        }
        end_with_the_launcher();
        if is_only_rank() {
            return Ok(None);
        }
        let session = Session::start().unwrap_or_else(|error| {
            let failure = no_start(&error, json);
            failure.tell();
            // MPI may be at work, and wait.
            exit_now(failure.code.into())
        });
        if session.nodes() == 1 {
            return Ok(None);
        }
        let job = Job {
            session: Arc::new(session),
            json,
        };
        let speaker = job.clone();
        say::through(move |text| speaker.last_word(text));
        Ok(Some(job))
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

    /// What to do when the network fails: then every rank ends itself. A peer that does not keep to
    /// the protocol ends the run that `control` watches, on all ranks.
    pub fn on_failure(&self, control: Control, remove: impl Fn() + Send + 'static) {
        let json = self.json;
        self.session.on_failure(move |error| {
            remove();
            scratch::remove_all();
            no_network(error).with_json(json).tell();
        });
        self.session
            .on_foreign(move |error| control.fail(Failure::Program(Box::new(error.clone()))));
    }

    /// Ends this rank when the run that `control` watches has failed and does not wind up, until
    /// what comes back is stopped.
    pub fn see_to_the_end(
        &self,
        control: Control,
        remove: impl Fn() + Send + Sync + 'static,
    ) -> Progress {
        let (job, remove) = (self.clone(), Arc::new(remove));
        Progress::with(move |ended| {
            let mut since = None;
            while wait(ended) {
                let now = Instant::now();
                if !control.is_ending() || now.duration_since(*since.get_or_insert(now)) < WIND_UP {
                    continue;
                }
                let remove = Arc::clone(&remove);
                thread::spawn(move || remove());
                let failure = control.take_failure().map(CliFailure::from);
                let failure = failure.unwrap_or_else(|| {
                    CliFailure::new("stopped", "the sort has failed, and does not wind up")
                });
                let code = failure.code;
                failure.with_json(job.json).tell();
                job.session.abort(code.into());
            }
        })
    }

    /// Ends this rank's part: the result, if it is this rank that tells it.
    ///
    /// # Errors
    /// The failure of this rank, which was told, or of the network.
    pub fn leave(&self, ended: Result<Exit, CliFailure>) -> Result<Exit, CliFailure> {
        let failure = match ended {
            Ok(exit) => return self.leave_in_peace(exit),
            Err(failure) => failure,
        };
        failure.tell();
        // Who stood still has heard nobody since, and knows of the silence from the others alone.
        let is_out_of_reach = failure.kind == "silent" || !self.session.silent(SILENCE).is_empty();
        let most = if is_out_of_reach { HOLD } else { PARTING };
        if self.part(most).is_none() {
            self.session.abort(failure.code.into());
        }
        Err(CliFailure {
            kind: say::TOLD,
            ..failure
        })
    }

    /// All is sorted and in its place.
    fn leave_in_peace(&self, exit: Exit) -> Result<Exit, CliFailure> {
        if let Some(parted) = self.part(GOOD_BYE) {
            return parted.map(|()| exit).map_err(|error| no_network(&error));
        }
        say::last(format!(
            "gristmill: WARNING all is sorted and in its place, but ranks do not part within {} s; look at their hosts",
            GOOD_BYE.as_secs(),
        ));
        exit_now(0)
    }

    /// Parts from the other ranks; `None` if they do not come within that time.
    fn part(&self, most: Duration) -> Option<Result<(), NetworkError>> {
        let (session, (end, ended)) = (self.network(), mpsc::channel());
        thread::spawn(move || drop(end.send(session.end())));
        ended.recv_timeout(most).ok()
    }

    /// What this rank says of the job's end, when it has heard who is still there.
    fn last_word(&self, text: String) -> Option<String> {
        let begin = Instant::now();
        loop {
            // Who was told by another rank may get its own signal a moment later.
            let since = signals::came().unwrap_or(begin.elapsed());
            if since >= ANSWER || self.session.silent(since).is_empty() {
                break;
            }
            thread::sleep(LOOK);
        }
        let least = if signals::came().is_some() {
            MISSED
        } else {
            SILENCE
        };
        last_word(text, self.rank(), &self.session.silent(least))
    }
}

/// What a rank says of the job's end: nothing, while one before it can speak; and who was silent.
fn last_word(text: String, own: Rank, silent: &[(Rank, Duration)]) -> Option<String> {
    let is_silent = |rank: u32| silent.iter().any(|(other, _)| other.0 == rank);
    if !(0..own.0).all(is_silent) {
        return None;
    }
    // On a busy machine one that lives may be late, too: the lost one is longest silent.
    let missed = silent
        .iter()
        .filter(|(rank, _)| !text.contains(&format!("rank {rank} ")));
    Some(match missed.max_by_key(|(_, silence)| silence) {
        Some((rank, silence)) => {
            format!(
                "{text}; rank {rank} has not been heard for {:.1} s",
                silence.as_secs_f64()
            )
        }
        None => text,
    })
}

/// An mpirun that is killed, or interrupted twice, tells nobody: two seconds later MPI notices, and
/// ends the process on the spot. So it is as if SIGTERM came when it is gone. What processes of
/// other launchers live for is not known.
fn end_with_the_launcher() {
    let (parent, is_open_mpi) = (getppid(), env::var_os(SIZES[0]).is_some());
    if parent.is_none() || !is_open_mpi {
        return;
    }
    let watch = move || {
        while getppid() == parent {
            thread::sleep(PARENT);
        }
        // Where that fails there is nobody to be told.
        let _ = kill_process(getpid(), Signal::TERM);
    };
    // Without it MPI notices.
    let _ = thread::Builder::new().name("launcher".into()).spawn(watch);
}

/// Whether a launcher has started this process, and no other.
pub fn is_only_rank() -> bool {
    launched() && number(&SIZES) == Some(1)
}

/// Whether rank 0 tells what is wrong with the command line, which all ranks have; it has had time
/// to when this comes back.
pub fn leaves_usage_to_another() -> bool {
    let sorts = env::args_os()
        .nth(1)
        .is_some_and(|command| command == "sort");
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

/// A rank that cannot join. Mostly none can, and rank 0 tells why; where it could not have known,
/// the launcher has not ended this one meanwhile, which tells it.
fn no_start(error: &NetworkError, json: bool) -> CliFailure {
    let failure = no_network(error);
    if !is_later_rank() {
        return failure.with_json(json);
    }
    thread::sleep(RANK_0_TELLS);
    let rank = number(&RANKS).unwrap_or(0);
    let message = format!(
        "rank {rank} on {}: {}",
        node_real::host_name(),
        failure.message
    );
    CliFailure { message, ..failure }
}

/// Ranks on this host, which share its memory and its cores.
pub fn ranks_here() -> u64 {
    number(&LOCAL_SIZES)
        .filter(|&ranks| ranks > 0 && launched())
        .unwrap_or(1)
}

fn number(names: &[&str]) -> Option<u64> {
    let of = |text: String| {
        text.split(|c: char| !c.is_ascii_digit())
            .next()?
            .parse()
            .ok()
    };
    names.iter().find_map(|name| of(env::var(name).ok()?))
}

fn no_network(error: &NetworkError) -> CliFailure {
    CliFailure::new("network", error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each is silent for so many milliseconds.
    fn said(text: &str, own: u32, silent: &[(u32, u64)]) -> Option<String> {
        let silent: Vec<_> = silent
            .iter()
            .map(|&(rank, ms)| (Rank(rank), Duration::from_millis(ms)))
            .collect();
        last_word(text.to_owned(), Rank(own), &silent)
    }

    #[test]
    fn the_first_that_can_be_heard_speaks() {
        assert_eq!(said("stopped", 0, &[]).as_deref(), Some("stopped"));
        assert_eq!(said("stopped", 1, &[]), None);
        assert_eq!(said("stopped", 2, &[(0, 1500)]), None);
        assert!(said("stopped", 2, &[(0, 1500), (1, 1500)]).is_some());
    }

    #[test]
    fn who_is_missed_for_longest_is_named_once() {
        let one = "stopped; rank 2 has not been heard for 1.5 s";
        assert_eq!(said("stopped", 0, &[(2, 1500)]).as_deref(), Some(one));
        assert_eq!(
            said("stopped", 0, &[(1, 1300), (2, 1500), (3, 1200)]).as_deref(),
            Some(one)
        );
        let known = "rank 2 has not been heard for 15 s";
        assert_eq!(said(known, 0, &[(2, 15_000)]).as_deref(), Some(known));
    }
}
