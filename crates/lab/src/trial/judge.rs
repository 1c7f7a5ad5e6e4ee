//! What must hold whatever happens (docs/guarantees.md): of a run in which nothing did, and of one
//! in which it did.

use std::path::{Path, PathBuf};

use machine::{Driver, Strike};
use sort::protocol::{CHUNKS, window};

use super::draw::{Case, INPUT, OUTPUT};
use super::strike::{HARMLESS, Strikes};
use super::{End, Ran, SECOND, Trial, What, Wrong};

/// All who live have ended so soon after what happened: 15 s of silence until it is noticed, what
/// is late, and disks that are slow.
const ENDED: u64 = 30 * SECOND;

/// Judges the runs of a trial.
pub(super) struct Judge<'a> {
    pub trial: &'a Trial,
    pub case: &'a Case,
    /// The outputs of the rehearsal.
    pub parts: Vec<Option<Vec<u8>>>,
}

impl Judge<'_> {
    /// A run of nodes to which nothing has ever happened.
    pub(super) fn first(&self, ran: &Ran<'_>) -> Result<(), Wrong> {
        self.whole(ran)?;
        self.left(ran, |_, _| false)
    }

    /// A run of nodes to which something has happened before: what it has left is swept, but where
    /// nothing is spilled any more.
    pub(super) fn again(&self, ran: &Ran<'_>) -> Result<(), Wrong> {
        self.whole(ran)?;
        self.left(ran, |_, path| {
            let directory = path.parent().unwrap_or(Path::new("/"));
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            self.case.job.temporary.iter().any(|tmp| tmp == directory)
                && name.starts_with(".gristmill-")
        })
    }

    /// A run in which nothing happens succeeds.
    fn whole(&self, ran: &Ran<'_>) -> Result<(), Wrong> {
        self.flooded(ran)?;
        for end in &ran.ends {
            if let Err(failure) = &end.sorted {
                return Err(ran.wrong(What::Fails, format!("rank {}: {failure}", end.rank)));
            }
        }
        self.sorted(ran)?;
        self.inputs(ran)
    }

    /// A run to which these things may have happened succeeds, or fails as it should.
    pub(super) fn struck(&self, ran: &Ran<'_>, strikes: &Strikes) -> Result<(), Wrong> {
        self.flooded(ran)?;
        self.inputs(ran)?;
        let struck = ran.driver.struck();
        let is_dead = |rank| {
            struck
                .iter()
                .any(|(_, strike)| *strike == Strike::Death(rank))
        };
        // What a sort has done that can be gone on with stays until it is done.
        let failed = ran.ends.len() < self.case.parts.len()
            || ran.ends.iter().any(|end| end.sorted.is_err());
        let is_kept = |path: &Path| {
            let name = path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            self.case.job.resume.is_some() && failed && !name.ends_with(".tmp")
        };
        self.left(ran, |rank, path| is_dead(rank) || is_kept(path))?;
        if ran.ends.iter().any(|end| end.sorted.is_ok()) {
            // Who has heard that all are done has heard it of all.
            self.sorted(ran)?;
        }
        self.old_or_new(ran)?;
        let Some(failed) = ran.ends.iter().find(|end| end.sorted.is_err()) else {
            return Ok(());
        };
        for End { rank, sorted, .. } in &ran.ends {
            let failure = sorted
                .as_ref()
                .err()
                .filter(|why| !why.contains("rank ") && !why.contains('/'));
            if let Some(failure) = failure {
                return Err(ran.wrong(What::Nameless, format!("rank {rank}: {failure}")));
            }
        }
        let may_fail = |strike: &Strike| match strike {
            Strike::Death(_) => true,
            Strike::Cut(cut) => cut.heals_after.is_none_or(|after| after >= HARMLESS),
        };
        let by_disk = strikes.disk_struck(ran.driver);
        let Some(last) = struck
            .iter()
            .filter(|(_, strike)| may_fail(strike))
            .map(|(at, _)| *at)
            .max()
        else {
            let why = failed.sorted.as_ref().err().cloned().unwrap_or_default();
            let how = format!("rank {}: {why}", failed.rank);
            return if by_disk {
                Ok(())
            } else {
                Err(ran.wrong(What::Fails, how))
            };
        };
        // When a disk failed nobody knows: it may have been later.
        match ran
            .ends
            .iter()
            .filter(|_| !by_disk)
            .find(|end| end.at > last.after(ENDED))
        {
            Some(end) => {
                let seconds = end.at.since(last) as f64 / SECOND as f64;
                Err(ran.wrong(What::Late, format!("rank {} after {seconds} s", end.rank)))
            }
            None => Ok(()),
        }
    }

    /// After the power has failed everywhere inputs are what they were, and outputs are what they
    /// were if they were new.
    pub(super) fn power_failure(&self, ran: &Ran<'_>) -> Result<(), Wrong> {
        let before = self.case.outputs(ran.driver);
        for rank in 0..self.trial.nodes {
            ran.driver.disks(rank).crash(self.trial.seed);
        }
        self.inputs(ran)?;
        for (rank, (before, after)) in before
            .iter()
            .zip(&self.case.outputs(ran.driver))
            .enumerate()
        {
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

    /// All outputs together are the sorted records.
    fn sorted(&self, ran: &Ran<'_>) -> Result<(), Wrong> {
        let outputs = self.case.outputs(ran.driver);
        if let Some(rank) = outputs.iter().position(Option::is_none) {
            return Err(ran.wrong(
                What::Gone,
                format!("rank {rank} has no new one, and others are done"),
            ));
        }
        let all: Vec<u8> = outputs.into_iter().flatten().flatten().collect();
        if all == self.case.sorted {
            return Ok(());
        }
        let (found, expected) = (all.len(), self.case.sorted.len());
        Err(ran.wrong(
            What::Output,
            format!("{found} bytes in all are not the {expected} sorted ones"),
        ))
    }

    /// Each output that is new is complete.
    fn old_or_new(&self, ran: &Ran<'_>) -> Result<(), Wrong> {
        for (rank, output) in self.case.outputs(ran.driver).iter().enumerate() {
            let Some(bytes) = output else { continue };
            if self.parts[rank].as_ref() != Some(bytes) && !self.is_a_part(ran.driver, bytes) {
                return Err(ran.wrong(What::Output, format!("rank {rank}: {} bytes", bytes.len())));
            }
        }
        Ok(())
    }

    /// Whether a rank may have got these records: after a cut that has healed the keys may be
    /// divided otherwise than in the rehearsal.
    fn is_a_part(&self, driver: &Driver, bytes: &[u8]) -> bool {
        let may_differ = driver
            .struck()
            .iter()
            .any(|(_, strike)| matches!(strike, Strike::Cut(_)));
        let record = self.case.job.contents.record_bytes();
        let places = (0..=self.case.sorted.len()).step_by(record);
        may_differ
            && places
                .map(|at| &self.case.sorted[at..])
                .any(|rest| rest.starts_with(bytes))
    }

    fn inputs(&self, ran: &Ran<'_>) -> Result<(), Wrong> {
        for (rank, part) in (0..).zip(&self.case.parts) {
            if ran.driver.disks(rank).get(Path::new(INPUT)).as_ref() != Some(part) {
                return Err(ran.wrong(What::Input, format!("rank {rank}")));
            }
        }
        Ok(())
    }

    /// There is nothing but input and output, and what may be there.
    fn left(&self, ran: &Ran<'_>, may_be: impl Fn(u32, &Path) -> bool) -> Result<(), Wrong> {
        let ours = [INPUT, OUTPUT].map(PathBuf::from);
        for rank in 0..self.trial.nodes {
            let paths = ran.driver.disks(rank).paths();
            let other = paths
                .iter()
                .find(|path| !ours.contains(path) && !may_be(rank, path));
            if let Some(path) = other {
                return Err(ran.wrong(What::Left, format!("{} on rank {rank}", path.display())));
            }
        }
        Ok(())
    }

    /// A rank has so many chunks on their way to another as it has credits, and at the end the word
    /// that it was all.
    fn flooded(&self, ran: &Ran<'_>) -> Result<(), Wrong> {
        let room = window(self.case.job.exchange) + 1;
        let most = ran.driver.most_waiting(CHUNKS);
        let how = || format!("{most} chunks of one rank, where there is room for {room}");
        if most <= room {
            Ok(())
        } else {
            Err(ran.wrong(What::Flooded, how()))
        }
    }
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
