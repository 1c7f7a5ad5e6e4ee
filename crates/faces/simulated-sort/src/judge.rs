//! The rules for a run without faults, and for one with faults (docs/guarantees.md).

use std::path::{Path, PathBuf};

use machine::{Driver, Strike};
use node::Time;
use sort::protocol::{CHUNKS, SILENT_S, window};

use crate::draw::{Case, INPUT, OUTPUT};
use crate::strike::{HARMLESS, Strikes};
use crate::{Ran, SECOND, Trial, What, Wrong};

/// Most time from the last fault to the end on all live nodes: the silence until the failure is
/// noticed, and as long for late messages and slow disks.
const ENDED: u64 = 2 * SILENT_S as u64 * SECOND;

/// Judges the runs of a trial.
pub(crate) struct Judge<'a> {
    pub trial: &'a Trial,
    pub case: &'a Case,
    /// Outputs of the rehearsal.
    pub parts: Vec<Option<Vec<u8>>>,
}

impl Judge<'_> {
    /// Judges the rehearsal, which leaves nothing behind.
    pub(crate) fn check_first(&self, ran: &Ran<'_>) -> Result<(), Wrong> {
        self.check_whole(ran)?;
        self.check_leftovers(ran, |_, _| false)
    }

    /// A run after faults. It sweeps the leftovers, except in temporary directories, where it may
    /// spill nothing.
    pub(crate) fn check_again(&self, ran: &Ran<'_>) -> Result<(), Wrong> {
        self.check_whole(ran)?;
        self.check_leftovers(ran, |_, path| {
            let temporary = &self.case.job.temporary;
            temporary.iter().any(|tmp| path.parent() == Some(tmp))
                && name_of(path).starts_with(".gristmill-")
        })
    }

    /// A run without faults: it succeeds.
    fn check_whole(&self, ran: &Ran<'_>) -> Result<(), Wrong> {
        self.check_flooded(ran)?;
        for end in &ran.ends {
            if let Err(failure) = &end.sorted {
                return Err(ran.wrong(What::Fails, format!("rank {}: {failure}", end.rank)));
            }
        }
        self.check_sorted(ran)?;
        self.check_inputs(ran)
    }

    /// A run with faults: it succeeds, or fails as it should.
    pub(crate) fn check_struck(&self, ran: &Ran<'_>, strikes: &Strikes) -> Result<(), Wrong> {
        self.check_flooded(ran)?;
        self.check_inputs(ran)?;
        self.check_leftovers_after_faults(ran)?;
        if ran.ends.iter().any(|end| end.sorted.is_ok()) {
            // A rank reports overall success only after hearing from every rank.
            self.check_sorted(ran)?;
        }
        self.check_old_or_new(ran)?;
        check_named(ran)?;
        match first_failure(ran) {
            Some(failure) => self.check_explained(ran, strikes, failure),
            None => Ok(()),
        }
    }

    /// Whether a rank has failed, or is dead.
    pub(crate) fn has_failed(&self, ran: &Ran<'_>) -> bool {
        ran.ends.len() < self.case.parts.len() || first_failure(ran).is_some()
    }

    /// Dead nodes leave files behind, and a failed sort that can be resumed leaves its progress.
    fn check_leftovers_after_faults(&self, ran: &Ran<'_>) -> Result<(), Wrong> {
        let struck = ran.driver.struck();
        let is_dead = |rank| struck.iter().any(|(_, it)| *it == Strike::Death(rank));
        let resumable = self.case.job.resume.is_some() && self.has_failed(ran);
        self.check_leftovers(ran, |rank, path| {
            is_dead(rank) || (resumable && !name_of(path).ends_with(".tmp"))
        })
    }

    /// A fault explains the failure, and the run ended soon after it.
    fn check_explained(
        &self,
        ran: &Ran<'_>,
        strikes: &Strikes,
        failure: String,
    ) -> Result<(), Wrong> {
        // It is unknown when a disk failed: that may have been last.
        let by_disk = strikes.disk_struck(ran.driver);
        match last_fault(ran.driver) {
            _ if by_disk => Ok(()),
            Some(last) => check_in_time(ran, last),
            None => Err(ran.wrong(What::Fails, failure)),
        }
    }

    /// A power failure of all nodes: inputs are unchanged, and new outputs are still there.
    pub(crate) fn power_failure(&self, ran: &Ran<'_>) -> Result<(), Wrong> {
        let before = self.case.outputs(ran.driver);
        for rank in 0..self.trial.nodes {
            ran.driver.disks(rank).crash(self.trial.seed);
        }
        self.check_inputs(ran)?;
        let after = self.case.outputs(ran.driver);
        for (rank, (before, after)) in before.iter().zip(&after).enumerate() {
            let what = if before.is_some() {
                What::Gone
            } else {
                What::Output
            };
            if before != after {
                return Err(ran.wrong(what, format!("rank {rank}, after a power failure")));
            }
        }
        Ok(())
    }

    /// The outputs of all ranks together are the sorted records.
    fn check_sorted(&self, ran: &Ran<'_>) -> Result<(), Wrong> {
        let outputs = self.case.outputs(ran.driver);
        if let Some(rank) = outputs.iter().position(Option::is_none) {
            let how = format!("rank {rank} has no new one, and others are done");
            return Err(ran.wrong(What::Gone, how));
        }
        let all: Vec<u8> = outputs.into_iter().flatten().flatten().collect();
        if all == self.case.sorted {
            return Ok(());
        }
        let (found, expected) = (all.len(), self.case.sorted.len());
        let how = format!("{found} bytes in all are not the {expected} sorted ones");
        Err(ran.wrong(What::Output, how))
    }

    /// Every new output is complete.
    fn check_old_or_new(&self, ran: &Ran<'_>) -> Result<(), Wrong> {
        for (rank, output) in self.case.outputs(ran.driver).iter().enumerate() {
            let Some(bytes) = output else { continue };
            if self.parts[rank].as_ref() != Some(bytes) && !self.is_a_part(ran.driver, bytes) {
                return Err(ran.wrong(What::Output, format!("rank {rank}: {} bytes", bytes.len())));
            }
        }
        Ok(())
    }

    /// Whether a rank may own these records: a cut that heals can change the division of the keys.
    fn is_a_part(&self, driver: &Driver, bytes: &[u8]) -> bool {
        let struck = driver.struck();
        let mut strikes = struck.iter().map(|(_, strike)| strike);
        let may_differ = strikes.any(|strike| matches!(strike, Strike::Cut(_)));
        let record = self.case.job.contents.framing().longest();
        let mut starts = (0..=self.case.sorted.len()).step_by(record);
        may_differ && starts.any(|at| self.case.sorted[at..].starts_with(bytes))
    }

    fn check_inputs(&self, ran: &Ran<'_>) -> Result<(), Wrong> {
        for (rank, part) in (0..).zip(&self.case.parts) {
            if ran.driver.disks(rank).get(Path::new(INPUT)).as_ref() != Some(part) {
                return Err(ran.wrong(What::Input, format!("rank {rank}")));
            }
        }
        Ok(())
    }

    /// No files besides input, output and those that may be there.
    fn check_leftovers(
        &self,
        ran: &Ran<'_>,
        may_be: impl Fn(u32, &Path) -> bool,
    ) -> Result<(), Wrong> {
        let ours = [INPUT, OUTPUT].map(PathBuf::from);
        for rank in 0..self.trial.nodes {
            let paths = ran.driver.disks(rank).paths();
            let mut others = paths.iter().filter(|path| !ours.contains(path));
            if let Some(path) = others.find(|path| !may_be(rank, path)) {
                return Err(ran.wrong(What::Left, format!("{} on rank {rank}", path.display())));
            }
        }
        Ok(())
    }

    /// A rank has at most as many chunks under way to another as it has credits, and a last
    /// message.
    fn check_flooded(&self, ran: &Ran<'_>) -> Result<(), Wrong> {
        let room = window(self.case.job.exchange) + 1;
        let most = ran.driver.most_waiting(CHUNKS);
        if most <= room {
            return Ok(());
        }
        let how = format!("{most} chunks of one rank, where there is room for {room}");
        Err(ran.wrong(What::Flooded, how))
    }
}

