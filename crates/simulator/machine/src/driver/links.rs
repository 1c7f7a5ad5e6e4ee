//! Links between nodes, whose letters may arrive late or never.
//!
//! ```text
//! a > b    | parcel | parcel | parcel | > inbox     each at a random time, but in their order
//!
//! bulk     a: announcement > b       b lends a buffer > a       the bytes > b    (as over MPI)
//!                                         a has its buffer back when the bytes leave
//! ```
//!
//! Letters from one node to another keep their order, as [`node::backend::Network`] promises; those
//! of different nodes may overtake each other. A cut link delivers nothing in either direction. If
//! it is repaired, parcels on their way arrive then, as with TCP; otherwise they are lost. No node
//! is told about a cut. Letters of a node that has died still arrive.
//!
//! Tests that must fail can break the network: a rule loses small messages, or carries them over
//! cut links, and the buffers of bulk return too early or never ([`Back`]). The links also count
//! the shipments that wait for a receiver, which credits must bound.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, MutexGuard};

use node::backend::{Completion, Contents, Letter};
use node::{Address, Buffer, Message, Mutex, Port, Random, Rank, Time};

use crate::driver::wires::Wires;
use crate::driver::world::{Action, World};
use disk::Call;

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

/// The sending and the receiving rank.
type Route = (u32, u32);

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
    routes: BTreeMap<Route, Queued>,
    cuts: Vec<(Cut, Option<Time>)>,
    dead: BTreeSet<u32>,
    rule: Option<Rule>,
    back: Back,
    shipped: u64,
    /// Shipments that their receivers have not taken.
    waiting: BTreeMap<(u32, Address), usize>,
    most_waiting: BTreeMap<Port, usize>,
}

/// The letters on a route.
#[derive(Default)]
struct Queued {
    parcels: VecDeque<Call>,
    last: Time,
}

/// The outcome of a due arrival.
enum Arrival {
    Parcel(Call),
    At(Time),
    Never,
}

