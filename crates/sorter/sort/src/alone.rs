//! Measures a part of the sort alone: the exchange between ranks.
//!
//! A synthetic source feeds the part and a sink takes its units, so the figures are those that the
//! part reaches if no other part limits it. The rates of stages are in the report of a sort.

mod exchange;

pub use exchange::{ExchangeAlone, Exchanged, Load};
