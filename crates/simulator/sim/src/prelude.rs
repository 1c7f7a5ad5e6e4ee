//! The names that a program needs.

pub use crate::{
    Address, Described, Group, MESSAGE_WORDS, Message, MessagePort, Node, Port, Program, Random,
    Rank, Span, Time, Timing, Verdict, Work, count, described, from_0,
};
pub use clap::{self, Args};
pub use serde::{self, Deserialize, Serialize};
