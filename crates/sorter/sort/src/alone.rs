//! Measures a part of the sort alone: one stage, or the exchange between ranks.
//!
//! A synthetic source feeds the part and a sink takes its units, so the figures are those that the
//! part reaches if no other part limits it. Outside this crate, stages can be reached only from
//! here.

mod exchange;
mod stage;

pub use exchange::{ExchangeAlone, Exchanged, Load};
pub use stage::{Alone, Stage, alone};
