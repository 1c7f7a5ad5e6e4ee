use std::io::{BufRead as _, BufReader};
use std::os::unix::process::ExitStatusExt as _;

use super::*;

/// A shell that ignores all signals that can be ignored, and runs a test of this file.
fn ignoring(test: &str) -> Output {
    let this = std::env::current_exe().unwrap();
    let script = "trap '' HUP INT QUIT TERM; exec \"$0\" --exact \"$1\" --ignored";
    let mut shell = Command::new("sh");
    shell.args(["-c", script]).arg(this).arg(test);
    shell.output().unwrap()
}

#[test]
fn children_of_a_process_that_ignores_signals_do_not() {
    let ran = ignoring("tests::signals_end_children");
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success() && said.contains("1 passed"), "{said}");
}

#[test]
#[ignore = "`children_of_a_process_that_ignores_signals_do_not` starts it"]
fn signals_end_children() {
    for signal in IGNORABLE {
        assert!(is_ignored(signal), "as the shell has said");
    }
    for signal in IGNORABLE {
        let number = signal.as_raw();
        let script = format!("kill -{number} $$; echo goes on");
        let ended = Command::new("sh").args(["-c", &script]).output().unwrap();
        assert_eq!(ended.status.signal(), Some(number), "{ended:?}");
        // This process goes on, as before.
        kill_process(rustix::process::getpid(), signal).unwrap();
    }
}

#[test]
fn a_child_that_hangs_is_ended() {
    let mut sleep = Command::new("sleep");
    let ended = sleep.arg("1000").within(Duration::from_millis(50)).status();
    assert_eq!(ended.unwrap().signal(), Some(Signal::TERM.as_raw()));
}

/// The pipe ends when nobody holds it: neither the shell, which does not end when it is told to, nor its
/// child.
#[test]
fn the_children_of_a_child_that_hangs_are_killed() {
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' TERM; sh -c 'echo begun; sleep 1000; :'; :"]);
    shell
        .within(Duration::from_millis(50))
        .stdout(Stdio::piped());
    let mut child = shell.spawn().unwrap();
    let lines: Vec<_> = BufReader::new(child.stdout.take().unwrap())
        .lines()
        .collect();
    assert_eq!(lines.len(), 1);
    assert_eq!(child.wait().unwrap().signal(), Some(Signal::KILL.as_raw()));
}

#[test]
fn output_is_that_of_the_standard_library() {
    let mut shell = Command::new("sh");
    shell.args(["-c", "cat; echo out; echo err >&2; exit 3"]);
    let ours = shell.output().unwrap();
    let theirs = shell.described.output().unwrap();
    assert_eq!(ours, theirs);
    assert_eq!(
        (ours.status.code(), &ours.stdout[..]),
        (Some(3), &b"out\n"[..])
    );
}

#[test]
#[should_panic(expected = "in time")]
fn a_wait_that_panics_is_a_panic() {
    in_time(|| panic!("of the thread"));
}
