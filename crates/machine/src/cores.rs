//! The cores: tasks with their clocks, the time they spend in each stage, and the queues between a
//! rank and its NIC.

pub mod meter;
pub mod rank;
pub mod task;
