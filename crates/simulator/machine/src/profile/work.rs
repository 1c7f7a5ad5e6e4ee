//! The `[work]` table of a profile: the costs of work on a core.

use node::Costs;
use serde::{Deserialize, Deserializer};

use super::unit;

/// The keys of the table, for the fields of `Costs`.
#[derive(Deserialize)]
#[serde(remote = "Costs", deny_unknown_fields)]
struct Work {
    #[serde(rename = "scan_word_cycles", deserialize_with = "unit::cost")]
    scan: u64,
    #[serde(rename = "load_line_cycles", deserialize_with = "unit::cost")]
    load: u64,
    #[serde(deserialize_with = "unit::cache")]
    cache_bytes: u64,
    #[serde(rename = "sort_key_level_cycles", deserialize_with = "unit::cost")]
    sort: u64,
    #[serde(rename = "select_key_cycles", deserialize_with = "unit::cost")]
    select: u64,
    #[serde(rename = "classify_record_cycles", deserialize_with = "unit::cost")]
    classify: u64,
    #[serde(rename = "bucket_key_cycles", deserialize_with = "unit::cost")]
    bucket: u64,
    #[serde(rename = "bucket_splitter_cycles", deserialize_with = "unit::cost")]
    splitter: u64,
    #[serde(rename = "hash_key_cycles", deserialize_with = "unit::cost")]
    hash: u64,
    #[serde(rename = "copy_line_cycles", deserialize_with = "unit::cost")]
    copy: u64,
    #[serde(rename = "checksum_line_cycles", deserialize_with = "unit::cost")]
    checksum: u64,
    #[serde(rename = "account_unit_cycles", deserialize_with = "unit::cost")]
    account: u64,
}

pub(super) fn costs<'de, D: Deserializer<'de>>(from: D) -> Result<Costs, D::Error> {
    Work::deserialize(from)
}
