//! The environment variables of launchers such as `mpirun` and `srun`: whether this process belongs
//! to a job, and its place there.

use std::time::Duration;
use std::{env, thread};

/// Variables of which launchers set at least one.
const LAUNCHERS: [&str; 4] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMI_RANK", "PMIX_RANK"];

/// Whether a launcher has started this process as one of several.
pub fn is_launched() -> bool {
    LAUNCHERS.iter().any(|name| env::var_os(name).is_some())
}

/// Variables for the number of ranks. A single rank needs no network.
pub const SIZES: [&str; 3] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"];

/// Variables for the number of ranks on this host: Open MPI, MPICH, Slurm (`2(x3)` means two on
/// each of three hosts).
const LOCAL_SIZES: [&str; 3] = [
    "OMPI_COMM_WORLD_LOCAL_SIZE",
    "MPI_LOCALNRANKS",
    "SLURM_STEP_TASKS_PER_NODE",
];

/// Variables for the number of this rank, which is known before the network is open.
pub(super) const RANKS: [&str; 4] = [
    "OMPI_COMM_WORLD_RANK",
    "PMIX_RANK",
    "PMI_RANK",
    "SLURM_PROCID",
];

/// Open MPI's variable for the number of different command lines in the job.
const COMMAND_LINES: &str = "OMPI_NUM_APP_CTX";

/// How long a rank waits for rank 0 to report a failure. Launchers end all ranks when one has
/// failed, Open MPI within two seconds.
pub const RANK_0_TELLS: Duration = Duration::from_secs(3);

/// Whether a launcher has started this process as its only rank.
pub fn is_only_rank() -> bool {
    is_launched() && number(&SIZES) == Some(1)
}

/// Whether rank 0 reports the mistake in the command line, which all ranks share. If so, this
/// returns after rank 0 has had the time to.
pub fn leaves_usage_to_another() -> bool {
    let sorts = env::args_os()
        .nth(1)
        .is_some_and(|command| command == "sort");
    let leaves = sorts && is_later_rank() && !is_one_of_several_commands();
    if leaves {
        thread::sleep(RANK_0_TELLS);
    }
    leaves
}

/// Whether ranks of this job were started with other command lines.
pub fn is_one_of_several_commands() -> bool {
    is_launched() && number(&[COMMAND_LINES]).is_some_and(|lines| lines > 1)
}

/// Whether Open MPI has started this process.
pub fn is_open_mpi() -> bool {
    env::var_os(SIZES[0]).is_some()
}

/// Whether a launcher has started this process as a rank other than 0.
pub fn is_later_rank() -> bool {
    is_launched() && number(&RANKS).is_some_and(|rank| rank > 0)
}

/// The number of this rank, if the launcher gives it.
pub fn rank() -> Option<u64> {
    number(&RANKS)
}

/// The number of ranks on this host, which share its memory and cores.
pub fn ranks_here() -> u64 {
    number(&LOCAL_SIZES)
        .filter(|&ranks| ranks > 0 && is_launched())
        .unwrap_or(1)
}

fn number(names: &[&str]) -> Option<u64> {
    let of = |text: String| {
        text.split(|c: char| !c.is_ascii_digit())
            .next()?
            .parse()
            .ok()
    };
    names.iter().find_map(|name| of(env::var(name).ok()?))
}
