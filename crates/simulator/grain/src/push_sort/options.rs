//! The options of the sort.

use clap::Args;
use serde::Serialize;

use crate::described;
use crate::distribution::Distribution;
use crate::options::{count, from_0};

/// Sort records over all cores, pushed to their places (ours).
///
/// Stages: `splitters`, `groups`, `bands`, `cores`.
#[derive(Args, Clone, Debug, Serialize)]
pub struct PushSort {
    /// Records of each core: keys of 8 bytes with values of 96 bytes
    #[arg(id = "keys-per-core", long, value_name = "K")]
    #[arg(default_value_t = 16, value_parser = from_0)]
    #[serde(rename = "keys-per-core")]
    pub keys: u32,
    /// Most cores of a group: those behind one switch
    #[arg(long, value_name = "G", default_value_t = 256, value_parser = count)]
    pub group: u32,
    /// Samples of each group for the splitters between groups; unused with one group
    #[arg(long, value_name = "S", default_value_t = 16, value_parser = count)]
    pub samples: u32,
    /// Samples of each core for the splitters between the bands of a group; unused with one group
    #[arg(id = "row-samples", long, value_name = "S", default_value_t = 3, value_parser = count)]
    #[serde(rename = "row-samples")]
    pub row_samples: u32,
    /// Distribution of the keys
    #[arg(long, value_enum, default_value_t)]
    pub distribution: Distribution,
    /// Seed of the keys.
    #[arg(skip = 1_u64)]
    #[serde(skip)]
    pub seed: u64,
}

described! { PushSort is "push-sort" on 256 cores;
    "--cores 4096", "--cores 64K --threads 2 --trace out.json"
}
