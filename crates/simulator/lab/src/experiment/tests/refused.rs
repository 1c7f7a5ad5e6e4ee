//! Errors in a file name the file, the table and the field.

use super::{ALL, ARITHMETIC, CHANGED, GRID};
use crate::experiment::Experiment;
use crate::observer::Observer;
use plot::Size;

fn refused(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "{from}");
    let told = Experiment::parse("it.toml", &text.replacen(from, to, 1))
        .unwrap_err()
        .to_string();
    assert!(
        told.starts_with("it.toml: ") && !told.contains('\n'),
        "{told}"
    );
    told
}

#[track_caller]
fn tells(from: &str, to: &str, words: &str) {
    let told = refused(ALL, from, to);
    assert!(told.contains(words), "{told}");
}

#[test]
fn a_claim_that_compares_nothing() {
    for paper in ["nan", "inf", "0", "-3"] {
        let told = refused(ARITHMETIC, "paper = 300", &format!("paper = {paper}"));
        assert!(
            told.starts_with("it.toml: line 8, [[line]] 'light': paper is "),
            "{told}"
        );
    }
    for wrong in [
        "tolerance = nan",
        "tolerance = -0.1",
        "today = nan",
        "at_least = true\nat_most = true",
    ] {
        let told = refused(ARITHMETIC, "paper = 300", &format!("paper = 300\n{wrong}"));
        assert!(told.contains("'light': "), "{told}");
    }
    assert!(refused(ARITHMETIC, "299.792458", "inf").contains("does is inf"));
    let miss = refused(ARITHMETIC, "paper = 300", "paper = 300\nknown_miss = 'so'");
    assert!(miss.contains("known_miss"), "{miss}");
    let head = ARITHMETIC.split("[[line]]").next().unwrap();
    let told = Experiment::parse("it.toml", head).unwrap_err().to_string();
    assert_eq!(
        told,
        "it.toml: the file has no [[series]] and no [[line]], so nothing would run; add a [[series]]"
    );
    tells(
        "tolerance = 0.001",
        "tolerance = 1",
        "[[line]] 'best': tolerance is 1",
    );
    tells(
        "is = \"rising\"",
        "is = \"rising\"\ntolerance = -1",
        "[[line]] 'slower': tolerance is",
    );
}

#[test]
fn a_wrong_change() {
    let told = refused(CHANGED, "switch-ns = 0,", "swich-ns = 0,");
    assert!(
        told.contains("there is no key 'swich-ns'; did you mean switch-ns?"),
        "{told}"
    );
    let told = refused(CHANGED, "multicast = \"off\"", "multicast = \"no\"");
    assert!(
        told.contains("[[line]]: changes: 'no' is none of on, off"),
        "{told}"
    );
    let told = refused(CHANGED, "loss = 0.01", "tail-ns = 5");
    assert!(told.contains("tail-ns and tail-fraction"), "{told}");
    let told = refused(CHANGED, "loss = 0.01", "loss = 0.7");
    assert!(
        told.contains("[[line]] 'fast': ") && told.contains("loss 0.7"),
        "{told}"
    );
}

#[test]
fn an_unknown_key() {
    let told = refused(ARITHMETIC, "unit =", "unite =");
    assert!(
        told == "it.toml: line 9, [[line]]: there is no key 'unite'; did you mean unit?",
        "{told}"
    );
    tells(
        "title = \"merge\"",
        "titel = 4",
        "line 2: there is no key 'titel'; did you mean title?",
    );
    tells("y = \"time (us)\"", "yy = 3", ", [chart.time]: ");
    tells(
        "x = 8, y",
        "x = 8, z = 1, y",
        "there is no key 'z'; there are label",
    );
    tells(
        "vary = \"incast\"",
        "varies = 3",
        "[[series]]: there is no key 'varies'; did you mean vary?",
    );
    tells(
        "is = \"rising\"",
        "is = \"growing\"",
        "[[line]]: is: 'growing' is none of rising, falling",
    );
    tells(
        "breakdown = \"switch\"",
        "breakdown = \"swich\"",
        "breakdown: there is no series 'swich'; did you mean switch?",
    );
    tells(
        "over = [64, 4, 8]",
        "over = [[64]]",
        "expected a number or a word",
    );
    tells(
        "measure = \"messages\"",
        "measure = \"letters\"",
        "measure: 'letters' is none of time, wire",
    );
    let told = Experiment::load("no-such").unwrap_err().to_string();
    assert!(told.contains("nanosort/figure-1"), "{told}");
}

