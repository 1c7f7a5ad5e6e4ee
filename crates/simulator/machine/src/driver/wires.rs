//! The time of bytes on the links of nodes, which flows share max-min fairly.
//!
//! ```text
//!      sends           switch                receives
//! a  ==| 1/2 |======> [ port of c ] ==| 1/2 + 1/2 |=> c     a flow: the letters of a stream, while it has any
//! b  ==| 1/2 |====/                                         c receives two, so each has a half; b > d has the
//!      | 1/2 |======> [ port of d ] ==| 1/2       |=> d     rest of b
//!
//! window   a flow sends a window, and then as much as it has word of: at most a window a round trip
//! port     first windows of flows meet at the port of their receiver, which drains meanwhile; one without room
//!          is lost, and its flow begins again after the timeout
//! ```
//!
//! Shares change when flows begin or end, once at the end of that moment. Between, the first letter of each flow
//! has a time at which its last byte passes; those behind it need none.

use std::collections::{BTreeMap, VecDeque};

use node::Time;

use crate::driver::shares::{Shares, receives, sends};

/// The letters from a node to another that arrive in order, as over MPI: small ones, or the bytes of bulk.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Stream {
    pub from: u32,
    pub to: u32,
    pub is_bulk: bool,
}

const NEVER: Time = Time(u64::MAX);
/// Parts of links, and of nanoseconds, that are no more than rounding.
const NOTHING: f64 = 1e-9;
const ROUNDING_NS: f64 = 1e-3;

/// The links of nodes, all alike.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NodeLink {
    /// Bytes that a node sends, and receives, in a nanosecond.
    pub bytes_per_ns: f64,
    /// Nanoseconds until the first byte has come, and word of it has gone back.
    pub round_trip_ns: u64,
    /// The bytes that a flow sends without word of them.
    pub window: Option<FlowWindow>,
}

/// The windows of flows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowWindow {
    /// Bytes that are under way at most.
    pub bytes: f64,
    /// The buffer of each output port of the switch; without it nothing is lost.
    pub port: Option<SwitchPort>,
}

/// An output port of the switch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SwitchPort {
    /// Bytes that wait there at most.
    pub bytes: f64,
    /// Nanoseconds after which lost bytes are sent again.
    pub timeout_ns: u64,
}

/// The windows that found no room at a port, and were sent again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    /// Number of windows.
    pub windows: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// The links of all nodes; they take no time until they have a model.
#[derive(Default)]
pub(super) struct Wires {
    model: Option<NodeLink>,
    flows: Vec<Flow>,
    places: BTreeMap<Stream, usize>,
    shares: Shares,
    /// Whether flows have begun or ended since the links were shared.
    changed: bool,
    /// When the next letter passes, or a flow begins again, unless that has changed.
    next: Option<Time>,
    losses: Losses,
}

struct Flow {
    stream: Stream,
    state: State,
    /// Bytes of the first letter that had not passed at this time.
    left: f64,
    at: Time,
    /// The letters behind it.
    behind: VecDeque<u64>,
    bytes_behind: u64,
    /// Its part of a link, from now on, and bytes in a nanosecond until now.
    share: f64,
    rate: f64,
    /// When the first letter has passed, or the flow begins again.
    due: Time,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    /// Its first window is to be sent.
    Begins,
    /// Its first window was sent at this time.
    Runs(Time),
    /// Its first window was lost.
    Waits,
}

/// The queue of a port, and the number of flows that begin there.
#[derive(Default)]
struct Queued {
    bytes: f64,
    begin: f64,
}

impl Wires {
    pub(super) fn limit(&mut self, model: NodeLink) {
        self.model = Some(model);
    }

    /// Nanoseconds that a letter needs beside the time of its bytes.
    pub(super) fn latency_ns(&self) -> u64 {
        self.model.map_or(0, |model| model.round_trip_ns / 2)
    }

    /// Windows that were lost in the last run.
    pub(super) fn losses(&self) -> Losses {
        self.losses
    }

    pub(super) fn begin(&mut self) {
        self.losses = Losses::default();
    }

    /// Forgets the letters on their way.
    pub(super) fn forget(&mut self) {
        self.flows.clear();
        self.places.clear();
        (self.changed, self.next) = (false, None);
    }

    /// Hands a letter to a stream; true if it passes at once.
    pub(super) fn hand(&mut self, stream: Stream, now: Time, bytes: u64) -> bool {
        if self.model.is_none() {
            return true;
        }
        if let Some(&place) = self.places.get(&stream) {
            let flow = &mut self.flows[place];
            flow.behind.push_back(bytes);
            flow.bytes_behind += bytes;
            return false;
        }
        if bytes == 0 {
            return true;
        }
        self.places.insert(stream, self.flows.len());
        self.flows.push(Flow {
            stream,
            state: State::Begins,
            left: bytes as f64,
            at: now,
            behind: VecDeque::new(),
            bytes_behind: 0,
            share: 0.0,
            rate: 0.0,
            due: NEVER,
        });
        self.changed = true;
        false
    }

