//! A failure of one process ends the whole run, and soon.

use std::env;
use std::time::{Duration, Instant};

use children::Command;
use node::backend::{Network, Session as _};
use node_mpi::Session;
use rustix::process::{Signal, getpid, kill_process};

use crate::launch;

/// The variable that makes a process a rank.
const RANK: &str = "GRISTMILL_TEST_RANK";

/// A launcher notices the end of a process at once, and gives the others some seconds.
const SOON: Duration = Duration::from_secs(60);

fn wait_forever() -> ! {
    loop {
        std::thread::sleep(Duration::from_secs(1000));
    }
}

#[test]
fn a_rank_that_is_killed_ends_the_run() {
    if env::var_os(RANK).is_none() {
        let began = Instant::now();
        let test = "failures::a_rank_that_is_killed_ends_the_run";
        let Some(output) = launch::ranks(3, test, (RANK, "1")) else {
            return;
        };
        assert!(!output.status.success());
        return assert!(began.elapsed() < SOON);
    }
    let session = Session::start().unwrap();
    if session.rank().0 == 1 {
        kill_process(getpid(), Signal::KILL).unwrap();
    }
    wait_forever()
}

#[test]
fn a_rank_that_gives_up_ends_the_run_with_its_code() {
    if env::var_os(RANK).is_none() {
        let began = Instant::now();
        let test = "failures::a_rank_that_gives_up_ends_the_run_with_its_code";
        let Some(output) = launch::ranks(3, test, (RANK, "1")) else {
            return;
        };
        assert_eq!(output.status.code(), Some(7), "{output:?}");
        return assert!(began.elapsed() < SOON);
    }
    let session = Session::start().unwrap();
    if session.rank().0 == 2 {
        session.abort(7);
    }
    wait_forever()
}

#[test]
fn a_missing_shim_is_an_error_that_says_what_to_do() {
    if env::var_os(RANK).is_some() {
        assert!(terminal::launcher::is_launched());
        let error = Session::start().err().unwrap();
        println!("{error}");
        return;
    }
    let output = Command::new(env::current_exe().unwrap())
        .args([
            "--exact",
            "failures::a_missing_shim_is_an_error_that_says_what_to_do",
            "--nocapture",
        ])
        .envs([
            (RANK, "1"),
            ("PMI_RANK", "0"),
            ("GRISTMILL_MPI", "/no/such/shim.so"),
        ])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
    assert!(
        text.contains("/no/such/shim.so") && text.contains("make mpi"),
        "{text}"
    );
}
