//! The account of all ranks: what all of them read is what all of them wrote (guarantee 2).

use serde::{Deserialize, Serialize};

use crate::error::SortError;
use crate::report::RankReport;

/// What a rank read and wrote.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Account {
    pub did: RankReport,
    /// Sum of the CRC-32 of what it read.
    pub read_sum: u128,
}

/// # Errors
/// When some record was lost, changed, or is there twice.
pub(crate) fn settle(accounts: &[Account]) -> Result<(), SortError> {
    let records = |of: fn(&RankReport) -> u64| accounts.iter().map(|rank| of(&rank.did)).sum();
    let sum = |of: fn(&Account) -> u128| accounts.iter().map(of).fold(0, u128::wrapping_add);
    let (records_in, sum_in) = (records(|did| did.read_records), sum(|rank| rank.read_sum));
    let (records_out, sum_out) = (records(|did| did.records), sum(|rank| rank.did.checksum));
    match (records_in, sum_in) == (records_out, sum_out) {
        true => Ok(()),
        false => Err(SortError::Lost {
            records_in,
            records_out,
            sum_in,
            sum_out,
        }),
    }
}
