//! The cores: tasks with their clocks, what a verb of a node costs them, and the queues between
//! them and their NIC.

pub mod backend;
pub mod events;
pub mod meter;
pub mod rank;
pub mod task;
