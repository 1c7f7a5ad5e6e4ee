//! A global address space: split-phase access to the memory of all nodes (Split-C).
//!
//! | Split-C | here | ends |
//! |---|---|---|
//! | `x = *p`, `*p = x` | [`Global::read`], [`Global::write`] | at once |
//! | `x := *p`, `*p := x` | [`Global::get`], [`Global::put`] | with [`Global::sync`] |
//! | `*p :- x` | [`Global::store`] | at its target: [`Global::store_sync`], [`Global::all_store_sync`] |
//!
//! Accesses of one node may overtake each other until they have ended, and those of several nodes always may.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use node::{Mutex, Node, Rank};

use crate::bundle::Bundle;
use crate::endpoint::Endpoint;
use crate::handlers::{Handlers, Token};
use crate::message::{Answer, Handler, Job, MEDIUM_BYTES, Request, Returned, halves, whole};
use crate::team::{Shape, Team};

/// A place in the memory of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GlobalPointer {
    /// The node.
    pub rank: Rank,
    /// Bytes before it in that node's memory.
    pub offset: u64,
}

impl GlobalPointer {
    /// The place so many bytes behind.
    #[must_use]
    pub fn after(self, bytes: usize) -> GlobalPointer {
        GlobalPointer {
            offset: self.offset.saturating_add(bytes as u64),
            ..self
        }
    }
}

/// Why memory of another node was not reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoAccess {
    /// The node has less memory.
    Outside(GlobalPointer),
    /// The request was returned.
    Returned(Returned),
    /// The node's answer is not one of this protocol: it runs another program.
    Foreign(Rank),
}

impl fmt::Display for NoAccess {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoAccess::Outside(GlobalPointer { rank, offset }) => {
                write!(
                    out,
                    "the memory of rank {rank} ends before or at byte {offset}"
                )
            }
            NoAccess::Returned(returned) => returned.fmt(out),
            NoAccess::Foreign(rank) => write!(out, "rank {rank} runs another program"),
        }
    }
}

impl Error for NoAccess {}

const GET: Handler = Handler(1);
const GOT: Handler = Handler(2);
const PUT: Handler = Handler(3);
const STORE: Handler = Handler(4);
const OUTSIDE: Handler = Handler(5);

/// The memory of all nodes, as one of them sees it.
pub struct Global {
    endpoint: Endpoint,
    shared: Arc<Mutex<Shared>>,
    team: Team,
}

struct Shared {
    memory: Vec<u8>,
    /// Bytes that others stored here, less those that were waited for.
    stored: u64,
    failed: Option<NoAccess>,
}

impl Shared {
    fn part(&mut self, offset: u64, bytes: usize) -> Option<&mut [u8]> {
        let offset = usize::try_from(offset).ok()?;
        self.memory.get_mut(offset..offset.checked_add(bytes)?)
    }

    fn fail(&mut self, reason: NoAccess) {
        self.failed.get_or_insert(reason);
    }
}

impl Global {
    /// Gives memory of this node to all. All nodes open theirs in the same order among the endpoints of a bundle.
    pub async fn open(node: &Node, bundle: &Bundle, job: Job, memory: Vec<u8>) -> Global {
        let shared = Shared {
            memory,
            stored: 0,
            failed: None,
        };
        let shared = Arc::new(Mutex::new(shared));
        let endpoint = bundle.endpoint(node, job, handlers(&shared)).await;
        let team = Team::open(node, bundle, job, Shape::Binomial).await;
        Global {
            endpoint,
            shared,
            team,
        }
    }

    /// Looks at the memory of this node. Nobody reaches it meanwhile.
    pub fn local<R>(&self, look: impl FnOnce(&mut [u8]) -> R) -> R {
        look(&mut self.shared.lock().memory)
    }

    /// Reads memory of a node, and waits for it.
    ///
    /// # Errors
    /// When the node has less memory, or the request is returned.
    pub async fn read(
        &self,
        node: &Node,
        from: GlobalPointer,
        bytes: usize,
    ) -> Result<Vec<u8>, NoAccess> {
        let mut whole = Vec::with_capacity(bytes);
        while whole.len() < bytes {
            let from = from.after(whole.len());
            let piece = MEDIUM_BYTES.min(bytes - whole.len());
            let request = self.request(GET, from, &[piece as u32]);
            let answer = inside(self.endpoint.call(node, request).await, from)?;
            if answer.payload.len() != piece {
                return Err(NoAccess::Foreign(from.rank));
            }
            whole.extend(answer.payload);
        }
        Ok(whole)
    }

    /// Writes memory of a node, and waits until it is there.
    ///
    /// # Errors
    /// As [`Global::read`].
    pub async fn write(
        &self,
        node: &Node,
        to: GlobalPointer,
        bytes: &[u8],
    ) -> Result<(), NoAccess> {
        for (to, piece) in pieces(to, bytes) {
            let request = self.request(PUT, to, &[]).with(piece.to_vec());
            inside(self.endpoint.call(node, request).await, to)?;
        }
        Ok(())
    }

    /// Begins to read memory of a node into this node's, at `to`; [`Global::sync`] waits for it.
    ///
    /// # Panics
    /// When this node has less memory.
    pub async fn get(&self, node: &Node, from: GlobalPointer, to: u64, bytes: usize) {
        let is_here = self.shared.lock().part(to, bytes).is_some();
        assert!(
            is_here,
            "a get of {bytes} bytes to byte {to}, which is not here"
        );
        for begin in (0..bytes).step_by(MEDIUM_BYTES) {
            let piece = MEDIUM_BYTES.min(bytes - begin);
            let [low, high] = halves(to + begin as u64);
            let request = self.request(GET, from.after(begin), &[piece as u32, low, high]);
            self.endpoint.request(node, request).await;
        }
    }

