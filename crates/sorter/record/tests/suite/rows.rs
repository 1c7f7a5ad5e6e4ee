//! Tests of rows: their order beside a naive one, dates beside `jiff`, checks and messages.

mod bytes;
mod dates;
mod draw;
mod explain;
mod forms;
mod messages;
mod naive;
mod order;
