//! Every program on threads, on the seeded driver and on the simulated cluster.

mod any_keys;
mod cluster;
mod driver;
mod keys_alone;
mod logp;
mod programs;
mod sorts;
mod threads;
mod wrong;
