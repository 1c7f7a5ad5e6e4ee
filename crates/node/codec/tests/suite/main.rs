//! Compressed files of the libraries' own writers and of the system's tools, whole and damaged.

mod common;
mod contents;
mod damage;
mod headers;
mod tools;
