//! The account of all ranks: the records that all of them read are those that all of them wrote
//! (guarantee 2).

use node::Time;
use pipeline::Failure;
use serde::{Deserialize, Serialize};

use crate::agreement::Agreement;
use crate::error::SortError;
use crate::passes::wiring::Run;
use crate::report::{RankReport, Report};

/// Records and checksums of a rank.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Account {
    did: RankReport,
    /// Sum of the CRC-32 of the records that it read.
    read_sum: u128,
}

/// Settles the account of a run that exchanged records, and adds all ranks to the report of this
/// one. A run alone has settled its own.
///
/// # Errors
/// When a record was lost, changed, or is there twice.
pub(crate) async fn settle(
    agreement: &mut Agreement,
    run: &Run<'_>,
    report: &mut Report,
    began: Time,
) -> Result<(), Failure> {
    let Some(exchange) = &run.exchange else {
        return Ok(());
    };
    let (node, (read_records, read_sum)) = (run.node, exchange.read.came());
    let did = RankReport {
        read_records,
        records: report.records,
        bytes: report.bytes,
        checksum: report.checksum,
        seconds: node.seconds(node.now().since(began)),
        bottleneck: report.bottleneck.to_owned(),
    };
    let account = Account { did, read_sum };
    let ((), accounts) = agreement.agree_and_tell(node, Ok(((), account))).await?;
    let records = |of: fn(&RankReport) -> u64| accounts.iter().map(|rank| of(&rank.did)).sum();
    let sum = |of: fn(&Account) -> u128| accounts.iter().map(of).fold(0, u128::wrapping_add);
    let (records_in, sum_in) = (records(|did| did.read_records), sum(|rank| rank.read_sum));
    let (records_out, sum_out) = (records(|did| did.records), sum(|rank| rank.did.checksum));
    if (records_in, sum_in) != (records_out, sum_out) {
        return Err(SortError::Lost {
            records_in,
            records_out,
            sum_in,
            sum_out,
        }
        .into());
    }
    report.ranks = accounts.into_iter().map(|account| account.did).collect();
    Ok(())
}
