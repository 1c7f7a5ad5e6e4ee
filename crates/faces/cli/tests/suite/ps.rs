//! `gristmill ps`: the processes of this user, with their ranks.

use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::common::Place;
use crate::ranks::{run, start};

/// Processes whose arguments have the word.
fn with_word(list: &Value, word: &str) -> Vec<Value> {
    let all = list["processes"].as_array().unwrap().iter();
    let has = |one: &&Value| one["command"].as_str().unwrap().contains(word);
    all.filter(has).cloned().collect()
}

#[test]
fn a_sort_is_listed_until_it_ends() {
    let place = Place::new();
    let mut sort = place.command("sort --buffer-size=77M");
    let mut child = sort
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let listed = || {
        with_word(
            &place.run("ps --json").succeeded().json(),
            "--buffer-size=77M",
        )
    };
    let mut found = listed();
    // Until it has become the command.
    for _ in 0..100 {
        if !found.is_empty() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
        found = listed();
    }
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0]["pid"], child.id());
    assert_eq!(
        (&found[0]["job"], &found[0]["rank"]),
        (&Value::Null, &Value::Null)
    );
    assert!(found[0]["resident_bytes"].as_u64().unwrap() > 1 << 20);
    let table = place.run("ps").succeeded();
    let table = String::from_utf8(table.out).unwrap();
    assert!(
        table.starts_with("job") && table.contains("sort --buffer-size=77M"),
        "{table}"
    );
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
    assert!(listed().is_empty());
}

/// By one process, and by ranks, which list each process once.
#[test]
fn ranks_are_listed_by_job_and_number() {
    let place = Place::new();
    // Pauses of a tenth of a second make it last.
    let Some(mut job) = start(&place, 3, "sim caches --reads 12345") else {
        return;
    };
    let listed = || {
        with_word(
            &place.run("ps --json").succeeded().json(),
            "sim caches --reads 12345",
        )
    };
    let mut found = Vec::new();
    for _ in 0..500 {
        found = listed();
        if found.len() == 3 {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let ranks: Vec<u64> = found
        .iter()
        .map(|one| one["rank"].as_u64().unwrap())
        .collect();
    assert_eq!(ranks, [0, 1, 2], "{found:?}");
    assert!(
        found
            .iter()
            .all(|one| one["ranks"] == 3 && one["job"] == found[0]["job"])
    );
    assert!(found[0]["job"].is_string());
    let of_all = run(&place, 2, "ps --json").unwrap().succeeded().json();
    assert_eq!(with_word(&of_all, "sim caches --reads 12345").len(), 3);
    for one in &found {
        let pid = Pid::from_raw(one["pid"].as_u64().unwrap() as i32).unwrap();
        let _ = kill_process(pid, Signal::TERM);
    }
    job.wait().unwrap();
}
