//! Experiments as files: their figures, and everything that is refused.

mod refused;

use plot::Outcome;

use super::*;
use crate::job::Seeds;
use crate::spread::scaled;

const ARITHMETIC: &str = r#"
    title = "light"
    source = "physics"
    machine = "threads"
    [[line]]
    id = "light"
    claim = "travel 300 m"
    paper = 300
    unit = "m in 1 us"
    does = 299.792458
"#;

/// Every table, in several kinds. At incast 8, 64 cores take 989 ns, and 469 without latency in the
/// switch.
const ALL: &str = r#"
    title = "merge"
    source = "ours"
    machine = "nanopu"
    seed = 7
    runs = 3
    breakdown = "switch"
    [changes]
    switch-ns = 263
    [smoke]
    runs = 1
    cores = 16
    [chart.time]
    x = "incast"
    y = "time (us)"
    x_scale = "log"
    paper = [{ label = "theirs", x = 8, y = 0.75 }]
    [chart.switch]
    title = "over switches"
    x = "switch"
    y = "time (us)"
    names = ["none", "the paper's"]
    [[series]]
    id = "incast"
    chart = "time"
    label = "merge-min"
    program = "merge-min"
    with = { keys-per-core = 128 }
    vary = "incast"
    over = [64, 4, 8]
    smoke = [4, 8]
    [[series]]
    id = "switch"
    chart = "switch"
    label = "at incast 8"
    program = "merge-min"
    vary = "switch-ns"
    over = [0, 263]
    x_of = [0, 1]
    [[line]]
    id = "best"
    claim = "750 ns"
    paper = 989
    unit = "ns"
    tolerance = 0.001
    series = "incast"
    at = 8
    [[line]]
    id = "messages"
    claim = "63 messages"
    paper = 63
    unit = "messages"
    tolerance = 0.001
    series = "incast"
    at = 8
    measure = "messages"
    [[line]]
    id = "faster"
    claim = "half the time"
    paper = 0.53
    unit = "of it"
    tolerance = 0.02
    series = "switch"
    at = 0
    against = 263
    as = "fewer"
    [[line]]
    id = "own"
    claim = "as fast as that"
    paper = 0.989
    unit = "us"
    tolerance = 0.001
    program = "merge-min"
    [[line]]
    id = "sweet"
    claim = "8 is the best"
    series = "incast"
    is = "lowest-at"
    at = 8
    [[line]]
    id = "slower"
    claim = "it grows with the switch"
    series = "switch"
    is = "rising"
"#;

fn parsed(text: &str) -> Experiment {
    Experiment::parse("it.toml", text).unwrap_or_else(|error| panic!("{error}"))
}

