//! Made-up figures with everything that a page shows.

use node::Random;
use plot::{
    Axis, Breakdown, Chart, Check, Claim, Figure, Mark, Outcome, Picture, Point, Scale, Series,
    SetBy, Size, Spread, StageSpread,
};

pub fn figures() -> Vec<Figure> {
    let mut figures: Vec<_> = (2..14).map(scaling).collect();
    figures.insert(0, claims_only());
    figures.push(names());
    figures.push(long_names());
    figures.push(many_points());
    figures.push(crowded());
    figures.push(extremes());
    figures.push(smoke());
    figures.push(of_readings());
    figures.push(broken_down());
    figures
}

pub fn figure(name: &str, title: &str, charts: Vec<Chart>) -> Figure {
    Figure {
        name: name.to_owned(),
        title: title.to_owned(),
        source: "NanoSort, Figure 0 (made up)".to_owned(),
        says: Some("Sorting one million keys on 65,536 cores takes 68 us on average.".to_owned()),
        shows: Some("One bar for each reading.".to_owned()),
        note: Some("The paper's programs were never published; ours follow its text.".to_owned()),
        size: Size::Full,
        smaller: Vec::new(),
        machine: "nanopu".to_owned(),
        machine_hash: Some("0123456789abcdef".to_owned()),
        changes: vec!["switch-ns 263".to_owned(), "link-ns 43".to_owned()],
        seed: 1,
        runs: 10,
        command: format!("gristmill lab run {name} --full"),
        charts,
        trees: Vec::new(),
        claims: Vec::new(),
        faults: Vec::new(),
        breakdown: None,
        grid: None,
    }
}

/// A path over three cores and two stages.
fn path() -> plot::Path {
    let stage = |name: &str, us: [f64; 2]| plot::PathStage {
        name: name.to_owned(),
        us: us.to_vec(),
    };
    plot::Path {
        kinds: vec!["work".to_owned(), "hops".to_owned()],
        stages: vec![stage("shuffle", [1.5, 2.0]), stage("level 0", [3.0, 0.5])],
        points: vec![
            (0.0, 0),
            (1.5, 0),
            (3.5, 40_000),
            (6.5, 40_000),
            (7.0, 65_535),
        ],
    }
}

pub fn axis(label: &str, scale: Scale, names: &[&str]) -> Axis {
    let names = names.iter().map(|name| (*name).to_owned()).collect();
    Axis {
        label: label.to_owned(),
        scale,
        names,
    }
}

pub fn series(label: &str, points: &[(f64, f64, f64)]) -> Series {
    let point = |&(x, mean, sd): &(f64, f64, f64)| Point {
        x,
        y: Spread {
            mean,
            sd,
            min: mean - sd,
            max: mean + sd,
        },
    };
    Series {
        label: label.to_owned(),
        points: points.iter().map(point).collect(),
    }
}

pub fn mark(label: &str, x: f64, y: f64, sd: Option<f64>) -> Mark {
    Mark {
        label: label.to_owned(),
        x,
        y,
        sd,
    }
}

/// A claim with that outcome and, if it is missed or has failed, the reason.
pub fn claim(words: &str, (paper, ours): (f64, f64), outcome: Outcome, why: &str) -> Claim {
    let fault = (outcome == Outcome::Failed).then(|| why.to_owned());
    Claim {
        set_by: SetBy::default(),
        id: "x".to_owned(),
        claim: words.to_owned(),
        statement: words.to_owned(),
        reading: None,
        unit: "us".to_owned(),
        paper,
        at_least: outcome == Outcome::Met,
        at_most: false,
        tolerance: None,
        ours,
        deviation: ours / paper - 1.0,
        note: None,
        outcome,
        known_miss: (outcome == Outcome::Missed).then(|| why.to_owned()),
        check: Check {
            passed: fault.is_none(),
            fault,
        },
    }
}

