//! The page as a browser reads it: it is well formed and complete, has no scripts, shows all
//! values, and its letters do not cover each other.
//!
//! The page is also XML, so that a strict parser can check it.

mod sample;

use std::collections::BTreeSet;

use node::Random;
use plot::{About, Breakdown, Figure, Outcome, Picture, Scale, StageSpread, page};
use roxmltree::{Document, Node, ParsingOptions};

fn about() -> About {
    About {
        version: "1.2.3".to_owned(),
        command: "gristmill lab report".to_owned(),
        title: None,
        verdict: None,
    }
}

fn with_tree<T>(text: &str, look: impl FnOnce(&Document) -> T) -> T {
    let options = ParsingOptions {
        allow_dtd: true,
        ..ParsingOptions::default()
    };
    look(&Document::parse_with_options(text, options).expect("the page is well formed"))
}

fn elements<'a>(tree: &'a Document, name: &str) -> Vec<Node<'a, 'a>> {
    tree.descendants()
        .filter(|node| node.tag_name().name() == name)
        .collect()
}

fn all_text(node: Node) -> String {
    node.descendants()
        .filter_map(|node| node.text().filter(|_| node.is_text()))
        .collect()
}

/// The rules for every page.
fn check(text: &str) {
    with_tree(text, |tree| {
        for forbidden in ["script", "link", "iframe", "object", "base", "form"] {
            assert!(
                elements(tree, forbidden).is_empty(),
                "there is a {forbidden}"
            );
        }
        let ids: Vec<_> = tree
            .descendants()
            .filter_map(|node| node.attribute("id"))
            .collect();
        let names: BTreeSet<_> = ids.iter().copied().collect();
        assert_eq!(names.len(), ids.len(), "a name is given twice");
        for attribute in tree.descendants().flat_map(|node| node.attributes()) {
            let (name, value) = (attribute.name(), attribute.value());
            assert!(!name.starts_with("on"), "{name} runs something");
            if ["href", "src"].contains(&name) {
                let target = value.strip_prefix('#').map(|target| names.contains(target));
                let is_inside = target.unwrap_or(value.starts_with("data:image/png;base64,"));
                // A link loads nothing until a reader follows it.
                let is_paper = name == "href" && value == "https://arxiv.org/abs/2204.12615";
                assert!(
                    is_inside || is_paper,
                    "{value} leads nowhere, or out of the page"
                );
                continue;
            }
            assert!(
                !value.contains("NaN") && !value.contains("inf"),
                "{name} is {value}"
            );
        }
        let style = all_text(elements(tree, "style")[0]);
        assert!(
            !style.contains("url(") && !style.contains("@import"),
            "{style}"
        );
        elements(tree, "svg").into_iter().for_each(check_letters);
    });
}

/// Left, top, right and bottom of an upright text in most fonts.
fn room(text: Node) -> [f64; 4] {
    const LETTER: f64 = 13.5;
    let number = |name| text.attribute(name).unwrap().parse::<f64>().unwrap();
    let width = all_text(text).chars().count() as f64 * LETTER * 0.55;
    let (x, y) = (number("x"), number("y"));
    let left = match text.attribute("class") {
        Some("end") => x - width,
        Some("mid") => x - width / 2.0,
        _ => x,
    };
    // From the top of capitals to the baseline.
    [left, y - 0.7 * LETTER, left + width, y]
}

fn check_letters(drawing: Node) {
    let size: Vec<f64> = drawing
        .attribute("viewBox")
        .unwrap()
        .split(' ')
        .map(|part| part.parse().unwrap())
        .collect();
    let texts = drawing
        .descendants()
        .filter(|node| node.tag_name().name() == "text");
    let upright = texts.filter(|text| !text.has_attribute("transform"));
    let rooms: Vec<_> = upright.map(|text| (room(text), all_text(text))).collect();
    for (at, (a, words)) in rooms.iter().enumerate() {
        let is_inside = a[0] >= 0.0 && a[1] >= 0.0 && a[2] <= size[2] && a[3] <= size[3];
        assert!(
            is_inside,
            "'{words}' at {a:?} leaves the drawing of {size:?}"
        );
        for (b, others) in &rooms[..at] {
            let touch = a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
            assert!(!touch, "'{words}' covers '{others}': {a:?} {b:?}");
        }
    }
}

