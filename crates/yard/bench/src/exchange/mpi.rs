//! Contenders over MPI: its own exchange of all with all, and the sort's two.

use std::sync::Arc;
use std::time::Instant;

use node_mpi::{AllToAll, Session};
use sort::ExchangeKind;

use super::Load;
use super::ranks::{Ranks, mark};
use crate::host::check_memory;
use host::job::RankJob;
use terminal::ending::failure::CliFailure;
use units::amount;

/// MPI counts in 32 bits with a sign: what one call carries, in either direction, must be less.
const MOST_OF_A_CALL: usize = i32::MAX as usize;

/// `MPI_Alltoallv` over memory that has been written to.
pub struct Alltoallv {
    session: Arc<Session>,
    calls: Vec<AllToAll>,
}

impl Alltoallv {
    /// A number of calls, each with `bytes` for each other rank.
    ///
    /// # Errors
    /// More bytes than MPI can count; too little memory.
    pub fn new(job: &RankJob, bytes: usize, calls: u64) -> Result<Alltoallv, CliFailure> {
        let session = job.session().expect("the job uses MPI");
        let own = job.rank().0;
        let ranks = job.ranks();
        let all = bytes.saturating_mul(ranks as usize - 1); // of a call
        if all > MOST_OF_A_CALL {
            let most = amount((MOST_OF_A_CALL / (ranks as usize - 1)) as u64);
            let message = format!("MPI counts in 32 bits: give a --size of {most} at most");
            return Err(CliFailure::usage(message));
        }
        check_memory(2 * calls * all as u64, "--size")?;
        let lengths: Vec<usize> = (0..ranks)
            .map(|rank| if rank == own { 0 } else { bytes })
            .collect();
        let strings = |_| AllToAll {
            sent: vec![mark(own); all],
            sent_bytes: lengths.clone(),
            received: vec![0; all],
            received_bytes: lengths.clone(),
        };
        Ok(Alltoallv {
            session,
            calls: (0..calls).map(strings).collect(),
        })
    }

    /// The seconds of it.
    ///
    /// # Errors
    /// A failure of MPI; bytes that did not come as they were sent.
    pub fn exchange(&mut self, ranks: &mut Ranks) -> Result<f64, CliFailure> {
        // The bytes of an earlier run do not count.
        self.calls
            .iter_mut()
            .for_each(|strings| strings.received.fill(0));
        ranks.meet()?;
        let begin = Instant::now();
        for strings in &mut self.calls {
            let answer = self.session.all_to_all(std::mem::take(strings));
            *strings = answer.map_err(|error| CliFailure::new("network", error.to_string()))?;
        }
        let seconds = begin.elapsed().as_secs_f64();
        if self.calls.iter().all(came) {
            Ok(seconds)
        } else {
            Err(spoilt("MPI_Alltoallv"))
        }
    }
}

/// Whether each rank's bytes are where they belong.
fn came(strings: &AllToAll) -> bool {
    let mut rest = &strings.received[..];
    (0..).zip(&strings.received_bytes).all(|(rank, &bytes)| {
        let (string, others) = rest.split_at(bytes);
        rest = others;
        string.iter().all(|&byte| byte == mark(rank))
    })
}

/// The sort's own.
///
/// # Errors
/// Too little memory; chunks that did not come.
pub fn of_the_sort(ranks: &Ranks, load: Load, kind: ExchangeKind) -> Result<f64, CliFailure> {
    let Load {
        chunks,
        chunk_bytes,
        ..
    } = load;
    let exchanged = ranks.exchange(sort::alone::Load {
        kind,
        chunks,
        chunk_bytes,
    })?;
    let of = |rank: u32| exchanged.from.iter().filter(|&&from| from == rank).count() as u64;
    if ranks.others().all(|rank| of(rank) == chunks) {
        Ok(exchanged.seconds)
    } else {
        Err(spoilt(kind.name()))
    }
}

/// Bytes did not come as they were sent.
pub fn spoilt(what: &str) -> CliFailure {
    let message = format!("{what} did not bring what was sent: please test memory and network");
    CliFailure::new("bug", message)
}
