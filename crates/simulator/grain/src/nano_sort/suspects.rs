//! Costs that the paper's system may have had and that the model leaves out. All are off.
//!
//! They exist to be judged by all published figures (`lab run suspects`), not to be adopted because
//! one of them fits.

use std::collections::BTreeSet;

use clap::Args;
use node::{Node, Port, Rank};
use serde::Serialize;

use crate::options::{count, from_0};
use crate::program::WORD_BYTES;
use crate::work;

/// Cores whose addresses share a cache line of the program of 2021: 8 bytes each.
const CORES_OF_A_LINE: u32 = 8;

/// Words of the table that a core walks before another one has its turn: 64 lines.
const WALKED_WORDS: usize = 512;

/// A port that receives nothing.
const UNUSED: Port = Port(0);

/// Costs that the model leaves out.
#[derive(Args, Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Suspects {
    /// Bytes for each core of the cluster in a table that every core walks once at its start
    /// [default: 0]
    #[arg(id = "walked-bytes", long, value_name = "B", value_parser = from_0)]
    #[serde(rename = "walked-bytes")]
    pub walked_bytes: Option<u32>,
    /// Cache misses of the first message to each eight neighbouring cores, which share a line of the
    /// table of addresses [default: 0]
    #[arg(id = "touch-misses", long, value_name = "N", value_parser = from_0)]
    #[serde(rename = "touch-misses")]
    pub touch_misses: Option<u32>,
    /// Ticks by which cores start late at most, drawn for each [default: 0]
    #[arg(id = "start-skew", long, value_name = "TICKS", value_parser = count)]
    #[serde(rename = "start-skew")]
    pub start_skew: Option<u32>,
}

impl Suspects {
    /// A core's costs before it sorts.
    pub(super) async fn start(self, node: &Node) {
        if self != Suspects::default() {
            node.stage("start");
        }
        if let Some(most) = self.start_skew {
            let late = node.random() % u64::from(most);
            let until = node.now().after(late);
            node.bind(UNUSED).next_until(node, until).await;
        }
        if let Some(bytes) = self.walked_bytes {
            let all = u64::from(bytes) * u64::from(node.nodes());
            let mut words = all.div_ceil(WORD_BYTES) as usize;
            // In pieces, between which cores that share an L2 take turns.
            while words > 0 {
                let piece = words.min(WALKED_WORDS);
                work::load(node, piece);
                node.reach().await;
                words -= piece;
            }
        }
    }
    /// A core's costs of a message to another one; `lines` are those of its table that it has read.
    pub(super) fn touch(self, node: &Node, lines: &mut BTreeSet<u32>, to: Rank) {
        if let Some(misses) = self.touch_misses
            && lines.insert(to.0 / CORES_OF_A_LINE)
        {
            (0..misses).for_each(|_| work::load(node, CORES_OF_A_LINE as usize));
        }
    }
}