/// Many readings, some of whose claims are met.
fn of_readings() -> Figure {
    let reading = |at: u32| {
        let outcome = |claim: u32| match (at + claim) % 3 {
            0 => Outcome::Missed,
            _ => Outcome::Met,
        };
        let ours = |claim: u32| 10.0 + f64::from(at * claim);
        let claims = (0..17).map(|number| {
            claim(
                "it takes 10 us",
                (10.0, ours(number)),
                outcome(number),
                "so",
            )
        });
        plot::Reading {
            values: vec![at.to_string(), "buckets <8>, keys 16".to_owned()],
            claims: claims.collect(),
            off: f64::from(at) / 10.0,
        }
    };
    let grid = plot::Grid {
        dials: vec!["burst".to_owned(), "run & pair".to_owned()],
        readings: (0..40).map(reading).collect(),
    };
    Figure {
        grid: Some(grid),
        ..figure("sample/readings", "Every reading", Vec::new())
    }
}

fn claims_only() -> Figure {
    use Outcome::{Failed, Met, Missed, Shown};
    let missed = "ours is a minimum: load, compare and branch are 4 cycles";
    let failed = "23.4 is more than 5 % off our 19.1";
    Figure {
        claims: vec![
            claim(
                "scan 1K 8-byte words in L1 cache",
                (1024.0, 800.0),
                Missed,
                missed,
            ),
            claim("sort 40 8-byte keys", (40.0, 53.5), Met, ""),
            claim(
                "receive 2 Kbyte on a 200 Gb/s NIC",
                (2048.0, 23_890.7),
                Met,
                "",
            ),
            claim(
                "travel 300 m at the speed of light",
                (300.0, 299.8),
                Shown,
                "",
            ),
            claim(
                "median response of a key-value store",
                (19.0, 23.4),
                Failed,
                failed,
            ),
        ],
        ..figure(
            "sample/figure-1",
            "What a nanoPU core does in 1 us",
            Vec::new(),
        )
    }
}

fn scaling(number: u32) -> Figure {
    let cores = [64.0, 256.0, 1024.0, 4096.0, 16_384.0, 65_536.0];
    let line = |label: &str, base: f64, slope: f64| {
        let at = |(step, cores): (usize, &f64)| (*cores, base + slope * step as f64, base * 0.06);
        series(label, &cores.iter().enumerate().map(at).collect::<Vec<_>>())
    };
    let base = 4.0 + f64::from(number);
    let lines = |count: u32| {
        let one = |at: u32| {
            line(
                &format!("incast {}", 4 << at),
                base + f64::from(at) * 3.0,
                9.0,
            )
        };
        (0..count).map(one).collect::<Vec<_>>()
    };
    let time = |scale| axis("time (us)", scale, &[]);
    let first = Chart {
        title: "Time to sort, 16 keys a core".to_owned(),
        x: axis("cores", Scale::Log, &[]),
        y: time(if number.is_multiple_of(3) {
            Scale::Log
        } else {
            Scale::Linear
        }),
        series: lines(1 + number % 5),
        paper: vec![
            mark("68 us", 65_536.0, 68.0, Some(2.1)),
            mark("about 40 us", 4096.0, 40.0, None),
        ],
    };
    let second = Chart {
        title: "Keys on the fullest core".to_owned(),
        x: axis("keys per core", Scale::Linear, &[]),
        y: axis("skew (most by mean)", Scale::Linear, &[]),
        series: vec![series(
            "PivotSelect",
            &[
                (4.0, 2.9, 0.2),
                (8.0, 2.3, 0.1),
                (16.0, 1.9, 0.08),
                (32.0, 1.5, 0.02),
            ],
        )],
        paper: vec![
            mark("NanoSort, Figure 9", 16.0, 2.0, None),
            mark("NanoSort, Figure 9", 32.0, 1.6, None),
        ],
    };
    let charts = if number.is_multiple_of(2) {
        vec![first]
    } else {
        vec![first, second]
    };
    let why = "the paper leaves the order of the reorder buffer open";
    Figure {
        claims: vec![
            claim(
                "sorts 1M keys on 65,536 cores",
                (68.0, 64.3 + f64::from(number)),
                Outcome::Missed,
                why,
            ),
            claim(
                "MilliSort's partition takes the most of 256 cores",
                (250.0, 252.0),
                Outcome::Met,
                "",
            ),
        ],
        ..figure(
            &format!("sample/figure-{number}"),
            "How time grows with cores and incast",
            charts,
        )
    }
}

