//! Links between nodes, whose letters may arrive late or never.
//!
//! ```text
//! a > b    | parcel | parcel | parcel | > inbox     each at a random time, but in their order
//! ```
//!
//! Letters from one node to another keep their order, as [`node::backend::Network`] promises; those
//! of different nodes may overtake each other, and letters the bytes of bulk. Bytes pass the links of
//! both nodes first, if these have a rate; delays and cuts apply to the arrival. A cut link delivers nothing in either direction. If
//! it is repaired, parcels on their way arrive then, as with TCP; otherwise they are lost. No node
//! is told about a cut. Letters of a node that has died still arrive.
//!
//! Tests that must fail can break the network: a rule loses small messages, or carries them over
//! cut links, and the buffers of bulk return too early or never ([`Back`]). The links also count
//! the shipments that wait for a receiver, which credits must bound.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, MutexGuard};

use node::{Address, Message, Mutex, Port, Random, Time};

use crate::driver::wires::{Losses, NodeLink, Stream, Wires};
use crate::driver::world::{Action, World};
use disk::{Call, MemoryDisks};

/// One parcel in [`SLOW`] may take the longest delay, the others a [`QUICK`]th of it, so that
/// parcels of different nodes overtake each other.
const SLOW: usize = 4;
const QUICK: u64 = 16;

/// A cut of links, which then deliver nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The rank whose links are cut.
    pub of: u32,
    /// Cuts only the link to this rank; `None` cuts all links.
    pub to: Option<u32>,
    /// Ticks until the links are repaired; `None` is never.
    pub heals_after: Option<u64>,
}

impl Cut {
    fn affects(&self, a: u32, b: u32) -> bool {
        let ends = |of: u32, to: u32| of == self.of && self.to.is_none_or(|end| end == to);
        ends(a, b) || ends(b, a)
    }
}

/// How the network treats a small message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passage {
    /// Like every other message.
    Usual,
    /// The message never arrives.
    Lost,
    /// The message arrives at once, even over a cut link.
    Through,
    /// The message arrives twice, as from a network that repeats what was not lost.
    Twice,
    /// The message arrives that many ticks later, even over a cut link, and others overtake it.
    Late(u64),
}

/// When the buffer of a shipment returns to its sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Back {
    /// When the bytes have left the sender.
    #[default]
    Usual,
    /// At once, even if the receiver has no room, as in a network without credits.
    AtOnce,
    /// As usual, but never for each n-th shipment, as in a network that loses credits.
    NeverEach(u64),
}

type Rule = Box<dyn FnMut(Address, &Message) -> Passage + Send>;

pub(crate) struct Links {
    state: Mutex<State>,
}

struct State {
    /// Whether delays, cuts or rules are set; if not, letters arrive at once, and bulk with its
    /// letter.
    used: bool,
    random: Random,
    most_delay: u64,
    wires: Wires,
    /// By rank: the bus that its letters pass, if that is modelled.
    buses: BTreeMap<u32, NodeBus>,
    streams: BTreeMap<Stream, Queued>,
    cuts: Vec<(Cut, Option<Time>)>,
    dead: BTreeSet<u32>,
    rule: Option<Rule>,
    back: Back,
    shipped: u64,
    /// Shipments that their receivers have not taken.
    waiting: BTreeMap<(u32, Address), usize>,
    most_waiting: BTreeMap<Port, usize>,
}

/// A bus of a node that disks share with its link.
struct NodeBus {
    disks: Arc<MemoryDisks>,
    bus: usize,
}

impl NodeBus {
    /// When bytes that are sent or received now have passed.
    fn pass(&self, bytes: usize) -> Time {
        self.disks.pass_bus(self.bus, bytes as u64)
    }
}

/// A letter as the links see it.
pub(super) struct Parcel {
    pub bytes: usize,
    /// Called when its bytes have left the sender.
    pub leave: Option<Call>,
    pub arrive: Call,
}

/// The letters on a stream.
#[derive(Default)]
struct Queued {
    /// Those whose bytes have not passed the links.
    leaving: VecDeque<Parcel>,
    parcels: VecDeque<Call>,
    last: Time,
}

