//! The faults of a trial, and when each strikes.
//!
//! The rehearsal counts the events of the sort, and up to the first strike the real run is the
//! same. So a strike can be drawn for every moment; moments near the end, where outputs get their
//! names, are drawn more often.

use std::fmt;
use std::str::FromStr;

use disk::Fault;
use machine::{Cut, Driver, Strike};
use node::Random;

use crate::{SECOND, Trial};

/// A cut that heals within this time must not end the sort: ranks count as lost after a silence of
/// `sort::protocol::SILENT_S`, 15 s, and the slowest message takes 3.
pub(crate) const HARMLESS: u64 = 10 * SECOND;

/// Longest cut that heals.
const LONG: u64 = 40 * SECOND;

/// One strike in this many is drawn from the last part of the events.
const AT_THE_END: usize = 4;

/// The last part is one event in this many.
const END: u64 = 16;

/// The faults that may happen in a trial.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// Messages arrive up to 3 s late.
    pub late: bool,
    /// A link, or all links of a node, are cut for a while or for good.
    pub cut: bool,
    /// A node dies in the middle of the sort.
    pub death: bool,
    /// A request to a disk fails.
    pub disk: bool,
}

impl Faults {
    /// The names of the faults in a list.
    pub const NAMES: [&str; 4] = ["late", "cut", "death", "disk"];

    /// All kinds of faults.
    pub const ALL: Faults = Faults {
        late: true,
        cut: true,
        death: true,
        disk: true,
    };

    fn named(&mut self) -> impl Iterator<Item = (&'static str, &mut bool)> {
        let flags = [
            &mut self.late,
            &mut self.cut,
            &mut self.death,
            &mut self.disk,
        ];
        Faults::NAMES.into_iter().zip(flags)
    }
}

impl FromStr for Faults {
    type Err = String;

    /// Reads names with commas, or `none`.
    fn from_str(list: &str) -> Result<Faults, String> {
        let mut faults = Faults::default();
        for word in list.split(',').filter(|_| list != "none") {
            let found = faults.named().find(|(name, _)| *name == word);
            let (_, is_set) = found.ok_or_else(|| {
                let names = Faults::NAMES.join(", ");
                format!("'{word}' is not a fault; give none, or a comma-separated list of {names}")
            })?;
            *is_set = true;
        }
        Ok(faults)
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut faults = *self;
        let set = faults.named().filter(|(_, is_set)| **is_set);
        let names: Vec<_> = set.map(|(name, _)| name).collect();
        out.write_str(if names.is_empty() { "none" } else { "" })?;
        out.write_str(&names.join(","))
    }
}

/// The counts of the rehearsal.
pub(crate) struct Course {
    events: u64,
    /// Disk requests of each node.
    operations: Vec<u64>,
}

impl Course {
    pub(crate) fn of(driver: &Driver, nodes: u32) -> Course {
        let operations = (0..nodes).map(|rank| driver.disks(rank).operations());
        Course {
            events: driver.events(),
            operations: operations.collect(),
        }
    }
}

/// The faults of a run.
#[derive(Debug, Default)]
pub(crate) struct Strikes {
    /// Deaths and cuts, each with the number of the event before it.
    events: Vec<(u64, Strike)>,
    /// Rank, number of the disk request that fails, and how it fails.
    disk: Option<(u32, u64, Fault)>,
}

impl Strikes {
    /// Draws each fault that may happen with a chance of two in three, so that each also comes
    /// alone.
    pub(crate) fn draw(trial: &Trial, course: &Course) -> Strikes {
        let random = &mut Random::stream(trial.seed, 1);
        let Trial { nodes, faults, .. } = *trial;
        let mut strikes = Strikes::default();
        let happens = |may: bool, random: &mut Random| may && random.below(3) > 0;
        if happens(faults.cut, random) && nodes > 1 {
            let strike = Strike::Cut(cut(nodes, random));
            strikes.add(strike, course, random);
        }
        if happens(faults.death, random) {
            let strike = Strike::Death(random.below(nodes as usize) as u32);
            strikes.add(strike, course, random);
        }
        if happens(faults.disk, random) {
            let rank = random.below(nodes as usize);
            let fault = [Fault::Device, Fault::Full, Fault::Short][random.below(3)];
            let nth = moment(course.operations[rank], random);
            strikes.disk = Some((rank as u32, nth, fault));
        }
        strikes
    }

    fn add(&mut self, strike: Strike, course: &Course, random: &mut Random) {
        self.events.push((moment(course.events, random), strike));
    }

    pub(crate) fn are_none(&self) -> bool {
        self.events.is_empty() && self.disk.is_none()
    }

    /// Schedules them for the next run of the driver.
    pub(crate) fn plan(&self, driver: &Driver) {
        for (nth, strike) in &self.events {
            match strike {
                Strike::Death(rank) => driver.kill(*rank, *nth),
                Strike::Cut(cut) => driver.cut(*cut, *nth),
            }
        }
        if let Some((rank, nth, fault)) = self.disk {
            driver.disks(rank).fail(nth, fault);
        }
    }

    /// The faults that have happened.
    pub(crate) fn struck(&self, driver: &Driver) -> Vec<&'static str> {
        let struck = driver.struck();
        let has = |is: fn(&Strike) -> bool| struck.iter().any(|(_, strike)| is(strike));
        let all = [
            ("a cut", has(|strike| matches!(strike, Strike::Cut(_)))),
            ("a death", has(|strike| matches!(strike, Strike::Death(_)))),
            ("a disk", self.disk_struck(driver)),
        ];
        let happened = all.into_iter().filter(|(_, has)| *has);
        happened.map(|(name, _)| name).collect()
    }

    /// Whether a disk request has failed.
    pub(crate) fn disk_struck(&self, driver: &Driver) -> bool {
        self.disk
            .is_some_and(|(rank, nth, _)| driver.disks(rank).operations() >= nth)
    }
}

/// The number of one of `all` events.
fn moment(all: u64, random: &mut Random) -> u64 {
    let last = if random.below(AT_THE_END) == 0 {
        all.div_ceil(END)
    } else {
        all
    };
    all - random.below(last.max(1) as usize) as u64
}

fn cut(nodes: u32, random: &mut Random) -> Cut {
    let of = random.below(nodes as usize) as u32;
    let other = (of + 1 + random.below(nodes as usize - 1) as u32) % nodes;
    let to = (random.below(2) == 0).then_some(other);
    let within = |most: u64, random: &mut Random| random.below(most as usize) as u64;
    let heals_after = match random.below(3) {
        0 => None,
        1 => Some(within(HARMLESS, random)),
        _ => Some(HARMLESS + within(LONG - HARMLESS, random)),
    };
    Cut {
        of,
        to,
        heals_after,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_have_names() {
        for bits in 0..16 {
            let mut faults = Faults::default();
            let all = faults.named().enumerate();
            all.for_each(|(bit, (_, is_set))| *is_set = bits >> bit & 1 == 1);
            assert_eq!(faults.to_string().parse(), Ok(faults));
        }
        assert_eq!(Faults::ALL.to_string(), "late,cut,death,disk");
        assert_eq!(Faults::default().to_string(), "none");
        let cut: Faults = "disk,cut".parse().unwrap();
        assert_eq!(cut.to_string(), "cut,disk");
        assert!("late,cat".parse::<Faults>().unwrap_err().contains("'cat'"));
        assert!("none,late".parse::<Faults>().is_err());
    }
}
