//! The simulated machine and the driver, from outside.

mod caches;
mod common;
mod crashes;
mod determinism;
mod disks;
mod driver;
mod ends;
mod faults;
mod flows;
mod graphs;
mod links;
mod mapper;
mod multicast;
mod network;
mod path;
mod tasks;
