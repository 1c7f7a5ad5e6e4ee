//! Work on whole numbers of items, charged to a node at its machine's cost.

use node::{Node, Work};

use crate::program::WORD_BYTES;

pub fn sort(node: &Node, keys: usize) {
    let records = keys as u64;
    node.work(Work::Sort { records });
}

pub fn select(node: &Node, keys: usize) {
    let keys = keys as u64;
    node.work(Work::Select { keys });
}

pub fn hash(node: &Node, keys: usize) {
    let keys = keys as u64;
    node.work(Work::Hash { keys });
}

pub fn scan(node: &Node, words: usize) {
    let words = words as u64;
    node.work(Work::Scan { words });
}

pub fn account(node: &Node, units: usize) {
    let units = units as u64;
    node.work(Work::Account { units });
}

/// Loads words that are in no cache.
pub fn load(node: &Node, words: usize) {
    let bytes = WORD_BYTES * words as u64;
    node.work(Work::Load { bytes });
}

pub fn copy(node: &Node, words: usize) {
    let bytes = WORD_BYTES * words as u64;
    node.work(Work::Copy { bytes });
}