    /// Begins to write memory of a node; [`Global::sync`] waits for it.
    pub async fn put(&self, node: &Node, to: GlobalPointer, bytes: &[u8]) {
        for (to, piece) in pieces(to, bytes) {
            let request = self.request(PUT, to, &[]).with(piece.to_vec());
            self.endpoint.request(node, request).await;
        }
    }

    /// Writes memory of a node; the node itself waits for it.
    pub async fn store(&self, node: &Node, to: GlobalPointer, bytes: &[u8]) {
        for (to, piece) in pieces(to, bytes) {
            let request = self.request(STORE, to, &[]).with(piece.to_vec());
            self.endpoint.request(node, request).await;
        }
    }

    /// Waits until all that this node began has ended.
    ///
    /// # Errors
    /// The first access that failed since the last time.
    pub async fn sync(&self, node: &Node) -> Result<(), NoAccess> {
        self.endpoint.quiet(node).await;
        self.shared.lock().failed.take().map_or(Ok(()), Err)
    }

    /// Waits until others have stored so many bytes here, beside those that were waited for.
    pub async fn store_sync(&self, node: &Node, bytes: u64) {
        let take = |_: &_| {
            let mut shared = self.shared.lock();
            let left = shared.stored.checked_sub(bytes);
            shared.stored = left.unwrap_or(shared.stored);
            left.is_some()
        };
        self.endpoint.bundle().serve_until(node, take).await;
    }

    /// Waits until all stores of all nodes have ended; all nodes make this call.
    ///
    /// # Errors
    /// The first access of this node that failed, or a message to another that was returned.
    pub async fn all_store_sync(&mut self, node: &Node) -> Result<(), NoAccess> {
        // A request is answered when its handler has run, so this node's stores are there.
        let ended = self.sync(node).await;
        self.team.barrier(node).await.map_err(NoAccess::Returned)?;
        self.shared.lock().stored = 0;
        // So that no later store comes before that.
        self.team.barrier(node).await.map_err(NoAccess::Returned)?;
        ended
    }

    fn request(&self, handler: Handler, at: GlobalPointer, more: &[u32]) -> Request {
        let mut args = halves(at.offset).to_vec();
        args.extend_from_slice(more);
        Request::new(self.endpoint.name().at(at.rank), handler, &args)
    }
}

/// The answer to a call, unless its target was outside of the memory.
fn inside(answer: Result<Answer, Returned>, at: GlobalPointer) -> Result<Answer, NoAccess> {
    let answer = answer.map_err(NoAccess::Returned)?;
    if answer.handler == Some(OUTSIDE) {
        return Err(NoAccess::Outside(at));
    }
    Ok(answer)
}

fn pieces(to: GlobalPointer, bytes: &[u8]) -> impl Iterator<Item = (GlobalPointer, &[u8])> {
    let pieces = bytes.chunks(MEDIUM_BYTES).enumerate();
    pieces.map(move |(at, piece)| (to.after(at * MEDIUM_BYTES), piece))
}

fn handlers(shared: &Arc<Mutex<Shared>>) -> Handlers {
    let of = || Arc::clone(shared);
    let (get, got, put, store, outside, returned) = (of(), of(), of(), of(), of(), of());
    Handlers::new()
        .on(GET, move |token, args, _| {
            let bytes = args.get(2).map_or(0, |bytes| *bytes as usize);
            let bytes = MEDIUM_BYTES.min(bytes);
            let part = whole(args).and_then(|at| Some(get.lock().part(at, bytes)?.to_vec()));
            match part {
                Some(part) => reply(token, GOT, args.get(3..).unwrap_or_default(), part),
                None => reply(token, OUTSIDE, args, Vec::new()),
            }
        })
        .on(GOT, move |_, args, payload| {
            write(&mut got.lock(), args, payload);
        })
        .on(PUT, move |token, args, payload| {
            if !write(&mut put.lock(), args, payload) {
                reply(token, OUTSIDE, args, Vec::new());
            }
        })
        .on(STORE, move |token, args, payload| {
            let mut shared = store.lock();
            if write(&mut shared, args, payload) {
                shared.stored += payload.len() as u64;
            } else {
                reply(token, OUTSIDE, args, Vec::new());
            }
        })
        .on(OUTSIDE, move |token, args, _| {
            let (rank, offset) = (token.from().rank, whole(args).unwrap_or_default());
            let reason = NoAccess::Outside(GlobalPointer { rank, offset });
            outside.lock().fail(reason);
        })
        .on_return(move |back| returned.lock().fail(NoAccess::Returned(back.clone())))
}

/// Whether it was inside.
fn write(shared: &mut Shared, args: &[u32], payload: &[u8]) -> bool {
    let place = whole(args).and_then(|at| shared.part(at, payload.len()));
    place.map(|place| place.copy_from_slice(payload)).is_some()
}

fn reply(token: &mut Token<'_>, handler: Handler, args: &[u32], payload: Vec<u8>) {
    let replied = token.reply(handler, args, payload);
    replied.expect("the first reply to a request");
}
