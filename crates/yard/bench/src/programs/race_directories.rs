//! The directory in which programs are measured, and one run of a program there.
//!
//! ```text
//! remove old files > sync > drop the input from the page cache > warm-up > [ the run ]
//! ```

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;
use terminal::ending::failure::CliFailure;
use terminal::ending::scratch::Scratch;

use super::child::{self, Took, Watched};
use super::{Groups, Input, OUTPUT, Program, REPORT};
use crate::cold::Cold;
use crate::floor::{Floor, read_and_write};
use crate::room::directory;

const FLOOR_OUTPUT: &str = "floor";
const SAID: &str = "said";

/// The conditions of all runs.
pub struct Settings {
    /// How inputs are made cold; `None` if they are in the page cache.
    pub cold: Option<Cold>,
    /// The memory limit of each program, if there is one.
    pub groups: Option<Groups>,
    /// Whether runs wait until other programs' writes are on the disk; a smoke run does not.
    pub settle: bool,
}

impl Settings {
    /// No limit; a smoke run leaves the page cache of other programs alone.
    pub fn new(smoke: bool) -> Settings {
        Settings {
            cold: Some(Cold::find(smoke)),
            groups: None,
            settle: !smoke,
        }
    }

    /// How inputs are made cold, or that they are not.
    pub fn cold_name(&self) -> &'static str {
        self.cold
            .map_or("no: inputs are in the page cache", Cold::name)
    }

    /// No limit, and inputs in the page cache.
    pub fn warm(smoke: bool) -> Settings {
        Settings {
            cold: None,
            groups: None,
            settle: !smoke,
        }
    }
}

/// Brings a file into the page cache.
fn warm(path: &Path) -> Result<(), CliFailure> {
    let read = || io::copy(&mut fs::File::open(path)?, &mut io::sink());
    read().map(drop).map_err(|cause| {
        let message = format!("cannot read {}: {cause}", path.display());
        CliFailure::new("io", message)
    })
}

/// The directories of a race, all of them gone afterwards.
pub struct RaceDirectories {
    /// Directories for spilled records.
    pub temporary: Vec<PathBuf>,
    /// The conditions of its runs.
    pub settings: Settings,
    /// A directory with small inputs, if each program handles one before its run: its own file is
    /// in the page cache then.
    warm_up: Option<PathBuf>,
    work: Scratch,
    _elsewhere: Vec<Scratch>,
}

impl RaceDirectories {
    /// New directories in `place` and in each of `temporary`; without those, spilled records go
    /// to the first.
    ///
    /// # Errors
    /// A directory in which none can be made.
    pub fn new(
        place: &Path,
        temporary: &[PathBuf],
        settings: Settings,
    ) -> Result<RaceDirectories, CliFailure> {
        let work = Scratch::new(&directory(place, "--dir")?, "bench")?;
        let make = |place: &PathBuf| Scratch::new(&directory(place, "--tmp")?, "bench");
        let elsewhere = temporary.iter().map(make).collect::<Result<Vec<_>, _>>()?;
        let paths = elsewhere.iter().map(|scratch| scratch.path().to_owned());
        let mut place = RaceDirectories {
            temporary: paths.collect(),
            settings,
            warm_up: None,
            work,
            _elsewhere: elsewhere,
        };
        if place.temporary.is_empty() {
            place.temporary.push(place.subdirectory("tmp")?);
        }
        Ok(place)
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        self.work.path()
    }

    /// A file in it.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    fn subdirectory(&self, name: &str) -> Result<PathBuf, CliFailure> {
        let path = self.file(name);
        match fs::create_dir(&path) {
            Ok(()) => Ok(path),
            Err(cause) => {
                let message = format!("cannot make {}: {cause}", path.display());
                let file = Some(path);
                Err(CliFailure {
                    file,
                    ..CliFailure::new("io", message)
                })
            }
        }
    }

    /// Makes a directory for small inputs. From here on each program handles its own first.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn warm_up(&mut self) -> Result<&Path, CliFailure> {
        let made = self.subdirectory("small")?;
        Ok(self.warm_up.insert(made))
    }

    /// Runs a program once, until its output is durable.
    ///
    /// # Errors
    /// A program that cannot be run, fails, or leaves no output.
    pub fn run(&self, program: &Program) -> Result<Took, CliFailure> {
        self.clear();
        self.settle(program.input.file())?;
        if let Some(small) = &self.warm_up {
            self.run_in(small, program)?;
        }
        self.run_in(self.path(), program)
    }

    fn run_in(&self, place: &Path, program: &Program) -> Result<Took, CliFailure> {
        let groups = self.settings.groups.as_ref();
        let group = groups.map(Groups::make).transpose()?;
        let watched = Watched {
            name: &program.name,
            temporary: &self.temporary,
            ends: program.ends,
            input: &place.join(program.input.file()),
            output: &place.join(OUTPUT),
            said: &place.join(SAID),
        };
        let took = child::run(program.command(place, group.as_ref()), &watched)?;
        let group_peak_bytes = group.and_then(|group| group.peak_bytes());
        Ok(Took {
            group_peak_bytes,
            ..took
        })
    }

    /// The floor of a pass, at this moment.
    ///
    /// # Errors
    /// An input that cannot be read; a disk that is full.
    pub fn floor(&self) -> Result<Floor, CliFailure> {
        self.clear();
        let input = Input::Binary.file();
        self.settle(input)?;
        read_and_write(&self.file(input), &self.file(FLOOR_OUTPUT))
    }

    /// Removes the files of the last run. A failed program may have left some in its temporary
    /// directories, too.
    pub fn clear(&self) {
        for place in [Some(self.path()), self.warm_up.as_deref()] {
            for old in [OUTPUT, REPORT, SAID] {
                // It may not be there.
                let _ = place.map(|place| fs::remove_file(place.join(old)));
            }
        }
        for place in &self.temporary {
            for entry in fs::read_dir(place).into_iter().flatten().flatten() {
                let path = entry.path();
                let _ = fs::remove_file(&path).or_else(|_| fs::remove_dir_all(&path));
            }
        }
    }

    /// Waits for all writes, and makes the input cold.
    fn settle(&self, input: &str) -> Result<(), CliFailure> {
        if self.settings.settle {
            rustix::fs::sync();
        }
        let path = self.file(input);
        match self.settings.cold {
            Some(cold) => cold.forget(&path),
            None => warm(&path),
        }
    }

    /// The report that the measured command has written.
    ///
    /// # Errors
    /// It has written none.
    pub fn report(&self) -> Result<Value, CliFailure> {
        let text = fs::read(self.file(REPORT)).unwrap_or_default();
        serde_json::from_slice(&text).map_err(|cause| {
            let message = format!("the report of a sort is no JSON: {cause}; please report it");
            CliFailure::new("bug", message)
        })
    }
}
