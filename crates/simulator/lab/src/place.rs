//! The place of a run: a simulated machine, threads of this computer, ranks of a launcher, or the driver.

use machine::{Profile, Setting};

use crate::changes::Changes;
use crate::error::LabError;
use crate::ranks::{self, Ranks};

/// Name of the machine that is this computer.
pub const THREADS: &str = "threads";

/// Name of the machine that is the processes of a launcher.
pub const RANKS: &str = "mpi";

/// Name of the driver of tests.
pub const DRIVER: &str = "driver";

/// Most nodes on this computer: each is a thread.
const MOST_THREADS: u32 = 4096;

/// Machines with names, each with its description.
pub fn machines() -> Vec<(&'static str, String)> {
    let built_in = Profile::BUILT_IN.into_iter();
    let simulated =
        built_in.filter_map(|(name, _)| Some((name, Profile::named(name)?.description)));
    let threads = format!("this computer: each core is a thread, at most {MOST_THREADS}");
    let ranks = "the processes that mpirun has started: each is a core".to_owned();
    let driver =
        "for sort: nodes with files in memory, in a schedule that the seed draws".to_owned();
    simulated
        .chain([(THREADS, threads), (RANKS, ranks), (DRIVER, driver)])
        .collect()
}

/// Whether a simulated machine of that name is built in.
pub fn is_built_in(name: &str) -> bool {
    Profile::BUILT_IN.iter().any(|(known, _)| *known == name)
}

/// The place of a run.
#[derive(Clone, Debug)]
pub enum Place {
    /// A simulated machine, its setting without ranks and seed, and the changes in both.
    Machine(Box<Profile>, Setting, Box<Changes>),
    /// Threads of this computer.
    Threads,
    /// Processes that a launcher has started.
    Ranks(&'static Ranks),
    /// The driver of tests: one thread, and a schedule drawn from the seed.
    Driver,
}

/// The built-in machine that holds so many cores, in words.
fn larger(cores: u32) -> String {
    let built_in = Profile::BUILT_IN.into_iter().map(|(name, _)| name);
    let mut larger = built_in.filter(|name| {
        let found = Profile::named(name);
        found.is_some_and(|profile| profile.most_ranks() >= u64::from(cores))
    });
    let told = |name| format!("; for so many: --machine {name}");
    larger.next().map_or(String::new(), told)
}

impl Place {
    /// The place of that name, or the machine in that file.
    ///
    /// # Errors
    /// A usage error if a change is wrong, or a profile error if the machine is.
    pub fn named(name: &str, changes: &Changes) -> Result<Place, LabError> {
        changes.check()?;
        let ranks = ranks::joined();
        let is_apart = ranks.is_some_and(|ranks| ranks.count() > 1) && name != RANKS;
        if is_apart {
            return Err(LabError::usage(format!(
                "{name} is a machine for one process; start gristmill without mpirun, or leave \
                 --machine out to run a program of tiny tasks on the ranks"
            )));
        }
        match name {
            RANKS => {
                changes.unless_one("on ranks")?;
                let alone = || {
                    LabError::usage(
                        "the machine mpi is the processes of mpirun: start them, as in \
                         mpirun -n 4 gristmill sim flood",
                    )
                };
                return ranks.map(Place::Ranks).ok_or_else(alone);
            }
            THREADS => return changes.unless_one("on threads").map(|()| Place::Threads),
            DRIVER => return changes.unless_one("on the driver").map(|()| Place::Driver),
            _ => {}
        }
        let profile = Profile::load(name)
            .and_then(|profile| profile.with_network(changes.link_ns, changes.switch_ns))
            .and_then(|profile| profile.with_queues(changes.queue()))
            .and_then(|profile| profile.with_caches(changes.miss_ns, changes.l2_line_ns))
            .and_then(|profile| profile.raised(changes.raised()))
            .and_then(|profile| profile.with_cores_per_nic(changes.cores_per_nic))
            .map_err(|error| LabError::Profile {
                machine: name.into(),
                error,
            })?;
        let setting = changes.setting(&profile);
        Ok(Place::Machine(
            Box::new(profile),
            setting,
            Box::new(*changes),
        ))
    }

    pub(crate) fn profile(&self) -> Option<&Profile> {
        match self {
            Place::Machine(profile, ..) => Some(profile),
            Place::Threads | Place::Ranks(_) | Place::Driver => None,
        }
    }

    /// Name of the machine.
    pub fn name(&self) -> &str {
        match self {
            Place::Machine(profile, ..) => &profile.name,
            Place::Threads => THREADS,
            Place::Ranks(_) => RANKS,
            Place::Driver => DRIVER,
        }
    }

    /// Hash of the machine's file; none for real nodes and the driver.
    pub fn hash(&self) -> Option<u64> {
        self.profile().map(|profile| profile.hash)
    }

    /// Changes of the machine.
    pub fn changes(&self) -> Changes {
        match self {
            Place::Machine(_, _, changes) => **changes,
            Place::Threads | Place::Ranks(_) | Place::Driver => Changes::default(),
        }
    }

    /// Latencies that are no whole ticks: the option, and the given and the simulated nanoseconds.
    pub fn rounded(&self) -> Vec<(&'static str, f64, f64)> {
        let rounded = |profile| self.changes().rounded(profile);
        self.profile().map_or_else(Vec::new, rounded)
    }

    /// Femtoseconds per tick; on threads and the driver a tick is a nanosecond.
    pub(crate) fn tick_fs(&self) -> u64 {
        self.profile().map_or(1_000_000, |profile| profile.tick_fs)
    }

    pub(crate) fn cores_per_nic(&self) -> u32 {
        self.profile().map_or(1, |it| it.core.ranks_per_nic)
    }

    /// Threads of this computer that run `cores` cores.
    pub fn threads(&self, cores: u32) -> usize {
        match self {
            Place::Machine(_, setting, _) => setting.threads,
            Place::Threads => cores as usize,
            Place::Ranks(_) | Place::Driver => 1,
        }
    }

    /// Sets the number of threads of this computer that simulate.
    pub(crate) fn run_on(&mut self, threads: usize) {
        if let Place::Machine(_, setting, _) = self {
            setting.threads = threads;
        }
    }

    /// Checks the number of cores.
    ///
    /// # Errors
    /// A usage error with the largest number if there are too many.
    pub fn check_cores(&self, cores: u32) -> Result<(), LabError> {
        let most = match self {
            Place::Ranks(ranks) if cores != ranks.count() => {
                return Err(LabError::usage(format!(
                    "--cores {cores}: mpirun has started {}, one for each core; leave --cores out",
                    units::counted(ranks.count().into(), "rank")
                )));
            }
            Place::Ranks(ranks) => ranks.count().into(),
            Place::Machine(profile, ..) => profile.most_ranks(),
            Place::Threads => u64::from(MOST_THREADS),
            // The program has its own limit.
            Place::Driver => u64::MAX,
        };
        if u64::from(cores) <= most {
            Ok(())
        } else {
            Err(LabError::usage(format!(
                "--cores {cores}: the machine {} holds at most {most}{}",
                self.name(),
                larger(cores)
            )))
        }
    }
}
