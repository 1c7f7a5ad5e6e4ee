//! Letters on links: small messages, and bulk whose receiver lends a buffer first.
//!
//! ```text
//! bulk     a: announcement > b       b lends a buffer > a       the bytes > b    (as over MPI)
//!                                         a has its buffer back when the bytes leave
//! ```

use std::sync::Arc;

use node::backend::{Completion, Contents, Letter};
use node::{Address, Buffer, Rank};

use crate::driver::links::{Back, Parcel, Passage, send};
use crate::driver::wires::Stream;
use crate::driver::world::{Action, World};
use disk::Call;

/// Sends a letter from a node to another.
pub(crate) fn send_letter(world: &Arc<World>, from: Rank, to: Address, letter: Letter) {
    let inbox = world.inbox(to);
    match letter {
        Letter::Message(message) => {
            let passage = if from == to.rank {
                Passage::Usual
            } else {
                world.links.passage(to, &message)
            };
            let (bytes, link) = (8 * message.words.len(), (from.0, to.rank.0));
            let deliver = |message| -> Call {
                let inbox = Arc::clone(&inbox);
                Box::new(move || inbox.deliver(Letter::Message(message)))
            };
            if passage == Passage::Twice {
                send_small(world, link, bytes, deliver(message.clone()));
            }
            let deliver = deliver(message);
            match passage {
                Passage::Usual | Passage::Twice => send_small(world, link, bytes, deliver),
                Passage::Through => world.schedule(world.now(), Action::Call(deliver)),
                Passage::Late(ticks) => {
                    world.schedule(world.now().after(ticks), Action::Call(deliver))
                }
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
            send_small(world, (from.0, to.rank.0), 0, Box::new(deliver));
        }
        Letter::Shipment { .. } => unreachable!("a task ships its own buffers"),
    }
}

/// Sends a small letter.
fn send_small(world: &Arc<World>, (from, to): (u32, u32), bytes: usize, arrive: Call) {
    let stream = Stream {
        from,
        to,
        is_bulk: false,
    };
    let parcel = Parcel {
        bytes,
        leave: None,
        arrive,
    };
    send(world, stream, parcel);
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
            let leave = done.map(|done| -> Call { Box::new(move || done.complete(buffer)) });
            let arrive = move || {
                lent.copy_from(0, &bytes, 0..bytes.len());
                lent.set_len(bytes.len());
                filled.complete(lent);
            };
            let bulk = Stream {
                from: there,
                to: here,
                is_bulk: true,
            };
            let parcel = Parcel {
                bytes: length,
                leave,
                arrive: Box::new(arrive),
            };
            send(&again, bulk, parcel);
        };
        send_small(&world, (here, there), 0, Box::new(let_go));
    }
}

/// A buffer with the same contents.
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
