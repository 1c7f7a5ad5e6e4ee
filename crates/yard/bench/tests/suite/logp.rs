//! `gristmill-bench logp`, on threads and over MPI. Figures of a busy computer mean nothing.

use serde_json::Value;

use super::{BENCH, command, launch, names, report, rows};

const MACHINES: [&str; 9] = [
    "cs-2", "t3d", "paragon", "sp-2", "now", "ramcloud", "erpc", "nebula", "nanopu",
];

fn value(row: &Value, name: &str, method: &str) -> f64 {
    let measured = row["measured"].as_array().unwrap();
    let is_it = |one: &&Value| one["name"] == name && one["method"] == method;
    measured.iter().find(is_it).unwrap()["median"]
        .as_f64()
        .unwrap()
}

fn check(report: &Value, own: &str) {
    let rows = rows(report);
    let all = names(rows);
    let (machines, last) = all.split_at(9);
    assert_eq!(machines, MACHINES);
    assert!(last.len() == 1 && last[0].contains(own), "{last:?}");
    let now = &rows[4];
    let [o_s, o_r, latency] = ["o_s", "o_r", "L"].map(|name| value(now, name, "PRTT"));
    assert!((o_s + o_r + latency - 10.8).abs() < 0.1, "{now:#}");
    assert!(value(&rows[9], "RTT", "signature") > 0.0, "{:#}", rows[9]);
}

#[test]
fn threads_are_a_row_behind_the_machines() {
    let ended = command(&["logp", "--rounds", "3", "--json"])
        .output()
        .unwrap();
    check(&report(&ended), "threads");
}

#[test]
fn ranks_are_a_row_behind_the_machines() {
    let Some(mut ranks) = launch::launcher(2, "gristmill-bench logp") else {
        return;
    };
    ranks.arg(BENCH).args(["logp", "--rounds", "3", "--json"]);
    check(&report(&launch::ended(ranks.spawn().unwrap())), "MPI");
}
