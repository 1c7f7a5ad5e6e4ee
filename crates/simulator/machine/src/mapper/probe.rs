//! Probes, and the time that they take.

use super::{End, Wiring};

/// All that a mapper can do with a network.
pub trait Probes {
    /// The name of the mapper's own host.
    fn own(&self) -> u32;

    /// Ports of a switch.
    fn ports(&self) -> u32;

    /// The host at the end of a route. A turn too few or too many, a port without a cable and a dead switch all
    /// look alike: no answer.
    fn host(&mut self, turns: &[i16]) -> Option<u32>;

    /// Whether a route ends at a switch: turn 0 there sends the probe back through the port it came by, and the
    /// reverse turns lead it home.
    fn switch(&mut self, turns: &[i16]) -> bool;
}

/// Probes of one mapper so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// Of hosts and of switches.
    pub probes: u64,
    /// Those without an answer, each until a time-out.
    pub unanswered: u64,
}

/// The time of a probe, one at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProbeTimes {
    /// Until the answer.
    pub answered_ns: u64,
    /// Until the mapper gives up.
    pub timeout_ns: u64,
}

impl Default for ProbeTimes {
    /// A round trip of AM-II, 45 us (the paper, section 7). The time-out is *fit*: the mapper of SPAA 1997 took 248 ms
    /// for 36 interfaces.
    fn default() -> ProbeTimes {
        ProbeTimes {
            answered_ns: 45_000,
            timeout_ns: 312_000,
        }
    }
}

impl ProbeTimes {
    /// The time of so many probes.
    pub fn of(self, sent: Sent) -> u64 {
        (sent.probes - sent.unanswered) * self.answered_ns + sent.unanswered * self.timeout_ns
    }
}

/// Probes from a host of a network that is known to this side alone.
#[derive(Debug)]
pub struct OverWires<'a> {
    wiring: &'a Wiring,
    own: u32,
    sent: Sent,
}

impl OverWires<'_> {
    /// Probes from this host.
    pub fn new(wiring: &Wiring, own: u32) -> OverWires<'_> {
        let sent = Sent::default();
        OverWires { wiring, own, sent }
    }

    /// The probes so far.
    pub fn sent(&self) -> Sent {
        self.sent
    }

    fn count<T>(&mut self, answer: Option<T>) -> Option<T> {
        self.sent.probes += 1;
        self.sent.unanswered += u64::from(answer.is_none());
        answer
    }
}

impl Probes for OverWires<'_> {
    fn own(&self) -> u32 {
        self.own
    }

    fn ports(&self) -> u32 {
        self.wiring.ports()
    }

    fn host(&mut self, turns: &[i16]) -> Option<u32> {
        let answer = match self.wiring.walk(self.own, turns.iter().copied()).1 {
            Some(End::Host(name)) => Some(name),
            _ => None,
        };
        self.count(answer)
    }

    fn switch(&mut self, turns: &[i16]) -> bool {
        let back = turns.iter().rev().map(|turn| -turn);
        let there_and_back = turns.iter().copied().chain([0]).chain(back);
        let is_home = self.wiring.walk(self.own, there_and_back).1 == Some(End::Host(self.own));
        self.count(is_home.then_some(())).is_some()
    }
}
