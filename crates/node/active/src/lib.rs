//! Active Messages: a message names the handler that runs when it arrives (Berkeley NOW, section 2).
//!
//! ```text
//!   task a                     task b, which serves
//!   request(handler 1, args) >  handler 1 runs with the arguments and a token
//!   handler 2 runs           <  token.reply(handler 2, args)
//! ```
//!
//! A [`Bundle`] owns a port of a node; its [`Endpoint`]s send and receive, and any task of the node may use
//! them. A *short* message has up to [`SHORT_WORDS`] arguments of 32 bits, a *medium* one also a payload of up
//! to [`MEDIUM_BYTES`], which its handler gets in a temporary buffer. Messages are received while a task of the
//! node waits in a verb of the bundle: a node that only computes answers nobody. A *bulk* message copies memory to
//! memory, and then runs its handler; tasks of their own receive it ([`Bundle::serve_bulk`]), so handlers may run at
//! the same time as others.
//!
//! **Nothing deadlocks**, since only requests wait for credit, and a task that waits serves. Each peer of an
//! endpoint has [`Settings::window`] slots. A request takes one, or waits for one; its reply comes back in the
//! same slot, so it never waits. A request handler may reply once, a reply handler not at all, and neither can
//! wait: they are plain functions. So each wait ends with a reply that nothing holds back, unless a task keeps a
//! [`Prepared`] request while it waits.
//!
//! **A request runs at most once, and its sender hears of it exactly once**, over links that lose, double,
//! delay and reorder messages. Each slot counts its requests. The receiver keeps the last answer of each slot:
//! a request that comes again gets that answer again, an older one is dropped. A sender that hears nothing
//! repeats the request, and gives up after [`Settings::patience`]: the request is *returned* with a reason.
//! [`Reason::NotRun`] is said only where the receiver has refused it, and keeps refusing it;
//! everything else is [`Reason::Unknown`].
//!
//! Requests of an endpoint may overtake each other. On top: [`TwoSided`] messages by tag, the memory of all nodes
//! ([`Global`]), collectives along trees ([`Team`]).
//!
//! ```
//! use active::{Bundle, Handler, Handlers, Job, Request, Settings};
//! use rehearsal::{Driver, Node, Port, Rank};
//!
//! const DOUBLE: Handler = Handler(1);
//!
//! async fn program(node: Node) -> u32 {
//!     let bundle = Bundle::open(&node, Port(1), Settings::default());
//!     let handlers = Handlers::new().on(DOUBLE, |token, args, _| {
//!         token.answer(&[2 * args[0]], Vec::new()).expect("the first reply");
//!     });
//!     let endpoint = bundle.endpoint(&node, Job(7), handlers).await;
//!     if node.rank() == Rank(1) {
//!         bundle.serve_until(&node, |counts| counts.run == 1).await;
//!         return 0;
//!     }
//!     let there = endpoint.name().at(Rank(1));
//!     let request = Request::new(there, DOUBLE, &[21]);
//!     endpoint.call(&node, request).await.expect("it is served").args[0]
//! }
//!
//! assert_eq!(Driver::new(1, 2).run(program).unwrap(), [42, 0]);
//! ```

mod bulk;
mod bundle;
#[cfg(feature = "conformance")]
pub mod conformance;
mod endpoint;
mod frame;
mod global;
mod handlers;
mod inbound;
mod message;
mod outbound;
mod settings;
mod state;
mod team;
mod two_sided;

pub use bulk::Bulk;
pub use bundle::{BulkService, Bundle};
pub use endpoint::{Endpoint, Leaving, Prepared};
pub use global::{Global, GlobalPointer, NoAccess};
pub use handlers::{Handlers, NoReply, Token};
pub use message::{
    Answer, Args, Handler, Job, MEDIUM_BYTES, Name, NotRun, Reason, Region, Request, Returned,
    SHORT_WORDS, Target, Unknown,
};
pub use settings::{Counts, Settings};
pub use team::{Shape, Team};
pub use two_sided::{NotMet, Received, TwoSided};
