//! Tasks of one node that serve together: a shard of the key-value store on a nanoPU of four cores.

use lab::{Changes, Job, Observer, Parameters, Place, SimReport};

/// One server, kept busy by 128 clients; a value has 512 bytes, as in nanoPU's MICA.
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

/// In a model with one task per port, or one core per rank, four workers would be no faster.
#[test]
fn four_workers_of_a_node_serve_a_busy_shard_faster() {
    let [one, two, four] =
        [1, 2, 4].map(|workers| busy_shard("nanopu-nodes", workers).time_us.mean);
    assert!(one > 1.7 * two, "{one} us with one, {two} with two");
    assert!(one > 2.5 * four, "{one} us with one, {four} with four");
    // Four cores are at most four times as fast.
    assert!(one < 4.0 * four, "{one} us with one, {four} with four");
}

#[test]
fn more_workers_than_cores_are_no_faster() {
    let [one, four] = [1, 4].map(|workers| busy_shard("nanopu", workers).time_us.mean);
    assert!(
        four > 0.9 * one,
        "{one} us with one, {four} with four on one core"
    );
}

/// Four tasks of a core add up to more than the run takes, so the stage names their number.
#[test]
fn a_stage_names_the_number_of_its_tasks() {
    let report = busy_shard("nanopu-nodes", 4);
    let stages = &report.runs[0].stages;
    let titles: Vec<_> = stages.iter().map(lab::StageReport::title).collect();
    assert_eq!(titles, ["serve", "work, 4 tasks", "ask"]);
    let work = stages.iter().find(|stage| stage.name == "work").unwrap();
    assert!(work.quantiles_us[5] > report.time_us.mean, "{work:?}");
    let json = report.to_json();
    assert_eq!(json["runs"][0]["stages"][1]["tasks"], 4);
}
