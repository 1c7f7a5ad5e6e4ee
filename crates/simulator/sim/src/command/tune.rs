//! `gristmill sim tune`: the dials of a program, searched for the shortest mean simulated time.

use lab::{
    Confirmed, Ended, Figures, Job, Observer, Outcome, Place, Seeds, Tried, TuneReport, Tuning,
};

use super::options::{RunOptions, TuneOptions};
use super::{Asked, ahead, notes, show, stop_on_signal, watched};
use terminal::ending::failure::{CliFailure, Exit, TOLD};
use terminal::ending::say;
use terminal::text::{self, figure, labelled};
use units::{counted, grouped};

/// Searches from the options of the command line on.
pub(super) fn run(
    asked: Asked<'_>,
    tune: &TuneOptions,
    runs: &RunOptions,
) -> Result<Exit, CliFailure> {
    refuse_single(runs)?;
    if matches!(asked.place, Place::Ranks(_)) {
        return Err(CliFailure::usage(
            "tune searches in one process; start gristmill without mpirun",
        ));
    }
    let machine = asked.machine;
    let job = Job::planned(asked.parameters, asked.place, asked.seeds)?.anyway(runs.anyway);
    job.check_room()?;
    let tuning = Tuning::new(job, &tune.dials, tune.tries)?;
    let job = tuning.start();
    let observer = Observer::default();
    let caught = stop_on_signal(&observer, job.place())?;
    if !runs.json {
        show::head(job, &notes::machine(job, machine))?;
        let dials: Vec<_> = tuning.dials().map(str::to_owned).collect();
        let dials = text::with_commas(&dials);
        say::out(labelled("dials", dials.iter().map(String::as_str)))?;
    }
    ahead::look(tuning.estimate(), runs.progress, runs.anyway)?;
    // Readings of a search that is stopped are told, too.
    let mut found = None;
    let search = || {
        found = Some(tuning.run(&observer)?);
        Ok(())
    };
    let ended = watched(&observer, &caught, runs.progress, search);
    let Some(report) = found else {
        return ended.map(|()| Exit::Done);
    };
    tell(&report, machine, notes::all(job, machine, None), runs.json)?;
    if let (Err(stopped), true) = (&ended, runs.json) {
        // The report is the one object of standard output.
        say::err(format!("gristmill: {}", stopped.message));
    }
    ended.map_err(|stopped| CliFailure {
        kind: if runs.json { TOLD } else { stopped.kind },
        ..stopped
    })?;
    let Some(Err(why)) = report.confirmed.map(|confirmed| confirmed.best) else {
        return Ok(Exit::Done);
    };
    say::err(format!("gristmill: on fresh seeds the best reading: {why}"));
    Ok(Exit::CheckFailed)
}

/// Prints the report, and the command that runs its best reading.
fn tell(
    report: &TuneReport,
    machine: &str,
    note: Option<String>,
    json: bool,
) -> Result<(), CliFailure> {
    let command = command(report, machine);
    if json {
        let mut value = report.to_json();
        value["machine_file"] = notes::machine_file(machine).into();
        value["note"] = note.into();
        value["command"] = command.into();
        say::out(format!("{value:#}"))
    } else {
        print(report, note.as_deref())?;
        say::out(format!("\n{command}"))
    }
}

/// Refuses what one run alone has.
fn refuse_single(runs: &RunOptions) -> Result<(), CliFailure> {
    let single = [
        (runs.trace.is_some(), "--trace"),
        (runs.critical_path, "--critical-path"),
    ];
    match single.into_iter().find(|(is_given, _)| *is_given) {
        Some((_, option)) => Err(CliFailure::usage(format!(
            "{option} is of one run; give it to the command that the search prints"
        ))),
        None => Ok(()),
    }
}

fn print(report: &TuneReport, note: Option<&str>) -> Result<(), CliFailure> {
    let figures = report.tried.iter().flat_map(|tried| &tried.outcome);
    let most = figures
        .map(|figures| figures.time_us.mean)
        .fold(0.0, f64::max);
    let unit = text::unit_of_table(most);
    let count = counted(report.tried.len() as u64, "reading");
    let seeds = match report.start.seeds().runs {
        1 => String::new(),
        runs => format!(", each the mean of {} seeds", grouped(runs)),
    };
    say::out(format!("\n{count} in {}{seeds}", unit.0))?;
    for line in text::table(&rows(report, unit)) {
        say::out(format!("  {}", line.trim_end()))?;
    }
    for (why, numbers) in refusals(report) {
        say::out(labelled("refused", format!("{numbers}: {why}").split(' ')))?;
    }
    say::out(labelled("ended", ended(report).split(' ')))?;
    if let Some(note) = note {
        say::out(labelled("note", note.split(' ')))?;
    }
    confirmed(report)
}

