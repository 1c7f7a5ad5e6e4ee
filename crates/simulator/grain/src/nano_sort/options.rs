//! The options of NanoSort, among them a name for each choice that the paper leaves open.

use clap::{Args, ValueEnum};
use serde::Serialize;

use super::limits::MOST_BURST;
use super::suspects::Suspects;
use crate::described;
use crate::distribution::Distribution;
use crate::options::{ReorderBy, count, defaults, from_0};

/// Sort records over all cores, bucket by bucket (section 4, Figures 11 to 16).
///
/// Stages: `shuffle`, `level 0` and so on, `sort`, `values`, and `bounds` with --bvh.
#[derive(Args, Clone, Debug, Serialize)]
pub struct NanoSort {
    /// Records of each core: keys of 8 bytes with values of 96 bytes
    #[arg(id = "keys-per-core", long, value_name = "K")]
    #[arg(default_value_t = 16, value_parser = from_0)]
    #[serde(rename = "keys-per-core")]
    pub keys: u32,
    /// Buckets per level, at least 2
    #[arg(long, value_name = "B", default_value_t = 16, value_parser = count)]
    pub buckets: u32,
    /// Choices that the paper leaves open.
    #[command(flatten)]
    #[serde(flatten)]
    pub reading: Reading,
    /// Costs that the model leaves out.
    #[command(flatten)]
    #[serde(flatten)]
    pub suspects: Suspects,
    /// Distribution of the keys
    #[arg(long, value_enum, default_value_t)]
    pub distribution: Distribution,
    /// The numbers of nodes of a level's buckets
    #[arg(long, value_enum, default_value_t)]
    pub groups: Groups,
    /// Children of a node of the bounding volume hierarchy that is built over the sorted records:
    /// keys are Morton codes of boxes, and values have their sizes [default: none is built]
    #[arg(long, value_name = "F", value_parser = count)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bvh: Option<u32>,
    /// Where early messages are buffered
    #[arg(long, value_enum, default_value_t)]
    pub reorder: ReorderBy,
    /// Seed of the keys and of the shuffle.
    #[arg(skip = 1_u64)]
    #[serde(skip)]
    pub seed: u64,
}

described! { NanoSort is "nano-sort" on 256 cores;
    "--cores 4096 --reading text"
}

/// A reading of the paper: one by name, and its choices one by one.
#[derive(Args, Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Reading {
    /// Reading: program-june, program-july (the authors' shuffle, messages, rows and incast), text (a message
    /// for each key, pivots of all nodes), lock-step (both)
    ///
    /// A reading of the paper gives the choices below their defaults (decisions 0009 and 0028).
    #[arg(
        id = "reading",
        long = "reading",
        value_name = "NAME",
        value_enum,
        default_value_t
    )]
    #[serde(rename = "reading")]
    pub named: Named,
    /// Medians that a core of a median-tree merges at a time, its own included
    #[arg(long, value_name = "F", value_parser = count)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub incast: Option<u32>,
    /// Keys that a core sends in the first shuffle before it receives as many, 1 to 16
    #[arg(long, value_name = "N", value_parser = count)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub burst: Option<u32>,
    /// Most cores of each bucket that select pivots
    #[arg(long, value_name = "K", value_parser = count)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows: Option<u32>,
    /// Keys of a core that PivotSelect looks at, if it has as many [default: twice the buckets]
    #[arg(id = "pivot-keys", long, value_name = "L", value_parser = count)]
    #[serde(rename = "pivot-keys", skip_serializing_if = "Option::is_none")]
    pub pivot_keys: Option<u32>,
    /// How keys are sent to their buckets
    #[arg(long, visible_alias = "variant", value_enum)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exchange: Option<Exchange>,
    /// How a level with a message for each key ends, which the paper does not say [default: answers]
    #[arg(id = "phase-end", long, value_enum)]
    #[serde(rename = "phase-end", skip_serializing_if = "Option::is_none")]
    pub phase_end: Option<PhaseEnd>,
}

