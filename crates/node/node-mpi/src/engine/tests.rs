//! The sending side of the protocol and its answers to wrong peers, turn by turn: an engine and a
//! simulated peer over the strict wire within a process.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use node::backend::{Inboxes, PortInbox, Signal, ticket};
use node::{Address, Port, Rank, Words};

use super::peer::{CREDITS, OLDEST};
use super::*;
use crate::frame::BatchReader;
use crate::outbox::Shipment;
use crate::wire::local::LocalWire;

/// A signal without waiters.
#[derive(Default)]
struct Epoch(AtomicU64);

impl Signal for Epoch {
    fn epoch(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }

    fn advance(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

struct Anywhere;

impl Inboxes for Anywhere {
    fn inbox(&self, _: Port) -> Arc<PortInbox> {
        Arc::new(PortInbox::new(Arc::new(Epoch::default())))
    }
}

/// An engine, its clock, and the peer's end of the wire.
struct Scene {
    engine: Engine<LocalWire>,
    outbox: Arc<Outbox>,
    now: Instant,
    peer: LocalWire,
    /// Messages posted so far.
    sent: u64,
}

impl Scene {
    fn new() -> Scene {
        let [wire, mut peer] = LocalWire::family(2).try_into().ok().unwrap();
        for _ in 0..=CREDITS {
            let hold = peer.hold(Batch::room());
            peer.receive(hold, 0..BATCH_BYTES, 0, BATCHES).unwrap();
        }
        let outbox = Arc::new(Outbox::default());
        outbox.attach(Arc::new(Anywhere));
        let engine = Engine::new(wire, Arc::clone(&outbox)).unwrap();
        Scene {
            engine,
            outbox,
            now: Instant::now(),
            peer,
            sent: 0,
        }
    }

    fn post(&mut self, count: u64, words: usize) {
        for _ in 0..count {
            let words = Words::from(&vec![self.sent; words][..]);
            let (rank, port) = (Rank(1), Port(3));
            self.outbox.send(Address { rank, port }, words);
            self.sent += 1;
        }
    }

    /// Makes a turn, some time later. Returns the frames of each batch that arrived at the peer.
    fn turn(&mut self, later: Duration) -> Vec<Vec<Frame>> {
        self.now += later;
        self.engine.turn(self.now).unwrap();
        let mut done = Vec::new();
        self.peer.completed(&mut done).unwrap();
        done.retain(|done| done.bytes > 0);
        // The wire reports the last one first; each is in the buffer of its number.
        done.sort_by_key(|done| done.request.0);
        done.into_iter().map(|done| self.take(done)).collect()
    }

    fn take(&mut self, done: Completed) -> Vec<Frame> {
        let hold = Hold(done.request.0);
        let mut reading = BatchReader::new(&self.peer.held(hold).bytes()[..done.bytes]).unwrap();
        let mut frames = Vec::new();
        while let Some(frame) = reading.next().unwrap() {
            frames.push(frame);
        }
        frames
    }

    /// The error that the engine makes of these bytes from the peer.
    fn complaint(&mut self, bytes: &[u8]) -> NetworkError {
        match self.say(bytes).unwrap() {
            Turn::Foreign(error) => error,
            turn => panic!("{bytes:?}: {turn:?}"),
        }
    }

    fn say(&mut self, bytes: &[u8]) -> Wired<Turn> {
        let mut buffer = Buffer::heap(bytes.len());
        buffer.bytes_mut().copy_from_slice(bytes);
        let hold = self.peer.hold(buffer);
        self.peer.send(hold, 0..bytes.len(), 0, BATCHES).unwrap();
        self.engine.turn(self.now)
    }

    fn say_frames(&mut self, credits: u32, frames: &[Frame]) -> Wired<Turn> {
        self.say(&batch(credits, frames))
    }
}

fn batch(credits: u32, frames: &[Frame]) -> Vec<u8> {
    let mut batch = Batch::new(Batch::room());
    frames.iter().for_each(|frame| batch.add(frame));
    batch.close(credits).filled().to_vec()
}

fn numbers(batches: &[Vec<Frame>]) -> Vec<u64> {
    let number = |frame: &Frame| match frame {
        Frame::Message { words, .. } => words[0],
        other => panic!("{other:?}"),
    };
    batches.iter().flatten().map(number).collect()
}

#[test]
fn a_message_leaves_at_once_on_an_idle_line_and_waits_on_a_busy_one() {
    let mut scene = Scene::new();
    for number in 0..u64::from(CREDITS / 2) {
        scene.post(1, 1);
        assert_eq!(numbers(&scene.turn(Duration::ZERO)), [number]);
    }
    scene.post(1, 1);
    assert!(scene.turn(Duration::ZERO).is_empty());
    scene.post(1, 1);
    assert!(scene.turn(OLDEST / 2).is_empty());
    assert_eq!(
        numbers(&scene.turn(OLDEST)),
        [2, 3],
        "the first one has waited long enough"
    );
}

#[test]
fn every_batch_needs_a_credit() {
    let mut scene = Scene::new();
    scene.post(500, 100);
    let batches = scene.turn(Duration::ZERO);
    // The last credit is for a batch of credits.
    assert_eq!(batches.len(), CREDITS as usize - 1);
    assert!(
        batches
            .iter()
            .all(|batch| batch.len() == (BATCH_BYTES - 8) / 808)
    );
    let mut heard = numbers(&batches);
    assert!(scene.turn(2 * OLDEST).is_empty());
    for hold in 0..CREDITS as usize - 1 {
        let again = scene
            .peer
            .receive(Hold(hold), 0..BATCH_BYTES, 0, BATCHES)
            .unwrap();
        assert!(again.0 < CREDITS as usize);
    }
    scene.say_frames(2, &[]).unwrap();
    heard.extend(numbers(&scene.turn(Duration::ZERO)));
    assert!(scene.turn(2 * OLDEST).is_empty());
    let mut sorted = heard.clone();
    sorted.sort_unstable();
    assert_eq!(
        sorted,
        (0..5 * 20).collect::<Vec<_>>(),
        "two credits, two batches"
    );
}

#[test]
fn a_wrong_batch_is_an_error_with_the_peers_rank() {
    let mut wrong_kind = Batch::new(Batch::room());
    wrong_kind.add(&Frame::Goodbye);
    let mut wrong_kind = wrong_kind.close(0).filled().to_vec();
    wrong_kind[8] = 77;
    let cut = wrong_kind[..11].to_vec();
    for (bytes, what) in [
        (wrong_kind, "unknown kind 77"),
        (cut, "ends within a frame"),
        (vec![1; 30], "the same version"),
        (vec![], "ends within a frame"),
    ] {
        let error = Scene::new().complaint(&bytes);
        assert_eq!(error.peer, Some(Rank(1)));
        assert!(error.what.contains(what), "{error}");
    }
    let late = Frame::Ready {
        port: Port(1),
        number: 0,
        bytes: 9,
    };
    for (credits, frames, what) in [
        (1, vec![], "5 credits of 4"),
        (
            0,
            vec![Frame::Cleared { number: 3 }],
            "shipment 3, which does not wait",
        ),
        (0, vec![Frame::Goodbye, late], "after its goodbye"),
        (0, vec![Frame::Last], "before its goodbye"),
    ] {
        let error = Scene::new().complaint(&batch(credits, &frames));
        assert_eq!(error.peer, Some(Rank(1)));
        assert!(error.to_string().contains(what), "{error}");
        assert!(error.to_string().contains("rank 1"), "{error}");
    }
}

/// Its first mistake is reported, and its later letters are ignored.
#[test]
fn a_foreign_peer_is_ignored() {
    let mut scene = Scene::new();
    scene.complaint(&[7; 12]);
    assert_eq!(scene.say(&[8; 12]), Ok(Turn::Busy), "the wire delivers it");
    scene.post(1, 1);
    assert_eq!(
        numbers(&scene.turn(Duration::ZERO)),
        [0],
        "messages to it still leave"
    );
}

/// A piece of bulk has another length than announced.
#[test]
fn a_piece_of_another_length_is_an_error() {
    let mut scene = Scene::new();
    let ready = Frame::Ready {
        port: Port(1),
        number: 0,
        bytes: 100,
    };
    scene.say_frames(0, &[ready]).unwrap();
    let nodes = node_real::Cluster::new(1, 1);
    let mut completers = nodes.run(|node| async move { ticket(&node, "a shipment").1 });
    let done = completers.pop().unwrap();
    let shipment = Shipment {
        number: 0,
        bytes: 100,
    };
    scene.outbox.push(Command::Fetch {
        from: 1,
        shipment,
        buffer: Buffer::heap(100),
        done,
    });
    scene.turn(Duration::ZERO);
    let hold = scene.peer.hold(Buffer::heap(60));
    scene.peer.send(hold, 0..60, 0, BULK).unwrap();
    let Ok(Turn::Foreign(error)) = scene.engine.turn(scene.now) else {
        panic!("60 are no 100")
    };
    assert_eq!(error.peer, Some(Rank(1)));
    assert!(error.what.contains("60 bytes, not 100"), "{error}");
}

#[test]
fn letters_wait_at_their_sender_until_the_receiver_has_a_node() {
    let [wire, mut peer] = LocalWire::family(2).try_into().ok().unwrap();
    let outbox = Arc::new(Outbox::default());
    let mut engine = Engine::new(wire, Arc::clone(&outbox)).unwrap();
    for _ in 0..=CREDITS {
        let buffer = Batch::new(Batch::room()).close(0);
        let hold = peer.hold(buffer);
        peer.send(hold, 0..8, 0, BATCHES).unwrap();
    }
    let hold = peer.hold(Batch::new(Batch::room()).close(0));
    assert!(
        peer.send(hold, 0..8, 0, BATCHES).is_err(),
        "nothing more is expected"
    );
    let idle = Turn::Idle { is_waiting: false };
    assert_eq!(
        engine.turn(Instant::now()),
        Ok(Turn::Busy),
        "the wire delivers them"
    );
    assert_eq!(
        engine.turn(Instant::now()),
        Ok(idle),
        "without a node, they are not read"
    );
}

#[test]
fn an_engine_without_peers_ends_at_once() {
    let [wire] = LocalWire::family(1).try_into().ok().unwrap();
    let outbox = Arc::new(Outbox::default());
    let mut engine = Engine::new(wire, Arc::clone(&outbox)).unwrap();
    assert_eq!(
        engine.turn(Instant::now()),
        Ok(Turn::Idle { is_waiting: false })
    );
    outbox.close(Command::End);
    assert_eq!(engine.turn(Instant::now()), Ok(Turn::Busy));
    assert_eq!(engine.turn(Instant::now()), Ok(Turn::Over));
}

/// A peer that has said goodbye waits for the others silently.
#[test]
fn a_peer_that_has_said_goodbye_is_not_silent() {
    let silent = |scene: &mut Scene| {
        let last = Duration::from_millis(1900);
        scene.turn(last);
        !scene.engine.last_heard().silent(last).is_empty()
    };
    let mut scene = Scene::new();
    scene.turn(Duration::ZERO);
    assert!(silent(&mut scene));
    scene.say_frames(0, &[Frame::Goodbye]).unwrap();
    assert!(!silent(&mut scene));
}

/// A peer that still waits for a shipment could never take part in an all-to-all.
#[test]
fn an_all_to_all_begins_when_shipments_have_left() {
    let mut scene = Scene::new();
    let nodes = node_real::Cluster::new(1, 1);
    let mut completers = nodes.run(|node| async move { ticket(&node, "a shipment").1 });
    let mut buffer = Buffer::heap(100);
    buffer.set_len(100);
    let to = Address {
        rank: Rank(1),
        port: Port(3),
    };
    let done = completers.pop().unwrap();
    scene.outbox.push(Command::Ship { to, buffer, done });
    let strings = AllToAll {
        sent_bytes: vec![0; 2],
        received_bytes: vec![0; 2],
        ..AllToAll::default()
    };
    let (done, _answer) = mpsc::channel();
    scene.outbox.push(Command::AllToAll { strings, done });
    // In the all-to-all it would wait for the peer, for ever.
    let (sender, turned) = mpsc::channel();
    std::thread::spawn(move || {
        scene.turn(Duration::ZERO);
        scene.turn(2 * OLDEST);
        let _ = sender.send(scene.engine.all_to_all.is_some());
    });
    let waits = turned.recv_timeout(Duration::from_secs(60));
    assert_eq!(waits, Ok(true), "it has begun");
}
