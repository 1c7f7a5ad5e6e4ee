//! The account of all ranks: they have written exactly the records that they have read (guarantee
//! 2).

use std::collections::BTreeSet;

use node::Time;
use pipeline::Failure;
use record::Checksum;
use serde::{Deserialize, Serialize};

use crate::agreement::Agreement;
use crate::epochs::phase_two::Sorted;
use crate::epochs::range::KeyRange;
use crate::epochs::sorting::RankSort;
use crate::error::SortError;
use crate::files::bad_rows::BadRows;
use crate::passes::report::Outcome;
use crate::ranks::fingerprint::Part;
use crate::records::size::{Size, Sum};
use crate::records::span::check;
use crate::report::{RankReport, Report, WrittenFile};
use crate::stages::{Settled, all_there};

/// The account of a rank, as the others get it.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Account {
    did: RankReport,
    read: Sum,
    /// Blank lines that it has skipped.
    skipped: Size,
    made: Vec<Made>,
}

/// A sorted range.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Made {
    range: u32,
    /// Its records, with those that were dropped.
    sum: Sum,
    /// Records and blank lines of the whole input, according to the range's notes.
    noted: Option<(Sum, Size)>,
}

impl RankSort<'_> {
    /// Checks the account of all ranks, and returns the report of this one.
    ///
    /// # Errors
    /// When a record was lost, changed or duplicated.
    pub(crate) async fn settle(
        &self,
        agreement: &mut Agreement,
        (ranges, sorted): (&[KeyRange<'_>], &[Sorted]),
        began: Time,
    ) -> Result<Report, Failure> {
        let node = self.node;
        let mut report = self.report(ranges, sorted)?;
        let began = self.began.unwrap_or(began);
        report.seconds = node.seconds(node.now().since(began));
        let did = RankReport {
            read_records: self.read.size.records,
            records: report.records,
            bytes: report.bytes,
            checksum: report.checksum,
            seconds: report.seconds,
            bottleneck: report.bottleneck.to_owned(),
        };
        let made = ranges.iter().zip(sorted).map(|(range, sorted)| Made {
            range: range.number,
            sum: sorted.settled.sum + sorted.settled.dropped,
            noted: (range.notes.as_ref()).map(|notes| (notes.read(), notes.skipped())),
        });
        let account = Account {
            did,
            read: self.read,
            skipped: self.sifted.blank(),
            made: made.collect(),
        };
        let ((), accounts) = agreement.agree_and_tell(node, Ok(((), account))).await?;
        report.blank_lines = self.check_accounts(&accounts)?;
        if !self.job.is_alone(node) {
            report.ranks = accounts.into_iter().map(|account| account.did).collect();
        }
        Ok(report)
    }

    fn report(&self, ranges: &[KeyRange<'_>], sorted: &[Sorted]) -> Result<Report, Failure> {
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
            None => self.run(self.idle_plan(None)?, None),
        };
        // The manifest of a set lists also the rows that were set aside.
        if let Some(listed) = &run.inputs.listed
            && (self.set_aside() + self.sifted.blank()).records == 0
        {
            listed.check(Checksum(self.read.crc))?;
        }
        let mut report = run.report(self.stages.clone(), (settled, self.outcome(sorted)));
        let each = sorted.iter().map(|sorted| sorted.unevenness);
        report.unevenness = each.fold(1.0, f64::max);
        for (range, sorted) in ranges.iter().zip(sorted) {
            if let Some(notes) = &range.notes {
                let Sum { size, crc } = sorted.settled.sum;
                report.written.push(WrittenFile {
                    path: notes.site.target.clone(),
                    records: size.records,
                    checksum: crc,
                });
            }
        }
        Ok(report)
    }

    fn outcome(&self, sorted: &[Sorted]) -> Outcome {
        let outcomes = || sorted.iter().map(|sorted| &sorted.outcome);
        let first = outcomes().next();
        let reason = match (self.resume(), self.percent_resumed) {
            (None, _) => first.map_or(String::new(), |outcome| outcome.reason.clone()),
            (_, Some(percent)) => format!("resumed: {percent}% of the work was already done"),
            (_, None) => "no saved progress found: started from the beginning".to_owned(),
        };
        Outcome {
            plan: first.map_or("two-pass", |outcome| outcome.plan),
            reason,
            passes: outcomes().map(|outcome| outcome.passes).max().unwrap_or(2),
            temp_peak_bytes: outcomes().map(|outcome| outcome.temp_peak_bytes).sum(),
            runs: first.and_then(|outcome| outcome.runs),
            stripes: first.and_then(|outcome| outcome.stripes.clone()),
        }
    }

    /// Checks that every range was sorted once, and that all ranges together are the input. Returns the
    /// number of its blank lines.
    fn check_accounts(&self, accounts: &[Account]) -> Result<u64, SortError> {
        self.check_ranges(accounts)?;
        let made = || accounts.iter().flat_map(|account| &account.made);
        let read: Sum = accounts.iter().map(|account| account.read).sum();
        let out: Sum = made().map(|made| made.sum).sum();
        let noted = made().find_map(|made| made.noted);
        let skipped = match noted {
            Some((_, skipped)) => skipped,
            None => accounts.iter().map(|account| account.skipped).sum(),
        };
        let is_known = self.parts.mine.iter().all(|part| part.is_seekable());
        if is_known {
            let all: u64 = self.common.parts.iter().map(Part::out_bytes).sum();
            let bytes = all - (self.set_aside() + skipped).bytes;
            let framing = self.job.contents.framing();
            let records = if framing.is_fixed() {
                framing.size_of(bytes).records
            } else {
                // Only the bytes of lines are known in advance.
                out.size.records
            };
            let size = Size { records, bytes };
            all_there(Sum { size, ..out }, out)?;
        }
        let read_by = |made: &Made| made.noted.map_or(read, |(read, _)| read);
        made().try_for_each(|made| all_there(read_by(made), out))?;
        Ok(skipped.records)
    }

    /// Rows with mistakes, which are in no output.
    fn set_aside(&self) -> Size {
        let bad_rows = self.unfinished.bad_rows.as_ref();
        bad_rows.map(BadRows::rows).unwrap_or_default()
    }

    /// # Errors
    /// When a range was sorted twice or not at all, as ranks report it.
    fn check_ranges(&self, accounts: &[Account]) -> Result<(), SortError> {
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
