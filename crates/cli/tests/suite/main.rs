//! The tests of the command, in one binary: linking takes longer than running.

mod common;
mod knots;
mod ranks;
#[path = "../../../node-real/tests/common/strace.rs"]
mod strace;

mod bad_input;
mod cgroup;
mod changing_input;
mod checks;
mod cluster;
mod cluster_ends;
mod compressed;
mod counts;
mod demo;
mod gnu;
mod help;
mod house;
mod keys;
mod lab;
mod lab_own;
mod lab_report;
mod leftovers;
mod limits;
mod locales;
mod manners;
mod memory;
mod merged_rows;
mod messages;
mod named_texts;
mod output_set;
mod reference;
mod report;
mod report_page;
mod resume;
mod rows;
mod signals;
mod sim;
mod sim_machine;
mod sim_sort;
mod sim_trace;
mod sorting;
mod syscalls;
mod trust;
mod unique;
mod unsized_input;