/// A row for each reading: its number, the values of the dials, its figures.
fn rows(report: &TuneReport, unit: text::Unit) -> Vec<Vec<String>> {
    let dials = report.dials.iter().map(String::as_str);
    let head = [""].into_iter().chain(dials);
    let head = head.chain(["time", "sd", "messages", ""]);
    let rows = report.tried.iter().enumerate().map(|(place, tried)| {
        let number = (place + 1).to_string();
        let values = tried.reading.iter().map(ToString::to_string);
        let row = [number].into_iter().chain(values);
        let row = row.chain(cells(&tried.outcome, unit));
        row.chain([mark(report, place).to_owned()]).collect()
    });
    let head = [head.map(str::to_owned).collect()];
    head.into_iter().chain(rows).collect()
}

fn cells(outcome: &Outcome, (_, scale): text::Unit) -> [String; 3] {
    let Ok(Figures { time_us, messages }) = outcome else {
        return ["refused", "", ""].map(str::to_owned);
    };
    let messages = messages.map_or_else(String::new, |messages| grouped(messages.round() as u64));
    let [mean, sd] = [time_us.mean, time_us.sd].map(|us| figure(us * scale, 3));
    [mean, sd, messages]
}

fn mark(report: &TuneReport, place: usize) -> &'static str {
    match (place == 0, place == report.best) {
        (true, true) => "start, best",
        (true, false) => "start",
        (false, true) => "best",
        (false, false) => "",
    }
}

/// Each reason of a refusal, with the numbers of its readings.
fn refusals(report: &TuneReport) -> Vec<(&str, String)> {
    let mut all: Vec<(&str, String)> = Vec::new();
    for (number, Tried { outcome, .. }) in (1..).zip(&report.tried) {
        let Err(why) = outcome else {
            continue;
        };
        match all.iter_mut().find(|(known, _)| known == why) {
            Some((_, numbers)) => *numbers += &format!(", {number}"),
            None => all.push((why, number.to_string())),
        }
    }
    all
}

fn ended(report: &TuneReport) -> String {
    let took = text::time(report.wall_s * 1e6);
    match report.ended {
        Ended::Settled => format!("after {took}: no dial alone makes it faster"),
        Ended::Limit => format!(
            "after {took}, at --tries {}: more may be found",
            report.most
        ),
        Ended::Stopped => format!("after {took}, as it was stopped: more may be found"),
    }
}

/// Prints start and best on fresh seeds.
fn confirmed(report: &TuneReport) -> Result<(), CliFailure> {
    let Some(confirmed) = &report.confirmed else {
        let why = "the best was not run on other seeds, so it may be the luckiest on these";
        return say::out(labelled("", why.split(' ')));
    };
    let Confirmed { seeds, start, best } = confirmed;
    say::out(format!("\nagain on {seeds}, which the search did not use"))?;
    let told = |outcome: &Outcome| match outcome {
        Ok(Figures { time_us, .. }) => {
            let (unit, scale) = text::unit_of(time_us.mean);
            let [mean, sd] = [time_us.mean, time_us.sd].map(|us| figure(us * scale, 3));
            format!("{mean} {unit}, sd {sd}")
        }
        Err(why) => format!("refused: {why}"),
    };
    if report.best == 0 {
        let start = format!("{}; no other reading was better", told(start));
        return say::out(labelled("start", start.split(' ')));
    }
    let ratio = confirmed.ratio();
    let ratio = ratio.map(|ratio| format!(": {} of the start's time", figure(ratio, 3)));
    let best = told(best) + &ratio.unwrap_or_default();
    say::out(labelled("start", told(start).split(' ')))?;
    say::out(labelled("best", best.split(' ')))
}

/// The command that runs the best reading on the seeds of the search.
fn command(report: &TuneReport, machine: &str) -> String {
    let mut words = vec![format!("gristmill sim {}", report.start.name())];
    let option = |name: &str, value: &str| format!("--{name} {}", quoted(value));
    let given = report.parameters.given();
    words.extend(given.iter().map(|(name, value)| option(name, value)));
    if machine != report.parameters.listing().machine {
        words.push(option("machine", machine));
    }
    for told in report.start.place().changes().told() {
        let told = told.split_once(' ');
        words.extend(told.map(|(name, value)| option(name, value)));
    }
    let Seeds { first, runs } = report.start.seeds();
    words.push(format!("--seed {first} --runs {runs}"));
    words.join(" ")
}

fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./,:=+".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_for_a_shell() {
        for plain in ["16", "nanopu-nodes", "./my.toml", "late,cut"] {
            assert_eq!(quoted(plain), plain);
        }
        assert_eq!(quoted("my machine.toml"), "'my machine.toml'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
    }
}
