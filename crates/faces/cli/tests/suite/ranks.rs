//! Jobs of several ranks on this machine.

#[path = "../../../../node/node-mpi/tests/common/launch.rs"]
pub mod launch;

use std::process::Child;

use children::Command;
use rustix::process::Pid;

use crate::common::{GRISTMILL, Place, Ran};

/// A sort on `ranks` ranks in a place, not yet started.
pub fn command(place: &Place, ranks: u32, arguments: &str) -> Option<Command> {
    let mut command = launch::launcher(ranks, "gristmill sort")?;
    command
        .arg(GRISTMILL)
        .args(arguments.split_whitespace())
        .current_dir(place.path("."));
    Some(command)
}

pub fn start(place: &Place, ranks: u32, arguments: &str) -> Option<Child> {
    Some(command(place, ranks, arguments)?.spawn().unwrap())
}

pub fn run(place: &Place, ranks: u32, arguments: &str) -> Option<Ran> {
    Some(Ran::from(launch::ended(start(place, ranks, arguments)?)))
}

/// A place with an input for each rank; all of them together.
pub fn inputs(ranks: u32, records: u64) -> (Place, Vec<u8>) {
    let place = Place::new();
    let mut all = Vec::new();
    for rank in 0..u64::from(ranks) {
        let begin = rank * records;
        place
            .run(&format!("gensort -b{begin} {records} in-{rank}"))
            .succeeded();
        all.extend(place.read(&format!("in-{rank}")));
    }
    (place, all)
}

pub fn outputs(place: &Place, ranks: u32) -> Vec<u8> {
    (0..ranks)
        .flat_map(|rank| place.read(&format!("out-{rank}")))
        .collect()
}

/// The lines of Gristmill, without those of the launcher.
pub fn lines(ran: &Ran) -> Vec<&str> {
    ran.err
        .lines()
        .filter(|line| line.contains("gristmill: "))
        .collect()
}

/// A rank among the processes that the launcher has started: of Open MPI its children, of others a
/// child's.
pub fn rank_of(job: &Child, rank: u32) -> Pid {
    let children = |id: i32| {
        let tasks = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children"));
        let ids = tasks.unwrap_or_default();
        ids.split_whitespace()
            .map(|id| id.parse().unwrap())
            .collect::<Vec<i32>>()
    };
    let names = ["OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"];
    let variables = names.map(|name| format!("{name}={rank}"));
    let is_rank = |id: &i32| {
        let environment = std::fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
        let mut all = environment.split(|&byte| byte == 0);
        std::fs::read_link(format!("/proc/{id}/exe")).is_ok_and(|path| path.ends_with("gristmill"))
            && all.any(|one| variables.iter().any(|variable| variable.as_bytes() == one))
    };
    let mut all = vec![job.id() as i32];
    for at in 0.. {
        let Some(&id) = all.get(at) else { break };
        all.extend(children(id));
    }
    let rank = all.into_iter().find(is_rank).expect("the rank is at work");
    Pid::from_raw(rank).unwrap()
}
