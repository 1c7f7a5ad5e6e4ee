//! A figure for people, in 80 columns.

use plot::{
    Axis, Breakdown, Chart, Claim, Figure, Grid, Mark, Point, Reading, Series, SetBy, Size, tallies,
};

use super::text;
use terminal::ending::failure::CliFailure;
use terminal::ending::say;

const NOTE_COLUMNS: usize = 76;

/// Prints the results of an experiment.
pub(super) fn figure(figure: &Figure) -> Result<(), CliFailure> {
    head(figure)?;
    figure.charts.iter().try_for_each(chart)?;
    if let Some(breakdown) = &figure.breakdown {
        stages(breakdown)?;
    }
    if figure.size == Size::Smoke {
        smoke_size(figure)?;
    }
    if let Some(grid) = &figure.grid {
        return readings(grid);
    }
    if figure.claims.is_empty() {
        return Ok(());
    }
    say::out("")?;
    figure.claims.iter().try_for_each(claim)?;
    say::out("")?;
    tallies(figure.claims.iter())
        .into_iter()
        .try_for_each(say::out)
}

/// Prints how the small size differs from the paper's.
fn smoke_size(figure: &Figure) -> Result<(), CliFailure> {
    let smaller = match figure.smaller.as_slice() {
        [] => "fewer points".to_owned(),
        smaller => format!("not what titles and labels say: {}", smaller.join(", ")),
    };
    say::out("")?;
    text::wrapped(&format!("smoke size, {smaller}"), NOTE_COLUMNS)
        .into_iter()
        .try_for_each(say::out)?;
    say::out(if figure.claims.is_empty() {
        "claims are not judged at this size; --full runs at the paper's size"
    } else {
        "--full runs at the paper's size, with all claims"
    })
}

/// Prints what was run: the seed first, since it decides everything.
fn head(figure: &Figure) -> Result<(), CliFailure> {
    let Figure {
        title,
        source,
        note,
        machine,
        changes,
        seed,
        runs,
        ..
    } = figure;
    let (first, runs) = (*seed, *runs);
    say::out(::lab::Seeds { first, runs }.to_string())?;
    let of = if source.is_empty() {
        String::new()
    } else {
        format!("{source}, ")
    };
    say::out(format!("{title}\n({of}on {machine})"))?;
    if !changes.is_empty() {
        say::out(format!("changed: {}", changes.join(", ")))?;
    }
    let note = note
        .iter()
        .flat_map(|note| text::wrapped(note, NOTE_COLUMNS));
    let says = figure.says.iter().map(|says| format!("The paper: {says}"));
    let says = says.chain(figure.shows.clone());
    let says = says.flat_map(|says| text::wrapped(&says, NOTE_COLUMNS));
    says.chain(note).try_for_each(say::out)
}

/// Prints a table for each series, and below it other values of the paper.
fn chart(chart: &Chart) -> Result<(), CliFailure> {
    let Chart {
        title,
        x,
        y,
        series,
        paper,
    } = chart;
    let mut points = series.iter().flat_map(|of| &of.points);
    let varies = points.any(|point| point.y.min < point.y.max);
    say::out(format!("\n{title}: {}", y.label))?;
    let is_beside = |mark: &Mark, of: &Series| series.len() == 1 || mark.label == of.label;
    for of in series {
        let marks: Vec<_> = paper.iter().filter(|mark| is_beside(mark, of)).collect();
        let rows = of.points.iter().map(|point| row(point, x, &marks));
        let head = Row {
            x: x.label.clone(),
            mean: if varies { "mean" } else { "ours" }.to_owned(),
            sd: "sd".to_owned(),
            paper: if marks.is_empty() {
                String::new()
            } else {
                "paper".to_owned()
            },
        };
        let rows = [head].into_iter().chain(rows).map(|row| row.cells(varies));
        say::out(format!(" {}", of.label))?;
        table(&rows.collect::<Vec<_>>())?;
    }
    let at = |x: f64| {
        series
            .iter()
            .flat_map(|of| &of.points)
            .any(|point| point.x == x)
    };
    let is_shown = |mark: &Mark| series.iter().any(|of| is_beside(mark, of)) && at(mark.x);
    for mark in paper.iter().filter(|mark| !is_shown(mark)) {
        let Mark { label, y, .. } = mark;
        say::out(format!(
            " the paper: {label} {} at {}",
            value(*y),
            place(mark.x, x)
        ))?;
    }
    Ok(())
}

/// The cells of a point.
struct Row {
    x: String,
    mean: String,
    sd: String,
    paper: String,
}

impl Row {
    /// The cells, without the deviation if no point varies.
    fn cells(self, varies: bool) -> Vec<String> {
        let Row { x, mean, sd, paper } = self;
        [Some(x), Some(mean), varies.then_some(sd), Some(paper)]
            .into_iter()
            .flatten()
            .collect()
    }
}

