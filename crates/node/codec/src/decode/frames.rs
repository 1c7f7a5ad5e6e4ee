//! Frames, one behind the other: decoded where they are read, or ahead of that on several cores.
//!
//! ```text
//! first frame      | decoded into the reader's buffer
//! next ones        | ahead: each stretch of whole frames by a worker
//! large or damaged | as the first one
//! ```
//!
//! Workers only save time. What they cannot decode stays in the input, and is decoded there once more:
//! the contents and the faults of a file are those that one decoder finds.

use std::io::{self, Cursor, Read};

use super::ahead::{Ahead, NotAhead, Piece, Stretch};
use crate::input::Input;

/// A format of frames.
pub(super) trait Format<R> {
    /// Decodes one frame. It ends with the frame.
    type Decoder: Read;

    /// Goes to the next frame. Returns whether there is one.
    ///
    /// # Errors
    /// When other data follows.
    fn enter(&self, input: &mut Input<R>) -> io::Result<bool>;

    /// A decoder of the frame that comes next.
    ///
    /// # Errors
    /// When there is no memory.
    fn open(&self, input: Input<R>) -> io::Result<Self::Decoder>;

    /// The input behind a frame that has ended.
    ///
    /// # Errors
    /// When the frame is not whole.
    fn close(decoder: Self::Decoder) -> io::Result<Input<R>>;

    /// The frame at the beginning of `bytes`, which may be all that the file has.
    ///
    /// # Errors
    /// When it is not decoded ahead, and why.
    fn measure(&self, bytes: &[u8], is_all: bool) -> Result<Stretch, NotAhead>;

    /// Decodes frames that are whole and nothing else; none if these are not.
    fn decode(piece: Piece) -> Option<Vec<u8>>;
}

/// All frames of an input.
pub(super) struct Frames<R, F: Format<R>> {
    format: F,
    place: Place<R, F::Decoder>,
    ahead: Ahead,
    /// Whether a frame has ended. A file with one takes no workers.
    has_ended_one: bool,
}

pub(super) enum Place<R, D> {
    Between(Input<R>),
    Within(D),
    /// Within contents that were decoded ahead.
    Decoded(Input<R>, Cursor<Vec<u8>>),
    End,
}

impl<R: Read, F: Format<R>> Frames<R, F> {
    pub(super) fn new(format: F, place: Place<R, F::Decoder>, ahead: Ahead) -> Frames<R, F> {
        Frames {
            format,
            place,
            ahead,
            has_ended_one: false,
        }
    }

    fn go_on(&mut self, mut input: Input<R>) -> io::Result<Place<R, F::Decoder>> {
        if self.has_ended_one
            && let Some(contents) = self.ahead.next(&self.format, &mut input)
        {
            return Ok(Place::Decoded(input, Cursor::new(contents)));
        }
        if !self.format.enter(&mut input)? {
            return Ok(Place::End);
        }
        Ok(Place::Within(self.format.open(input)?))
    }
}

impl<R: Read, F: Format<R>> Read for Frames<R, F> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            let (read, place) = match std::mem::replace(&mut self.place, Place::End) {
                Place::End => return Ok(0),
                Place::Between(input) => (0, self.go_on(input)?),
                Place::Within(mut frame) => match frame.read(out)? {
                    0 => {
                        self.has_ended_one = true;
                        (0, Place::Between(F::close(frame)?))
                    }
                    read => (read, Place::Within(frame)),
                },
                Place::Decoded(input, mut contents) => match contents.read(out)? {
                    0 => (0, Place::Between(input)),
                    read => (read, Place::Decoded(input, contents)),
                },
            };
            self.place = place;
            if read > 0 {
                return Ok(read);
            }
        }
    }
}
