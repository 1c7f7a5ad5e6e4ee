//! Runs programs on simulated nodes before real ones run them: one seed decides the order of all that is
//! ready, what fails, and what a crash leaves. A thousand seeds are a thousand schedules.
//!
//! ```text
//! Driver::new(seed, nodes)     nodes with a clock, messages and disks of their own, in one thread
//!   .disks(rank)               files in memory: write them before a run, read them after it
//!   .kill, .cut, .delay        a node dies, a link is cut, messages are late, after the nth event
//!   .run(program)              the answer of each node, or the tasks that wait for ever
//! ```
//!
//! Two nodes that greet each other, however late their messages are:
//!
//! ```
//! use rehearsal::{Address, Driver, Node, Port, Rank};
//!
//! async fn greet(node: Node) -> usize {
//!     let (port, other) = (node.bind(Port(1)), Rank(1 - node.rank().0));
//!     node.send(Address { rank: other, port: Port(1) }, &[7, 7]).await;
//!     port.next(&node).await.words.len()
//! }
//!
//! for seed in 0..100 {
//!     let driver = Driver::new(seed, 2);
//!     driver.delay(1000);
//!     assert_eq!(driver.run(greet).unwrap(), [2, 2]);
//! }
//! ```
//!
//! Programs are those that real nodes run ([`Node`]); nothing here waits for a real clock, so a test of an
//! hour of timeouts takes milliseconds. FoundationDB and TigerBeetle are tested in this way.

pub use disk::{DiskModel, Durability, Fault, MemoryDisks};
pub use machine::{Back, Cut, Driver, Passage, Strike, Stuck};
pub use node::{Address, Node, Port, Rank};