/// The first rank that failed, and why.
fn first_failure(ran: &Ran<'_>) -> Option<String> {
    let mut failures = ran.ends.iter().filter_map(|end| {
        let why = end.sorted.as_ref().err()?;
        Some(format!("rank {}: {why}", end.rank))
    });
    failures.next()
}

/// Every failure names a rank or a file.
fn check_named(ran: &Ran<'_>) -> Result<(), Wrong> {
    for end in &ran.ends {
        match &end.sorted {
            Err(why) if !why.contains("rank ") && !why.contains('/') => {
                return Err(ran.wrong(What::Nameless, format!("rank {}: {why}", end.rank)));
            }
            _ => {}
        }
    }
    Ok(())
}

/// When the last fault happened that may end a sort.
fn last_fault(driver: &Driver) -> Option<Time> {
    let may_fail = |strike: &Strike| match strike {
        Strike::Death(_) => true,
        Strike::Cut(cut) => cut.heals_after.is_none_or(|after| after >= HARMLESS),
    };
    let struck = driver.struck();
    let ends = struck.iter().filter(|(_, strike)| may_fail(strike));
    ends.map(|(at, _)| *at).max()
}

fn check_in_time(ran: &Ran<'_>, last: Time) -> Result<(), Wrong> {
    let latest = last.after(ENDED);
    let Some(end) = ran.ends.iter().find(|end| end.at > latest) else {
        return Ok(());
    };
    let seconds = end.at.since(last) as f64 / SECOND as f64;
    Err(ran.wrong(What::Late, format!("rank {} after {seconds} s", end.rank)))
}

fn name_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

impl Ran<'_> {
    fn wrong(&self, what: What, how: String) -> Wrong {
        Wrong {
            run: self.name,
            what,
            how,
        }
    }
}
