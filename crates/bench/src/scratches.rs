//! The directories of measured sorts.

use std::path::{Path, PathBuf};

use crate::room::directory;
use cli::failure::CliFailure;
use cli::scratch::Scratch;

/// The directories of a race, all of them gone afterwards.
pub struct Scratches {
    /// Input and output.
    pub work: Scratch,
    /// Temporary files.
    pub temporary: Vec<PathBuf>,
    _elsewhere: Vec<Scratch>,
}

impl Scratches {
    /// New directories: temporary files lie beside the others if nobody says where.
    pub fn new(place: &Path, temporary: &[PathBuf]) -> Result<Scratches, CliFailure> {
        let work = Scratch::new(&directory(place, "--dir")?, "bench")?;
        if temporary.is_empty() {
            let beside = work.path().join("tmp");
            std::fs::create_dir(&beside).map_err(|cause| {
                let message = format!("cannot make {}: {cause}", beside.display());
                CliFailure {
                    file: Some(beside.clone()),
                    ..CliFailure::new("io", message)
                }
            })?;
            return Ok(Scratches {
                work,
                temporary: vec![beside],
                _elsewhere: Vec::new(),
            });
        }
        let make = |place: &PathBuf| Scratch::new(&directory(place, "--tmp")?, "bench");
        let elsewhere = temporary.iter().map(make).collect::<Result<Vec<_>, _>>()?;
        let temporary = elsewhere
            .iter()
            .map(|scratch| scratch.path().to_owned())
            .collect();
        Ok(Scratches {
            work,
            temporary,
            _elsewhere: elsewhere,
        })
    }
}
