//! Where a program runs: on a simulated machine, or on threads of this one.

use machine::{Profile, Setting, parts};

use crate::error::LabError;

/// The machine that is this computer.
pub const THREADS: &str = "threads";

/// The most nodes on this computer: each is a thread.
const MOST_THREADS: u32 = 4096;

/// Where a program runs.
#[derive(Clone, Debug)]
pub enum Place {
    /// A simulated machine, and how to run it; ranks and seed are the experiment's.
    Machine(Box<Profile>, Setting),
    /// Threads of this computer.
    Threads,
}

/// What an experiment changes of a machine. On threads there is nothing to change.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Changes {
    /// Whether switches carry one message to a group.
    pub multicast: Option<bool>,
    /// From a packet's first flit in to its first flit out of a switch.
    pub switch_ns: Option<f64>,
    /// From end to end of a link.
    pub link_ns: Option<f64>,
    /// Latency that is added to some messages, and to which share of them.
    pub tail: Option<(f64, f64)>,
    /// The share of packets that is lost on each link.
    pub loss: Option<f64>,
    /// Threads of this computer to run on.
    pub threads: Option<usize>,
}

impl Place {
    /// The machine of that name or in that file, or threads.
    ///
    /// # Errors
    /// When there is no such machine, or it cannot be changed so.
    pub fn named(name: &str, changes: &Changes) -> Result<Place, LabError> {
        changes.check()?;
        if name == THREADS {
            return match changes.name_of_one() {
                None => Ok(Place::Threads),
                Some(changed) => Err(LabError::usage(format!(
                    "--{changed} changes a simulated machine; on threads it means nothing"
                ))),
            };
        }
        let profile = Profile::load(name)
            .and_then(|profile| profile.with_network(changes.link_ns, changes.switch_ns))
            .map_err(|error| LabError::Profile { machine: name.into(), error })?;
        let setting = changes.setting(&profile);
        Ok(Place::Machine(Box::new(profile), setting))
    }

    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Place::Machine(profile, _) => &profile.name,
            Place::Threads => THREADS,
        }
    }

    /// Hash of its file.
    pub fn hash(&self) -> Option<u64> {
        match self {
            Place::Machine(profile, _) => Some(profile.hash),
            Place::Threads => None,
        }
    }

    /// Threads of this computer that run `cores` cores.
    pub fn threads(&self, cores: u32) -> usize {
        match self {
            Place::Machine(_, setting) => setting.threads,
            Place::Threads => cores as usize,
        }
    }

    /// Whether it holds so many cores.
    ///
    /// # Errors
    /// When it does not, with the most that it holds.
    pub fn check_cores(&self, cores: u32) -> Result<(), LabError> {
        let most = match self {
            Place::Machine(profile, _) => profile.most_ranks(),
            Place::Threads => u64::from(MOST_THREADS),
        };
        if u64::from(cores) <= most {
            return Ok(());
        }
        let name = self.name();
        Err(LabError::usage(format!("--cores {cores}: the machine {name} holds at most {most}")))
    }
}

impl Changes {
    /// The first of these that would change a simulated machine.
    fn name_of_one(&self) -> Option<&'static str> {
        let given = [
            (self.multicast.is_some(), "multicast"),
            (self.switch_ns.is_some(), "switch-ns"),
            (self.link_ns.is_some(), "link-ns"),
            (self.tail.is_some(), "tail-ns"),
            (self.loss.is_some(), "loss"),
            (self.threads.is_some(), "threads"),
        ];
        given.into_iter().find(|(is_given, _)| *is_given).map(|(_, name)| name)
    }

    fn check(&self) -> Result<(), LabError> {
        let times =
            [(self.switch_ns, "switch-ns"), (self.link_ns, "link-ns"), (tail_ns(self), "tail-ns")];
        for (time, name) in times {
            if time.is_some_and(|ns| !(0.0..=MOST_NS).contains(&ns)) {
                return Err(LabError::usage(format!("--{name} is 0 to {MOST_NS} nanoseconds")));
            }
        }
        let share = self.tail.map(|(_, share)| share);
        for (share, name) in [(share, "tail-fraction"), (self.loss, "loss")] {
            if share.is_some_and(|share| !(0.0..=1.0).contains(&share)) {
                return Err(LabError::usage(format!("--{name} is a share: 0 to 1")));
            }
        }
        match self.loss {
            Some(1.0) => Err(LabError::usage("--loss 1: nothing would ever arrive")),
            _ => Ok(()),
        }
    }

    fn setting(&self, profile: &Profile) -> Setting {
        let plain = Setting::new(1);
        let (tail_ns, share) = self.tail.unwrap_or_default();
        Setting {
            multicast: self.multicast.unwrap_or(plain.multicast),
            threads: self.threads.unwrap_or(plain.threads),
            tail: profile.ticks(tail_ns),
            tail_parts: parts(share),
            loss_parts: parts(self.loss.unwrap_or(0.0)),
            ..plain
        }
    }
}

/// A second: whatever is slower is no network of a cluster.
const MOST_NS: f64 = 1e9;

fn tail_ns(changes: &Changes) -> Option<f64> {
    changes.tail.map(|(ns, _)| ns)
}