/// A letter whose bytes have passed the links, and its arrival time without cuts.
struct Passed {
    stream: Stream,
    leave: Option<Call>,
    at: Time,
}

/// The outcome of a due arrival.
enum Arrival {
    Parcel(Call),
    At(Time),
    Never,
}

impl State {
    /// Lets the next letter of a stream, whose bytes have passed, go on.
    fn passed(&mut self, stream: Stream, now: Time) -> Option<Passed> {
        let most = match self.random.below(SLOW) {
            0 => self.most_delay,
            _ => self.most_delay / QUICK,
        };
        let delay = self.random.below(most as usize + 1) as u64 + self.wires.latency_ns();
        let queued = self.streams.get_mut(&stream)?;
        let Parcel {
            bytes,
            leave,
            arrive,
        } = queued.leaving.pop_front()?;
        queued.parcels.push_back(arrive);
        let buses = [stream.from, stream.to].map(|rank| self.buses.get(&rank));
        let passes = buses.into_iter().flatten().map(|bus| bus.pass(bytes));
        let reached = passes.fold(now, Time::max);
        queued.last = queued.last.max(reached.after(delay));
        let at = queued.last;
        Some(Passed { stream, leave, at })
    }
}

impl Links {
    pub(crate) fn new(seed: u64) -> Links {
        let state = State {
            used: false,
            random: Random::stream(seed, u64::MAX),
            most_delay: 0,
            wires: Wires::default(),
            buses: BTreeMap::new(),
            streams: BTreeMap::new(),
            cuts: Vec::new(),
            dead: BTreeSet::new(),
            rule: None,
            back: Back::Usual,
            shipped: 0,
            waiting: BTreeMap::new(),
            most_waiting: BTreeMap::new(),
        };
        Links {
            state: Mutex::new(state),
        }
    }

    pub(crate) fn are_used(&self) -> bool {
        self.lock().used
    }

    pub(crate) fn use_them(&self) {
        self.lock().used = true;
    }

    pub(crate) fn set_delay(&self, most: u64) {
        let mut state = self.lock();
        (state.used, state.most_delay) = (true, most);
    }

    /// Lets the bytes of letters pass the links of both nodes.
    pub(crate) fn limit(&self, model: NodeLink) {
        let mut state = self.lock();
        state.used = true;
        state.wires.limit(model);
    }

    /// Lets the letters of a node pass a bus of its disks, too.
    pub(crate) fn pass_bus(&self, rank: u32, disks: Arc<MemoryDisks>, bus: usize) {
        self.lock().buses.insert(rank, NodeBus { disks, bus });
    }

    /// Counts losses anew, for another run.
    pub(crate) fn begin(&self) {
        self.lock().wires.begin();
    }

    pub(crate) fn losses(&self) -> Losses {
        self.lock().wires.losses()
    }

    pub(crate) fn set_rule(&self, rule: Rule) {
        let mut state = self.lock();
        (state.used, state.rule) = (true, Some(rule));
    }

    pub(crate) fn set_back(&self, back: Back) {
        let mut state = self.lock();
        (state.used, state.back) = (true, back);
    }

    pub(crate) fn cut(&self, cut: Cut, now: Time) {
        let until = cut.heals_after.map(|ticks| now.after(ticks));
        self.lock().cuts.push((cut, until));
    }

    pub(crate) fn kill(&self, rank: u32) {
        self.lock().dead.insert(rank);
    }

    /// Repairs all links, and forgets the letters on their way.
    pub(crate) fn heal(&self) {
        let mut state = self.lock();
        state.cuts.clear();
        state.dead.clear();
        state.waiting.clear();
        state.wires.forget();
        let left = std::mem::take(&mut state.streams);
        drop(state);
        drop(left);
    }

