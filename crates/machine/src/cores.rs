//! Cores: tasks with their clocks and stages, and the queues between a rank and its NIC.

pub mod meter;
pub mod rank;
pub mod sharing;
pub mod task;
pub mod waiters;
