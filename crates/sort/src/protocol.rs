//! What nodes of a sort send each other, for networks that count it, or lose it on purpose.

pub use crate::cluster::{HERE, WATCH};
pub use crate::exchange::CHUNKS;
pub use crate::plan::window;