fn names() -> Figure {
    let names = ["shuffle", "level 1", "level 2", "final sort", "values"];
    let chart = Chart {
        title: "Busy time of a core by stage".to_owned(),
        x: axis("stage", Scale::Linear, &names),
        y: axis("time (us)", Scale::Linear, &[]),
        series: vec![
            series(
                "multicast",
                &[
                    (0.0, 4.0, 0.5),
                    (1.0, 9.0, 0.8),
                    (2.0, 8.5, 0.1),
                    (3.0, 2.0, 0.1),
                ],
            ),
            series(
                "unicast",
                &[
                    (0.0, 4.2, 0.5),
                    (1.0, 19.0, 1.8),
                    (2.0, 18.5, 0.9),
                    (3.0, 2.1, 0.1),
                ],
            ),
        ],
        paper: vec![
            mark("paper", 1.0, 10.0, Some(0.5)),
            mark("paper, unicast", 2.0, 20.0, None),
        ],
    };
    figure("sample/names", "Where time goes", vec![chart])
}

fn long_names() -> Figure {
    let names: Vec<_> = (0..14)
        .map(|at| format!("a stage of a long name, number {at}"))
        .collect();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    let points: Vec<_> = (0..14)
        .map(|at| (f64::from(at), f64::from(at % 5) + 1.0, 0.3))
        .collect();
    let chart = Chart {
        title: "A title that is so long that it has to be broken into several lines to be read"
            .repeat(2),
        x: axis(
            "an axis with a name that is longer than the chart is wide, which happens",
            Scale::Linear,
            &names,
        ),
        y: axis(
            "the time that all of this took, in microseconds, of which there are many (us)",
            Scale::Linear,
            &[],
        ),
        series: vec![series(
            &"a series with a very long label ".repeat(4),
            &points,
        )],
        paper: vec![
            mark(&"a mark with a long label ".repeat(3), 3.0, 4.4, None),
            mark("b", 4.0, 1.0, None),
        ],
    };
    figure("sample/long-names", "Long names", vec![chart])
}

fn many_points() -> Figure {
    let wave = |phase: f64| {
        let at = |step: i32| {
            let x = f64::from(step);
            (
                x,
                20.0 + 10.0 * (x / 9.0 + phase).sin(),
                if step % 10 == 0 { 1.5 } else { 0.0 },
            )
        };
        (0..100).map(at).collect::<Vec<_>>()
    };
    let all: Vec<_> = (0..9)
        .map(|at| series(&format!("series {at}"), &wave(f64::from(at) * 0.7)))
        .collect();
    let chart = Chart {
        title: "A hundred points".to_owned(),
        x: axis("step", Scale::Linear, &[]),
        y: axis("depth (packets)", Scale::Linear, &[]),
        series: all[..1].to_vec(),
        paper: Vec::new(),
    };
    let nine = Chart {
        title: "Nine series of a hundred points".to_owned(),
        series: all,
        ..chart.clone()
    };
    figure("sample/many-points", "Many points", vec![chart, nine])
}

