//! A race of sorts: its files, its turns, and what everybody took.
//!
//! ```text
//! floor | a  b  c | floor | b  c  a | floor | c  a  b | floor
//!        \_round_/         \_round_/         \_round_/
//! run:  remove old files > sync > drop the input from the page cache > [ run ] > valsort, once
//! ```
//!
//! The floors before and after a round are together the floor of two passes in that round.

use std::fs;
use std::path::{Path, PathBuf};

use record::Checksum;
use serde_json::Value;

use crate::child::{self, Took, Watched};
use crate::cold::Cold;
use crate::contender::Input;
use crate::external::input::Pattern;
use crate::external::racer::{OUTPUT, REPORT, Racer};
use crate::floor::{Floor, read_and_write};
use crate::group::Groups;
use crate::records::what_is_wrong;
use cli::failure::CliFailure;
use cli::say;
use cli::scratch::Scratch;

const FLOOR_OUTPUT: &str = "floor";
const SAID: &str = "said";

/// Where a race is run.
pub struct Place {
    /// Input and output.
    pub scratch: Scratch,
    /// Temporary files.
    pub temporary: Vec<PathBuf>,
    /// How inputs are made cold.
    pub cold: Cold,
    /// The limit of each contender, if there is one.
    pub groups: Option<Groups>,
    /// Whether the disk is left to others' writes: in a smoke run nothing waits for them.
    pub smoke: bool,
}

impl Place {
    /// A file in it.
    pub fn file(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    /// Runs a contender once.
    pub fn run(&self, racer: &Racer) -> Result<Took, CliFailure> {
        self.clear();
        self.settle(racer.input.file())?;
        let group = self.groups.as_ref().map(Groups::make).transpose()?;
        let watched = Watched {
            name: &racer.name,
            temporary: &self.temporary,
            output: &self.file(OUTPUT),
            said: &self.file(SAID),
        };
        let took = child::run(racer.command(self.scratch.path(), group.as_ref()), &watched)?;
        let group_peak_bytes = group.and_then(|group| group.peak_bytes());
        Ok(Took {
            group_peak_bytes,
            ..took
        })
    }

    /// The floor of a pass, at this moment.
    pub fn floor(&self) -> Result<Floor, CliFailure> {
        self.clear();
        let input = Input::Binary.file();
        self.settle(input)?;
        read_and_write(&self.file(input), &self.file(FLOOR_OUTPUT))
    }

    /// Removes what the last one left, also in its temporary directories: who failed may leave
    /// files.
    pub fn clear(&self) {
        for old in [OUTPUT, REPORT, SAID] {
            // It may not be there.
            let _ = fs::remove_file(self.file(old));
        }
        for place in &self.temporary {
            for entry in fs::read_dir(place).into_iter().flatten().flatten() {
                let path = entry.path();
                let _ = fs::remove_file(&path).or_else(|_| fs::remove_dir_all(&path));
            }
        }
    }

    /// Nobody's writes are under way, and the input is cold.
    fn settle(&self, input: &str) -> Result<(), CliFailure> {
        if !self.smoke {
            rustix::fs::sync();
        }
        self.cold.forget(&self.file(input))
    }
}

/// A contender, and how it does.
pub struct Standing {
    /// Who.
    pub racer: Racer,
    /// Its runs.
    pub runs: Vec<Took>,
    /// What is wrong with its output; of ours, nothing.
    pub wrong: Option<String>,
    /// Why it runs no more.
    pub failed: Option<String>,
    /// The last report of ours.
    pub report: Option<Value>,
}

/// A race.
pub struct Race {
    place: Place,
    pattern: Pattern,
    records: u64,
    checksums: Vec<(Input, Checksum)>,
    /// Everybody.
    pub standings: Vec<Standing>,
    /// The floor of a pass, before the first round and after each.
    pub floors: Vec<Floor>,
}

impl Race {
    /// Makes the inputs of everybody.
    pub fn new(
        place: Place,
        pattern: Pattern,
        records: u64,
        racers: Vec<Racer>,
    ) -> Result<Race, CliFailure> {
        let mut checksums = Vec::new();
        for input in Input::ALL {
            if racers.iter().any(|racer| racer.input == input) {
                say::err(format!("making {}", input.file()));
                let path = place.file(input.file());
                checksums.push((input, pattern.make(&path, input.style(), records)?));
            }
        }
        let standing = |racer| Standing {
            racer,
            runs: Vec::new(),
            wrong: None,
            failed: None,
            report: None,
        };
        let standings = racers.into_iter().map(standing).collect();
        Ok(Race {
            place,
            pattern,
            records,
            checksums,
            standings,
            floors: Vec::new(),
        })
    }

    /// Its input.
    pub fn input(&self) -> (Pattern, u64) {
        (self.pattern, self.records)
    }

    /// The checksum of the records.
    pub fn checksum(&self, input: Input) -> Checksum {
        let of_input = |(other, _): &&(Input, Checksum)| *other == input;
        self.checksums
            .iter()
            .find(of_input)
            .expect("made for everybody")
            .1
    }

    /// Runs so many rounds, each beginning with another contender.
    pub fn run(&mut self, rounds: u16) -> Result<(), CliFailure> {
        self.take_floor()?;
        for round in 0..usize::from(rounds) {
            for turn in 0..self.standings.len() {
                let number = (round + turn) % self.standings.len();
                if self.standings[number].failed.is_none() {
                    self.take_turn(number)?;
                }
            }
            self.take_floor()?;
        }
        self.place.clear();
        Ok(())
    }

    fn take_floor(&mut self) -> Result<(), CliFailure> {
        let floor = self.place.floor()?;
        say::err(format!("floor of a pass: {:.3} s", floor.seconds));
        self.floors.push(floor);
        Ok(())
    }

    /// A peer that fails runs no more; if ours fails, that is the result.
    fn take_turn(&mut self, number: usize) -> Result<(), CliFailure> {
        let ran = self.place.run(&self.standings[number].racer);
        let checksum = self.checksum(self.standings[number].racer.input);
        let standing = &mut self.standings[number];
        let name = &standing.racer.name;
        let took = match ran {
            Ok(took) => took,
            Err(failure) if standing.racer.is_ours => return Err(failure),
            Err(failure) => {
                say::err(&failure.message);
                standing.failed = Some(failure.message);
                return Ok(());
            }
        };
        say::err(format!("{name}: {:.3} s", took.seconds));
        if standing.runs.is_empty() {
            standing.wrong = what_is_wrong(&self.place.file(OUTPUT), self.records, checksum);
        }
        if let Some(why) = &standing.wrong {
            let message = format!("the output of {name} is not the sorted input: {why}");
            if standing.racer.is_ours {
                return Err(CliFailure::new("disorder", message));
            }
            say::err(message);
        }
        if standing.racer.is_ours {
            standing.report = Some(report(&self.place.file(REPORT))?);
        }
        standing.runs.push(took);
        Ok(())
    }
}

/// What ours says of its run.
pub fn report(path: &Path) -> Result<Value, CliFailure> {
    let text = fs::read(path).unwrap_or_default();
    serde_json::from_slice(&text).map_err(|cause| {
        CliFailure::new(
            "bug",
            format!("the report of a sort is no JSON: {cause}; please report it"),
        )
    })
}
