//! The end of a failed job of several ranks; skipped, with a line that says why, if there is no
//! MPI. Several hosts: hosts/sort.sh, hosts/kills.sh.

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::common::{GRISTMILL, Place, Ran, cases};
use crate::ranks::{inputs, launch, lines, rank_of, run, start};

/// A failure ends the job within that time.
const SOON: Duration = Duration::from_secs(30);

/// A rank is killed: the job ends soon, the old outputs stay, and the survivors remove their files.
#[test]
fn a_killed_rank_ends_the_job() {
    let (place, _) = inputs(2, 2_000_000);
    for rank in 0..2 {
        place.write(&format!("out-{rank}"), "old");
    }
    let sort = "sort --format gensort in-{rank} -o out-{rank} -S 64M";
    let Some(mut job) = start(&place, 2, sort) else {
        return;
    };
    place.wait_for_output(&mut job);
    let begun = Instant::now();
    kill_process(rank_of(&job, 1), Signal::KILL).unwrap();
    let ran = Ran::from(launch::ended(job));
    assert!(
        ran.code != 0 && begun.elapsed() < SOON,
        "{ran:?} after {:?}",
        begun.elapsed()
    );
    // Only rank 0 reports it, if the launcher lets it.
    assert!(lines(&ran).len() <= 1, "{}", ran.err);
    for rank in 0..2 {
        assert_eq!(place.read(&format!("out-{rank}")), b"old");
    }
    // The next sort removes the files of the killed rank.
    run(&place, 2, sort).unwrap().succeeded();
    assert!(place.unfinished().is_empty());
}

/// The rank that created the common file is killed: the others know the file, and remove it.
#[test]
fn survivors_remove_the_file_of_the_killed_rank() {
    let place = Place::with_records(4_000_000);
    place.write("out", "old");
    let sort = "sort --format gensort in -o out -S 64M -T tmp";
    std::fs::create_dir(place.path("tmp")).unwrap();
    let Some(mut job) = start(&place, 2, sort) else {
        return;
    };
    // Both spill: so both have opened the output.
    let spills = || std::fs::read_dir(place.path("tmp")).unwrap().count();
    while spills() < 2 {
        assert_eq!(job.try_wait().unwrap(), None, "it ended before it spilled");
        std::thread::sleep(Duration::from_millis(1));
    }
    kill_process(rank_of(&job, 0), Signal::KILL).unwrap();
    let ran = Ran::from(launch::ended(job));
    assert!(ran.code != 0, "{ran:?}");
    assert_eq!(place.read("out"), b"old");
    assert!(place.unfinished().is_empty(), "{:?}", place.names());
}

/// A job that a signal ends prints one line and one object.
#[test]
fn a_signal_is_reported_once() {
    let (place, _) = inputs(3, 3_000_000);
    let sort = "sort --format gensort in-{rank} -o out-{rank} -S 64M --json";
    let Some(mut job) = start(&place, 3, sort) else {
        return;
    };
    place.wait_for_output(&mut job);
    kill_process(Pid::from_child(&job), Signal::TERM).unwrap();
    let ran = Ran::from(launch::ended(job));
    // The launcher forwards the signal late: the sort may already print its report.
    if ran.out.windows(9).any(|at| at == b"\"records\"") {
        return crate::common::skip("the sort had ended before the signal came");
    }
    assert!(ran.code != 0 && lines(&ran).len() <= 1, "{ran:?}");
    assert!(
        !ran.err.contains("not been heard"),
        "all were there: {}",
        ran.err
    );
    assert!(
        ran.out.is_empty() || ran.json()["error"]["kind"] == "stopped",
        "{ran:?}"
    );
    assert!(place.unfinished().is_empty(), "{:?}", place.names());
}

/// A rank hangs: the launcher does not notice; the other rank names it and ends the job.
#[test]
fn a_rank_that_hangs_is_named_and_ends_the_job() {
    let (place, _) = inputs(2, 2_000_000);
    let sort = "sort --format gensort in-{rank} -o out-{rank} -S 64M";
    let Some(mut job) = start(&place, 2, sort) else {
        return;
    };
    place.wait_for_output(&mut job);
    kill_process(rank_of(&job, 1), Signal::STOP).unwrap();
    let ran = Ran::from(launch::ended(job));
    assert_eq!(ran.code, 2, "{ran:?}");
    // The launcher wakes the other one to end it, which may then say that it was stopped.
    let said = lines(&ran);
    assert!(
        said.first()
            .is_some_and(|line| line.contains("not been heard for 15 s")),
        "{said:?}"
    );
}

