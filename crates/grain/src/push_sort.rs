//! A sort that pushes records to their places.

mod counting;
mod division;
mod finish;
mod gather;
mod item;
mod options;
mod program;
mod sampling;
mod select;
mod shape;
mod sorter;

pub use self::options::PushSort;

use node::Node;

use self::sorter::Sorter;
use crate::records::Part;

impl PushSort {
    /// Sorts this core's records together with those of all cores, which hold equally many.
    pub async fn sort(self, node: Node, keys: Vec<u64>) -> Part {
        let begin = node.now();
        if keys.is_empty() {
            return Part::default();
        }
        let mut sorter = Sorter::new(&self, &node, &keys);
        let has_groups = sorter.shape.groups.parts > 1;
        if has_groups {
            node.stage("splitters");
            let splitters = sorter.group_splitters(&node).await;
            node.stage("groups");
            sorter.push_to_groups(&node, &splitters).await;
        } else {
            node.stage("groups");
        }
        let rows = sorter.gather(&node, has_groups).await;
        sorter.push_to_cores(&node, begin, &rows).await
    }
}
