//! `gristmill sim` under `mpirun`: each process is a core; skipped, with a line that says why, where there is
//! no MPI.

use std::io::{BufRead, BufReader};

use rustix::process::{Signal, kill_process};

use crate::common::{Place, Ran};
use crate::ranks::{launch, lines, rank_of, run, start};

/// Every other program, small.
const SMALL: [&str; 17] = [
    "loopback --messages 4 --bytes 64",
    "receive --messages 7",
    "send --messages 7",
    "local-min --keys-per-core 100",
    "local-sort --keys-per-core 20",
    "merge-min --keys 90 --incast 3",
    "milli-sort --keys-per-core 20 --incast 2",
    "nano-sort --keys-per-core 8",
    "push-sort --keys-per-core 8",
    "pivot-select --keys-per-core 10",
    "flood --messages 8 --runs 3",
    "kv --messages 5 --keys 16 --servers 1",
    "set-algebra --queries 2",
    "map-reduce --rounds 3 --reorder port",
    "beside --keys-per-core 4 --messages 3",
    "caches --reads 20 --pause-us 0 --disk-us 0",
    "paging --accesses 9 --pages 4 --page-us 0 --next-us 0",
];

/// Words without their numbers: those of `kv` depend on who comes first.
fn without_numbers(line: &str) -> String {
    line.replace(|letter: char| letter.is_ascii_digit(), "")
}

/// The line of the result, which one rank alone prints.
fn result(ran: Ran) -> String {
    let text = String::from_utf8(ran.out).unwrap();
    let mut results = text.lines().filter(|line| line.starts_with("result "));
    let result = results
        .next()
        .unwrap_or_else(|| panic!("{text}{}", ran.err));
    assert_eq!(results.next(), None, "{text}");
    result.to_owned()
}

#[test]
fn every_program_runs_on_ranks_as_on_threads() {
    let place = Place::new();
    for line in SMALL {
        let Some(ran) = run(&place, 2, &format!("sim {line}")) else {
            return;
        };
        let on_ranks = result(ran.succeeded());
        let threads = place.run(&format!("sim {line} --cores 2 --machine threads"));
        let on_threads = result(threads.succeeded());
        assert_eq!(
            without_numbers(&on_ranks),
            without_numbers(&on_threads),
            "{line}"
        );
    }
}

#[test]
fn integers_have_their_published_ranks_over_mpi() {
    let place = Place::new();
    for (class, keys) in [("S", "65,536"), ("W", "1,048,576")] {
        for ranks in [1, 2, 4] {
            let Some(ran) = run(&place, ranks, &format!("sim is --class {class}")) else {
                return;
            };
            let result = result(ran.succeeded());
            let passed = format!("{keys} keys, {0} of {0} tests passed, ", 50 + ranks);
            assert!(result.contains(&passed), "{result}");
        }
    }
}

/// One line tells what is wrong, and what to do.
#[test]
fn ranks_refuse_what_they_cannot_run() {
    let place = Place::new();
    for (ranks, line, told) in [
        (3, "is", "needs a power of two of cores"),
        (2, "is --cores 4", "leave --cores out"),
        (2, "is --machine nanopu", "without mpirun"),
        (2, "is --link-ns 5", "omit it"),
        (2, "is --class X", "possible values: S, W, A, B, C"),
        (1, "loopback", "ask for two or more"),
        (2, "tune merge-min", "without mpirun"),
    ] {
        let Some(ran) = run(&place, ranks, &format!("sim {line}")) else {
            return;
        };
        let said = lines(&ran);
        assert!(ran.code == 2 && said.len() == 1, "{line}: {}", ran.err);
        assert!(said[0].contains(told), "{line}: {said:?}");
        assert!(ran.out.is_empty(), "{line}");
    }
    let alone = place.run("sim is --machine mpi");
    assert_eq!(alone.code, 2);
    assert!(
        alone.err.contains("mpirun -n 4 gristmill sim"),
        "{}",
        alone.err
    );
}

/// With one rank a machine may be simulated, as without a launcher.
#[test]
fn one_rank_may_simulate() {
    let place = Place::new();
    let line = "sim merge-min --machine nanopu";
    if let Some(ran) = run(&place, 1, line) {
        assert_eq!(result(ran.succeeded()), result(place.run(line).succeeded()));
    }
}

#[test]
fn a_dead_rank_ends_the_others() {
    let place = Place::new();
    let Some(mut job) = start(&place, 2, "sim flood --messages 1G --bytes 2048") else {
        return;
    };
    // Rank 0 prints it when all ranks have joined.
    let out = job.stdout.as_mut().unwrap();
    let seed = BufReader::new(out).lines().next().unwrap().unwrap();
    assert_eq!(seed, "seed 1");
    kill_process(rank_of(&job, 1), Signal::KILL).unwrap();
    let ran = Ran::from(launch::ended(job));
    assert!(ran.code != 0 && lines(&ran).len() <= 1, "{}", ran.err);
}
