//! Cores: tasks with their clocks and stages, the cache that the cores of a NIC share, and the queues
//! between a rank and its NIC.

pub mod meter;
pub mod rank;
pub mod shared_cache;
pub mod sharing;
pub mod task;
pub mod waiters;
