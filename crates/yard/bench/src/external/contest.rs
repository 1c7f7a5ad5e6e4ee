//! A race of sorts, with its floor around each round.
//!
//! ```text
//! floor | a  b  c | floor | b  c  a | floor | c  a  b | floor
//!        \_round_/         \_round_/         \_round_/
//! ```
//!
//! The floors before and after a round are together the floor of two passes in that round. A peer
//! that fails runs no more; the first output of each sort is validated, and every one of ours.

use serde_json::{Value, json};
use terminal::ending::failure::CliFailure;
use terminal::ending::say;
use units::amount;

use crate::floor::Floor;
use crate::programs::{OUTPUT, Program, RaceDirectories, Role, Took};
use crate::race::{Race, Row, Run};
use crate::records::Inputs;
use crate::table::{Column, RATIO};

/// The directory of a race, and its results in addition to the rows.
pub struct Contest {
    pub place: RaceDirectories,
    pub inputs: Inputs,
    /// The floor of a pass, before the first round and after each.
    pub floors: Vec<Floor>,
    /// The peers that failed, each with the reason.
    pub failed: Vec<(String, String)>,
}

impl Contest {
    /// Runs all programs; the floor of two passes is the first row.
    ///
    /// # Errors
    /// When the measured command fails, or the floor cannot be measured.
    pub fn run(&mut self, rounds: u16, programs: Vec<Program>) -> Result<Vec<Row>, CliFailure> {
        let mut race = Race::new();
        for program in programs {
            let (name, command) = (program.name.clone(), program.shown());
            let mut contestant = Contestant::new(program);
            race.enter(name, command, move |contest: &mut Contest| {
                contestant.take_turn(contest)
            });
        }
        self.take_floor()?;
        for round in 0..usize::from(rounds) {
            race.round(round, self)?;
            self.take_floor()?;
        }
        self.place.clear();
        let command = "read the input and write as much at once, before and after each round";
        let mut floor = Row::new("floor of two passes", command);
        let two_passes = self.floors.windows(2);
        floor.seconds = two_passes
            .map(|two| two[0].seconds + two[1].seconds)
            .collect();
        let has_failed = |row: &Row| self.failed.iter().any(|(name, _)| *name == row.name);
        let rows = race.into_rows().into_iter();
        let through = rows.filter(|row| !has_failed(row));
        Ok(std::iter::once(floor).chain(through).collect())
    }

    fn take_floor(&mut self) -> Result<(), CliFailure> {
        let floor = self.place.floor()?;
        say::err(format!("floor of a pass: {:.3} s", floor.seconds));
        self.floors.push(floor);
        Ok(())
    }
}

/// A program, and the most that its runs took.
struct Contestant {
    program: Program,
    most: Took,
    has_run: bool,
    has_failed: bool,
    /// The fault of its output; one of ours ends the race.
    wrong: Option<String>,
}

impl Contestant {
    fn new(program: Program) -> Contestant {
        Contestant {
            program,
            most: Took::default(),
            has_run: false,
            has_failed: false,
            wrong: None,
        }
    }

    fn take_turn(&mut self, contest: &mut Contest) -> Result<Run, CliFailure> {
        if self.has_failed {
            return Ok(Run::none());
        }
        let (name, is_ours) = (&self.program.name, self.program.role == Role::Ours);
        let took = match contest.place.run(&self.program) {
            Ok(took) => took,
            Err(failure) if is_ours => return Err(failure),
            Err(failure) => {
                say::err(&failure.message);
                contest.failed.push((name.clone(), failure.message));
                self.has_failed = true;
                return Ok(Run::none());
            }
        };
        say::err(format!("{name}: {:.3} s", took.seconds));
        if !self.has_run || is_ours {
            let output = contest.place.file(OUTPUT);
            self.wrong = contest.inputs.what_is_wrong(self.program.input, &output);
            self.has_run = true;
        }
        if let Some(why) = &self.wrong {
            let failure = self.program.wrong(why);
            if is_ours {
                return Err(failure);
            }
            say::err(failure.message);
        }
        self.most = self.most.most(&took);
        let mut figures = json!({
            "validated": self.wrong.is_none(),
            "wrong": self.wrong,
            "peak_rss_bytes": self.most.peak_rss_bytes,
            "temp_peak_bytes": self.most.temp_peak_bytes,
            "read_bytes": self.most.read_bytes,
            "written_bytes": self.most.written_bytes,
            "cgroup_peak_bytes": self.most.group_peak_bytes,
        });
        if is_ours {
            let report = contest.place.report()?;
            for field in ["plan", "passes", "bottleneck"] {
                figures[field] = report[field].clone();
            }
            // Ours knows its own peaks better than samples do.
            for field in ["peak_rss_bytes", "temp_peak_bytes"] {
                figures[field] = figures[field].as_u64().max(report[field].as_u64()).into();
            }
        }
        Ok(Run {
            seconds: Some(took.seconds),
            figures,
        })
    }
}

/// All times of a program, and the most memory and bytes of its runs.
pub const COLUMNS: [Column; 9] = [
    Column("seconds", |_, row| {
        let seconds: Vec<String> = row.seconds.iter().map(|s| format!("{s:.2}")).collect();
        seconds.join(" ")
    }),
    Column("median", |_, row| format!("{:.2}", row.median())),
    RATIO,
    Column("resident", |_, row| bytes(row, "peak_rss_bytes")),
    Column("temp peak", |_, row| bytes(row, "temp_peak_bytes")),
    Column("read", |_, row| bytes(row, "read_bytes")),
    Column("written", |_, row| bytes(row, "written_bytes")),
    Column("group peak", |_, row| bytes(row, "cgroup_peak_bytes")),
    Column("output", |_, row| {
        row.shown("validated", |valid| match valid {
            Value::Bool(true) => Some("valid".to_owned()),
            _ => Some("WRONG".to_owned()),
        })
    }),
];

fn bytes(row: &Row, figure: &str) -> String {
    row.shown(figure, |bytes| bytes.as_u64().map(amount))
}