impl Links {
    pub(crate) fn new(seed: u64) -> Links {
        let state = State {
            used: false,
            random: Random::stream(seed, u64::MAX),
            most_delay: 0,
            wires: Wires::default(),
            routes: BTreeMap::new(),
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

    /// Lets the bytes of letters pass the links of both nodes, one letter after the other at each.
    pub(crate) fn limit(&self, ps_per_kib: u64) {
        let mut state = self.lock();
        state.used = true;
        state.wires.limit(ps_per_kib);
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
        state.wires.begin();
        let left = std::mem::take(&mut state.routes);
        drop(state);
        drop(left);
    }

    pub(crate) fn most_waiting(&self, port: Port) -> usize {
        self.lock().most_waiting.get(&port).copied().unwrap_or(0)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Queues a parcel of some bytes; returns its arrival time without cuts.
    fn queue(&self, route: Route, now: Time, (bytes, parcel): (usize, Call)) -> Time {
        let mut state = self.lock();
        let now = state.wires.transfer(route, now, bytes as u64);
        let most = match state.random.below(SLOW) {
            0 => state.most_delay,
            _ => state.most_delay / QUICK,
        };
        let delay = state.random.below(most as usize + 1) as u64;
        let queued = state.routes.entry(route).or_default();
        queued.parcels.push_back(parcel);
        queued.last = queued.last.max(now.after(delay));
        queued.last
    }

    fn arrival(&self, route: Route, now: Time) -> Arrival {
        let mut state = self.lock();
        let cuts = state
            .cuts
            .iter()
            .filter(|(cut, _)| cut.affects(route.0, route.1));
        let ends = cuts.map(|(_, until)| until.unwrap_or(Time(u64::MAX)));
        match ends.max().filter(|&end| end > now) {
            Some(Time(u64::MAX)) => {
                let lost = state.routes.remove(&route);
                drop(state);
                drop(lost);
                Arrival::Never
            }
            Some(end) => Arrival::At(end),
            None => {
                let queued = state.routes.get_mut(&route);
                let next = queued.and_then(|queued| queued.parcels.pop_front());
                next.map_or(Arrival::Never, Arrival::Parcel)
            }
        }
    }

    fn passage(&self, to: Address, message: &Message) -> Passage {
        let mut state = self.lock();
        state
            .rule
            .as_mut()
            .map_or(Passage::Usual, |rule| rule(to, message))
    }

    /// Counts a shipment that waits for its receiver; returns when its buffer comes back, `None`
    /// for never.
    fn announce(&self, from: u32, to: Address) -> Option<Back> {
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
    fn taken(&self, from: u32, to: Address) {
        if let Some(waiting) = self.lock().waiting.get_mut(&(from, to)) {
            *waiting -= 1;
        }
    }

    fn is_dead(&self, rank: u32) -> bool {
        self.lock().dead.contains(&rank)
    }
}

/// Sends a letter from a node to another.
pub(crate) fn send_letter(world: &Arc<World>, from: Rank, to: Address, letter: Letter) {
    let inbox = world.inbox(to);
    match letter {
        Letter::Message(message) => {
            let passage = world.links.passage(to, &message);
            let bytes = 8 * message.words.len();
            let deliver: Call = Box::new(move || inbox.deliver(Letter::Message(message)));
            match passage {
                Passage::Usual => send(world, (from.0, to.rank.0), (bytes, deliver)),
                Passage::Through => world.schedule(world.now(), Action::Call(deliver)),
                Passage::Lost => {}
            }
        }
        Letter::Shipment {
            contents: Contents::Here { buffer, done },
            ..
        } => {
            let shipment = Shipment::announce(world, (from, to), buffer, done);
            let bytes = shipment.buffer.len();
            let fetch = Box::new(move |lent, filled| shipment.fetch(lent, filled));
            let contents = Contents::Away { bytes, fetch };
            let deliver = move || inbox.deliver(Letter::Shipment { from, contents });
            send(world, (from.0, to.rank.0), (0, Box::new(deliver)));
        }
        Letter::Shipment { .. } => unreachable!("a task ships its own buffers"),
    }
}

/// A shipment that waits for a buffer of its receiver.
struct Shipment {
    world: Arc<World>,
    from: Rank,
    to: Address,
    buffer: Buffer,
    done: Option<Completion<Buffer>>,
}

impl Shipment {
    fn announce(
        world: &Arc<World>,
        (from, to): (Rank, Address),
        buffer: Buffer,
        done: Completion<Buffer>,
    ) -> Shipment {
        let (buffer, done) = match world.links.announce(from.0, to) {
            Some(Back::AtOnce) => {
                let copy = copy(&buffer);
                done.complete(buffer);
                (copy, None)
            }
            Some(_) => (buffer, Some(done)),
            None => (buffer, None),
        };
        Shipment {
            world: Arc::clone(world),
            from,
            to,
            buffer,
            done,
        }
    }

    /// Sends the bytes to the buffer that the receiver has lent, unless the sender has died.
    fn fetch(self, mut lent: Buffer, filled: Completion<Buffer>) {
        let Shipment {
            world,
            from,
            to,
            buffer,
            done,
        } = self;
        world.links.taken(from.0, to);
        let (there, here) = (from.0, to.rank.0);
        let again = Arc::clone(&world);
        let let_go = move || {
            if again.links.is_dead(there) {
                return;
            }
            let bytes = copy(&buffer);
            // A chunk goes as a whole, however many records are in it.
            let length = if bytes.is_counted() {
                bytes.capacity()
            } else {
                bytes.len()
            };
            if let Some(done) = done {
                done.complete(buffer);
            }
            let arrive = move || {
                lent.copy_from(0, &bytes, 0..bytes.len());
                lent.set_len(bytes.len());
                filled.complete(lent);
            };
            send(&again, (there, here), (length, Box::new(arrive)));
        };
        send(&world, (here, there), (0, Box::new(let_go)));
    }
}

fn copy(buffer: &Buffer) -> Buffer {
    if buffer.is_counted() {
        let mut copy = Buffer::counted(buffer.capacity());
        copy.set_len(buffer.len());
        return copy;
    }
    let mut copy = Buffer::heap(buffer.len());
    copy.copy_from(0, buffer, 0..buffer.len());
    copy.set_len(buffer.len());
    copy
}

fn send(world: &Arc<World>, route: Route, parcel: (usize, Call)) {
    let at = world.links.queue(route, world.now(), parcel);
    arrive_at(world, route, at);
}

/// Lets the first parcel of a route arrive at a time.
fn arrive_at(world: &Arc<World>, route: Route, at: Time) {
    let again = Arc::clone(world);
    let arrive = move || match again.links.arrival(route, again.now()) {
        Arrival::Parcel(parcel) => parcel(),
        Arrival::At(later) => arrive_at(&again, route, later),
        Arrival::Never => {}
    };
    world.schedule(at, Action::Call(Box::new(arrive)));
}
