//! Outputs compared byte by byte.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use terminal::ending::failure::CliFailure;

/// Whether two files have the same bytes.
///
/// # Errors
/// A file that cannot be read.
pub fn same(a: &Path, b: &Path) -> Result<bool, CliFailure> {
    const STEP: usize = 1 << 20;
    let open = |path: &Path| File::open(path).map_err(|cause| failed(path, &cause));
    let length = |file: &File| file.metadata().map(|found| found.len()).unwrap_or(0);
    let (one, other) = (open(a)?, open(b)?);
    if length(&one) != length(&other) {
        return Ok(false);
    }
    let mut both = [one, other].map(|file| BufReader::with_capacity(STEP, file));
    let mut blocks = [vec![0; STEP], vec![0; STEP]];
    let mut left = length(both[0].get_ref()) as usize;
    while left > 0 {
        let step = left.min(STEP);
        for (file, block) in both.iter_mut().zip(&mut blocks) {
            let read = file.read_exact(&mut block[..step]);
            read.map_err(|cause| failed(a, &cause))?;
        }
        if blocks[0][..step] != blocks[1][..step] {
            return Ok(false);
        }
        left -= step;
    }
    Ok(true)
}

pub fn failed(path: &Path, cause: &std::io::Error) -> CliFailure {
    let message = format!("{}: {cause}", path.display());
    CliFailure {
        file: Some(path.to_owned()),
        ..CliFailure::new("io", message)
    }
}