/// The launcher is killed: the ranks end, and remove their files.
#[test]
fn a_killed_launcher_ends_the_job() {
    let (place, _) = inputs(2, 2_000_000);
    place.write("out-0", "old");
    let sort = "sort --format gensort in-{rank} -o out-{rank} -S 64M";
    let Some(mut job) = start(&place, 2, sort) else {
        return;
    };
    place.wait_for_output(&mut job);
    kill_process(Pid::from_child(&job), Signal::KILL).unwrap();
    let begun = Instant::now();
    job.wait().unwrap();
    while !place.unfinished().is_empty() {
        assert!(begun.elapsed() < SOON, "{:?}", place.names());
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(place.read("out-0"), b"old");
}

/// Two ranks, of which the second runs a script in `$0` before, or instead of, the sort.
fn with_second(place: &Place, script: &str) -> Option<(Ran, Duration)> {
    let script = format!(
        "if [ \"${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}\" = 1 ]; then {script}; fi; exec \"$0\" sort in -o out-{{rank}}"
    );
    let mut job = launch::launcher(2, "gristmill sort")?;
    job.args(["sh", "-c", &script, GRISTMILL])
        .current_dir(place.path("."));
    let begun = Instant::now();
    let ran = Ran::from(launch::ended(job.spawn().unwrap()));
    Some((ran, begun.elapsed()))
}

/// A rank stops before the ranks watch each other, at any moment: in its launcher, while MPI connects
/// the ranks, and while it looks at its files. The others end within the time that is promised.
#[test]
fn a_rank_that_stops_at_its_start_ends_the_job() {
    let place = Place::new();
    place.write("in", "2\n1\n");
    let moments = ["0", "0.05", "0.1", "0.15", "0.2", "0.25", "0.3"];
    for moment in moments.into_iter().step_by(cases(3, 1) as usize) {
        let script = match moment {
            "0" => "kill -STOP $$".to_owned(),
            // Not another process that got its number.
            _ => format!("(sleep {moment}; [ /proc/$$/exe -ef \"$0\" ] && kill -STOP $$) &"),
        };
        let Some((ran, took)) = with_second(&place, &script) else {
            return;
        };
        // It may have been done by then.
        assert!(ran.code != 0 || moment != "0", "{moment}: {ran:?}");
        assert!(took < SOON, "{moment}: {took:?}, {ran:?}");
        assert!(
            ran.code == 0 || !lines(&ran).is_empty(),
            "{moment}: {ran:?}"
        );
        assert!(
            place.unfinished().is_empty(),
            "{moment}: {:?}",
            place.names()
        );
    }
}

/// A rank that shows its help, or is no sort at all, does not hold the others.
#[test]
fn a_rank_that_does_something_else_ends_the_job() {
    let place = Place::new();
    place.write("in", "2\n1\n");
    let script = "exec \"$0\" sort --help";
    let Some((ran, took)) = with_second(&place, script) else {
        return;
    };
    assert!(ran.code != 0 && took < SOON, "{took:?}: {ran:?}");
    let told = lines(&ran)
        .first()
        .is_some_and(|line| line.contains("has stopped or has another command line"));
    // On a busy machine the launcher may see it first. It ends rank 0, and says which rank it was.
    let by_launcher = ran.err.contains("rank 1") && ran.err.contains("exiting improperly");
    assert!(told || by_launcher, "{}", ran.err);
    // The launcher knows of two command lines: then it ends at once.
    for other in ["--version", "sort --help", "sort --no-such-option"] {
        let mut job = launch::launcher(1, "gristmill sort").unwrap();
        job.args([
            GRISTMILL,
            "sort",
            "in",
            "-o",
            "out-{rank}",
            ":",
            "-n",
            "1",
            GRISTMILL,
        ])
        .args(other.split(' '))
        .current_dir(place.path("."));
        let begun = Instant::now();
        let ran = Ran::from(launch::ended(job.spawn().unwrap()));
        assert!(ran.code != 0 && begun.elapsed() < SOON, "{other}: {ran:?}");
    }
    assert!(!place.path("out-0").exists());
}
