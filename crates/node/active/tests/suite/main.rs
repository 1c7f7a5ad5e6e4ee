//! Tests of Active Messages on the seeded driver: links that lose, double, delay and reorder, and nodes that die.

mod drawn;