#[test]
fn a_page_is_complete() {
    let text = page(&sample::figures(), &about());
    check(&text);
    with_tree(&text, |tree| {
        assert_eq!(elements(tree, "h1").len(), 1);
        let sections = elements(tree, "section");
        assert_eq!(sections.len(), 1 + sample::figures().len());
        assert_eq!(
            all_text(elements(tree, "title")[0]),
            "NanoSort, simulated by Gristmill"
        );
    });
}

#[test]
fn equal_figures_give_equal_bytes() {
    assert!(page(&sample::figures(), &about()) == page(&sample::figures(), &about()));
}

#[test]
fn a_page_can_be_empty() {
    let text = page(&[], &about());
    check(&text);
    assert!(text.contains("There are no figures."), "{text}");
    let bare = Figure {
        says: None,
        shows: None,
        note: None,
        ..sample::figure("bare", "Bare", Vec::new())
    };
    check(&page(&[bare.clone(), bare], &about()));
}

/// All text comes from outside.
#[test]
fn markup_in_figures_is_escaped() {
    const EVIL: &str = "</title></style><script>alert('\"&')</script>";
    let evil = || EVIL.to_owned();
    let mut chart = plot::Chart {
        title: evil(),
        x: sample::axis(EVIL, Scale::Linear, &[EVIL]),
        y: sample::axis(EVIL, Scale::Linear, &[]),
        series: vec![sample::series(EVIL, &[(0.0, 1.0, 0.5)])],
        paper: vec![
            sample::mark(EVIL, 0.0, 1.0, None),
            sample::mark("b", 0.0, 2.0, None),
        ],
    };
    let mut figure = sample::figure(EVIL, EVIL, vec![chart.clone()]);
    chart.paper.truncate(1);
    figure.charts.push(chart);
    for text in [&mut figure.source, &mut figure.machine, &mut figure.command] {
        *text = evil();
    }
    (figure.says, figure.note, figure.machine_hash) = (Some(evil()), Some(evil()), Some(evil()));
    figure.changes = vec![evil()];
    let mut claim = sample::claim(EVIL, (1.0, 2.0), Outcome::Missed, EVIL);
    (claim.unit, claim.note) = (evil(), Some(evil()));
    figure.claims = vec![claim];
    let stage = StageSpread {
        name: evil(),
        cores: 1,
        time_us: [1.0; 6],
        idle_us: [0.0; 6],
    };
    let picture = sample::picture(1, 4, 4);
    figure.breakdown = Some(Breakdown {
        stages: vec![stage],
        picture,
        path: Some(plot::Path {
            kinds: vec![evil()],
            stages: vec![plot::PathStage {
                name: evil(),
                us: vec![f64::NAN],
            }],
            points: vec![(f64::INFINITY, 3)],
        }),
    });
    let text = page(
        &[figure],
        &About {
            version: evil(),
            command: evil(),
            title: Some(evil()),
            verdict: Some(evil()),
        },
    );
    check(&text);
    assert!(!text.contains("<script"));
    let shown = with_tree(&text, |tree| all_text(tree.root_element()));
    assert!(shown.matches(EVIL).count() >= 20, "it is shown as it is");
}

#[test]
fn every_point_is_in_a_table() {
    let figures = sample::figures();
    let charts = figures.iter().flat_map(|figure| &figure.charts);
    let points = |chart: &plot::Chart| {
        chart.paper.len()
            + chart
                .series
                .iter()
                .map(|series| series.points.len())
                .sum::<usize>()
    };
    let stages = figures
        .iter()
        .filter_map(|figure| figure.breakdown.as_ref());
    let rows =
        charts.map(points).sum::<usize>() + stages.map(|b| 2 * b.stages.len()).sum::<usize>();
    with_tree(&page(&figures, &about()), |tree| {
        let tables = elements(tree, "table");
        let data = tables
            .into_iter()
            .filter(|table| table.attribute("class") == Some("data"));
        let bodies = data.map(|table| {
            table
                .descendants()
                .filter(|node| node.has_tag_name("tr"))
                .count()
                - 1
        });
        // And rows of readings, and of the stages of a path with their sum.
        let of_readings = figures.iter().filter_map(|figure| figure.grid.as_ref());
        let of_readings = of_readings
            .map(|grid| 1 + grid.readings.len())
            .sum::<usize>();
        let paths = figures
            .iter()
            .filter_map(|it| it.breakdown.as_ref()?.path.as_ref());
        let of_paths = paths.map(|path| 1 + path.stages.len()).sum::<usize>();
        assert_eq!(bodies.sum::<usize>(), rows + of_readings + of_paths);
    });
}

