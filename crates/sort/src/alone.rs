//! Parts of the sort alone, to be measured: one stage, or the exchange between ranks.
//!
//! A synthetic source feeds the part and a sink takes its units, so the figures are those that it
//! reaches if no other part holds it up. This is the only way from outside to the stages.

mod exchange;
mod stage;

pub use exchange::{ExchangeAlone, Exchanged, Load};
pub use stage::{Alone, Stage, alone};
