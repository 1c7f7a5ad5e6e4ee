//! The library as programs in C see it: its header, and programs that are compiled and run.

mod header;
mod programs;