fn crowded() -> Figure {
    let marks = (0..9).map(|at| {
        let (x, y) = (f64::from(100 + at * 3), f64::from(50 + at % 3));
        mark(&format!("point {at} of the paper's table"), x, y, None)
    });
    let chart = Chart {
        title: "Points of the paper close to each other".to_owned(),
        x: axis("keys", Scale::Linear, &[]),
        y: axis("time (us)", Scale::Linear, &[]),
        series: vec![series(
            "ours",
            &[(90.0, 48.0, 0.0), (120.0, 52.0, 1.0), (140.0, 60.0, 1.0)],
        )],
        paper: marks.collect(),
    };
    figure("sample/crowded", "A crowd", vec![chart])
}

fn extremes() -> Figure {
    let chart = |title: &str, scale, points: &[(f64, f64, f64)]| Chart {
        title: title.to_owned(),
        x: axis("x", scale, &[]),
        y: axis("y", scale, &[]),
        series: vec![series("ours", points)],
        paper: Vec::new(),
    };
    let wide = [(1e-9, 1e-12, 0.0), (1.0, 1.0, 0.0), (1e9, 1e15, 0.0)];
    let charts = vec![
        chart("Little and much, log", Scale::Log, &wide),
        chart("Little and much, linear", Scale::Linear, &wide),
        chart("One point", Scale::Linear, &[(16.0, 3.2, 0.4)]),
        chart("One point, log", Scale::Log, &[(16.0, 3.2, 4.0)]),
        chart("Nothing but zero", Scale::Linear, &[(0.0, 0.0, 0.0)]),
        chart(
            "Zero on a log axis",
            Scale::Log,
            &[(0.0, 1.0, 0.0), (2.0, 0.0, 0.0), (4.0, 9.0, 0.0)],
        ),
        chart(
            "Below zero",
            Scale::Linear,
            &[(-3.0, -1.5, 0.2), (4.0, 2.5, 0.2)],
        ),
        chart("No point", Scale::Log, &[]),
    ];
    figure("sample/extremes", "Values at the edge", charts)
}

fn smoke() -> Figure {
    Figure {
        size: Size::Smoke,
        machine_hash: None,
        changes: Vec::new(),
        runs: 1,
        ..names()
    }
}

fn broken_down() -> Figure {
    let names = [
        "shuffle", "level 1", "level 2", "level 3", "level 4", "sort", "values",
    ];
    let spread = |at: usize, part: f64| {
        let base = (3.0 + at as f64 * 1.5) * part;
        [
            base * 0.5,
            base * 0.8,
            base,
            base * 1.3,
            base * 2.1,
            base * 3.0,
        ]
    };
    let stage = |(at, name): (usize, &&str)| StageSpread {
        name: (*name).to_owned(),
        cores: 65_536 >> (at % 2),
        time_us: spread(at, 1.0),
        idle_us: spread(at, 0.6),
    };
    let stages: Vec<_> = names.iter().enumerate().map(stage).collect();
    let breakdown = Breakdown {
        stages,
        picture: picture(names.len(), 512, 256),
        path: Some(path()),
    };
    Figure {
        breakdown: Some(breakdown),
        ..figure("sample/breakdown", "A breakdown", Vec::new())
    }
}

/// Ragged stages in a row, like those of cores that start when messages arrive.
pub fn picture(stages: usize, columns: usize, rows: usize) -> Picture {
    let mut random = Random::new(7);
    let mut cells = String::new();
    for row in 0..rows {
        let late = (row * stages / rows) as f64 / stages as f64;
        let mut at = 0.0;
        let ends: Vec<_> = (0..stages)
            .map(|_| {
                at += (0.7 + 0.25 * late + random.below(100) as f64 / 1000.0) / stages as f64;
                at
            })
            .collect();
        for column in 0..columns {
            let now = column as f64 / columns as f64;
            let stage = ends.iter().position(|end| now < *end).unwrap_or(stages);
            cells.push(char::from_digit(stage as u32, 36).expect("few stages"));
        }
    }
    Picture {
        columns,
        rows,
        cores: 65_536,
        end_us: 67.8,
        cells,
    }
}
