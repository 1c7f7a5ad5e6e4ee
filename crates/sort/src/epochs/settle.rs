//! The account of all ranks: the records that all of them read are those that all of them wrote
//! (guarantee 2).

use std::collections::BTreeSet;

use node::Time;
use pipeline::Failure;
use record::Checksum;
use serde::{Deserialize, Serialize};

use crate::agreement::Agreement;
use crate::epochs::checkpoint::{Checkpoint, Sum};
use crate::epochs::phase_two::Sorted;
use crate::epochs::range::Range;
use crate::epochs::sorting::Sorting;
use crate::error::SortError;
use crate::passes::report::Outcome;
use crate::records::span::check;
use crate::report::{RankReport, Report, Written};
use crate::stages::Settled;

/// What a rank tells the others of its work.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Account {
    did: RankReport,
    /// Sum of the CRC-32 of the records that it read.
    read_crc: u128,
    made: Vec<Made>,
}

/// A sorted range.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Made {
    range: u32,
    sum: Sum,
    /// The records of all parts of the input, as the notes of this range have them.
    read: Option<Sum>,
}

impl Sorting<'_> {
    /// The report of this rank, once the account of all ranks is settled.
    ///
    /// # Errors
    /// When a record was lost, changed, or is there twice.
    pub(crate) async fn settle(
        &self,
        agreement: &mut Agreement,
        (ranges, sorted): (&[Range<'_>], &[Sorted]),
        began: Time,
    ) -> Result<Report, Failure> {
        let node = self.node;
        let mut report = self.report(ranges, sorted)?;
        let began = self.began.unwrap_or(began);
        report.seconds = node.seconds(node.now().since(began));
        let did = RankReport {
            read_records: self.read.records,
            records: report.records,
            bytes: report.bytes,
            checksum: report.checksum,
            seconds: report.seconds,
            bottleneck: report.bottleneck.to_owned(),
        };
        let made = ranges.iter().zip(sorted).map(|(range, sorted)| Made {
            range: range.number,
            sum: sorted.sum(),
            read: range.notes.as_ref().map(Checkpoint::read),
        });
        let account = Account {
            did,
            read_crc: self.read.crc,
            made: made.collect(),
        };
        let ((), accounts) = agreement.agree_and_tell(node, Ok(((), account))).await?;
        self.is_all(&accounts)?;
        if self.resume().is_some() || node.nodes() > 1 {
            report.ranks = accounts.into_iter().map(|account| account.did).collect();
        }
        Ok(report)
    }

    /// This rank's ranges as one.
    fn report(&self, ranges: &[Range<'_>], sorted: &[Sorted]) -> Result<Report, Failure> {
        let contents = &*self.job.contents;
        let mut settled = Settled {
            sample: self.sample,
            ..Settled::default()
        };
        sorted
            .iter()
            .for_each(|sorted| settled.add(&sorted.settled));
        let spans: Vec<_> = sorted.iter().flat_map(|sorted| &sorted.spans).collect();
        for pair in spans.windows(2) {
            check(pair[0], pair[1], contents)?;
        }
        let one = ranges.iter().find(|range| range.run.output.is_some());
        let run = match one.or(ranges.first()) {
            Some(range) => range.run.clone(),
            None => self.run(self.idle(None)?, None),
        };
        if let Some(listed) = &run.inputs.listed {
            listed.check(Checksum(self.read.crc))?;
        }
        let outcomes = || sorted.iter().map(|sorted| &sorted.outcome);
        let first = outcomes().next();
        let mut outcome = Outcome {
            plan: first.map_or("two-pass", |outcome| outcome.plan),
            reason: first.map_or(String::new(), |outcome| outcome.reason.clone()),
            passes: outcomes().map(|outcome| outcome.passes).max().unwrap_or(2),
            temp_peak_bytes: outcomes().map(|outcome| outcome.temp_peak_bytes).sum(),
            runs: first.and_then(|outcome| outcome.runs),
        };
        if self.resume().is_some() {
            let total = self.parts.total();
            outcome.reason = match self.resumed {
                true => format!("went on with what was kept of {total} records"),
                false => "began anew: nothing was kept of an earlier run".to_owned(),
            };
        }
        let mut report = run.report(self.stages.clone(), (settled, outcome));
        let each = sorted.iter().map(|sorted| sorted.unevenness);
        report.unevenness = each.fold(1.0, f64::max);
        for (range, sorted) in ranges.iter().zip(sorted) {
            if let Some(notes) = &range.notes {
                let Sum { records, crc } = sorted.sum();
                let path = notes.site.target.clone();
                report.written.push(Written {
                    path,
                    records,
                    checksum: crc,
                });
            }
        }
        Ok(report)
    }

    /// Every range is there once, and all of them are the records that were read.
    fn is_all(&self, accounts: &[Account]) -> Result<(), SortError> {
        let made: Vec<&Made> = accounts.iter().flat_map(|account| &account.made).collect();
        let (mut read, mut out) = (Sum::default(), Sum::default());
        for Account { did, read_crc, .. } in accounts {
            read.add(Sum {
                records: did.read_records,
                crc: *read_crc,
            });
        }
        self.is_each_range_there(accounts)?;
        made.iter().for_each(|made| out.add(made.sum));
        let records: u64 = self.common.parts.iter().map(|part| part.records).sum();
        let is_known = self.parts.mine.iter().all(|part| part.is_seekable());
        let is_whole = |read: Sum| read == out && (!is_known || records == out.records);
        let each = made.iter().map(|made| made.read.unwrap_or(read));
        match each.into_iter().find(|read| !is_whole(*read)) {
            None => Ok(()),
            Some(read) => Err(SortError::Lost {
                records_in: read.records,
                records_out: out.records,
                sum_in: read.crc,
                sum_out: out.crc,
            }),
        }
    }

    /// # Errors
    /// When a range was sorted twice or by no rank, as far as ranks tell.
    fn is_each_range_there(&self, accounts: &[Account]) -> Result<(), SortError> {
        let ranges = self.common.parts.len();
        let mut seen = BTreeSet::new();
        for (rank, account) in (0..).zip(accounts) {
            for made in &account.made {
                if made.range as usize >= ranges || !seen.insert(made.range) {
                    let what = format!("it has sorted range {} of {ranges}", made.range);
                    return Err(SortError::Foreign { rank, what });
                }
            }
        }
        if seen.len() < ranges {
            let what = format!("{} of {ranges} ranges were sorted", seen.len());
            return Err(SortError::Foreign { rank: 0, what });
        }
        Ok(())
    }
}

impl Sorted {
    pub(crate) fn sum(&self) -> Sum {
        Sum {
            records: self.settled.records,
            crc: self.settled.checksum,
        }
    }
}
