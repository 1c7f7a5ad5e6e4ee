//! Where a program runs: on a simulated machine, on threads of this one, or in a schedule of the
//! driver.

use machine::{Profile, Setting};

use crate::changes::Changes;
use crate::error::LabError;

/// The machine that is this computer.
pub const THREADS: &str = "threads";

/// The driver of tests.
pub const DRIVER: &str = "driver";

/// The most nodes on this computer: each is a thread.
const MOST_THREADS: u32 = 4096;

/// The machines that have names, each with a line for people.
pub fn machines() -> Vec<(&'static str, String)> {
    let built_in = Profile::BUILT_IN.into_iter();
    let simulated =
        built_in.filter_map(|(name, _)| Some((name, Profile::named(name)?.description)));
    let threads = format!("this computer: each core is a thread, at most {MOST_THREADS}");
    let driver =
        "nodes with files in memory, in a schedule that the seed draws: for sort".to_owned();
    simulated
        .chain([(THREADS, threads), (DRIVER, driver)])
        .collect()
}

/// Whether this is the name of a machine that comes with the program.
pub fn is_built_in(name: &str) -> bool {
    Profile::BUILT_IN.iter().any(|(known, _)| *known == name)
}

/// Where a program runs.
#[derive(Clone, Debug)]
pub enum Place {
    /// A simulated machine, how to run it, and what of both was changed; ranks and seed are the
    /// experiment's.
    Machine(Box<Profile>, Setting, Changes),
    /// Threads of this computer.
    Threads,
    /// The driver of tests.
    Driver,
}

impl Place {
    /// The machine of that name or in that file, or threads.
    ///
    /// # Errors
    /// When there is no such machine, or it cannot be changed so.
    pub fn named(name: &str, changes: &Changes) -> Result<Place, LabError> {
        changes.check()?;
        let unchanged = match name {
            THREADS => Some((Place::Threads, "on threads")),
            DRIVER => Some((Place::Driver, "on the driver")),
            _ => None,
        };
        if let Some((place, there)) = unchanged {
            return match changes.name_of_one() {
                None => Ok(place),
                Some(changed) => Err(LabError::usage(format!(
                    "--{changed} changes a simulated machine; {there} it means nothing"
                ))),
            };
        }
        let profile = Profile::load(name)
            .and_then(|profile| profile.with_network(changes.link_ns, changes.switch_ns))
            .map_err(|error| LabError::Profile {
                machine: name.into(),
                error,
            })?;
        let setting = changes.setting(&profile);
        Ok(Place::Machine(Box::new(profile), setting, *changes))
    }

    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Place::Machine(profile, ..) => &profile.name,
            Place::Threads => THREADS,
            Place::Driver => DRIVER,
        }
    }

    /// Hash of its file.
    pub fn hash(&self) -> Option<u64> {
        match self {
            Place::Machine(profile, ..) => Some(profile.hash),
            Place::Threads | Place::Driver => None,
        }
    }

    /// What was changed of the machine.
    pub fn changes(&self) -> Changes {
        match self {
            Place::Machine(_, _, changes) => *changes,
            Place::Threads | Place::Driver => Changes::default(),
        }
    }

    /// The latencies that were asked for and are no whole ticks: the option, what was asked for and
    /// what is simulated, in nanoseconds.
    pub fn rounded(&self) -> Vec<(&'static str, f64, f64)> {
        match self {
            Place::Machine(profile, _, changes) => changes.rounded(profile),
            Place::Threads | Place::Driver => Vec::new(),
        }
    }

    /// Length of a tick in femtoseconds; on threads and the driver it is a nanosecond.
    pub(crate) fn tick_fs(&self) -> u64 {
        match self {
            Place::Machine(profile, ..) => profile.tick_fs,
            Place::Threads | Place::Driver => 1_000_000,
        }
    }

    /// How many cores share a NIC.
    pub(crate) fn cores_per_nic(&self) -> u32 {
        match self {
            Place::Machine(profile, ..) => profile.core.ranks_per_nic,
            Place::Threads | Place::Driver => 1,
        }
    }

    /// Threads of this computer that run `cores` cores.
    pub fn threads(&self, cores: u32) -> usize {
        match self {
            Place::Machine(_, setting, _) => setting.threads,
            Place::Threads => cores as usize,
            Place::Driver => 1,
        }
    }

    /// The same, simulated on so many threads of this computer.
    pub(crate) fn on_threads(self, threads: usize) -> Place {
        match self {
            Place::Machine(profile, setting, changes) => {
                Place::Machine(profile, Setting { threads, ..setting }, changes)
            }
            unchanged => unchanged,
        }
    }

    /// Whether it holds so many cores.
    ///
    /// # Errors
    /// When it does not, with the most that it holds.
    pub fn check_cores(&self, cores: u32) -> Result<(), LabError> {
        let most = match self {
            Place::Machine(profile, ..) => profile.most_ranks(),
            Place::Threads => u64::from(MOST_THREADS),
            // The program says.
            Place::Driver => u64::MAX,
        };
        if u64::from(cores) <= most {
            return Ok(());
        }
        let name = self.name();
        Err(LabError::usage(format!(
            "--cores {cores}: the machine {name} holds at most {most}"
        )))
    }
}
