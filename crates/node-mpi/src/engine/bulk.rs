//! One peer's bulk: a rendezvous for each shipment.
//!
//! ```text
//!   sender                       receiver
//!   ready (number, bytes)   -->  a letter in the mailbox; a task lends a buffer
//!                                receives for all pieces are posted into it
//!                           <--  cleared (number)
//!   pieces from its buffer  -->  in the lent buffer
//!   buffer back to its task      buffer to the task
//! ```
//!
//! So the receiver's pool is the credit, and no byte is copied on the way but by the wire.
//! Shipments that are cleared leave in the order of clearing.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use node::backend::Completion;
use node::{Buffer, Port};

use super::{BULK, Line, Purpose};
use crate::frame::Frame;
use crate::outbox::Shipment;
use crate::wire::{Hold, Wire, Wired};

/// Bulk goes in pieces of this: large enough that a piece's cost (some 10 us) is a hundredth of its
/// time at 1 GB/s, small enough that peers take turns.
pub(super) const PIECE_BYTES: usize = 1 << 20;

/// Pieces on their way to a peer at once: the next ones are agreed upon while one is carried.
const WINDOW: usize = 4;

type Due = (Buffer, Completion<Buffer>);

#[derive(Default)]
pub(super) struct Bulk {
    /// Shipments told so far.
    told: u32,
    /// Those that wait for room at the peer.
    waiting: BTreeMap<u32, Due>,
    /// Those that were cleared and have pieces here, in the order of clearing.
    leaving: VecDeque<(u32, Due)>,
    /// The first of them is on its way, or those whose pieces have all begun to leave.
    out: BTreeMap<u32, Moving>,
    /// Pieces on their way out.
    pieces_out: usize,
    coming: BTreeMap<u32, Moving>,
}

struct Moving {
    hold: Hold,
    bytes: usize,
    /// How much has been asked of the wire.
    begun: usize,
    requests: usize,
    done: Completion<Buffer>,
}

impl Moving {
    fn is_through(&self) -> bool {
        self.begun == self.bytes && self.requests == 0
    }

    fn next_piece(&mut self) -> Range<usize> {
        let begin = self.begun;
        self.begun = self.bytes.min(begin + PIECE_BYTES);
        self.requests += 1;
        begin..self.begun
    }
}

impl Bulk {
    /// Whether pieces move.
    pub(super) fn is_under_way(&self) -> bool {
        !self.out.is_empty() || !self.leaving.is_empty() || !self.coming.is_empty()
    }

    /// Whether shipments have not left.
    pub(super) fn is_leaving(&self) -> bool {
        !self.waiting.is_empty() || !self.leaving.is_empty() || !self.out.is_empty()
    }

    /// A shipment begins: what to tell the peer.
    pub(super) fn announce(
        &mut self,
        port: Port,
        buffer: Buffer,
        done: Completion<Buffer>,
    ) -> Frame {
        let number = self.told;
        self.told = self.told.wrapping_add(1);
        let bytes = buffer.len() as u64;
        self.waiting.insert(number, (buffer, done));
        Frame::Ready {
            port,
            number,
            bytes,
        }
    }

    /// The peer has room for a shipment.
    pub(super) fn cleared(&mut self, number: u32) -> Result<(), String> {
        let Some(due) = self.waiting.remove(&number) else {
            return Err(format!("it clears shipment {number}, which does not wait"));
        };
        self.leaving.push_back((number, due));
        Ok(())
    }

    /// A task lends a buffer to a shipment of the peer: what to tell it.
    pub(super) fn fetch<W: Wire>(
        &mut self,
        from: u32,
        Shipment { number, bytes }: Shipment,
        (buffer, done): Due,
        line: &mut Line<W>,
    ) -> Wired<Frame> {
        let hold = line.wire.hold(buffer);
        let mut moving = Moving {
            hold,
            bytes,
            begun: 0,
            requests: 0,
            done,
        };
        while moving.begun < bytes {
            let piece = moving.next_piece();
            let expected = piece.len();
            let request = line.wire.receive(hold, piece, from, BULK)?;
            line.note(request, Purpose::PieceIn(from, number, expected));
        }
        if bytes == 0 {
            moving.finish(line);
        } else {
            self.coming.insert(number, moving);
        }
        Ok(Frame::Cleared { number })
    }

    /// Sends pieces while the window has room.
    pub(super) fn send_pieces<W: Wire>(&mut self, to: u32, line: &mut Line<W>) -> Wired<bool> {
        let mut moved = false;
        while self.pieces_out < WINDOW {
            let Some((number, mut moving)) = self.next_leaving(line) else {
                break;
            };
            moved = true;
            if moving.bytes == 0 {
                moving.finish(line);
                continue;
            }
            let piece = moving.next_piece();
            let request = line.wire.send(moving.hold, piece, to, BULK)?;
            line.note(request, Purpose::PieceOut(to, number));
            self.pieces_out += 1;
            self.out.insert(number, moving);
        }
        Ok(moved)
    }

    /// The shipment whose piece is next: one that has begun before the next one.
    fn next_leaving<W: Wire>(&mut self, line: &mut Line<W>) -> Option<(u32, Moving)> {
        let begun = self
            .out
            .iter()
            .find(|(_, moving)| moving.begun < moving.bytes);
        if let Some((&number, _)) = begun {
            return self.out.remove_entry(&number);
        }
        let (number, (buffer, done)) = self.leaving.pop_front()?;
        let bytes = buffer.len();
        let hold = line.wire.hold(buffer);
        Some((
            number,
            Moving {
                hold,
                bytes,
                begun: 0,
                requests: 0,
                done,
            },
        ))
    }

    /// A piece has left.
    pub(super) fn piece_left<W: Wire>(&mut self, number: u32, line: &mut Line<W>) {
        self.pieces_out -= 1;
        end_piece(&mut self.out, number, line);
    }

    /// A piece has come.
    pub(super) fn piece_came<W: Wire>(&mut self, number: u32, line: &mut Line<W>) {
        end_piece(&mut self.coming, number, line);
    }
}

fn end_piece<W: Wire>(all: &mut BTreeMap<u32, Moving>, number: u32, line: &mut Line<W>) {
    let moving = all.get_mut(&number).expect("it is under way");
    moving.requests -= 1;
    if moving.is_through() {
        let moving = all.remove(&number).expect("it is under way");
        moving.finish(line);
    }
}

impl Moving {
    /// Gives the buffer to whom it is due.
    fn finish<W: Wire>(self, line: &mut Line<W>) {
        let mut buffer = line.wire.release(self.hold);
        buffer.set_len(self.bytes);
        self.done.complete(buffer);
    }
}