#[test]
fn an_unknown_name() {
    let series = "[[series]] 'incast': ";
    tells(
        "program = \"merge-min\"\n    with",
        "program = \"merge\"\n    with",
        "there is no program 'merge'",
    );
    tells(
        "{ keys-per-core = 128 }",
        "{ key = 128 }",
        &format!("{series}with.key: merge-min: there is no option 'key'"),
    );
    tells(
        "{ keys-per-core = 128 }",
        "{ bytes = 8 }",
        "with.bytes: merge-min: there is no option 'bytes'",
    );
    tells(
        "{ keys-per-core = 128 }",
        "{ keys-per-core = 'x' }",
        "with.keys-per-core: invalid value 'x' for '--keys-per-core <K>': not a number",
    );
    tells(
        "machine = \"nanopu\"",
        "machine = \"nanopo\"",
        "machine 'nanopo'",
    );
    tells(
        "{ keys-per-core = 128 }",
        "{}\n machine = 'mini'",
        &format!("{series}machine 'mini'"),
    );
    tells(
        "vary = \"incast\"",
        "vary = \"outcast\"",
        &format!("{series}vary: 'outcast' is neither"),
    );
    tells(
        "vary = \"incast\"",
        "vary = \"machine\"",
        "vary: 64: expected the name of a machine",
    );
    tells(
        "chart = \"time\"",
        "chart = \"tim\"",
        &format!("{series}chart: there is no [chart.tim]"),
    );
    tells(
        "cores = 16",
        "core = 16",
        "[smoke]: core: no program of this experiment has it; there is no option 'core'; did you",
    );
    tells(
        "cores = 16",
        "bytes = 16",
        "[smoke]: bytes: no program of this experiment has it",
    );
    tells("runs = 1", "runs = 0", "[smoke]: runs 0");
}

#[test]
fn a_series_without_points() {
    tells(
        "over = [64, 4, 8]",
        "over = []",
        "'incast': over: there is no value",
    );
    tells(
        "over = [64, 4, 8]",
        "over = [8, 4, 8.0]",
        "over: 8 appears twice",
    );
    tells(
        "smoke = [4, 8]",
        "smoke = [2]",
        "'incast': smoke: 2 is not in over",
    );
    tells(
        "smoke = [4, 8]",
        "smoke = []",
        "'incast': smoke: there is no value",
    );
    tells(
        "x_of = [0, 1]",
        "x_of = [0]",
        "'switch': x_of: 1 places for 2 values",
    );
    tells(
        "x_of = [0, 1]",
        "x_of = [0, 2]",
        "[chart.switch]: series 'switch': x is 2",
    );
    tells("x_of = [0, 1]", "x_of = [0, nan]", "x_of: a point at NaN");
    tells(
        "id = \"switch\"",
        "id = \"incast\"",
        "[[series]] 'incast': id: 'incast' appears twice",
    );
    tells(
        "id = \"sweet\"",
        "id = \"best\"",
        "id: 'best' appears twice",
    );
    for (wrong, told) in [
        (
            "relative_to = 5",
            "relative_to: series 'incast' has no point at 5; there are 64, 4, 8",
        ),
        (
            "relative_to = 64",
            "relative_to: 64 does not run at smoke size; add it to smoke",
        ),
    ] {
        let told = format!("line 32, [[series]] 'incast': {told}");
        tells("smoke = [4, 8]", &format!("smoke = [4, 8]\n{wrong}"), &told);
    }
    let stages = "smoke = [4, 8]\nvary = 'stage'\nrelative_to = 4";
    let text = ALL.replacen("    vary = \"incast\"\n", "", 1);
    let told = refused(&text, "smoke = [4, 8]", stages);
    assert!(told.contains("relative_to: stages vary"), "{told}");
    tells(
        "smoke = [4, 8]",
        "smoke = [4, 8]\nrepeats = 0",
        "repeats is 0",
    );
    tells(
        "smoke = [4, 8]",
        "smoke = [4, 8]\nmeasure = 'stage'",
        "'incast': stage: missing",
    );
    tells(
        "smoke = [4, 8]",
        "smoke = [4, 8]\nstage = 'scan'",
        "stage: measure is not of a stage",
    );
}

#[test]
fn values_relative_to_nothing() {
    let told = "over = [64, 4, 8]\nrelative_to = 4\nmeasure = 'misses'";
    let text = ALL.replacen("over = [64, 4, 8]\n    smoke = [4, 8]", told, 1);
    let text = text.split("[[line]]").next().unwrap();
    let nothing = Experiment::parse("it.toml", text).unwrap();
    let ended = nothing.run(&Observer::default(), Size::Full, 1);
    let told = ended.unwrap_err().to_string();
    let expected = "[[series]] 'incast': relative_to: the mean there is 0; name another value";
    assert!(told.contains(expected), "{told}");
}