fn run(experiment: &Experiment, size: Size) -> Figure {
    experiment
        .run(&Observer::default(), size, 2)
        .unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_rate_needs_no_run() {
    let figure = run(&parsed(ARITHMETIC), Size::Smoke);
    let [claim] = &figure.claims[..] else {
        panic!("one claim")
    };
    assert_eq!((claim.ours, &claim.outcome), (299.792_458, &Outcome::Shown));
    assert!(claim.deviation.abs() < 0.001);
    // It names nothing smaller, so there is one size.
    assert_eq!(
        (figure.size, figure.command.as_str()),
        (Size::Full, "gristmill lab run it.toml")
    );
}

#[test]
fn a_file_with_every_table() {
    let experiment = parsed(ALL);
    let figure = run(&experiment, Size::Full);
    assert_eq!((figure.seed, figure.runs, figure.size), (7, 3, Size::Full));
    assert_eq!(figure.command, "gristmill lab run it.toml --full");
    assert_eq!(figure.changes, ["switch-ns 263"]);
    assert_eq!(figure.machine_hash.as_ref().map(String::len), Some(16));
    let titles: Vec<_> = figure
        .charts
        .iter()
        .map(|chart| chart.title.as_str())
        .collect();
    assert_eq!(
        titles,
        ["merge", "over switches"],
        "in the order of the series"
    );
    let [time, switch] = &figure.charts[..] else {
        panic!("{titles:?}")
    };
    assert_eq!(time.paper[0].y, 0.75);
    let points = |chart: &plot::Chart| -> Vec<(f64, f64)> {
        let points = chart.series[0].points.iter();
        points.map(|point| (point.x, point.y.mean)).collect()
    };
    let places: Vec<_> = points(time).iter().map(|(x, _)| *x).collect();
    assert_eq!(places, [4.0, 8.0, 64.0], "in the order of x");
    assert_eq!(points(time)[1].1, points(switch)[1].1);
    let found = figure
        .claims
        .iter()
        .map(|claim| (claim.id.as_str(), claim.outcome.word()));
    let ids = ["best", "messages", "faster", "own", "sweet", "slower"];
    assert_eq!(
        found.collect::<Vec<_>>(),
        ids.map(|id| (id, "met")),
        "{:?}",
        figure.claims
    );
    assert_eq!(figure.claims[1].ours, 63.0);
    assert!(figure.faults.is_empty());
    let drawn = figure.breakdown.as_ref().unwrap();
    assert_eq!((drawn.picture.rows, drawn.picture.cores), (64, 64));
    assert_eq!(drawn.picture.cells.len(), 64 * drawn.picture.columns);
    let end = points(switch)[0].1;
    assert!(
        drawn.stages.iter().all(|stage| stage.time_us[5] <= end),
        "{:?}",
        drawn.stages
    );
    assert_eq!(drawn.picture.end_us, end);
    let text = serde_json::to_string(&figure).unwrap();
    assert_eq!(
        serde_json::from_str::<Figure>(&text).unwrap().charts,
        figure.charts
    );
}

#[test]
fn equal_jobs_run_once() {
    let experiment = parsed(ALL);
    // Three of incast, one more of the switch; the line's own is among them.
    assert_eq!(
        experiment.cost(Size::Full).unwrap(),
        Cost {
            runs: 4 * 3,
            most_cores: 64
        }
    );
    // Incast 4 and 8, and one more of the switch; the line's own is among them.
    assert_eq!(
        experiment.cost(Size::Smoke).unwrap(),
        Cost {
            runs: 3,
            most_cores: 16
        }
    );
    let other = ALL.replace(
        "program = \"merge-min\"\n    [[line]]",
        "program = \"merge-min\"\n    with = { incast = 2 }\n    [[line]]",
    );
    assert_eq!(parsed(&other).cost(Size::Full).unwrap().runs, 5 * 3);
}

#[test]
fn smoke_size_is_smaller_and_judges_nothing() {
    let figure = run(&parsed(ALL), Size::Smoke);
    assert_eq!((figure.runs, figure.size), (1, Size::Smoke));
    assert_eq!(figure.command, "gristmill lab run it.toml");
    let places = figure.charts[0].series[0]
        .points
        .iter()
        .map(|point| point.x);
    assert_eq!(places.collect::<Vec<_>>(), [4.0, 8.0]);
    assert!(figure.claims.is_empty());
    assert_eq!(figure.breakdown.unwrap().picture.cores, 16);
}

#[test]
fn a_figure_does_not_depend_on_the_workers() {
    let experiment = parsed(ALL);
    let figures = [1, 2, 5].map(|workers| {
        experiment
            .run(&Observer::default(), Size::Full, workers)
            .unwrap()
    });
    assert!(figures.iter().all(|figure| *figure == figures[0]));
}

#[test]
fn given_seeds_count_at_both_sizes() {
    let experiment = parsed(ALL).with_seeds(Some(9), Some(2));
    for size in [Size::Smoke, Size::Full] {
        assert_eq!(experiment.seeds(size), Seeds { first: 9, runs: 2 });
    }
    let figure = run(&experiment, Size::Smoke);
    assert_eq!((figure.seed, figure.runs), (9, 2));
    assert_eq!(
        figure.command,
        "gristmill lab run it.toml --seed 9 --runs 2"
    );
}

#[test]
fn a_wrong_result_fails_at_both_sizes() {
    let experiment = parsed(ALL);
    for size in [Size::Smoke, Size::Full] {
        let plans = experiment.plans(size).unwrap();
        let mut reports = run_queue::run(&plans.jobs, &Observer::default(), 2).unwrap();
        // Every claim is about incast 8.
        let runs = &mut reports[plans.plans[0].points[0][1].read.job];
        let last = runs.last_mut().unwrap();
        last.verdict.fault = Some("wrong".to_owned());
        let seed = last.seed;
        let results = result::of_all(&experiment, &plans, &reports);
        let figure = results.unwrap().figure;
        let [fault] = &figure.faults[..] else {
            panic!("{:?}", figure.faults)
        };
        assert!(
            fault.starts_with("merge-min on nanopu with cores "),
            "{fault}"
        );
        assert!(
            fault.ends_with(&format!(", switch-ns 263, seed {seed}: wrong")),
            "{fault}"
        );
        assert!(
            figure
                .claims
                .iter()
                .all(|claim| claim.fault() == Some("wrong"))
        );
        assert_eq!(figure.claims.is_empty(), size == Size::Smoke);
    }
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
fn an_experiment_can_change_its_machine() {
    let experiment = parsed(CHANGED);
    assert_eq!(
        experiment.changes.told().join(", "),
        "switch-ns 0, loss 0.01"
    );
    let plan = experiment.plans(Size::Full).unwrap();
    let told = plan.jobs[1].place().changes().told().join(", ");
    assert_eq!(told, "multicast off, switch-ns 263, loss 0");
    assert_eq!(plan.jobs[0].seeds(), experiment.seeds(Size::Full));
    let figure = run(&experiment, Size::Full);
    // Some of the three seeds lose a packet, which costs 20 us.
    assert!(figure.claims[0].ours > 1.0, "{:?}", figure.claims);
    assert_eq!(
        figure.claims[1].outcome,
        Outcome::Met,
        "{:?}",
        figure.claims
    );
}

/// Points, samples and lines are all of the divided values, which have no unit of time.
#[test]
fn a_relative_series_is_divided_by_its_mean_at_a_value() {
    let read = |text: &str| {
        let results = parsed(text).results(&Observer::default(), Size::Full, 2);
        results.unwrap_or_else(|error| panic!("{error}"))
    };
    let relative = ALL.replace("x_of = [0, 1]", "x_of = [0, 1]\n relative_to = 263");
    let line = "[[line]]\n claim = 'half'\n paper = 0.47\n unit = 'of it'\n tolerance = 0.02\n \
                series = 'switch'\n at = 0\n[[line]]";
    let relative = relative.replacen("[[line]]", line, 1);
    let [plain, relative] = [ALL, &relative].map(read);
    let points = |of: &Results| of.figure.charts[1].series[0].points.clone();
    let [before, after] = [&plain, &relative].map(points);
    for (before, after) in before.iter().zip(&after) {
        assert_eq!(
            scaled(before.y, 1.0 / points(&plain)[1].y.mean, 0.0),
            after.y
        );
    }
    let of_series = |it: &&Sample| it.vary == "switch-ns";
    let samples: Vec<_> = relative.samples.iter().filter(of_series).collect();
    assert!(samples.iter().all(|it| it.unit == "1" && it.value < 1.1));
    let half = &relative.figure.claims[0];
    assert_eq!((&half.outcome, half.ours), (&Outcome::Met, after[0].y.mean));
    // A ratio of two points is what it was.
    let ratio = |of: &Results| {
        of.figure
            .claims
            .iter()
            .find(|it| it.id == "faster")
            .unwrap()
            .ours
    };
    assert!((ratio(&plain) - ratio(&relative)).abs() < 1e-12);
}

/// Each value is different, so a wrong measure is noticed.
#[test]
fn measures_are_read_from_the_run() {
    let measured = |measure: &str| {
        let text = ALL.replace(
            "id = \"incast\"\n",
            &format!("id = \"incast\"\n measure = {measure}\n"),
        );
        let text = text.split("[[line]]").next().unwrap().to_owned();
        let figure = run(&parsed(&text), Size::Full);
        figure.charts[0].series[0].points[1].y.mean
    };
    let time = measured("\"time\"");
    assert_eq!(measured("\"messages\""), 63.0);
    assert_eq!(measured("\"packets\"") % 1.0, 0.0);
    assert!(measured("\"wire-bytes\"") > 63.0 * 16.0);
    assert_eq!(measured("\"time\"\n repeats = 2"), time / 2.0);
    let of_scan = |measure: &str| measured(&format!("\"{measure}\"\n stage = \"scan\""));
    let [stage, busy, idle, share] = ["stage", "busy", "idle", "time-share"].map(of_scan);
    assert_eq!((stage, idle), (busy, 0.0));
    assert!((busy - 0.16).abs() < 1e-9, "128 values of 4 cycles: {busy}");
    assert!(0.0 < share && share < 1.0, "{share}");
    // At incast 8 core 0 receives 14 of the 63 messages, each of which has two ends.
    assert_eq!(measured("\"messages-per-core\""), 126.0 / 64.0);
    assert_eq!(measured("\"message-skew\""), 14.0 * 64.0 / 126.0);
    assert_eq!(measured("\"figure\""), 2.0, "levels of the tree");
    assert_eq!(measured("\"misses\""), 0.0);
    assert_eq!(measured("\"throughput\""), 128.0 / (time * 1e-3));
    // All cores scan as long; the root works and waits the longest, as it merges twice.
    let deviation =
        |measure: &str, stage: &str| measured(&format!("\"{measure}\"\n stage = \"{stage}\""));
    assert_eq!(deviation("busy-sd", "scan"), 0.0);
    let [stage, busy, idle] =
        ["stage-sd", "busy-sd", "idle-sd"].map(|measure| deviation(measure, "merge"));
    assert!(0.0 < busy && busy < stage, "{busy} {stage}");
    assert!(stage <= busy + idle, "{busy} {idle} {stage}");
}

const MISSES: &str = r#"
    [[series]]
    id = "misses"
    program = "local-min"
    vary = "keys-per-core"
    over = [2048, 2049]
    with = { cores = 2 }
    measure = "miss-rate"
    [[line]]
    id = "lines"
    claim = "257 lines"
    paper = 257
    unit = "lines"
    tolerance = 0.0
    series = "misses"
    at = 2049
    measure = "misses"
"#;

#[test]
fn misses_are_those_of_a_core() {
    let figure = run(&parsed(MISSES), Size::Full);
    let points = &figure.charts[0].series[0].points;
    assert_eq!(points[0].y.mean, 0.0);
    assert_eq!(points[1].y.mean, 257.0 / 2049.0);
    assert_eq!(figure.claims[0].outcome, Outcome::Met);
}

/// Borders of 1 and 3 cores, whose deviation is drawn; the line takes it from its series.
const DEVIATION: &str = r#"
    runs = 50
    [[series]]
    id = "border"
    program = "pivot-select"
    with = { keys-per-core = 9, buckets = 10, naming = "least", figure = "border" }
    vary = "cores"
    over = [1, 3]
    measure = "figure"
    take = "sd"
    [[line]]
    id = "falls"
    claim = "more cores vary less"
    series = "border"
    is = "falling"
    [[line]]
    id = "one"
    claim = "the first of nine keys has a deviation of 0.09"
    paper = 0.0905
    unit = "of all keys"
    tolerance = 0.3
    series = "border"
    at = 1
"#;

#[test]
fn a_series_can_be_of_deviations() {
    let figure = run(&parsed(DEVIATION), Size::Full);
    let point = figure.charts[0].series[0].points[0].y;
    assert_eq!((point.sd, point.min), (0.0, point.mean));
    assert_eq!(figure.claims[1].ours, point.mean);
    let outcomes = figure.claims.iter().map(|claim| claim.outcome);
    assert!(outcomes.eq([Outcome::Met; 2]), "{:?}", figure.claims);
    let told = Experiment::parse("it.toml", &DEVIATION.replace("runs = 50", "runs = 1"));
    let told = told.unwrap_err().to_string();
    assert!(
        told.contains("[[series]] 'border': take: one run has no deviation; set runs to 2 or more"),
        "{told}"
    );
}

#[test]
fn trees_are_drawn_below_a_chart() {
    let with = |trees: &str| ALL.replace("paper = [{", &format!("trees = {trees}\n paper = [{{"));
    let figure = run(
        &parsed(&with("{ cores = 5, incast = [1, 2] }")),
        Size::Smoke,
    );
    let links = |tree: &plot::Tree| -> Vec<[u32; 3]> {
        let links = tree.links.iter();
        links
            .map(|link| [link.child, link.parent, link.level])
            .collect()
    };
    let [chain, twos] = &figure.trees[..] else {
        panic!("{:?}", figure.trees)
    };
    assert_eq!((chain.label.as_str(), chain.cores), ("incast 1", 5));
    assert_eq!(links(chain), [[1, 0, 4], [2, 1, 3], [3, 2, 2], [4, 3, 1]]);
    assert_eq!(links(twos), [[1, 0, 1], [2, 0, 2], [3, 2, 1], [4, 0, 3]]);
    for (trees, words) in [
        (
            "{ cores = 65, incast = [2] }",
            "trees: cores 65: expected a number from 2 to 64",
        ),
        (
            "{ cores = 9, incast = [2, 0] }",
            "trees: incast 0: expected a number from 1",
        ),
    ] {
        let told = Experiment::parse("it.toml", &with(trees))
            .unwrap_err()
            .to_string();
        assert!(told.contains(words), "{told}");
    }
}

#[test]
fn built_in_experiments_can_fail() {
    for name in Experiment::names() {
        for line in Experiment::load(name).unwrap().lines {
            let is_judged = line.today.is_some() || line.is.is_some();
            assert!(is_judged, "{name}: '{}' cannot fail", line.id);
        }
    }
}

#[test]
fn another_format_is_refused_before_its_keys() {
    let series = "[[series]]\nprogram = \"merge-min\"\nvary = \"incast\"\nover = [1]\n";
    parsed(&format!("format = 1\n{series}"));
    let newer = format!("title = \"x\"\nkey-of-tomorrow = 1\nformat = 2\n{series}");
    let told = Experiment::parse("it.toml", &newer)
        .unwrap_err()
        .to_string();
    assert!(
        told.contains("line 3") && told.contains("files of format 1"),
        "{told}"
    );
}

#[test]
fn a_short_file_has_defaults() {
    let shortest = "[[series]]\nprogram = 'merge-min'\nvary = 'incast'\nover = [4, 8]";
    let figure = run(&parsed(shortest), Size::Full);
    assert_eq!(
        (figure.title.as_str(), figure.machine.as_str()),
        ("it.toml", "nanopu")
    );
    let [chart] = &figure.charts[..] else {
        panic!("one chart")
    };
    assert_eq!(
        (chart.x.label.as_str(), chart.y.label.as_str()),
        ("incast", "time (us)")
    );
    assert_eq!(chart.series[0].label, "merge-min");
    assert_eq!(chart.series[0].points.len(), 2);
    // Series that vary and measure the same share a chart.
    let two = format!(
        "{shortest}\n[[series]]\nprogram = 'merge-min'\nlabel = 'packets'\n\
         measure = 'packets'\nvary = 'reorder'\nover = ['nic', 'port']\n\
         {shortest}\nlabel = 'chain'\nwith = {{ cores = 8 }}"
    );
    let figure = run(&parsed(&two), Size::Full);
    let [times, packets] = &figure.charts[..] else {
        panic!("two charts")
    };
    let labels = times.series.iter().map(|series| series.label.as_str());
    assert_eq!(labels.collect::<Vec<_>>(), ["merge-min", "chain"]);
    assert_eq!(packets.y.label, "packets");
    assert_eq!(packets.x.names, ["nic", "port"]);
    let twice = format!("{shortest}\n{shortest}");
    let told = Experiment::parse("it.toml", &twice)
        .unwrap_err()
        .to_string();
    assert!(told.contains("id: 'merge-min' appears twice"), "{told}");
    // Series of one program are told apart by their options; a chart needs no table.
    let more =
        format!("{shortest}\nchart = 'both'\n{shortest}\nchart = 'both'\nwith = {{ cores = 8 }}\n");
    let figure = run(&parsed(&more), Size::Full);
    let [both] = &figure.charts[..] else {
        panic!("one chart")
    };
    let labels: Vec<_> = both.series.iter().map(|it| it.label.as_str()).collect();
    assert_eq!(labels, ["merge-min", "merge-min, cores 8"]);
    assert_eq!(both.x.label, "incast");
    let varied = "[[series]]\nprogram = 'merge-min'\nvary = 'switch-ns'\nover = [100, 200]";
    let figure = run(&parsed(&format!("{shortest}\n{varied}")), Size::Full);
    let labels = figure.charts.iter().flat_map(|chart| &chart.series);
    let labels: Vec<_> = labels.map(|it| it.label.as_str()).collect();
    assert_eq!(labels, ["merge-min, by incast", "merge-min, by switch-ns"]);
    let axes = format!("{shortest}\nchart = 'log'\n[chart.log]\nx_scale = 'log'");
    let figure = run(&parsed(&axes), Size::Full);
    assert_eq!(figure.charts[0].y.label, "time (us)");
}

/// The value of every run, and their mean as it is drawn.
#[test]
fn every_run_is_a_sample() {
    let experiment = parsed(ALL);
    let results = experiment
        .results(&Observer::default(), Size::Full, 2)
        .unwrap();
    let samples = &results.samples;
    assert_eq!(samples.len(), 3 * (3 + 2), "three seeds of five points");
    let seeds: Vec<_> = samples[..3].iter().map(|sample| sample.seed).collect();
    assert_eq!(seeds, [7, 8, 9]);
    let first = &samples[0];
    assert_eq!(
        (first.vary.as_str(), first.at.as_str(), first.x),
        ("incast", "4", 4.0)
    );
    assert_eq!((first.measure.as_str(), first.unit), ("time", "us"));
    let drawn = results.figure.charts[0].series[0].points[0].y;
    assert_eq!((first.mean, first.sd), (drawn.mean, drawn.sd));
    let sum: f64 = samples[..3].iter().map(|sample| sample.value).sum();
    assert!((sum / 3.0 - drawn.mean).abs() < 1e-9);
    assert_eq!(samples[9].at, "0", "the second series");
}

/// A file that is not built in would never run. To other papers the sort adds files (`simulated-sort`), and looks
/// for theirs.
#[test]
fn every_file_is_built_in() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../experiments/nanosort");
    let mut found = Vec::new();
    for path in std::fs::read_dir(root).unwrap() {
        let path = path.unwrap().path();
        found.push(format!("nanosort/{}", path.file_stem().unwrap().display()));
    }
    found.sort();
    let names = Experiment::names().filter(|name| name.starts_with("nanosort/"));
    let mut known: Vec<_> = names.collect();
    known.sort_unstable();
    assert_eq!(found, known);
}

/// Two dials, of an option of all series and of options of one.
const GRID: &str = r#"
    [[grid]]
    dial = "incast"
    over = [8, 2]
    smoke = [8]
    [[grid]]
    dial = "load"
    of = ["busy"]
    over = ["default", { keys-per-core = 256, reorder = "nic" }]
    [[series]]
    id = "busy"
    program = "merge-min"
    vary = "cores"
    over = [64]
    [[series]]
    id = "plain"
    program = "merge-min"
    vary = "cores"
    over = [16, 64]
    runs = 2
    [[line]]
    id = "time"
    claim = "it takes 1 us"
    paper = 1
    unit = "us"
    tolerance = 0.05
    series = "busy"
    at = 64
    [[line]]
    id = "slower"
    claim = "more cores take longer"
    series = "plain"
    is = "rising"
"#;

#[test]
fn a_grid_judges_every_reading() {
    let experiment = parsed(GRID);
    // Of each incast: busy with two loads, and plain with 16 and 64 cores from two seeds. At smoke size
    // one of busy is that of plain.
    let cost = |size| experiment.cost(size).unwrap().runs;
    assert_eq!((cost(Size::Full), cost(Size::Smoke)), (2 * (2 + 2 * 2), 3));
    let figure = run(&experiment, Size::Full);
    assert!(figure.charts.is_empty() && figure.claims.is_empty() && figure.faults.is_empty());
    let grid = figure.grid.unwrap();
    assert_eq!(grid.dials, ["incast", "load"]);
    let met: Vec<_> = grid.readings.iter().map(plot::Reading::met).collect();
    assert!(met.is_sorted_by(|one, next| one >= next), "{met:?}");
    let mut values: Vec<_> = grid.readings.iter().map(|it| it.values.join(" ")).collect();
    assert_eq!(values[0], "8 default", "the paper's incast takes 1 us");
    values.sort();
    let more = "keys-per-core 256, reorder nic";
    let all = [
        &format!("2 {more}"),
        "2 default",
        "8 default",
        &format!("8 {more}"),
    ];
    let mut all = all.map(str::to_owned);
    all.sort();
    assert_eq!(values, all);
    let [time, slower] = &grid.readings[0].claims[..] else {
        panic!("two claims")
    };
    assert_eq!((time.outcome, slower.outcome), (Outcome::Met, Outcome::Met));
    let off = (0.989_f64).ln().abs().exp() - 1.0;
    assert!(
        (grid.readings[0].off - off).abs() < 0.001,
        "shapes have no distance"
    );
}

#[test]
fn a_grid_keeps_the_figures_of_its_first_reading() {
    let with = |today: f64| GRID.replace("tolerance = 0.05", &format!("today = {today}"));
    let faults = |today| run(&parsed(&with(today)), Size::Full).faults;
    assert!(faults(0.989).is_empty());
    let faults = faults(0.9);
    let [fault] = &faults[..] else {
        panic!("{faults:?}")
    };
    assert!(fault.starts_with("claim 'time': "), "{fault}");
}

/// Equal figures look like a mistake, so a note says why they are equal.
#[test]
fn equal_distributions_have_a_note() {
    let of = |over: &str| {
        let text = format!(
            "[[series]]\nprogram = 'nano-sort'\nwith = {{ cores = 16 }}\nvary = 'distribution'\n\
             over = [{over}]"
        );
        run(&parsed(&text), Size::Full).note
    };
    let note = of("'uniform', 'clustered'").expect("a note");
    assert!(note.contains("the same draws"), "{note}");
    assert_eq!(of("'uniform', 'sorted'"), None);
}
