//! What happens to the nodes of a trial: which faults there are, and when each strikes.
//!
//! A rehearsal tells how many events the sort has, and up to the first strike the real run is the
//! same; so every moment of it is drawn, and those at its end, where outputs get their names, more
//! often.

use std::fmt;
use std::str::FromStr;

use machine::{Cut, Driver, Fault, Strike};
use node::Random;
use serde::{Serialize, Serializer};

use super::{SECOND, Trial};

/// A link that is whole again after so long must not have ended the sort: ranks have failed when
/// they are silent for 15 s, and the slowest message takes 3.
pub(super) const HARMLESS: u64 = 10 * SECOND;

/// A cut that heals does so within this.
const LONG: u64 = 40 * SECOND;

/// One strike in so many is drawn from the last part of the sort, which is one in so many events.
const AT_THE_END: usize = 4;
const END: u64 = 16;

/// What may happen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// Messages come late.
    pub late: bool,
    /// A link, or all links of a node, are cut; for ever or for a while.
    pub cut: bool,
    /// A node dies.
    pub death: bool,
    /// An operation of a disk fails.
    pub disk: bool,
}

impl Faults {
    /// Their names, in their order.
    pub const NAMES: [&str; 4] = ["late", "cut", "death", "disk"];

    /// All of them.
    pub const ALL: Faults = Faults {
        late: true,
        cut: true,
        death: true,
        disk: true,
    };

    fn named(&mut self) -> [(&'static str, &mut bool); 4] {
        let [late, cut, death, disk] = Faults::NAMES;
        [
            (late, &mut self.late),
            (cut, &mut self.cut),
            (death, &mut self.death),
            (disk, &mut self.disk),
        ]
    }
}

impl FromStr for Faults {
    type Err = String;

    /// A list of names, with commas; or `none`.
    fn from_str(list: &str) -> Result<Faults, String> {
        let mut faults = Faults::default();
        for word in list.split(',').filter(|_| list != "none") {
            let mut named = faults.named().into_iter();
            let (_, is_set) = named.find(|(name, _)| *name == word).ok_or_else(|| {
                let names = Faults::NAMES.join(", ");
                format!("there is no fault '{word}'; a list of {names}, with commas, or none")
            })?;
            *is_set = true;
        }
        Ok(faults)
    }
}

impl Serialize for Faults {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut faults = *self;
        let named = faults.named().into_iter().filter(|(_, is_set)| **is_set);
        let names: Vec<_> = named.map(|(name, _)| name).collect();
        if names.is_empty() {
            out.write_str("none")
        } else {
            out.write_str(&names.join(","))
        }
    }
}

/// What a rehearsal counted.
pub(super) struct Course {
    events: u64,
    /// Operations of each node's disks.
    operations: Vec<u64>,
}

impl Course {
    pub(super) fn of(driver: &Driver, nodes: u32) -> Course {
        let operations = (0..nodes)
            .map(|rank| driver.disks(rank).operations())
            .collect();
        Course {
            events: driver.events(),
            operations,
        }
    }
}

/// What is to happen in a run.
#[derive(Debug, Default)]
pub(super) struct Strikes {
    /// After which events.
    events: Vec<(u64, Strike)>,
    /// Of which node which operation of a disk fails, and how.
    disk: Option<(u32, u64, Fault)>,
}

impl Strikes {
    pub(super) fn draw(trial: &Trial, course: &Course) -> Strikes {
        let mut random = Random::stream(trial.seed, 1);
        let Trial { nodes, faults, .. } = *trial;
        let mut strikes = Strikes::default();
        // Of the faults that there are some do not happen, so that each is also seen alone.
        let happens = |may: bool, random: &mut Random| may && random.below(3) > 0;
        if happens(faults.cut, &mut random) && nodes > 1 {
            let strike = Strike::Cut(cut(nodes, &mut random));
            strikes
                .events
                .push((moment(course.events, &mut random), strike));
        }
        if happens(faults.death, &mut random) {
            let strike = Strike::Death(random.below(nodes as usize) as u32);
            strikes
                .events
                .push((moment(course.events, &mut random), strike));
        }
        if happens(faults.disk, &mut random) {
            let rank = random.below(nodes as usize);
            let fault = [Fault::Device, Fault::Full, Fault::Short][random.below(3)];
            strikes.disk = Some((
                rank as u32,
                moment(course.operations[rank], &mut random),
                fault,
            ));
        }
        strikes
    }

    pub(super) fn are_none(&self) -> bool {
        self.events.is_empty() && self.disk.is_none()
    }

    /// Lets them happen in the driver's next run.
    pub(super) fn plan(&self, driver: &Driver) {
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

    /// What has happened, by its names.
    pub(super) fn struck(&self, driver: &Driver) -> Vec<&'static str> {
        let struck = driver.struck();
        let cut = struck
            .iter()
            .any(|(_, strike)| matches!(strike, Strike::Cut(_)));
        let death = struck
            .iter()
            .any(|(_, strike)| matches!(strike, Strike::Death(_)));
        let all = [
            ("a cut", cut),
            ("a death", death),
            ("a disk", self.disk_struck(driver)),
        ];
        all.into_iter()
            .filter(|(_, has)| *has)
            .map(|(name, _)| name)
            .collect()
    }

    /// Whether a disk has failed.
    pub(super) fn disk_struck(&self, driver: &Driver) -> bool {
        self.disk
            .is_some_and(|(rank, nth, _)| driver.disks(rank).operations() >= nth)
    }
}

/// One of so many.
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
    fn faults_are_named() {
        for bits in 0..16 {
            let mut faults = Faults::default();
            let all = faults.named().into_iter().enumerate();
            all.for_each(|(bit, (_, is_set))| *is_set = bits >> bit & 1 == 1);
            assert_eq!(faults.to_string().parse(), Ok(faults));
        }
        assert_eq!(Faults::ALL.to_string(), "late,cut,death,disk");
        assert_eq!(Faults::default().to_string(), "none");
        assert_eq!(
            "disk,cut".parse::<Faults>().unwrap().to_string(),
            "cut,disk"
        );
        assert!("late,cat".parse::<Faults>().unwrap_err().contains("'cat'"));
        assert!("none,late".parse::<Faults>().is_err());
    }
}
