//! What the paper leaves open: each choice with a name, so that every reading can be run.

use clap::{Args, ValueEnum};
use serde::Serialize;

use crate::options::{count, defaults};

/// A reading of the paper. The default is the one of all figures; docs/decisions/0009 says why.
#[derive(Args, Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Reading {
    /// Medians merged at each level of a column's tree, the merging core's own among them
    /// [default: the number of buckets]
    #[arg(long, value_name = "F", value_parser = count)]
    pub incast: Option<u32>,
    /// Keys that a core sends in the first shuffle before it receives as many, 1 to 16
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = count)]
    pub burst: u32,
    /// Rows of a group whose cores name borders [default: all]
    #[arg(long, value_name = "K", value_parser = count)]
    pub rows: Option<u32>,
    /// How keys come to their buckets
    #[arg(long, visible_alias = "variant", value_enum, default_value_t)]
    pub exchange: Exchange,
}

impl Default for Reading {
    fn default() -> Reading {
        defaults()
    }
}

/// How keys come to their buckets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Exchange {
    /// One message for each bucket, to the bucket's core of the own row
    ///
    /// A phase ends when one message came from each core of the row (the program of 2021).
    #[default]
    Buckets,
    /// One message for each key, to a core drawn in its bucket
    ///
    /// A phase ends when the root of a tree knows that all keys are there (the paper's text; the
    /// end is ours).
    Keys,
}
