//! Experiments as files: what they change, and every way to compare nothing.

use super::*;

const ARITHMETIC: &str = r#"
    title = "light"
    source = "physics"
    machine = "threads"
    [[line]]
    id = "light"
    claim = "travel 300 m"
    paper = 300
    unit = "m in 1 us"
    per_second = 299_792_458
"#;

#[test]
fn a_rate_needs_no_run() {
    let claims = Experiment::parse("light", ARITHMETIC).unwrap().run(&Observer::default());
    let [claim] = &claims.unwrap()[..] else { panic!("one claim") };
    assert_eq!((claim.ours, &claim.outcome), (299.792_458, &Outcome::Shown));
    assert!(claim.deviation().abs() < 0.001);
}

#[test]
fn what_compares_nothing_is_refused() {
    let refused = |from: &str, to: &str| {
        let text = ARITHMETIC.replace(from, to);
        Experiment::parse("light.toml", &text).unwrap_err().to_string()
    };
    for paper in ["nan", "inf", "0", "-3"] {
        let told = refused("paper = 300", &format!("paper = {paper}"));
        assert!(told.starts_with("light.toml: line 'light': paper is "), "{told}");
    }
    for wrong in ["tolerance = nan", "tolerance = -0.1", "today = nan", "today = 3", "does = 0"] {
        let told = refused("paper = 300", &format!("paper = 300\n{wrong}"));
        assert!(told.contains("'light': "), "{told}");
    }
    assert!(refused("299_792_458", "inf").contains("per_second is inf"));
    assert!(refused("paper = 300", "paper = 300\nknown_miss = 'so'").contains("known_miss"));
    let head = ARITHMETIC.split("[[line]]").next().unwrap();
    let told = Experiment::parse("light.toml", &format!("{head}\nline = []")).unwrap_err();
    assert_eq!(told.to_string(), "light.toml: there is no line: nothing is claimed");
}

const CHANGED: &str = r#"
    title = "changes"
    source = "ours"
    machine = "nanopu"
    changes = { switch-ns = 0, loss = 0.01 }
    seed = 7
    runs = 3
    [[line]]
    id = "fast"
    claim = "find a minimum"
    paper = 0.469
    unit = "us"
    program = "merge-min"
    [[line]]
    id = "slow"
    claim = "the same with the paper's switch, nothing lost"
    paper = 0.989
    tolerance = 0.001
    unit = "us"
    program = "merge-min"
    changes = { switch-ns = 263, loss = 0, multicast = "off" }
"#;

#[test]
fn an_experiment_changes_its_machine() {
    let experiment = Experiment::parse("changed", CHANGED).unwrap();
    assert_eq!(experiment.changes.told().join(", "), "switch-ns 0, loss 0.01");
    let lines = &experiment.lines;
    let told = lines[1].changes.over(&experiment.changes).told().join(", ");
    assert_eq!(told, "multicast off, switch-ns 263, loss 0");
    let job = experiment.job(&lines[0], "merge-min").unwrap();
    assert_eq!((job.seeds(), job.place().changes().loss), (experiment.seeds(), Some(0.01)));
    let claims = experiment.run(&Observer::default()).unwrap();
    // Three seeds, in some of which a packet is lost, which costs 20 us.
    assert!(claims[0].ours > 1.0, "{claims:?}");
    assert_eq!(claims[1].outcome, Outcome::Met, "{claims:?}");
    let json = experiment.to_json(&claims).unwrap();
    assert_eq!((&json["seed"], &json["runs"]), (&7.into(), &3.into()));
    assert_eq!(json["machine_hash"].as_str().map(str::len), Some(16));
    assert_eq!(json["changes"]["switch_ns"], 0);
}

#[test]
fn a_wrong_change_is_refused() {
    let refused = |from: &str, to: &str| {
        Experiment::parse("x", &CHANGED.replace(from, to)).unwrap_err().to_string()
    };
    assert!(refused("switch-ns = 0,", "swich-ns = 0,").contains("unknown field `swich-ns`"));
    assert!(refused("multicast = \"off\"", "multicast = \"no\"").contains("`on` or `off`"));
    let tail = refused("loss = 0.01", "tail-ns = 5");
    assert!(tail.contains("tail-ns and tail-fraction"), "{tail}");
}

#[test]
fn what_cannot_be_read_is_told_with_its_line() {
    let wrong = ARITHMETIC.replace("unit =", "unite =");
    let told = Experiment::parse("file.toml", &wrong).unwrap_err().to_string();
    assert!(told.starts_with("file.toml: line 9: unknown field `unite`"), "{told}");
    let told = Experiment::load("no-such").unwrap_err().to_string();
    assert!(told.contains("nanosort/figure-1"), "{told}");
}

#[test]
fn built_in_experiments_can_begin() {
    for name in Experiment::names() {
        let experiment = Experiment::load(name).unwrap();
        for line in &experiment.lines {
            if let Some(program) = &line.program {
                experiment.job(line, program).unwrap_or_else(|error| panic!("{name}: {error}"));
            }
            let can_fail = line.tolerance.is_some() && line.today.is_some();
            assert!(can_fail, "{name}: nothing is wrong whatever '{}' gives", line.id);
        }
    }
}
