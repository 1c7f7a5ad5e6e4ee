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
//! So the receiver's pool is the credit, and only the wire copies bytes. Cleared shipments leave in
//! the order of clearing.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use node::backend::Completion;
use node::{Buffer, Port};

use super::{BULK, Line, Purpose};
use crate::frame::Frame;
use crate::outbox::Shipment;
use crate::wire::{Hold, Wire, Wired};

/// The bytes of a piece: large enough that the cost per piece (some 10 us) is a hundredth of its
/// time at 1 GB/s, small enough that peers take turns.
pub(super) const PIECE_BYTES: usize = 1 << 20;

/// Pieces that are on their way to a peer at a time, so that MPI can set up the next ones while it
/// sends one.
const WINDOW: usize = 4;

/// A buffer, and the completer that gives it back.
type Due = (Buffer, Completion<Buffer>);

#[derive(Default)]
pub(super) struct Bulk {
    /// The number of shipments announced so far.
    announced: u32,
    /// Shipments that wait for room at the peer.
    waiting: BTreeMap<u32, Due>,
    /// Cleared shipments none of whose pieces has begun to leave, in the order of clearing.
    leaving: VecDeque<(u32, Due)>,
    /// Shipments whose pieces are leaving.
    out: BTreeMap<u32, Moving>,
    pieces_out: usize,
    /// Shipments whose pieces arrive.
    coming: BTreeMap<u32, Moving>,
}

/// A shipment on its way.
struct Moving {
    hold: Hold,
    bytes: usize,
    /// The bytes in pieces that were handed to the wire.
    begun: usize,
    requests: usize,
    done: Completion<Buffer>,
}

impl Moving {
    fn new<W: Wire>((buffer, done): Due, bytes: usize, line: &mut Line<W>) -> Moving {
        Moving {
            hold: line.wire.hold(buffer),
            bytes,
            begun: 0,
            requests: 0,
            done,
        }
    }

    fn is_done(&self) -> bool {
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
    /// Whether pieces are moving in any direction.
    pub(super) fn is_under_way(&self) -> bool {
        !self.out.is_empty() || !self.leaving.is_empty() || !self.coming.is_empty()
    }

    /// Whether a shipment has not left yet.
    pub(super) fn is_leaving(&self) -> bool {
        !self.waiting.is_empty() || !self.leaving.is_empty() || !self.out.is_empty()
    }

    /// Begins a shipment. Returns the frame for the peer.
    pub(super) fn announce(
        &mut self,
        port: Port,
        buffer: Buffer,
        done: Completion<Buffer>,
    ) -> Frame {
        let number = self.announced;
        self.announced = self.announced.wrapping_add(1);
        let bytes = buffer.len() as u64;
        self.waiting.insert(number, (buffer, done));
        Frame::Ready {
            port,
            number,
            bytes,
        }
    }

    /// Notes that the peer has room for a shipment.
    pub(super) fn cleared(&mut self, number: u32) -> Result<(), String> {
        let Some(due) = self.waiting.remove(&number) else {
            return Err(format!("it clears shipment {number}, which does not wait"));
        };
        self.leaving.push_back((number, due));
        Ok(())
    }

    /// Posts receives for a shipment of the peer into a lent buffer. Returns the frame for the
    /// peer.
    pub(super) fn fetch<W: Wire>(
        &mut self,
        from: u32,
        Shipment { number, bytes }: Shipment,
        due: Due,
        line: &mut Line<W>,
    ) -> Wired<Frame> {
        let mut moving = Moving::new(due, bytes, line);
        while moving.begun < bytes {
            let piece = moving.next_piece();
            let expected = piece.len();
            let request = line.wire.receive(moving.hold, piece, from, BULK)?;
            line.set_purpose(request, Purpose::PieceIn(from, number, expected));
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
            line.set_purpose(request, Purpose::PieceOut(to, number));
            self.pieces_out += 1;
            self.out.insert(number, moving);
        }
        Ok(moved)
    }

    /// The shipment of the next piece: one that has begun, or else the first one that has not.
    fn next_leaving<W: Wire>(&mut self, line: &mut Line<W>) -> Option<(u32, Moving)> {
        let has_more = |(_, moving): &(&u32, &Moving)| moving.begun < moving.bytes;
        if let Some((&number, _)) = self.out.iter().find(has_more) {
            return self.out.remove_entry(&number);
        }
        let (number, due) = self.leaving.pop_front()?;
        let bytes = due.0.len();
        Some((number, Moving::new(due, bytes, line)))
    }

    pub(super) fn piece_left<W: Wire>(&mut self, number: u32, line: &mut Line<W>) {
        self.pieces_out -= 1;
        end_piece(&mut self.out, number, line);
    }

    pub(super) fn piece_arrived<W: Wire>(&mut self, number: u32, line: &mut Line<W>) {
        end_piece(&mut self.coming, number, line);
    }
}

fn end_piece<W: Wire>(all: &mut BTreeMap<u32, Moving>, number: u32, line: &mut Line<W>) {
    let moving = all.get_mut(&number).expect("it is under way");
    moving.requests -= 1;
    if moving.is_done() {
        let moving = all.remove(&number).expect("it is under way");
        moving.finish(line);
    }
}

impl Moving {
    /// Gives the buffer back.
    fn finish<W: Wire>(self, line: &mut Line<W>) {
        let mut buffer = line.wire.release(self.hold);
        buffer.set_len(self.bytes);
        self.done.complete(buffer);
    }
}
