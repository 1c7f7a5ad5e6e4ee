//! The exchange on which all ranks agree, or the limit that they ask for.

use pipeline::Failure;

use super::{MIB, MOST_CONFIRMATIONS, NEVER_BYTES, Planning};
use crate::agreement::Agreement;
use crate::error::{SortError, asked};
use crate::passes::survey;
use crate::plan::{Exchanging, Plan};
use crate::ranks::division::Division;

/// The plan and the exchange that a rank proposes, and what it tells the others.
type Proposal = (Option<(Plan, Exchanging)>, Result<(u64, u64), u64>);

impl Planning<'_> {
    /// Plans the exchange of `ranges` ranges with about `even` bytes each. All ranks propose a
    /// chunk size and the smallest wins, so that chunks fit everywhere. Also returns
    /// the number of places that all ranks sample together.
    ///
    /// # Errors
    /// `TooLittleMemory` on all ranks alike, with the least limit that all of them can do with.
    pub(crate) async fn exchanging(
        &self,
        agreement: &mut Agreement,
        even: u64,
        ranges: u32,
    ) -> Result<(Exchanging, u64), Failure> {
        let (node, given) = (self.node, self.job.resources.memory_bytes);
        // The limit that refusals name, and the least limit of those who refuse.
        let (mut named, mut limit) = (0, None);
        for _ in 0..=MOST_CONFIRMATIONS {
            let tried = given.max(named);
            let proposed = self.proposal(even, ranges, tried);
            let told = proposed.map(|(own, told)| (own, told.map_err(|needed| (needed, tried))));
            let (own, all) = agreement
                .agree_and_tell(node, told.map_err(Failure::from))
                .await?;
            let refused = || all.iter().filter_map(|told| told.as_ref().err());
            if let Some(&(needed, _)) = refused().max() {
                limit = limit.or(refused().map(|&(_, tried)| tried).min());
                named = asked(needed).max(named + MIB);
                continue;
            }
            if let Some(limit) = limit {
                return Err(SortError::TooLittleMemory {
                    bytes: Some(even),
                    needed: named,
                    limit,
                    passes: "several passes",
                }
                .into());
            }
            let (plan, exchanging) = own.expect("nobody refuses");
            let (samples, chunks): (Vec<u64>, Vec<u64>) = all.into_iter().flatten().unzip();
            let chunk = chunks.into_iter().min().unwrap_or(0);
            let least = Division::places(self.job.contents.framing());
            let samples = samples.into_iter().max().unwrap_or(0).max(least);
            let places = u64::from(node.nodes()) * samples;
            return Ok((exchanging.with_chunks(&plan, ranges, chunk), places));
        }
        unreachable!("each limit is larger than the one before, and some limit does")
    }

    /// This rank's plan for a range and its exchange with another limit, if that is enough; and what it
    /// tells the others: places to sample and bytes of a chunk, or the memory that it needs.
    fn proposal(&self, even: u64, ranges: u32, limit: u64) -> Result<Proposal, SortError> {
        let job = survey::with_limit(self.job, limit);
        let planning = Planning {
            job: &job,
            ..self.clone()
        };
        let planned = planning.plan(even, None).and_then(|plan| {
            let exchanging = Exchanging::new(&plan, ranges, limit);
            exchanging.fits(limit)?;
            Ok((plan, exchanging))
        });
        match planned {
            Ok((plan, exchanging)) => {
                let told = (plan.samples as u64, exchanging.chunk_bytes as u64);
                Ok((Some((plan, exchanging)), Ok(told)))
            }
            Err(refused) => match refused.needed_memory() {
                Some(needed) if needed < NEVER_BYTES => Ok((None, Err(needed))),
                _ => Err(refused),
            },
        }
    }
}
