//! What the paper leaves open: each choice with a name, so that every reading can be run.

/// A reading of the paper. The default is the one of all figures; docs/decisions/0009 says why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// How keys come to their buckets.
    pub exchange: Exchange,
    /// Medians merged at each level of a column's tree, the merging core's own among them. As many
    /// as there are buckets, if it is left open.
    pub incast: Option<u32>,
    /// Keys that a core sends in the first shuffle before it receives as many.
    pub burst: u32,
    /// Rows of a group whose cores name borders; all, if it is left open.
    pub rows: Option<u32>,
}

impl Default for Reading {
    fn default() -> Reading {
        Reading {
            exchange: Exchange::default(),
            incast: None,
            burst: 1,
            rows: None,
        }
    }
}

/// How keys come to their buckets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Exchange {
    /// One message for each bucket to the bucket's core of the own row: a phase ends when one came
    /// from each core of the row (the program of 2021).
    #[default]
    Buckets,
    /// One message for each key to a core drawn in its bucket: a phase ends when the root of a tree
    /// knows that all keys are there (the paper's text; the end is ours).
    Keys,
}
