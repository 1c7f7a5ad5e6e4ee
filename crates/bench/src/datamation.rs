//! `bench datamation`: a million records from disk to disk, cold, beside a copy of them.
//!
//! The Datamation benchmark (Anon et al., 1985) as whole processes, start-up, checks and fsync
//! included. A run is:
//!
//! ```text
//! remove the output > drop the input from the page cache > sort one record > [ the run ] > validate
//! ```
//!
//! Sorting (or copying) one record first brings the programs themselves back, which dropping the
//! whole cache has sent away: the data are cold, not `cp`.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use record::{Checksum, Generator, RECORD_BYTES};
use serde_json::{Map, json};

use crate::Common;
use crate::cold::Cold;
use crate::contender::{Contender, Input, Kind};
use crate::measure::{Subject, measure};
use crate::records::{generated, what_is_wrong};
use crate::table::{Report, Section};
use cli::failure::CliFailure;
use cli::machine;
use cli::scratch::Scratch;

/// Sort a million records from disk to disk, beside a copy of them and the peers on PATH.
///
/// Everybody makes the output durable and reads an input that is not in the page cache; each output
/// of a sort is validated. The ratio is to the copy.
#[derive(Args)]
pub struct Arguments {
    /// Where to work: some 500 bytes a record are needed for a while
    #[arg(long, value_name = "DIR", default_value = ".")]
    directory: PathBuf,
    /// How many records [default: 1000000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    records: Option<u64>,
    #[command(flatten)]
    pub common: Common,
}

const RECORDS: u64 = 1_000_000;
const SMOKE_RECORDS: u64 = 2_000;

const OUTPUT: &str = "output";
const SMALL_OUTPUT: &str = "one.out";

/// Measures.
pub fn run(arguments: &Arguments) -> Result<Report, CliFailure> {
    let common = arguments.common;
    let records = common
        .size(arguments.records, RECORDS, SMOKE_RECORDS)
        .max(1);
    let contenders = Contender::all(machine::cores())?;
    let race = Race::new(
        &arguments.directory,
        records,
        Cold::find(common.smoke),
        &contenders,
    )?;
    let subjects = contenders
        .iter()
        .map(|contender| Subject::new(contender.name, contender.command(OUTPUT), contender));
    let mut rows = measure(common.runs, subjects.collect(), |contender| {
        race.time(contender)
    })?;
    for (row, contender) in rows.iter_mut().zip(&contenders) {
        if contender.kind != Kind::Copy {
            // An output that is not valid has ended the race with an error.
            row.more.insert("validated".to_owned(), true.into());
        }
    }
    let title = "disk to disk, cold, durable";
    Ok(Report {
        bench: "datamation",
        facts: race.facts(),
        sections: vec![Section::new(title, (records, "record"), rows)],
    })
}

/// A race: its files, and what must come out.
struct Race {
    place: Scratch,
    records: u64,
    cold: Cold,
    checksums: Vec<(Input, Checksum)>,
}

impl Race {
    /// Makes the inputs of all contenders.
    fn new(
        directory: &Path,
        records: u64,
        cold: Cold,
        contenders: &[Contender],
    ) -> Result<Race, CliFailure> {
        let place = Scratch::new(directory, "bench")?;
        let mut checksums = Vec::new();
        for input in Input::ALL {
            if contenders.iter().any(|contender| contender.input == input) {
                checksums.push((
                    input,
                    make(&place.path().join(input.file()), input, records)?,
                ));
                make(&place.path().join(input.small()), input, 1)?;
            }
        }
        Ok(Race {
            place,
            records,
            cold,
            checksums,
        })
    }

    fn time(&self, contender: &Contender) -> Result<f64, CliFailure> {
        let place = self.place.path();
        let (input, output) = (place.join(contender.input.file()), place.join(OUTPUT));
        for old in [&output, &place.join(SMALL_OUTPUT)] {
            // It is not there the first time.
            let _ = std::fs::remove_file(old);
        }
        self.cold.forget(&input)?;
        contender.run(place, contender.input.small(), SMALL_OUTPUT)?;
        let begin = Instant::now();
        contender.run(place, contender.input.file(), OUTPUT)?;
        let seconds = begin.elapsed().as_secs_f64();
        if contender.kind != Kind::Copy {
            self.check(contender, &output)?;
        }
        Ok(seconds)
    }

    /// What valsort says of an output must be: in order, and the records that were made.
    fn check(&self, contender: &Contender, output: &Path) -> Result<(), CliFailure> {
        let of_input = |(input, _): &&(Input, Checksum)| *input == contender.input;
        let made = self
            .checksums
            .iter()
            .find(of_input)
            .map(|(_, checksum)| *checksum);
        let wrong = what_is_wrong(output, self.records, made.expect("made for all contenders"));
        wrong.map_or(Ok(()), |why| {
            let message = format!(
                "the output of {} is not the sorted input: {why}",
                contender.name
            );
            Err(CliFailure::new("disorder", message))
        })
    }

    fn facts(&self) -> Map<String, serde_json::Value> {
        let facts = json!({
            "records": self.records,
            "bytes": self.records * RECORD_BYTES as u64,
            "cores": machine::cores(),
            "cold": self.cold.name(),
            "checksum": self.checksums.first().map(|(_, checksum)| checksum.to_string()),
        });
        facts.as_object().cloned().unwrap_or_default()
    }
}

/// Makes an input, past the page cache.
fn make(path: &Path, input: Input, records: u64) -> Result<Checksum, CliFailure> {
    generated(
        path,
        Generator {
            style: input.style(),
            skewed: false,
        },
        records,
    )
}