#[test]
fn claims_are_counted_and_shown() {
    let text = page(&sample::figures(), &about());
    with_tree(&text, |tree| {
        let counts = tree
            .descendants()
            .find(|node| node.attribute("class") == Some("counts"));
        let counts = all_text(counts.expect("counts"));
        assert_eq!(
            counts.split_whitespace().collect::<Vec<_>>().join(" "),
            "claims: 3 met, 1 shown, 2 missed, 1 failed"
        );
        let summary = elements(tree, "table")[0];
        assert_eq!(
            summary
                .descendants()
                .filter(|node| node.has_tag_name("tr"))
                .count(),
            1 + 29
        );
        let shown = all_text(summary);
        for word in [
            "at least 40 us",
            "53.5 us",
            "1.34 times",
            "\u{2212}21.9 %",
            "missed",
            "failed",
        ] {
            assert!(shown.contains(word), "{word} is not in {shown}");
        }
    });
}

/// The worst picture: no two equal neighbours, and as many stages as there are digits.
#[test]
fn a_picture_is_bounded() {
    const MOST_BYTES: usize = 300_000;
    let (columns, rows) = (512, 256);
    let mut random = Random::new(3);
    let cell = |_| char::from_digit(random.below(36) as u32, 36).expect("a digit");
    let cells = (0..columns * rows).map(cell).collect();
    let picture = Picture {
        columns,
        rows,
        cores: 65_536,
        end_us: 68.0,
        cells,
    };
    let stage = |at| StageSpread {
        name: format!("stage {at}"),
        cores: 65_536,
        time_us: [0.0, 1.0, 2.0, 3.0, 4.0, 5.0],
        idle_us: [f64::NAN; 6],
    };
    let breakdown = Breakdown {
        stages: (0..35).map(stage).collect(),
        picture,
        path: None,
    };
    let figure = Figure {
        breakdown: Some(breakdown),
        ..sample::figure("noise", "Noise", Vec::new())
    };
    let text = page(&[figure], &about());
    check(&text);
    let image = text
        .split("data:image/png;base64,")
        .nth(1)
        .unwrap()
        .split('"')
        .next()
        .unwrap();
    assert!(
        (50_000..MOST_BYTES).contains(&image.len()),
        "{} bytes",
        image.len()
    );
}

/// Three cores: 1 and 2 send to 0, on the first and on the second level.
#[test]
fn trees_are_drawn_level_by_level() {
    let link = |child, level| plot::Link {
        child,
        parent: 0,
        level,
    };
    let tree = plot::Tree {
        label: "incast <2>".to_owned(),
        cores: 3,
        links: vec![link(1, 1), link(2, 2)],
    };
    let figure = Figure {
        trees: vec![tree],
        ..sample::figure("tree", "Tree", Vec::new())
    };
    let text = page(&[figure], &about());
    check(&text);
    assert!(
        text.contains("incast &lt;2&gt;: 3 cores, 2 levels"),
        "{text}"
    );
    // From the top: core 1 and core 0 to level 1, then core 2 and core 0 to level 2.
    let lines = "M240.0 3.5L3.5 43.5M3.5 3.5L3.5 43.5M476.5 3.5L3.5 83.5M3.5 43.5L3.5 83.5";
    assert!(text.contains(lines), "{text}");
    with_tree(&text, |tree| assert_eq!(elements(tree, "circle").len(), 5));
}

#[test]
fn a_broken_picture_is_left_out() {
    let mut figures = sample::figures();
    let breakdown = figures.last_mut().unwrap().breakdown.as_mut().unwrap();
    breakdown.picture.cells.pop();
    let text = page(&figures, &about());
    check(&text);
    assert!(!text.contains("All cores over time") && text.contains("Time of the cores"));
}
