//! Frames that are decoded ahead of where an input is read.
//!
//! ```text
//! input    | piece 0 | piece 1 | piece 2 | a large frame ...
//!          at
//! workers       a         b         a      their contents, taken in order
//! ```
//!
//! A piece is a *stretch* of whole frames, found by their headers and without decoding. Its bytes stay
//! in the input until its contents are taken. If a worker finds that they are not whole frames, all that
//! was done ahead is given up, and the input is where it was.

use std::collections::VecDeque;
use std::io::Read;

use super::frames::Format;
use crate::header::AheadOf;
use crate::input::Input;
use crate::workers::Workers;

/// Bytes that are read ahead at least, to find the end of a frame.
const LOOK_BYTES: usize = 256 << 10;

/// Pieces whose contents are ready or under way, for each worker.
const PIECES: usize = 2;

/// Times that work ahead is given up before it is not begun again: contents may look like frames.
const MOST_VAIN: usize = 8;

/// Whole frames.
#[derive(Clone, Copy, Default)]
pub(super) struct Stretch {
    /// Their bytes in the file.
    pub bytes: usize,
    /// Bytes of their contents, at most.
    pub contents: usize,
    /// Memory of a decoder beside these.
    pub state: usize,
}

/// Why a frame is not decoded ahead.
pub(super) enum NotAhead {
    /// It does not end in the bytes that are there.
    Longer,
    /// It asks for too much, or is damaged.
    Unfit,
}

/// Bytes of whole frames, and room for their contents.
pub(super) struct Piece {
    pub bytes: Vec<u8>,
    pub contents: usize,
}

/// Pieces on their way.
pub(super) struct Ahead {
    of: AheadOf,
    /// None until there is more than one piece.
    workers: Option<Workers<Piece, Option<Vec<u8>>>>,
    /// The pieces that workers have, and the next one, for which there was no memory.
    begun: VecDeque<Stretch>,
    next: Option<Stretch>,
    /// Whether what follows these is not decoded ahead.
    is_stuck: bool,
    /// The place in the file before which nothing more is begun: that was tried, or is of no use.
    alone_until: u64,
    vain: usize,
}

impl Stretch {
    fn and(self, next: Stretch) -> Stretch {
        Stretch {
            bytes: self.bytes.saturating_add(next.bytes),
            contents: self.contents.saturating_add(next.contents),
            state: self.state.max(next.state),
        }
    }

    /// Memory for its bytes in the input, which may have as much room beside them, a copy for a worker,
    /// and the contents.
    fn memory_bytes(self) -> u64 {
        3 * self.bytes as u64 + self.contents as u64 + self.state as u64
    }
}

impl Ahead {
    pub(super) fn new(of: AheadOf) -> Ahead {
        Ahead {
            of,
            workers: None,
            begun: VecDeque::new(),
            next: None,
            is_stuck: false,
            alone_until: 0,
            vain: 0,
        }
    }

    /// The contents of the next frames, behind which the input is then. None if the next one is to be
    /// decoded where it is.
    pub(super) fn next<R: Read, F: Format<R>>(
        &mut self,
        format: &F,
        input: &mut Input<R>,
    ) -> Option<Vec<u8>> {
        let is_off = self.of.workers == 0 || self.vain == MOST_VAIN;
        if !is_off && input.position() >= self.alone_until {
            self.begin_more(format, input);
        }
        let Some(first) = self.begun.pop_front() else {
            self.is_stuck = false;
            return None;
        };
        let decoded = self.workers.as_mut().and_then(Workers::next);
        if let Some(Ok(Some(contents))) = decoded {
            let passed = input.skip(first.bytes as u64);
            passed.expect("it has been read");
            return Some(contents);
        }
        self.give_up();
        self.alone_until = input.position() + first.bytes as u64;
        None
    }