#[test]
fn a_chart_without_places() {
    let chart = "[chart.empty]\nx = 'x'\ny = 'y'\n[chart.time]";
    tells(
        "[chart.time]",
        chart,
        "[chart.empty]: no series is drawn in it",
    );
    tells(
        "x = 8, y",
        "x = 0, y",
        "[chart.time]: paper: 'theirs': x is 0: x_scale log",
    );
    tells(
        "y = 0.75",
        "y = nan",
        "[chart.time]: paper: 'theirs': y is NaN",
    );
    tells(
        "y = 0.75",
        "y = 0.75, sd = -1",
        "sd: expected a number from 0",
    );
    let words = "vary = \"reorder\"\nover = ['nic', 'port']\nx_of = 2\nsmoke = ['nic']";
    let sweep = "vary = \"incast\"\n    over = [64, 4, 8]\n    smoke = [4, 8]";
    tells(sweep, words, "x_of: a factor of words");
    tells(
        sweep,
        &words
            .replace("x_of = 2\n", "")
            .replace("'port']", "'port', 4]"),
        "over: invalid value '4' for '--reorder",
    );
}

#[test]
fn a_missing_point() {
    tells(
        "series = \"incast\"\n    at = 8",
        "series = \"incest\"\n    at = 8",
        "[[line]] 'best': series: there is no series 'incest'; did you mean incast?",
    );
    tells(
        "    at = 8\n    [[line]]",
        "    at = 9\n    [[line]]",
        "'best': at: series 'incast' has no point at 9; there are 64, 4, 8",
    );
    tells(
        "against = 263",
        "against = 100",
        "'faster': against: series 'switch' has no",
    );
    tells(
        "against = 263",
        "against = 'none'",
        "'faster': against: series 'switch' has no point at none",
    );
    tells(
        "series = \"switch\"\n    is",
        "series = \"swich\"\n    is",
        "[[line]] 'slower': series: there is no",
    );
    tells(
        "is = \"lowest-at\"\n    at = 8",
        "is = \"lowest-at\"",
        "[[line]] 'sweet': at: missing",
    );
    tells(
        "is = \"lowest-at\"\n    at = 8",
        "is = \"lowest-at\"\nat = 5",
        "has no point at 5",
    );
    tells(
        "is = \"rising\"",
        "is = \"rising\"\nat = 3",
        "at: only lowest-at",
    );
    tells(
        "is = \"rising\"",
        "is = \"linear\"",
        "'switch' has 2 points, and needs 3 or more",
    );
}

#[test]
fn a_contradictory_line() {
    tells(
        "program = \"merge-min\"\n    [[line]]",
        "[[line]]",
        "either a program, or a series",
    );
    tells(
        "at = 0\n",
        "at = 0\nprogram = 'merge-min'\n",
        "either a program, or a series",
    );
    tells(
        "at = 0\n",
        "at = 0\nwith = { cores = 3 }\n",
        "with, machine and changes need a program",
    );
    tells("    at = 0\n", "", "'faster': at: missing");
    tells("against = 263\n", "", "'faster': as: needs against");
    tells(
        "at = 0\n",
        "at = 0\ndoes = 3\n",
        "does: two points are compared",
    );
    let own = "program = \"merge-min\"\n    [[line]]";
    let with = |more: &str| own.replace("\n", &format!("\n{more}\n"));
    tells(own, &with("against = 3"), "against and as need a series");
    tells(
        own,
        &with("is = 'flat'"),
        "at, is, against and as need a series",
    );
    tells(
        "is = \"rising\"",
        "is = \"rising\"\npaper = 3",
        "is: leave out paper",
    );
    tells(
        "unit = \"ns\"\n",
        "",
        "paper and unit: one of them is missing",
    );
    tells(
        own,
        &with("measure = 'messages'\ndoes = 3"),
        "does: it is divided by a time",
    );
    tells(
        "unit = \"ns\"",
        "unit = \"ages\"",
        "'best': unit is ages: a time is in ns, us, ms or s",
    );
}

/// Some errors need a run.
#[test]
fn a_run_without_what_is_measured() {
    let fails = |text: &str, from: &str, to: &str, words: &str| {
        let experiment = Experiment::parse("it.toml", &text.replacen(from, to, 1)).unwrap();
        let ran = experiment.run(&crate::Observer::default(), plot::Size::Full, 1);
        let told = ran.map(|figure| figure.title).unwrap_err().to_string();
        assert!(
            told.starts_with("it.toml: ") && told.contains(words),
            "{told}"
        );
    };
    let smoke = "smoke = [4, 8]";
    let with = |more: &str| format!("{smoke}\n{more}");
    let doze = with("measure = 'busy'\nstage = 'doze'");
    fails(
        ALL,
        smoke,
        &doze,
        "'incast': stage: there is no 'doze'; there are scan, merge",
    );
    let wire = with("measure = 'wire'");
    fails(
        ALL,
        smoke,
        &wire,
        "'incast': measure: wire: the program is not timed at",
    );
    let send = |measure: &str| {
        format!("program = 'send'\nwith = {{ cores = 2, messages = 1 }}\nmeasure = '{measure}'")
    };
    let rate = "does = 299.792458";
    fails(
        ARITHMETIC,
        rate,
        &send("skew"),
        "'light': measure: the program does not count its",
    );
    fails(
        ARITHMETIC,
        rate,
        &send("messages"),
        "'light': measure: real nodes count nothing",
    );
}

