//! A job of ranks that a launcher such as `mpirun` or `srun` has started.
//!
//! Every rank runs the same command line; `{rank}` in a path stands for its number. One line tells
//! how the job ended: that of the first rank that still answers.

use std::any::Any;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use node::Rank;
use node::backend::{Network, NetworkError, Session};
use pipeline::{Control, Failure};
use rustix::process::{Signal, getpid, getppid, kill_process};
use signal_hook::low_level;

use terminal::ending::failure::{CliFailure, Exit, TOLD};
use terminal::ending::{say, scratch, signals};
use terminal::launcher::{self, RANK_0_TELLS};
use terminal::progress::{Progress, wait};

use crate::failure;

/// How long ranks wait for each other after a failure; a dead rank never comes.
const PARTING: Duration = Duration::from_secs(3);

/// How long ranks wait for each other after a success, while rank 0 writes the report: all ranks end
/// within half a minute after one was lost.
const GOOD_BYE: Duration = Duration::from_secs(25);

/// A working rank sends something every second. A rank that is silent for this long is out of
/// reach, and is named when the job ends.
const SILENCE: Duration = Duration::from_secs(5);

/// How long a rank listens to the others after a signal, while every living rank reports that it
/// stops or is alive. When a rank or a host is lost, Open MPI 4 wakes the others (SIGCONT), ends
/// them (SIGTERM) a second later, and kills them after another second.
const ANSWER: Duration = Duration::from_millis(400);

/// How often a listening rank checks.
const LOOK: Duration = Duration::from_millis(10);

/// A rank that has been silent for this long is the lost one. The silence began before the SIGCONT:
/// heartbeats are at most a second apart.
const MISSED: Duration = Duration::from_millis(1200);

/// How long a failed rank stays when another is silent, whose host may be out of reach. mpirun must
/// notice the lost host before it hears of a rank's end: once it has sent data to a daemon that
/// does not answer, TCP sends no more keepalive probes but repeats the data for a quarter of an
/// hour. Ranks end 16 s after a link is cut; an mpirun with keepalive notices within 20 s
/// (docs/cluster.md).
const HOLD: Duration = Duration::from_secs(8);

/// How often a rank checks whether its launcher is alive.
const PARENT: Duration = Duration::from_millis(250);

/// How long a failed sort may take to end by itself; a disk may hang.
const WIND_UP: Duration = Duration::from_secs(8);

/// A job of several ranks.
#[derive(Clone)]
pub struct RankJob {
    session: Arc<dyn Session>,
    /// Whether failures are also printed as JSON.
    json: bool,
}

impl RankJob {
    /// Joins the other ranks, if a launcher has started some.
    ///
    /// # Errors
    /// Never fails today; a rank that cannot join exits.
    pub fn join(json: bool) -> Result<Option<RankJob>, CliFailure> {
        if !launcher::is_launched() {
            return Ok(None);
        }
        end_with_the_launcher();
        if launcher::is_only_rank() {
            return Ok(None);
        }
        let session = node_mpi::Session::start()
            .map(|session| Arc::new(session) as Arc<dyn Session>)
            .unwrap_or_else(|error| {
                let failure = no_start(&error, json);
                failure.tell();
                // Without exit handlers: the network may be in use.
                low_level::exit(failure.code.into())
            });
        if session.nodes() == 1 {
            return Ok(None);
        }
        let job = RankJob { session, json };
        // A feature that has files to remove sets its own.
        job.session.on_failure(Box::new(move |error| {
            no_network(error).with_json(json).tell();
        }));
        let speaker = job.clone();
        say::through(move |text| speaker.last_word(text));
        Ok(Some(job))
    }

    /// The network to the other ranks.
    pub fn network(&self) -> Arc<dyn Network> {
        Arc::clone(&self.session) as Arc<dyn Network>
    }

    /// The version text of the library behind the network.
    pub fn library(&self) -> &str {
        self.session.library()
    }

    /// The session, if it is of type `S`: for features that only one network has.
    pub fn session<S: Session>(&self) -> Option<Arc<S>> {
        let session: Arc<dyn Any + Send + Sync> = Arc::clone(&self.session) as _;
        session.downcast().ok()
    }

    /// Tells a failure that no other rank knows of, and ends all ranks.
    pub fn fail_alone(&self, failure: &CliFailure) -> ! {
        let (rank, message) = (self.rank(), &failure.message);
        say::err(format!("gristmill: rank {rank}: {message}"));
        self.session.abort(failure.code.into())
    }

    /// Whether this is rank 0, which reports for all.
    pub fn is_first(&self) -> bool {
        self.session.rank() == Rank::ROOT
    }

    /// The number of this rank.
    pub fn rank(&self) -> Rank {
        self.session.rank()
    }

    /// The number of ranks.
    pub fn ranks(&self) -> u32 {
        self.session.nodes()
    }

    /// Sets what happens when the network fails: `remove` runs, and every rank ends itself. A peer
    /// that violates the protocol ends the run that `control` watches, on all ranks.
    pub fn on_failure(&self, control: Control, remove: impl Fn() + Send + 'static) {
        let json = self.json;
        self.session.on_failure(Box::new(move |error| {
            remove();
            scratch::remove_all();
            no_network(error).with_json(json).tell();
        }));
        let foreign = move |error: &NetworkError| {
            control.fail(Failure::Program(Box::new(error.clone())));
        };
        self.session.on_foreign(Box::new(foreign));
    }