    pub(crate) fn most_waiting(&self, port: Port) -> usize {
        self.lock().most_waiting.get(&port).copied().unwrap_or(0)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Queues a parcel; returns it if its bytes pass at once.
    fn queue(&self, stream: Stream, now: Time, parcel: Parcel) -> Option<Passed> {
        let mut state = self.lock();
        let passes = state.wires.hand(stream, now, parcel.bytes as u64);
        let queued = state.streams.entry(stream).or_default();
        queued.leaving.push_back(parcel);
        passes.then(|| state.passed(stream, now)).flatten()
    }

    fn pass(&self, now: Time) -> Vec<Passed> {
        let mut state = self.lock();
        let streams = state.wires.pass(now).into_iter();
        let passed = streams.filter_map(|stream| state.passed(stream, now));
        passed.collect()
    }

    fn next(&self, now: Time) -> Option<Time> {
        self.lock().wires.next(now)
    }

    fn arrival(&self, stream: Stream, now: Time) -> Arrival {
        let mut state = self.lock();
        let cuts = state
            .cuts
            .iter()
            .filter(|(cut, _)| cut.affects(stream.from, stream.to));
        let ends = cuts.map(|(_, until)| until.unwrap_or(Time(u64::MAX)));
        match ends.max().filter(|&end| end > now) {
            Some(Time(u64::MAX)) => {
                let queued = state.streams.get_mut(&stream);
                let lost = queued.map(|queued| std::mem::take(&mut queued.parcels));
                drop(state);
                drop(lost);
                Arrival::Never
            }
            Some(end) => Arrival::At(end),
            None => {
                let queued = state.streams.get_mut(&stream);
                let next = queued.and_then(|queued| queued.parcels.pop_front());
                next.map_or(Arrival::Never, Arrival::Parcel)
            }
        }
    }

    pub(super) fn passage(&self, to: Address, message: &Message) -> Passage {
        let mut state = self.lock();
        state
            .rule
            .as_mut()
            .map_or(Passage::Usual, |rule| rule(to, message))
    }

    /// Counts a shipment that waits for its receiver; returns when its buffer comes back, `None`
    /// for never.
    pub(super) fn announce(&self, from: u32, to: Address) -> Option<Back> {
        let mut state = self.lock();
        state.shipped += 1;
        let waiting = state.waiting.entry((from, to)).or_default();
        *waiting += 1;
        let waiting = *waiting;
        let most = state.most_waiting.entry(to.port).or_default();
        *most = (*most).max(waiting);
        match state.back {
            Back::NeverEach(nth) if state.shipped.is_multiple_of(nth) => None,
            back => Some(back),
        }
    }

    /// Counts a shipment that its receiver has taken.
    pub(super) fn taken(&self, from: u32, to: Address) {
        if let Some(waiting) = self.lock().waiting.get_mut(&(from, to)) {
            *waiting -= 1;
        }
    }

    pub(super) fn is_dead(&self, rank: u32) -> bool {
        self.lock().dead.contains(&rank)
    }
}

/// Hands a parcel to the links.
pub(super) fn send(world: &Arc<World>, stream: Stream, parcel: Parcel) {
    let now = world.now();
    match world.links.queue(stream, now, parcel) {
        Some(passed) => go_on(world, passed),
        None => world.set_alarm(world.links.next(now)),
    }
}

/// Sends on the letters whose bytes have passed the links of both nodes.
pub(crate) fn pass(world: &Arc<World>) {
    let now = world.now();
    for passed in world.links.pass(now) {
        go_on(world, passed);
    }
    world.set_alarm(world.links.next(now));
}

fn go_on(world: &Arc<World>, passed: Passed) {
    if let Some(leave) = passed.leave {
        leave();
    }
    arrive_at(world, passed.stream, passed.at);
}

/// Lets the first parcel of a stream arrive at a time.
fn arrive_at(world: &Arc<World>, stream: Stream, at: Time) {
    let again = Arc::clone(world);
    let arrive = move || match again.links.arrival(stream, again.now()) {
        Arrival::Parcel(parcel) => parcel(),
        Arrival::At(later) => arrive_at(&again, stream, later),
        Arrival::Never => {}
    };
    world.schedule(at, Action::Call(Box::new(arrive)));
}
