//! Tests of Active Messages: on the seeded driver, with links that lose, double, delay and reorder, and nodes that
//! die; and the program of their page.

#[path = "../../../node-mpi/tests/common/launch.rs"]
mod launch;

mod drawn;
mod page;
