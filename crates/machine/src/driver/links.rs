//! Links between nodes: letters arrive late, or never, and no node is told.
//!
//! ```text
//! a > b    | parcel | parcel | parcel | > inbox     each at a drawn time, none before the one in front of it
//!
//! bulk     a: so much > b       b lends a buffer > a       the bytes > b           (as over MPI)
//!                                    a has its buffer back when it lets the bytes go
//! ```
//!
//! From a node to another everything keeps its order, as [`node::backend::Network`] promises; what
//! different nodes send may overtake each other. A link that is cut delivers nothing, in either
//! direction. If it heals, what was on its way arrives then, for TCP sends it again; else never.
//! Letters that a node sent before it died still arrive.
//!
//! For tests of tests the network can be broken, too: a rule loses small messages, or carries them
//! over cut links, and buffers of bulk come back too early or never ([`Back`]). And it counts what
//! waits for a receiver, which credits bound.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use node::backend::{Completion, Contents, Letter};
use node::{Address, Buffer, Message, Port, Random, Rank, Time};

use crate::driver::world::{Action, World};
use crate::schedule::Call;

/// One parcel in [`SLOW`] takes long, the others at most a [`QUICK`]th of that: with most of them
/// late nothing would overtake anything.
const SLOW: usize = 4;
const QUICK: u64 = 16;

/// A cut: which links deliver nothing from then on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Whose links.
    pub of: u32,
    /// The one that leads there; all of them, if nowhere is said.
    pub to: Option<u32>,
    /// After how many ticks they are whole again; never, if nothing is said.
    pub heals_after: Option<u64>,
}

impl Cut {
    fn is_of(&self, a: u32, b: u32) -> bool {
        let ends = |of: u32, to: u32| of == self.of && self.to.is_none_or(|end| end == to);
        ends(a, b) || ends(b, a)
    }
}

/// How the network treats a small message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passage {
    /// As all others.
    Usual,
    /// It never arrives.
    Lost,
    /// It arrives at once, even over a cut link.
    Through,
}

/// When a node has a buffer back that it has shipped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Back {
    /// When the bytes have left it.
    #[default]
    Usual,
    /// At once, whether the receiver has room or not: a network without credits.
    AtOnce,
    /// As usual, but for each so manieth, which never comes: a network that loses credits.
    NeverEach(u64),
}

type Rule = Box<dyn FnMut(Address, &Message) -> Passage + Send>;

/// From which node to which.
type Way = (u32, u32);

/// All links.
pub(crate) struct Links {
    state: Mutex<State>,
}

struct State {
    /// Whether anything is asked of them; else letters arrive at once, and bulk with its letter.
    used: bool,
    random: Random,
    most_delay: u64,
    ways: BTreeMap<Way, Queued>,
    cuts: Vec<(Cut, Option<Time>)>,
    dead: BTreeSet<u32>,
    rule: Option<Rule>,
    back: Back,
    shipped: u64,
    /// Bulk that its receiver has not taken.
    waiting: BTreeMap<(u32, Address), usize>,
    most_waiting: BTreeMap<Port, usize>,
}

/// The letters on one way.
#[derive(Default)]
struct Queued {
    parcels: VecDeque<Call>,
    last: Time,
}

