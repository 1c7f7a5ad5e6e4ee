//! `gristmill sort` over the ranks of an MPI job on this machine; skipped, with a line that says why, where there
//! is no MPI. Several hosts: hosts/sort.sh.

mod common;
#[path = "../../node-mpi/tests/common/launch.rs"]
mod launch;

use std::process::Child;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use common::{GRISTMILL, Place, RECORD_BYTES, Ran, sorted};

/// A failure ends the job within that time.
const SOON: Duration = Duration::from_secs(30);

/// Starts a sort on so many ranks in a place.
fn start(place: &Place, ranks: u32, arguments: &str) -> Option<Child> {
    let mut command = launch::launcher(ranks, "gristmill sort")?;
    command.arg(GRISTMILL).args(arguments.split_whitespace()).current_dir(place.path("."));
    Some(command.spawn().unwrap())
}

fn run(place: &Place, ranks: u32, arguments: &str) -> Option<Ran> {
    Some(Ran::from(launch::ended(start(place, ranks, arguments)?)))
}

/// A place with an input for each rank; all of them together.
fn inputs(ranks: u32, records: u64) -> (Place, Vec<u8>) {
    let place = Place::new();
    let mut all = Vec::new();
    for rank in 0..u64::from(ranks) {
        let begin = rank * records;
        place.run(&format!("gensort -b{begin} {records} in-{rank}")).succeeded();
        all.extend(place.read(&format!("in-{rank}")));
    }
    (place, all)
}

fn outputs(place: &Place, ranks: u32) -> Vec<u8> {
    (0..ranks).flat_map(|rank| place.read(&format!("out-{rank}"))).collect()
}

/// The lines that Gristmill, not the launcher, has said.
fn lines(ran: &Ran) -> Vec<&str> {
    ran.err.lines().filter(|line| line.contains("gristmill: ")).collect()
}

#[test]
fn ranks_sort_what_each_of_them_has() {
    let (place, all) = inputs(3, 30_000);
    let sort = "sort --format gensort in-{rank} -o out-{rank} -S 64M --verify --report report";
    let Some(ran) = run(&place, 3, sort) else { return };
    ran.succeeded();
    assert!(outputs(&place, 3) == sorted(&all, RECORD_BYTES));
    // What memory does not hold is spilled by each of them.
    let spilling = "sort --format gensort in-{rank} -o out-{rank} -S 12M --plan two-pass --json";
    let report = run(&place, 3, spilling).unwrap().succeeded().json();
    assert_eq!(
        (&report["records"], report["ranks"].as_array().unwrap().len()),
        (&90_000.into(), 3)
    );
    assert!(outputs(&place, 3) == sorted(&all, RECORD_BYTES));
    assert!(report["stages"].as_array().unwrap().iter().any(|stage| stage["name"] == "sender"));
    assert!(place.unfinished().is_empty());
}

#[test]
fn ranks_share_one_input() {
    let place = Place::with_records(50_001);
    let Some(ran) = run(&place, 4, "sort --format gensort in -o out-{rank}") else { return };
    ran.succeeded();
    assert!(outputs(&place, 4) == sorted(&place.read("in"), RECORD_BYTES));
}

#[test]
fn what_one_rank_refuses_is_one_line() {
    let (place, _) = inputs(2, 100);
    std::fs::remove_file(place.path("in-1")).unwrap();
    let Some(ran) = run(&place, 2, "sort --format gensort in-{rank} -o out-{rank}") else { return };
    assert_eq!(ran.code, 2);
    let said = lines(&ran);
    assert!(said.len() == 1 && said[0].contains("rank 1: cannot open in-1"), "{said:?}");
    let ran = run(&place, 2, "sort --format gensort in-0 -o out").unwrap();
    assert_eq!(ran.code, 2);
    let said = lines(&ran);
    assert!(said.len() == 1 && said[0].contains("{rank}"), "{said:?}");
    assert_eq!(place.names(), ["in-0"]);
}

/// One rank is rank 0; no rank at all cannot say what `{rank}` is.
#[test]
fn a_rank_may_be_alone() {
    let (place, all) = inputs(1, 1000);
    let ran = place.run("sort --format gensort in-{rank} -o out-{rank}");
    assert_eq!(ran.code, 2);
    assert!(ran.complaint().contains("mpirun"), "{}", ran.err);
    let Some(ran) = run(&place, 1, "sort --format gensort in-{rank} -o out-{rank}") else { return };
    ran.succeeded();
    assert!(outputs(&place, 1) == sorted(&all, RECORD_BYTES));
}

/// A rank is killed: the job ends soon, the old outputs stay, and what the survivors made is gone.
#[test]
fn a_killed_rank_ends_the_job() {
    let (place, _) = inputs(2, 2_000_000);
    for rank in 0..2 {
        place.write(&format!("out-{rank}"), "old");
    }
    let sort = "sort --format gensort in-{rank} -o out-{rank} -S 64M";
    let Some(mut job) = start(&place, 2, sort) else { return };
    place.wait_for_output(&mut job);
    let begun = Instant::now();
    kill_process(a_rank(&job), Signal::KILL).unwrap();
    let ran = Ran::from(launch::ended(job));
    assert!(ran.code != 0 && begun.elapsed() < SOON, "{ran:?} after {:?}", begun.elapsed());
    for rank in 0..2 {
        assert_eq!(place.read(&format!("out-{rank}")), b"old");
    }
    // The killed one's files are swept by the next sort there.
    run(&place, 2, sort).unwrap().succeeded();
    assert!(place.unfinished().is_empty());
}

/// A process that the launcher has started: of Open MPI its child, of others a child's child.
fn a_rank(job: &Child) -> Pid {
    let children = |id: i32| {
        let tasks = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children"));
        let ids = tasks.unwrap_or_default();
        ids.split_whitespace().map(|id| id.parse().unwrap()).collect::<Vec<i32>>()
    };
    let is_rank = |id: &i32| {
        std::fs::read_link(format!("/proc/{id}/exe")).is_ok_and(|path| path.ends_with("gristmill"))
    };
    let mut all = vec![job.id() as i32];
    for at in 0.. {
        let Some(&id) = all.get(at) else { break };
        all.extend(children(id));
    }
    let rank = all.into_iter().find(is_rank).expect("a rank is at work");
    Pid::from_raw(rank).unwrap()
}
