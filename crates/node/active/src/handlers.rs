//! Handlers: plain functions, which run to their end and cannot wait.

use std::error::Error;
use std::fmt;

use node::{Node, Work};

use crate::message::{Answer, Args, Handler, MEDIUM_BYTES, Name, Returned, SHORT_WORDS, Target};

/// Numbers of handlers.
const HANDLERS: usize = 256;

type Run = Box<dyn Fn(&mut Token<'_>, &[u32], &[u8]) + Send + Sync>;
type Hear = Box<dyn Fn(&Returned) + Send + Sync>;

/// The table of an endpoint's handlers. They share state with tasks through
/// [`Guarded`](node::Guarded) or atomic values.
pub struct Handlers {
    table: Vec<Option<Run>>,
    pub(crate) returned: Hear,
}

impl Handlers {
    /// No handler; returned requests are dropped, which [`Counts`](crate::Counts) tell.
    pub fn new() -> Handlers {
        Handlers {
            table: (0..HANDLERS).map(|_| None).collect(),
            returned: Box::new(|_| {}),
        }
    }

    /// Sets the function that runs with the arguments and the payload of each message to this handler. The
    /// payload is in a temporary buffer.
    ///
    /// # Panics
    /// When the handler has a function already, or is 0, the number of no handler.
    #[must_use]
    pub fn on(
        mut self,
        handler: Handler,
        run: impl Fn(&mut Token<'_>, &[u32], &[u8]) + Send + Sync + 'static,
    ) -> Handlers {
        assert!(handler.0 > 0, "handlers are numbered from 1");
        let place = &mut self.table[usize::from(handler.0)];
        assert!(place.is_none(), "handler {} has a function", handler.0);
        *place = Some(Box::new(run));
        self
    }

    /// Sets the function that hears of requests that got no reply. It runs in the task that serves, or in that
    /// which closes their endpoint or uses it when it is closed.
    #[must_use]
    pub fn on_return(mut self, hear: impl Fn(&Returned) + Send + Sync + 'static) -> Handlers {
        self.returned = Box::new(hear);
        self
    }

    pub(crate) fn get(&self, handler: Handler) -> Option<&Run> {
        self.table[usize::from(handler.0)].as_ref()
    }
}

impl Default for Handlers {
    fn default() -> Handlers {
        Handlers::new()
    }
}

impl fmt::Debug for Handlers {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} handlers", self.table.iter().flatten().count())
    }
}

/// The message that a handler runs for: a way to reply, once, if it is a request.
pub struct Token<'a> {
    node: &'a Node,
    from: Name,
    is_request: bool,
    bulk: Option<(Target, usize)>,
    answer: Option<Answer>,
}

impl Token<'_> {
    /// The token of a request; of a bulk message with the place of its bytes.
    pub(crate) fn new(node: &Node, from: Name, bulk: Option<(Target, usize)>) -> Token<'_> {
        Token {
            node,
            from,
            is_request: true,
            bulk,
            answer: None,
        }
    }

    pub(crate) fn of_reply(node: &Node, from: Name) -> Token<'_> {
        Token {
            is_request: false,
            ..Token::new(node, from, None)
        }
    }

    /// The place and the number of the bytes that a bulk message brought.
    pub fn bulk(&self) -> Option<(Target, usize)> {
        self.bulk
    }

    /// The endpoint that sent the message.
    pub fn from(&self) -> Name {
        self.from
    }

    /// Charges work to the task that runs the handler.
    pub fn work(&self, work: Work) {
        self.node.work(work);
    }

    /// Replies with a message to a handler of the sender; it leaves when this handler has ended.
    ///
    /// # Errors
    /// When this is a reply, or was replied to, or the reply is too long.
    pub fn reply(
        &mut self,
        handler: Handler,
        args: &[u32],
        payload: Vec<u8>,
    ) -> Result<(), NoReply> {
        self.keep(Some(handler), args, payload)
    }

    /// Replies to the task that waits for this request in [`Endpoint::call`](crate::Endpoint::call), to no
    /// handler otherwise.
    ///
    /// # Errors
    /// As [`Token::reply`].
    pub fn answer(&mut self, args: &[u32], payload: Vec<u8>) -> Result<(), NoReply> {
        self.keep(None, args, payload)
    }

    fn keep(
        &mut self,
        handler: Option<Handler>,
        args: &[u32],
        payload: Vec<u8>,
    ) -> Result<(), NoReply> {
        if !self.is_request {
            return Err(NoReply::ToReply);
        }
        if self.answer.is_some() {
            return Err(NoReply::Second);
        }
        if args.len() > SHORT_WORDS || payload.len() > MEDIUM_BYTES {
            return Err(NoReply::TooLong);
        }
        let args = Args::new(args);
        self.answer = Some(Answer {
            handler,
            args,
            payload,
        });
        Ok(())
    }

    /// The reply, which is empty if the handler made none.
    pub(crate) fn end(self) -> Answer {
        self.answer.unwrap_or_default()
    }
}

/// Why a handler may not send a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoReply {
    /// The message is a reply itself.
    ToReply,
    /// The handler has replied.
    Second,
    /// More than [`SHORT_WORDS`] arguments, or a payload of more than [`MEDIUM_BYTES`].
    TooLong,
}

impl fmt::Display for NoReply {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoReply::ToReply => write!(out, "a reply cannot be replied to: send a request"),
            NoReply::Second => write!(out, "a request is replied to once"),
            NoReply::TooLong => write!(
                out,
                "a reply has up to {SHORT_WORDS} arguments and {MEDIUM_BYTES} bytes"
            ),
        }
    }
}

impl Error for NoReply {}
