//! Sharing between tasks: everything is a [`Guarded`] state over one primitive, a signal.

mod guarded;
mod mutex;
mod pool;
mod posted;
mod queue;
mod ticket;
mod token;

pub use guarded::{Close, Closed, Guarded};
pub use mutex::{Mutex, lock_waits, measure_lock_waits};
pub use pool::Pool;
pub use posted::Posted;
pub use queue::Queue;
pub use ticket::{Completer, Ticket, ticket};
pub use token::Tokens;