    /// Hands pieces to workers, as many as are of use and memory has room for.
    fn begin_more<R: Read, F: Format<R>>(&mut self, format: &F, input: &mut Input<R>) {
        while !self.is_stuck && self.begun.len() < PIECES * self.of.workers {
            let next = self.next.take().or_else(|| self.stretch(format, input));
            let Some(next) = next else {
                self.is_stuck = true;
                return;
            };
            if self.held_bytes() + next.memory_bytes() > self.of.memory_bytes {
                self.next = Some(next);
                return;
            }
            let is_all = self.workers.is_none() && !input.goes_on_behind(next.bytes);
            if is_all || self.begin(next, F::decode, input).is_none() {
                let end = self.begun_bytes() + next.bytes;
                self.alone_until = input.position() + end as u64;
                self.is_stuck = true;
            }
        }
    }

    /// None if there are no workers.
    fn begin<R: Read>(
        &mut self,
        next: Stretch,
        decode: fn(Piece) -> Option<Vec<u8>>,
        input: &mut Input<R>,
    ) -> Option<()> {
        if self.workers.is_none() {
            let workers = Workers::start("decompressor", self.of.workers, decode);
            self.workers = Some(workers.ok()?);
        }
        let from = self.begun_bytes();
        let piece = Piece {
            bytes: input.ahead()[from..from + next.bytes].to_vec(),
            contents: next.contents,
        };
        self.workers.as_mut()?.begin(piece).ok()?;
        self.begun.push_back(next);
        Some(())
    }

    /// The frames behind those begun that are a piece.
    fn stretch<R: Read, F: Format<R>>(&self, format: &F, input: &mut Input<R>) -> Option<Stretch> {
        // Another is decoded meanwhile.
        let most = self.of.memory_bytes / 2;
        let (from, mut all) = (self.begun_bytes(), Stretch::default());
        while all.bytes.max(all.contents) < self.of.piece_bytes {
            let behind = from + all.bytes;
            let bytes = &input.ahead()[behind..];
            match format.measure(bytes, input.is_all()) {
                Ok(frame) if all.and(frame).memory_bytes() > most => break,
                Ok(frame) if frame.bytes <= bytes.len() => all = all.and(frame),
                Err(NotAhead::Unfit) => break,
                Ok(_) | Err(NotAhead::Longer) => {
                    let more = bytes.len() + bytes.len().max(LOOK_BYTES);
                    if 3 * bytes.len() as u64 > most || !input.look(behind + more) {
                        break;
                    }
                }
            }
        }
        (all.bytes > 0).then_some(all)
    }

    fn begun_bytes(&self) -> usize {
        self.begun.iter().map(|piece| piece.bytes).sum()
    }

    /// Memory of the pieces that workers have, or have decoded.
    pub(super) fn held_bytes(&self) -> u64 {
        self.begun.iter().map(|piece| piece.memory_bytes()).sum()
    }

    /// Waits for the pieces under way, so that their memory is free.
    fn give_up(&mut self) {
        self.begun.clear();
        while self.workers.as_mut().and_then(Workers::next).is_some() {}
        (self.next, self.is_stuck) = (None, false);
        self.vain += 1;
    }
}

impl Piece {
    /// Its contents, of decoders that end with a frame each. `open` gets the bytes behind the last frame, and
    /// `close` returns those behind its own.
    pub(super) fn decode<'a, D: Read>(
        &'a self,
        open: impl Fn(&'a [u8]) -> D,
        close: impl Fn(D) -> &'a [u8],
    ) -> Option<Vec<u8>> {
        let mut rest = &self.bytes[..];
        // One byte more, to see whether there is more.
        let (mut contents, mut filled) = (vec![0; self.contents + 1], 0);
        while !rest.is_empty() {
            let mut frame = open(rest);
            loop {
                match frame.read(&mut contents[filled..]).ok()? {
                    0 if filled > self.contents => return None,
                    0 => break,
                    read => filled += read,
                }
            }
            rest = close(frame);
        }
        contents.truncate(filled);
        Some(contents)
    }
}
