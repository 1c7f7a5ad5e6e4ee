//! When each peer was last heard: who tells how a run ended knows who was silent before.
//!
//! Times are those of the communication thread's turns, so while it stands still (in MPI, or
//! stopped by Ctrl-Z) nobody grows silent. It is no heartbeat: a peer that has nothing to say is
//! not heard either.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use node::Rank;

/// A turn that comes so much later than the one before: this process stood still, and heard nobody.
const STOOD_STILL_MS: u64 = 2000;

/// Not a time: that peer has said all it had to say.
const DONE: u64 = u64::MAX;

/// Milliseconds since the first turn: of the latest turn, and of what each peer last said.
#[derive(Debug)]
pub(crate) struct Hearing {
    begin: OnceLock<Instant>,
    turn: AtomicU64,
    heard: Vec<AtomicU64>,
}

impl Hearing {
    pub(crate) fn new(peers: u32) -> Hearing {
        let heard = (0..peers).map(|_| AtomicU64::new(0)).collect();
        Hearing {
            begin: OnceLock::new(),
            turn: AtomicU64::new(0),
            heard,
        }
    }

    /// A turn begins.
    pub(crate) fn turn(&self, now: Instant) {
        let now = now
            .duration_since(*self.begin.get_or_init(|| now))
            .as_millis() as u64;
        let before = self.turn.swap(now, Ordering::Relaxed);
        if now - before >= STOOD_STILL_MS {
            let heard = self
                .heard
                .iter()
                .filter(|heard| heard.load(Ordering::Relaxed) != DONE);
            heard.for_each(|heard| heard.store(now, Ordering::Relaxed));
        }
    }

    /// A peer has said something in this turn.
    pub(crate) fn heard(&self, peer: u32) {
        self.heard[peer as usize].store(self.turn.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    /// Nothing will come from that one.
    pub(crate) fn done(&self, peer: u32) {
        self.heard[peer as usize].store(DONE, Ordering::Relaxed);
    }

    /// Who was not heard for that long, and for how long.
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
    fn who_says_nothing_grows_silent_unless_we_stood_still() {
        let begin = Instant::now();
        let hearing = Hearing::new(3);
        let turns = |from: u64, to: u64, heard: &[u32]| {
            for second in from..to {
                hearing.turn(begin + Duration::from_secs(second));
                heard.iter().for_each(|&peer| hearing.heard(peer));
            }
        };
        let long = Duration::from_secs(5);
        hearing.done(2);
        turns(0, 10, &[0]);
        assert_eq!(hearing.silent(long), [(Rank(1), Duration::from_secs(9))]);
        turns(1000, 1004, &[0]);
        assert_eq!(hearing.silent(long), [], "nobody is heard by who sleeps");
        turns(1004, 1006, &[]);
        assert_eq!(hearing.silent(long), [(Rank(1), Duration::from_secs(5))]);
    }
}
