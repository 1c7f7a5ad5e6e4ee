//! The network: packets, and the switches and links that carry them.
//!
//! ```text
//!   NIC -> link -> leaf -> link -> spine -> link -> leaf -> link -> NIC
//!                  port            port             port             a switch has one per link
//! ```

pub mod arrival;
pub mod arrival_order;
pub mod fabric;
pub mod layout;
pub mod packet;
pub mod port;
pub mod store;
pub mod switch;
pub mod topology;
