//! Plans as data: the numbers from which all others of a plan follow.
//!
//! The planner chooses those that a [`Tuning`] leaves open. With all of them given it chooses nothing, so
//! the numbers of a paper, or of another plan, drive the same stages.

use crate::job::Tuning;
use crate::plan::Plan;

impl Plan {
    /// The numbers of a sort that may spill; `None` of another plan. The planner makes the same plan of
    /// them, if the limit has room for it, or refuses with what it needs.
    pub fn numbers(&self) -> Option<Tuning> {
        let spilling = self.spilling?;
        Some(Tuning {
            readers: Some(self.readers),
            distributors: Some(self.distributors),
            node_distributors: Some(self.node_distributors),
            sent_bytes: self.sent_bytes,
            write_tokens: Some(spilling.tokens),
            least_write_bytes: (!spilling.grows).then_some(spilling.least_write_bytes),
            most_write_bytes: Some(spilling.most_write_bytes),
            spillers: Some(spilling.spillers),
            sorters: Some(self.sorters),
            writers: Some(self.writers),
            depth: Some(self.depth),
            spiller_depth: Some(spilling.depth),
            unit_bytes: Some(self.read_bytes),
            buckets: Some(self.buckets),
            chunk_bytes: Some(self.chunk_bytes),
            chunk_marks: Some(spilling.chunk_marks),
            chunks: Some(self.chunks),
            ..Tuning::default()
        })
    }
}

#[cfg(test)]
mod tests;