    /// Watches the run of `control`: if it fails and does not end by itself, `remove` runs and this
    /// rank ends. The watch lasts until the returned handle is stopped.
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
                let failure = control.take_failure().map(failure::ended);
                let failure = failure.unwrap_or_else(|| {
                    CliFailure::new("stopped", "the sort failed and did not shut down in time")
                });
                let code = failure.code;
                failure.with_json(job.json).tell();
                job.session.abort(code.into());
            }
        })
    }

    /// Ends this rank's part of the job.
    ///
    /// # Errors
    /// The failure of the run; its kind is [`TOLD`] if it was reported.
    pub fn leave(&self, ended: Result<Exit, CliFailure>) -> Result<Exit, CliFailure> {
        let failure = match ended {
            Ok(exit) => return self.leave_in_peace(exit),
            Err(failure) => failure,
        };
        failure.tell();
        // A rank that was stopped (SIGSTOP) heard no peer meanwhile, and learns of a silent rank
        // only from the others.
        let is_out_of_reach = failure.kind == "silent" || !self.session.silent(SILENCE).is_empty();
        let most = if is_out_of_reach { HOLD } else { PARTING };
        if self.part(most).is_none() {
            self.session.abort(failure.code.into());
        }
        Err(CliFailure {
            kind: TOLD,
            ..failure
        })
    }

    /// Ends this rank after a success.
    fn leave_in_peace(&self, exit: Exit) -> Result<Exit, CliFailure> {
        if let Some(parted) = self.part(GOOD_BYE) {
            return parted.map(|()| exit).map_err(|error| no_network(&error));
        }
        say::last(format!(
            "gristmill: WARNING the job is complete, but some ranks did not disconnect within {} s; check their hosts",
            GOOD_BYE.as_secs(),
        ));
        low_level::exit(0)
    }

    /// Disconnects from the other ranks; `None` if they do not within `most`.
    fn part(&self, most: Duration) -> Option<Result<(), NetworkError>> {
        let (session, (end, ended)) = (Arc::clone(&self.session), mpsc::channel());
        thread::spawn(move || drop(end.send(session.end())));
        ended.recv_timeout(most).ok()
    }

    /// The last line of this rank about the job, after listening to the other ranks; `None` where
    /// another rank speaks.
    fn last_word(&self, text: String) -> Option<String> {
        let begin = Instant::now();
        loop {
            // A rank that learned of the end from another may get its own signal a moment later.
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

/// The last line of a rank: `None` while a lower rank can speak, else `text` and the silent rank.
fn last_word(text: String, own: Rank, silent: &[(Rank, Duration)]) -> Option<String> {
    let is_silent = |rank: u32| silent.iter().any(|(other, _)| other.0 == rank);
    if !(0..own.0).all(is_silent) {
        return None;
    }
    // On a busy machine a living rank may be late, too: the lost rank is the longest silent.
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

/// Ends this process as by SIGTERM when its mpirun is gone. An mpirun that is killed or interrupted
/// twice does not tell its ranks: two seconds later MPI notices, and ends the process at once.
/// Other launchers are not watched.
fn end_with_the_launcher() {
    let parent = getppid();
    if parent.is_none() || !launcher::is_open_mpi() {
        return;
    }
    let watch = move || {
        while getppid() == parent {
            thread::sleep(PARENT);
        }
        // A failure cannot be reported.
        let _ = kill_process(getpid(), Signal::TERM);
    };
    // Without the watch MPI notices later.
    let _ = thread::Builder::new().name("launcher".into()).spawn(watch);
}

/// The failure of a rank that cannot join. Usually no rank can join: rank 0 reports it, and the
/// launcher ends the others. A rank that is still alive after that time reports its own failure.
fn no_start(error: &NetworkError, json: bool) -> CliFailure {
    let failure = no_network(error);
    if !launcher::is_later_rank() {
        return failure.with_json(json);
    }
    thread::sleep(RANK_0_TELLS);
    let rank = launcher::rank().unwrap_or(0);
    let message = format!(
        "rank {rank} on {}: {}",
        node_real::host_name(),
        failure.message
    );
    CliFailure { message, ..failure }
}

fn no_network(error: &NetworkError) -> CliFailure {
    CliFailure::new("network", error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `silent` holds ranks and their milliseconds of silence.
    fn said(text: &str, own: u32, silent: &[(u32, u64)]) -> Option<String> {
        let silent: Vec<_> = silent
            .iter()
            .map(|&(rank, ms)| (Rank(rank), Duration::from_millis(ms)))
            .collect();
        last_word(text.to_owned(), Rank(own), &silent)
    }

    #[test]
    fn the_first_rank_that_answers_speaks() {
        assert_eq!(said("stopped", 0, &[]).as_deref(), Some("stopped"));
        assert_eq!(said("stopped", 1, &[]), None);
        assert_eq!(said("stopped", 2, &[(0, 1500)]), None);
        assert!(said("stopped", 2, &[(0, 1500), (1, 1500)]).is_some());
    }

    #[test]
    fn the_longest_silent_rank_is_named_once() {
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