/// The outcome of an arrival.
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
            ways: BTreeMap::new(),
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

    /// Everything is whole again, and nothing on its way.
    pub(crate) fn heal(&self) {
        let mut state = self.lock();
        state.cuts.clear();
        state.dead.clear();
        state.waiting.clear();
        let left = std::mem::take(&mut state.ways);
        drop(state);
        drop(left);
    }

    pub(crate) fn most_waiting(&self, port: Port) -> usize {
        self.lock().most_waiting.get(&port).copied().unwrap_or(0)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues a parcel: when it arrives, if nothing holds it up.
    fn queue(&self, way: Way, now: Time, parcel: Call) -> Time {
        let mut state = self.lock();
        let most = match state.random.below(SLOW) {
            0 => state.most_delay,
            _ => state.most_delay / QUICK,
        };
        let delay = state.random.below(most as usize + 1) as u64;
        let queued = state.ways.entry(way).or_default();
        queued.parcels.push_back(parcel);
        queued.last = queued.last.max(now.after(delay));
        queued.last
    }

    /// The arrival for a parcel that is due.
    fn arrival(&self, way: Way, now: Time) -> Arrival {
        let mut state = self.lock();
        let cuts = state.cuts.iter().filter(|(cut, _)| cut.is_of(way.0, way.1));
        let ends = cuts.map(|(_, until)| until.unwrap_or(Time(u64::MAX)));
        match ends.max().filter(|&end| end > now) {
            Some(Time(u64::MAX)) => {
                let lost = state.ways.remove(&way);
                drop(state);
                drop(lost);
                Arrival::Never
            }
            Some(end) => Arrival::At(end),
            None => {
                let queued = state.ways.get_mut(&way);
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

    /// Counts a shipment that begins to wait for its receiver: how its buffer comes back, or that
    /// it does not.
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

    /// Counts that its receiver has taken it; whether who sent it can still let it go.
    fn taken(&self, from: u32, to: Address) {
        if let Some(waiting) = self.lock().waiting.get_mut(&(from, to)) {
            *waiting -= 1;
        }
    }

    fn is_dead(&self, rank: u32) -> bool {
        self.lock().dead.contains(&rank)
    }
}

/// A letter leaves a node for another one.
pub(crate) fn leave(world: &Arc<World>, from: Rank, to: Address, letter: Letter) {
    let inbox = world.inbox(to);
    match letter {
        Letter::Message(message) => {
            let passage = world.links.passage(to, &message);
            let deliver: Call = Box::new(move || inbox.deliver(Letter::Message(message)));
            match passage {
                Passage::Usual => send(world, (from.0, to.rank.0), deliver),
                Passage::Through => world.schedule(world.now(), Action::Call(deliver)),
                Passage::Lost => {}
            }
        }
        Letter::Shipment {
            contents: Contents::Here { buffer, done },
            ..
        } => {
            let bytes = buffer.len();
            let (buffer, done) = match world.links.announce(from.0, to) {
                Some(Back::AtOnce) => {
                    let copy = copy(&buffer);
                    done.complete(buffer);
                    (copy, None)
                }
                Some(_) => (buffer, Some(done)),
                None => (buffer, None),
            };
            let shipment = Shipment {
                world: Arc::clone(world),
                from,
                to,
                buffer,
                done,
            };
            let fetch = Box::new(move |lent, filled| shipment.fetch(lent, filled));
            let contents = Contents::Away { bytes, fetch };
            let letter = Letter::Shipment { from, contents };
            send(
                world,
                (from.0, to.rank.0),
                Box::new(move || inbox.deliver(letter)),
            );
        }
        Letter::Shipment { .. } => unreachable!("what a task ships is here"),
    }
}

/// Bulk that waits for room at its receiver.
struct Shipment {
    world: Arc<World>,
    from: Rank,
    to: Address,
    buffer: Buffer,
    done: Option<Completion<Buffer>>,
}

impl Shipment {
    /// The receiver has lent a buffer: the sender is told, and lets the bytes go.
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
            if let Some(done) = done {
                done.complete(buffer);
            }
            let arrive = move || {
                lent.copy_from(0, &bytes, 0..bytes.len());
                lent.set_len(bytes.len());
                filled.complete(lent);
            };
            send(&again, (there, here), Box::new(arrive));
        };
        send(&world, (here, there), Box::new(let_go));
    }
}

fn copy(buffer: &Buffer) -> Buffer {
    let mut copy = Buffer::heap(buffer.len());
    copy.copy_from(0, buffer, 0..buffer.len());
    copy.set_len(buffer.len());
    copy
}

/// Sends a parcel on its way.
fn send(world: &Arc<World>, way: Way, parcel: Call) {
    let at = world.links.queue(way, world.now(), parcel);
    arrive_at(world, way, at);
}

/// Something arrives then: whatever is first on that way.
fn arrive_at(world: &Arc<World>, way: Way, at: Time) {
    let again = Arc::clone(world);
    let arrive = move || match again.links.arrival(way, again.now()) {
        Arrival::Parcel(parcel) => parcel(),
        Arrival::At(later) => arrive_at(&again, way, later),
        Arrival::Never => {}
    };
    world.schedule(at, Action::Call(Box::new(arrive)));
}