/// A reading, named for its source. No combination of choices of two sources has a name but lock-step.
///
/// In all of them PivotSelect looks at twice the buckets, a coin chooses between the two medians of an
/// even number, and the machine copies multicasts; decisions 0009 and 0028.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Named {
    /// The authors' program of June 2021, whose shuffle sends before it receives
    ///
    /// Bursts of 16 (that program sends all keys first; ours has room for 16), a message for each
    /// bucket, 10 cores of each bucket that select pivots, an incast of 10. PivotSelect, the median of
    /// an even number and multicast are as in all readings.
    #[default]
    ProgramJune,
    /// The same program of July 2021, whose shuffle is lock-step
    ///
    /// As program-june with --burst 1. PivotSelect, the median of an even number and multicast are as
    /// in all readings.
    ProgramJuly,
    /// The paper's text
    ///
    /// A message for each key and pivots from all cores, as the text words it. Bursts of 1, an incast of as
    /// many as there are buckets, values on request and the end of phases are ours or the program's.
    /// PivotSelect, the median of an even number and multicast are as in all readings.
    Text,
    /// Text and program, fixed before the figures were run but for the coin (decision 0009)
    ///
    /// Bursts of 1, a message for each bucket, all cores select pivots, an incast of as many as there
    /// are buckets; its pair for the multicast run was picked by figures. PivotSelect, the median of an even number and multicast are as in all readings.
    LockStep,
}

/// Cores of each bucket that select pivots, and medians that are merged at a time, in the program
/// of 2021.
const TEN: u32 = 10;

impl Default for Reading {
    fn default() -> Reading {
        defaults()
    }
}

impl From<Named> for Reading {
    fn from(named: Named) -> Reading {
        Reading {
            named,
            ..Reading::default()
        }
    }
}

impl Reading {
    /// How keys are sent to their buckets.
    pub fn exchange(self) -> Exchange {
        self.exchange.unwrap_or(match self.named {
            Named::ProgramJune | Named::ProgramJuly | Named::LockStep => Exchange::Buckets,
            Named::Text => Exchange::Keys,
        })
    }

    /// How a level ends, if there is a message for each key.
    pub(super) fn phase_end(self) -> PhaseEnd {
        self.phase_end.unwrap_or_default()
    }

    pub(super) fn burst(self) -> u32 {
        self.burst.unwrap_or(match self.named {
            Named::ProgramJune => MOST_BURST,
            Named::ProgramJuly | Named::LockStep | Named::Text => 1,
        })
    }

    /// Most cores of each bucket that select pivots; `None` for all.
    pub(super) fn rows(self) -> Option<u32> {
        self.rows.or(match self.named {
            Named::ProgramJune | Named::ProgramJuly => Some(TEN),
            Named::LockStep | Named::Text => None,
        })
    }

    /// Medians that are merged at a time, in a sort into that many buckets.
    pub(super) fn incast(self, buckets: u32) -> u32 {
        self.incast.unwrap_or(match self.named {
            Named::ProgramJune | Named::ProgramJuly => TEN,
            Named::LockStep | Named::Text => buckets,
        })
    }

    /// Keys of a core that PivotSelect looks at in a group of that many buckets. The last level may
    /// have fewer than the others.
    pub(super) fn keys_looked_at(self, buckets: u32) -> u32 {
        self.pivot_keys.unwrap_or(buckets.saturating_mul(2))
    }
}

/// The numbers of nodes of a level's buckets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Groups {
    /// Equal, as in the paper
    #[default]
    Equal,
    /// In proportion to the keys of each bucket, which a tree counts (section 4.2)
    Proportional,
}

/// How keys are sent to their buckets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Exchange {
    /// One message per bucket, to its core with the sender's index
    ///
    /// A level ends when every core of this index has sent its message (the program of 2021).
    Buckets,
    /// One message per key, to a random core of its bucket
    ///
    /// A level ends as --phase-end says (the paper's text; it does not say how a level ends).
    Keys,
}

/// How a level with a message for each key ends. Both are ours, since the paper does not say it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PhaseEnd {
    /// Each key is answered, and a tree counts the cores that have all answers
    #[default]
    Answers,
    /// A tree counts the keys of each bucket once the borders are known, and a bucket ends when its
    /// cores have received as many
    ///
    /// No key is answered. The cores of a bucket report what they have received up a tree, in waves.
    Counts,
}