    /// When [`Wires::pass`] is due, at the end of that moment.
    pub(super) fn next(&self, now: Time) -> Option<Time> {
        if self.changed { Some(now) } else { self.next }
    }

    /// Takes away the letters that have passed, and returns their streams. If there are none, shares the links
    /// anew: letters that have passed may be followed by others in the same moment.
    pub(super) fn pass(&mut self, now: Time) -> Vec<Stream> {
        let (mut passed, mut place) = (Vec::new(), 0);
        while let Some(flow) = self.flows.get_mut(place) {
            if flow.due > now {
                place += 1;
            } else if flow.state == State::Waits {
                (flow.state, flow.due) = (State::Begins, NEVER);
                self.changed = true;
            } else if flow.pass(now, &mut passed) {
                self.end(place);
            }
        }
        if self.changed && passed.is_empty() {
            self.changed = false;
            self.share();
            if self.lose(now) {
                self.share();
            }
            let bytes_per_ns = self.model.map_or(1.0, |model| model.bytes_per_ns);
            for flow in &mut self.flows {
                flow.go_on(now, bytes_per_ns);
            }
        }
        self.next = self.flows.iter().map(|flow| flow.due).min();
        passed
    }

    fn end(&mut self, place: usize) {
        let ended = self.flows.swap_remove(place);
        self.places.remove(&ended.stream);
        if let Some(moved) = self.flows.get(place) {
            self.places.insert(moved.stream, place);
        }
        self.changed = true;
    }

    fn share(&mut self) {
        let most = self.model.map_or(1.0, |model| model.most_of_a_link());
        self.shares.begin();
        let goes = |flow: &&mut Flow| flow.state != State::Waits;
        for flow in self.flows.iter_mut().filter(goes) {
            self.shares.add(flow.links());
        }
        self.shares.fill(most);
        for (order, flow) in self.flows.iter_mut().filter(goes).enumerate() {
            flow.share = self.shares.of(order);
        }
    }

    /// Sends the first windows of flows to the ports of their receivers; true if one had no room there.
    fn lose(&mut self, now: Time) -> bool {
        let Some(model) = self.model else {
            return false;
        };
        let Some((window, port)) = model.window.and_then(|window| Some((window, window.port?)))
        else {
            return false;
        };
        let begins = |flow: &Flow| flow.state == State::Begins;
        if !self.flows.iter().any(begins) {
            return false;
        }
        let mut ports: BTreeMap<u32, Queued> = BTreeMap::new();
        for flow in &self.flows {
            let port = ports.entry(flow.stream.to).or_default();
            match flow.state {
                State::Begins => port.begin += 1.0,
                // Where the sender is slower than the receiver, bytes wait at the sender.
                State::Runs(since) if self.shares.left(sends(flow.stream.from)) > NOTHING => {
                    let told_ns = now.since(since).min(model.round_trip_ns);
                    let told = flow.share * model.bytes_per_ns * told_ns as f64;
                    let under_way = window.bytes.min(flow.bytes(now));
                    port.bytes += (under_way - told).max(0.0);
                }
                State::Runs(_) | State::Waits => {}
            }
        }
        let before = self.losses;
        for flow in self.flows.iter_mut().filter(|flow| begins(flow)) {
            let queued = ports.entry(flow.stream.to).or_default();
            let [comes, drains] = flow.links().map(|link| self.shares.left(link));
            let drains = (flow.share + drains / queued.begin) / (flow.share + comes);
            let bytes = window.bytes.min(flow.bytes(now));
            let waits = bytes * (1.0 - drains).max(0.0);
            // A window larger than the port would never come.
            if queued.bytes == 0.0 || queued.bytes + waits <= port.bytes {
                queued.bytes += waits;
                continue;
            }
            (flow.state, flow.due) = (State::Waits, now.after(port.timeout_ns));
            self.losses.windows += 1;
            self.losses.bytes += bytes as u64;
        }
        self.losses != before
    }
}

impl NodeLink {
    /// The part of a link that a flow takes at most.
    fn most_of_a_link(&self) -> f64 {
        let window = self.window.map_or(f64::INFINITY, |window| window.bytes);
        let most = window / (self.round_trip_ns as f64 * self.bytes_per_ns);
        // Without a round trip a window holds up nothing.
        most.min(1.0)
    }
}

impl Flow {
    fn links(&self) -> [usize; 2] {
        [sends(self.stream.from), receives(self.stream.to)]
    }

    /// Bytes that have not passed.
    fn bytes(&self, now: Time) -> f64 {
        self.left - self.rate * (now.0 - self.at.0) as f64 + self.bytes_behind as f64
    }

