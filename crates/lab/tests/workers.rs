//! Tasks of one node serve together: a shard of the key-value store on a nanoPU of four cores.

use lab::{Changes, Job, Observer, Parameters, Place, SimReport};

/// One server and 128 clients, who keep it busy: a value is 512 bytes, as in nanoPU's MICA.
fn busy_shard(machine: &str, workers: u64) -> SimReport {
    let told = [
        ("cores", 129),
        ("servers", 1),
        ("keys", 64),
        ("bytes", 512),
        ("messages", 16),
        ("workers", workers),
    ];
    let parameters = Parameters::of("kv", told).unwrap();
    let place = Place::named(machine, &Changes::default()).unwrap();
    let job = Job::new(parameters, place, lab::Seeds::default()).unwrap();
    let report = job.run(&Observer::default()).unwrap();
    assert!(report.is_right(), "{:?}", report.runs[0].verdict.fault);
    report
}

/// A model in which a port has one task, or a rank one core, takes as long with four.
#[test]
fn four_workers_of_a_node_serve_a_busy_shard_faster() {
    let [one, two, four] =
        [1, 2, 4].map(|workers| busy_shard("nanopu-nodes", workers).time_us.mean);
    assert!(one > 1.7 * two, "{one} us with one, {two} with two");
    assert!(one > 2.5 * four, "{one} us with one, {four} with four");
    // Four cores are no more than four.
    assert!(one < 4.0 * four, "{one} us with one, {four} with four");
}

#[test]
fn workers_beyond_the_cores_win_nothing() {
    let [one, four] = [1, 4].map(|workers| busy_shard("nanopu", workers).time_us.mean);
    assert!(
        four > 0.9 * one,
        "{one} us with one, {four} with four on one core"
    );
}

/// Four tasks of a core work more than the run takes, so their stage says whose sum it is.
#[test]
fn a_stage_of_several_tasks_says_so() {
    let report = busy_shard("nanopu-nodes", 4);
    let stages = &report.runs[0].stages;
    let titles: Vec<_> = stages.iter().map(lab::StageReport::title).collect();
    assert_eq!(titles, ["serve", "work, 4 tasks", "ask"]);
    let work = stages.iter().find(|stage| stage.name == "work").unwrap();
    assert!(work.quantiles_us[5] > report.time_us.mean, "{work:?}");
    let json = report.to_json();
    assert_eq!(json["runs"][0]["stages"][1]["tasks"], 4);
}
