//! Messages as programs see them: their places, their contents, and how they end.

use std::error::Error;
use std::fmt;
use std::ops::Deref;

use node::{Address, Port, Rank};

/// The most arguments of a message, of 32 bits each (Berkeley NOW, section 2.1).
pub const SHORT_WORDS: usize = 8;

/// The longest payload of a medium message (Berkeley NOW, section 2.1).
pub const MEDIUM_BYTES: usize = 8 << 10;

/// The job that an endpoint belongs to: it refuses requests of every other job (AM-2's tag).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Job(pub u64);

/// The number of a handler in the table of its endpoint, from 1 to 255.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Handler(pub u8);

/// The place of an endpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name {
    /// The node.
    pub rank: Rank,
    /// The port of its bundle.
    pub port: Port,
    /// The number of the endpoint in its bundle, from 0 in the order in which they were opened.
    pub number: u32,
}

impl Name {
    /// The endpoint of the same number on another node.
    #[must_use]
    pub fn at(self, rank: Rank) -> Name {
        Name { rank, ..self }
    }

    /// The address of bulk messages, at the port after that of the bundle.
    ///
    /// # Panics
    /// When that is the last port.
    pub(crate) fn bulk(self) -> Address {
        let port = self.port.0.checked_add(1);
        Address {
            rank: self.rank,
            port: Port(port.expect("a bundle with bulk has a port before the last one")),
        }
    }

    pub(crate) fn address(self) -> Address {
        Address {
            rank: self.rank,
            port: self.port,
        }
    }
}

impl fmt::Display for Name {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "endpoint {} of rank {} at port {}",
            self.number, self.rank, self.port.0
        )
    }
}

/// A number as two arguments.
pub(crate) fn halves(number: u64) -> [u32; 2] {
    [number as u32, (number >> 32) as u32]
}

/// The number of the first two arguments.
pub(crate) fn whole(args: &[u32]) -> Option<u64> {
    let &[low, high] = args.first_chunk()?;
    Some(u64::from(low) | u64::from(high) << 32)
}

/// Up to [`SHORT_WORDS`] arguments.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Args {
    words: [u32; SHORT_WORDS],
    count: u8,
}

impl Args {
    /// # Panics
    /// When there are more than [`SHORT_WORDS`].
    pub(crate) fn new(args: &[u32]) -> Args {
        let count = args.len();
        assert!(
            count <= SHORT_WORDS,
            "{count} arguments, {SHORT_WORDS} at most"
        );
        let mut words = [0; SHORT_WORDS];
        words[..count].copy_from_slice(args);
        Args {
            words,
            count: count as u8,
        }
    }
}

impl Deref for Args {
    type Target = [u32];

    fn deref(&self) -> &[u32] {
        &self.words[..usize::from(self.count)]
    }
}

impl fmt::Debug for Args {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, out)
    }
}

/// Memory of an endpoint that bulk messages may be copied to, from 0 in the order in which it was exported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Region(pub u32);

/// The place of the bytes of a bulk message in the memory of the endpoint that receives it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// The memory.
    pub region: Region,
    /// Bytes before it.
    pub offset: u64,
}

impl Target {
    /// The target as a payload.
    pub(crate) fn to_bytes(self) -> Vec<u8> {
        let words = [u64::from(self.region.0), self.offset];
        words.into_iter().flat_map(u64::to_le_bytes).collect()
    }
}

/// A request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The endpoint that it was sent to.
    pub to: Name,
    /// Its handler there.
    pub handler: Handler,
    /// Its arguments.
    pub args: Args,
    /// Its payload.
    pub payload: Vec<u8>,
    /// Where its bytes go, if it is a bulk message.
    pub target: Option<Target>,
}

impl Request {
    /// A short message.
    ///
    /// # Panics
    /// When there are more than [`SHORT_WORDS`] arguments.
    pub fn new(to: Name, handler: Handler, args: &[u32]) -> Request {
        Request {
            to,
            handler,
            args: Args::new(args),
            payload: Vec::new(),
            target: None,
        }
    }

    /// A bulk message to this place.
    #[must_use]
    pub fn into(self, target: Target) -> Request {
        Request {
            target: Some(target),
            ..self
        }
    }

    /// A medium message with this payload.
    #[must_use]
    pub fn with(self, payload: Vec<u8>) -> Request {
        Request { payload, ..self }
    }
}

/// The reason why a request may have run or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// No answer came within [`Settings::patience`](crate::Settings::patience).
    Silent,
    /// Its handler panicked.
    Panicked,
    /// The sending endpoint lacks the handler that the reply names.
    NoHandler,
    /// The sending endpoint was closed first.
    Closed,
}

/// Why a request got no reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It did not run, and will not.
    NotRun(NotRun),
    /// It may have run, or may yet.
    Unknown(Unknown),
}

impl fmt::Display for Reason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::NotRun(reason) => write!(out, "it did not run: {reason}"),
            Reason::Unknown(Unknown::Silent) => write!(out, "nobody answered; it may have run"),
            Reason::Unknown(Unknown::Panicked) => write!(out, "its handler panicked"),
            Reason::Unknown(Unknown::NoHandler) => {
                write!(out, "its reply is for a handler that is not here")
            }
            Reason::Unknown(Unknown::Closed) => {
                write!(out, "its sender was closed; it may have run")
            }
        }
    }
}

/// A request that comes back to its sender without a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Returned {
    /// The request.
    pub request: Request,
    /// Why.
    pub reason: Reason,
}

impl fmt::Display for Returned {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Request { to, handler, .. } = &self.request;
        write!(
            out,
            "the request to handler {} of {to} was returned: {}",
            handler.0, self.reason
        )
    }
}

impl Error for Returned {}

/// Why a receiver has refused a request without running it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotRun {
    /// The endpoint was closed, or bulk came before it was opened.
    NoEndpoint,
    /// The endpoint belongs to another job.
    AnotherJob,
    /// The endpoint has no such handler.
    NoHandler,
    /// The endpoint has no memory at the target, or less.
    NoMemory,
    /// The node has heard of [`Settings::most_senders`](crate::Settings::most_senders) others.
    Crowded,
}

impl fmt::Display for NotRun {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            NotRun::NoEndpoint => "there is no such endpoint",
            NotRun::AnotherJob => "the endpoint belongs to another job",
            NotRun::NoHandler => "the endpoint has no such handler",
            NotRun::NoMemory => "the endpoint has no such memory",
            NotRun::Crowded => "the node has no room for another sender",
        })
    }
}

/// The reply of a request handler.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// The handler at the sender of the request, if the handler replied to one.
    pub handler: Option<Handler>,
    /// The arguments.
    pub args: Args,
    /// The payload.
    pub payload: Vec<u8>,
}
