//! The tests of the public interface, in one binary: linking takes longer than running.

mod common;

mod alone;
mod chained;
mod changing_input;
mod cluster;
mod cluster_file;
mod cluster_news;
mod cluster_refused;
mod crashes;
mod disks;
mod equal_lines;
mod exchange;
mod exchanged;
mod faults;
mod flips;
mod foreign;
mod large_records;
mod line_limits;
mod line_memory;
mod lines;
mod lying_manifest;
mod merge;
mod merge_inputs;
mod output_set;
mod packed;
mod resume;
mod room;
mod rows;
mod schedules;
mod set_faults;
mod temporary_limit;
mod threads;
mod tuning;
mod two_pass;
mod unique_sets;