    /// Lets the first letter pass, and those behind it that end with it; true if none is left.
    fn pass(&mut self, now: Time, passed: &mut Vec<Stream>) -> bool {
        self.reach(now);
        loop {
            passed.push(self.stream);
            let Some(bytes) = self.behind.pop_front() else {
                return true;
            };
            self.bytes_behind -= bytes;
            self.left += bytes as f64;
            if self.left > 0.0 {
                self.due = self.due();
                return false;
            }
        }
    }

    /// Goes on with its share of a link.
    fn go_on(&mut self, now: Time, bytes_per_ns: f64) {
        if self.state == State::Begins {
            self.state = State::Runs(now);
        }
        let rate = self.share * bytes_per_ns;
        if self.state != State::Waits && rate != self.rate {
            self.reach(now);
            self.rate = rate;
            self.due = self.due();
        }
    }

    fn reach(&mut self, now: Time) {
        self.left -= self.rate * (now.0 - self.at.0) as f64;
        self.at = now;
    }

    /// When the first letter has passed.
    fn due(&self) -> Time {
        let ns = (self.left / self.rate - ROUNDING_NS).ceil().max(0.0);
        self.at.after(ns as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(from: u32, to: u32) -> Stream {
        Stream {
            from,
            to,
            is_bulk: false,
        }
    }

    /// Hands letters of some bytes to streams at some times; returns when each passed.
    fn passed(wires: &mut Wires, letters: &[(u64, Stream, u64)]) -> Vec<(u64, u32, u32)> {
        let mut passed = Vec::new();
        let mut letters = letters.iter().peekable();
        let mut now = Time(0);
        loop {
            while let Some((_, stream, bytes)) = letters.next_if(|letter| letter.0 == now.0) {
                if wires.hand(*stream, now, *bytes) {
                    passed.push((now.0, stream.from, stream.to));
                }
            }
            let next = wires.next(now).unwrap_or(NEVER);
            let comes = letters.peek().map_or(NEVER, |letter| Time(letter.0));
            now = next.min(comes);
            if now == NEVER {
                return passed;
            }
            if next == now && comes > now {
                let of = |stream: Stream| (now.0, stream.from, stream.to);
                passed.extend(wires.pass(now).into_iter().map(of));
            }
        }
    }

    #[test]
    fn letters_take_their_time_beside_those_of_other_streams() {
        let mut wires = Wires::default();
        let at_once = passed(&mut wires, &[(7, stream(0, 1), 1 << 20)]);
        assert_eq!(at_once, [(7, 0, 1)], "no limit");
        wires.limit(NodeLink {
            bytes_per_ns: 1.0,
            round_trip_ns: 0,
            window: None,
        });
        let letters = [
            (5, stream(0, 1), 100),
            (5, stream(0, 1), 0),
            (5, stream(2, 3), 30),
            (5, stream(4, 3), 0),
            (55, stream(2, 1), 100),
            (60, stream(0, 1), 20),
        ];
        let expected = [
            (5, 4, 3),
            (35, 2, 3),
            // Half of it alone, and the rest beside another.
            (155, 0, 1),
            (155, 0, 1),
            (195, 0, 1),
            // It had 70 until then.
            (225, 2, 1),
        ];
        assert_eq!(passed(&mut wires, &letters), expected);
        wires.hand(stream(0, 1), Time(300), 10);
        wires.forget();
        assert_eq!(wires.next(Time(300)), None);
    }

    #[test]
    fn a_window_without_room_is_sent_again() {
        let mut wires = Wires::default();
        wires.limit(NodeLink {
            bytes_per_ns: 1.0,
            round_trip_ns: 50,
            window: Some(FlowWindow {
                bytes: 100.0,
                port: Some(SwitchPort {
                    bytes: 120.0,
                    timeout_ns: 1000,
                }),
            }),
        });
        // Each of three leaves two thirds of its window at the port.
        let letters = [1, 2, 3].map(|from| (0, stream(from, 0), 300));
        let all = passed(&mut wires, &letters);
        // The second and third wait, and begin together when the first is long over.
        assert_eq!(all, [(300, 1, 0), (1600, 3, 0), (1600, 2, 0)]);
        let lost = Losses {
            windows: 2,
            bytes: 200,
        };
        assert_eq!(wires.losses(), lost);
        wires.begin();
        assert_eq!(wires.losses(), Losses::default());
    }

    #[test]
    fn a_window_larger_than_the_port_comes_alone() {
        let mut wires = Wires::default();
        wires.limit(NodeLink {
            bytes_per_ns: 1.0,
            round_trip_ns: 50,
            window: Some(FlowWindow {
                bytes: 1000.0,
                port: Some(SwitchPort {
                    bytes: 10.0,
                    timeout_ns: 5000,
                }),
            }),
        });
        let letters = [1, 2, 3].map(|from| (0, stream(from, 0), 1000));
        let all = passed(&mut wires, &letters);
        assert_eq!(all.len(), 3, "{all:?}");
        assert_eq!(wires.losses().windows, 3, "two, then one");
    }
}