fn row(point: &Point, x: &Axis, marks: &[&Mark]) -> Row {
    let Point { x: at, y } = point;
    let mark = marks.iter().find(|mark| mark.x == *at);
    Row {
        x: place(*at, x),
        mean: value(y.mean),
        sd: value(y.sd),
        paper: mark.map(|mark| value(mark.y)).unwrap_or_default(),
    }
}

/// Prints a table without trailing blanks.
fn table(rows: &[Vec<String>]) -> Result<(), CliFailure> {
    let lines = text::table(rows);
    lines
        .iter()
        .try_for_each(|line| say::out(format!("   {line}").trim_end()))
}

/// The position of a point: its name or its number.
fn place(x: f64, axis: &Axis) -> String {
    axis.names
        .get(x as usize)
        .cloned()
        .unwrap_or_else(|| x.to_string())
}

/// A measured value: a count as it is, others with four decimals, which nanoseconds need.
fn value(value: f64) -> String {
    text::figure(value, if value.fract() == 0.0 { 0 } else { 4 })
}

/// The readings that are printed; the page has all.
const MOST_READINGS: usize = 12;

/// Prints the best readings, and the claims of the best one.
fn readings(grid: &Grid) -> Result<(), CliFailure> {
    let shown = grid.readings.len().min(MOST_READINGS);
    say::out(format!(
        "\nreadings, the best {shown} of {}",
        grid.readings.len()
    ))?;
    let words = ["met", "of", "off"].map(str::to_owned);
    let head = words.into_iter().chain(grid.dials.iter().cloned());
    let row = |reading: &Reading| {
        let off = format!("{:.0} %", reading.off * 100.0);
        let counts = [reading.met(), reading.claims.len()].map(|count| count.to_string());
        let counts = counts.into_iter().chain([off]);
        counts.chain(reading.values.iter().cloned()).collect()
    };
    let rows = grid.readings.iter().take(shown).map(row);
    table(&[head.collect()].into_iter().chain(rows).collect::<Vec<_>>())?;
    say::out("\nthe first of them")?;
    let best = grid.readings.iter().take(1);
    best.flat_map(|reading| &reading.claims).try_for_each(claim)
}

fn stages(breakdown: &Breakdown) -> Result<(), CliFailure> {
    say::out("\nstages of one run: time, and of it idle (us)")?;
    let head = ["", "cores", "p50", "max", "idle p50", "idle max"]
        .map(str::to_owned)
        .to_vec();
    let rows = breakdown.stages.iter().map(|stage| {
        let times = [
            stage.time_us[2],
            stage.time_us[5],
            stage.idle_us[2],
            stage.idle_us[5],
        ];
        let times = times.map(|us| text::figure(us, 3));
        [stage.name.clone(), stage.cores.to_string()]
            .into_iter()
            .chain(times)
            .collect()
    });
    let rows: Vec<_> = [head].into_iter().chain(rows).collect();
    table(&rows)
}

/// Prints a claim, its outcome and both values. A claim of "at least" is compared by ratio, others
/// by deviation.
fn claim(shown: &Claim) -> Result<(), CliFailure> {
    let Claim { claim, unit, .. } = shown;
    let [paper, ours] =
        [shown.paper, shown.ours].map(|value| format!("{} {unit}", of_claim(value)));
    let off = || format!("{:+.1} %", shown.deviation * 100.0);
    let (paper, held) = match (shown.at_least, shown.at_most) {
        (true, _) => (format!("at least {paper}"), times(shown.ratio())),
        (_, true) => (format!("at most {paper}"), off()),
        _ => (paper, off()),
    };
    let lines = text::wrapped(claim, CLAIM_COLUMNS);
    let (last, before) = lines.split_last().expect("one line at least");
    before
        .iter()
        .try_for_each(|line| say::out(format!(" {line}")))?;
    say::out(format!(
        " {last:<CLAIM_COLUMNS$} {:>8}",
        shown.outcome.word()
    ))?;
    say::out(format!("   paper {paper:<26} ours {ours:<18} {held:>8}"))?;
    match shown.set_by {
        SetBy::Predicted => {}
        SetBy::Fit => say::out("   a fit: it took part in the choice of a number or a reading")?,
        SetBy::Aim => say::out("   our own aim, and no claim of a paper")?,
    }
    let reason = shown.reason();
    let reason = reason.map(|(what, why)| format!("{what}: {why}"));
    for words in reason.iter().chain(&shown.note) {
        text::wrapped(words, NOTE_COLUMNS)
            .into_iter()
            .try_for_each(|line| say::out(format!("   {line}")))?;
    }
    Ok(())
}

/// Columns of a claim, before its outcome.
const CLAIM_COLUMNS: usize = 60;

fn times(ratio: f64) -> String {
    if ratio < 10.0 {
        format!("{ratio:.2} x")
    } else {
        format!("{ratio:.1} x")
    }
}

fn of_claim(value: f64) -> String {
    text::figure(value, if value.fract() == 0.0 { 0 } else { 2 })
}
