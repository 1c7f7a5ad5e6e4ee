//! `gristmill-bench exchange`, over the MPI of this machine where there is one.

use std::process::Output;

use super::{BENCH, launch, names, report, rows, said, smoke};

/// The bench on `ranks` ranks; nothing where there is no MPI.
fn run(ranks: u32, arguments: &str) -> Option<Output> {
    let mut command = launch::launcher(ranks, "gristmill-bench exchange")?;
    command.arg(BENCH).args(["exchange", "--smoke", "--json"]);
    command.args(arguments.split_whitespace());
    Some(launch::ended(command.spawn().unwrap()))
}

/// Every way to exchange brings what was sent; the figures of a smoke run mean nothing.
#[test]
fn exchanges_are_measured() {
    let Some(ended) = run(3, "--runs 2") else {
        return;
    };
    let measured = report(&ended);
    let expected = [
        "alltoallv",
        "alltoallv in pieces",
        "streams",
        "rounds",
        "udp rounds",
        "tcp, one thread",
        "tcp, a thread a peer",
    ];
    assert_eq!(names(rows(&measured)), expected);
    assert_eq!(
        (&measured["ranks"], &measured["bytes_per_pair"]),
        (&3.into(), &(1 << 20).into())
    );
    for row in rows(&measured) {
        let each = row["mb_per_s_per_rank"].as_f64().unwrap();
        let all = row["mb_per_s"].as_f64().unwrap();
        assert!(each > 0.0 && (all / each - 3.0).abs() < 1e-9, "{row:#}");
        assert_eq!(row["seconds"].as_array().unwrap().len(), 2);
    }
    // A part of them, over a network that is named; and one that is not there, told once.
    let some = "--runs 1 --contender udp-rounds --interface 127.0.0.0/8";
    assert_eq!(rows(&report(&run(2, some).unwrap())).len(), 2);
    let ended = run(2, "--interface 203.0.113.0/24").unwrap();
    assert_eq!(ended.status.code(), Some(2));
    let told = said(&ended);
    let ours: Vec<&str> = told
        .lines()
        .filter(|line| line.contains("gristmill: "))
        .collect();
    assert!(
        ours.len() == 1 && ours[0].contains("--interface"),
        "{ours:?}"
    );
}

#[test]
fn an_exchange_needs_ranks() {
    let ended = smoke(&["exchange"]);
    assert_eq!(ended.status.code(), Some(2));
    let told = said(&ended);
    assert!(
        told.lines().count() == 1 && told.contains("mpirun -n 4"),
        "{told}"
    );
    let ended = smoke(&["exchange", "--interface", "eth0"]);
    assert_eq!(ended.status.code(), Some(2));
    assert!(said(&ended).contains("10.1.0.0/16"), "{}", said(&ended));
}
