//! The time at which each peer was last heard, for reports of a run that failed.
//!
//! Times are those of the communication thread's turns, so no peer counts as silent because this
//! process stood still (in MPI, or stopped by Ctrl-Z). There is no heartbeat: a peer that has
//! nothing to send is not heard either.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use node::Rank;

/// A longer time between two turns means that this process stood still and could not hear peers.
const STOOD_STILL_MS: u64 = 2000;

/// In place of a time: the peer will send nothing more.
const DONE: u64 = u64::MAX;

/// Times in milliseconds since the first turn.
#[derive(Debug)]
pub(crate) struct LastHeard {
    begin: OnceLock<Instant>,
    /// The latest turn.
    turn: AtomicU64,
    /// By peer.
    heard: Vec<AtomicU64>,
}

impl LastHeard {
    pub(crate) fn new(peers: u32) -> LastHeard {
        let heard = (0..peers).map(|_| AtomicU64::new(0)).collect();
        LastHeard {
            begin: OnceLock::new(),
            turn: AtomicU64::new(0),
            heard,
        }
    }

    pub(crate) fn turn(&self, now: Instant) {
        let begin = *self.begin.get_or_init(|| now);
        let now = now.duration_since(begin).as_millis() as u64;
        let before = self.turn.swap(now, Ordering::Relaxed);
        if now - before >= STOOD_STILL_MS {
            let is_active = |heard: &&AtomicU64| heard.load(Ordering::Relaxed) != DONE;
            let active = self.heard.iter().filter(is_active);
            active.for_each(|heard| heard.store(now, Ordering::Relaxed));
        }
    }

    /// Notes that a peer was heard in this turn.
    pub(crate) fn heard(&self, peer: u32) {
        self.heard[peer as usize].store(self.turn.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    /// Notes that a peer will send nothing more, so that it never counts as silent.
    pub(crate) fn done(&self, peer: u32) {
        self.heard[peer as usize].store(DONE, Ordering::Relaxed);
    }

    /// The peers that have been silent for at least `least`, and for how long.
    pub(crate) fn silent(&self, least: Duration) -> Vec<(Rank, Duration)> {
        let turn = self.turn.load(Ordering::Relaxed);
        let since = |heard: &AtomicU64| {
            Duration::from_millis(turn.saturating_sub(heard.load(Ordering::Relaxed)))
        };
        let all = (0..).map(Rank).zip(self.heard.iter().map(since));
        all.filter(|(_, silence)| *silence >= least).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peer_that_sends_nothing_is_silent_unless_we_stood_still() {
        let begin = Instant::now();
        let last_heard = LastHeard::new(3);
        let turns = |from: u64, to: u64, heard: &[u32]| {
            for second in from..to {
                last_heard.turn(begin + Duration::from_secs(second));
                heard.iter().for_each(|&peer| last_heard.heard(peer));
            }
        };
        let long = Duration::from_secs(5);
        last_heard.done(2);
        turns(0, 10, &[0]);
        assert_eq!(last_heard.silent(long), [(Rank(1), Duration::from_secs(9))]);
        turns(1000, 1004, &[0]);
        assert_eq!(last_heard.silent(long), [], "this process stood still");
        turns(1004, 1006, &[]);
        assert_eq!(last_heard.silent(long), [(Rank(1), Duration::from_secs(5))]);
    }
}