/// The first mistake is told: of the reader, then of the checks.
#[test]
fn the_first_mistake_is_told() {
    let text = "\
titel = 'x'
[changes]
switch-ns = 'fast'
[[series]]
program = 'merge-mni'
vary = 'incast'
over = [1, 2]
[[series]]
program = 'nano-sort'
with = { cores = 0, bucket = 4 }
vary = 'keys-per-core'
over = [1, 'x', 1]
smok = [1]
[[series]]
program = 'flood'
ovr = [1]
vary = 'messages'
";
    // Each mistake is mended after it was told.
    let mended = [
        (
            "line 1: there is no key 'titel'; did you mean title?",
            "titel",
            "title",
        ),
        ("line 3, [changes]: switch-ns: ", "'fast'", "1"),
        (
            "line 13, [[series]]: there is no key 'smok'; did you mean smoke?",
            "smok ",
            "smoke ",
        ),
        (
            "line 16, [[series]]: there is no key 'ovr'; did you mean over?",
            "ovr",
            "over",
        ),
        (
            "line 5, [[series]] 'merge-mni': program: there is no program 'merge-mni'; did you mean merge-min?",
            "mni",
            "min",
        ),
        (
            "line 10, [[series]] 'nano-sort': with.bucket: nano-sort: there is no option 'bucket'; did you mean buckets?",
            "bucket",
            "buckets",
        ),
        (
            "line 10, [[series]] 'nano-sort': with.cores: invalid value '0'",
            "cores = 0",
            "cores = 4",
        ),
        (
            "line 12, [[series]] 'nano-sort': over: invalid value 'x'",
            "'x', 1",
            "2, 1",
        ),
        (
            "line 12, [[series]] 'nano-sort': over: 1 appears twice",
            "2, 1]",
            "2]",
        ),
    ];
    let mut text = text.to_owned();
    for (part, from, to) in mended {
        let told = Experiment::parse("it.toml", &text).unwrap_err();
        let told = told.to_string();
        assert!(told.starts_with(&format!("it.toml: {part}")), "{told}");
        text = text.replacen(from, to, 1);
    }
    Experiment::parse("it.toml", &text).unwrap();
}

/// Objections of the program are found at every point, before anything runs.
#[test]
fn objections_of_programs_at_all_points() {
    let text = "\
[[series]]
program = 'kv'
with = { cores = 8 }
vary = 'servers'
over = [4, 8, 9]
[[series]]
label = 'all'
program = 'kv'
with = { cores = 8, workers = 65 }
vary = 'bytes'
over = [8, 16]
";
    let told = |text: &str| Experiment::parse("it.toml", text).unwrap_err().to_string();
    let first = told(text);
    let part = "it.toml: line 1, [[series]] 'kv': at servers 8: kv: 8 servers of 8 cores";
    assert!(first.starts_with(part), "{first}");
    let next = told(&text.replace("[4, 8, 9]", "[4, 7]"));
    let part = "line 6, [[series]] 'all': kv: a core's keys have 1 to 64 workers, not 65";
    assert!(next.contains(part), "{next}");
    let broken = told("a = 'x\nb = [1\n");
    assert!(broken.contains("line 1"), "{broken}");
}

#[test]
fn a_grid_that_turns_nothing() {
    let tells = |from: &str, to: &str, words: &str| {
        let told = refused(GRID, from, to);
        assert!(told.contains(words), "{told}");
    };
    tells(
        "dial = \"incast\"",
        "dial = \"incats\"",
        "[[grid]] 'incats': dial: merge-min: ",
    );
    tells("over = [8, 2]", "over = []", "over: there is no value");
    tells("smoke = [8]", "smoke = [9]", "smoke: 9 is not in over");
    tells("of = [\"busy\"]", "of = [\"bsuy\"]", "did you mean busy?");
    tells("keys-per-core = 256", "quux = 256", "over: merge-min: ");
    tells(
        "tolerance = 0.05",
        "tolerance = 0.05\nknown_miss = 'so'",
        "known_miss: leave it out",
    );
    tells(
        "[8, 2]\n    smoke = [8]",
        "[8, 0]",
        "[[grid]] 'incast': dial: invalid value '0'",
    );
    let lines = GRID.split("[[line]]").next().unwrap();
    let told = Experiment::parse("it.toml", lines).unwrap_err().to_string();
    assert!(told.contains("add a [[line]]"), "{told}");
}
