//! Figures of earlier runs, kept as JSON in a directory.
//!
//! ```text
//!   DIR/nanosort-figure-12.full.json   { name, size, fingerprint, figure }
//! ```
//!
//! A figure is used again only if everything that decided it is unchanged. The caller gives a
//! fingerprint of that: a hash of the experiment's file, the machine's file, the program's version
//! and the seeds. An incomplete or foreign file, or one with another fingerprint, is not used. A
//! file gets its name when it is complete.

use std::fs::Permissions;
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use machine::text;
use plot::{Figure, Size, plain};
use serde::{Deserialize, Serialize};

use crate::error::LabError;

/// Longest file that is read: a figure has some thousand points of some hundred bytes.
const MOST_BYTES: u64 = 64 << 20;

/// Content of a file. Two experiments may have one file name, so name and size are in it.
#[derive(Serialize, Deserialize)]
struct Kept<F> {
    name: String,
    size: Size,
    /// Sixteen hexadecimal digits: JSON's numbers are exact to 53 bits only.
    fingerprint: String,
    figure: F,
}

/// The kept figure of this name and size, if its fingerprint is the given one.
///
/// # Errors
/// A file error if there is a file that cannot be read or understood.
pub fn load(
    directory: &Path,
    name: &str,
    size: Size,
    fingerprint: u64,
) -> Result<Option<Figure>, LabError> {
    let path = path_of(directory, name, size);
    let refused = |why| LabError::file(&path, why);
    let text = match text::read_bytes(&path, MOST_BYTES) {
        Ok(text) => text,
        Err(cause) if cause.kind() == ErrorKind::NotFound => return Ok(None),
        Err(cause) => return Err(refused(format!("cannot be read: {cause}"))),
    };
    let kept: Kept<Figure> = serde_json::from_slice(&text)
        .map_err(|error| refused(format!("is not a saved figure ({error}); it is ignored")))?;
    let is_same = kept.name == name && kept.size == size && kept.fingerprint == hex(fingerprint);
    Ok(is_same.then_some(kept.figure))
}

/// Keeps a figure under this name, in the place of an earlier one. A missing directory is made.
///
/// # Errors
/// A file error if it cannot be written, or has a value such as NaN, which JSON could not give
/// back.
pub fn keep(
    directory: &Path,
    name: &str,
    fingerprint: u64,
    figure: &Figure,
) -> Result<(), LabError> {
    let path = path_of(directory, name, figure.size);
    let kept = Kept {
        name: name.to_owned(),
        size: figure.size,
        fingerprint: hex(fingerprint),
        figure,
    };
    let refused = |why| LabError::file(&path, why);
    let text = serde_json::to_vec_pretty(&kept)
        .and_then(|text| serde_json::from_slice::<Kept<Figure>>(&text).map(|_| text))
        .map_err(|error| refused(format!("the figure cannot be kept: {error}")))?;
    write(directory, &path, &text).map_err(|cause| refused(format!("cannot be written: {cause}")))
}

fn path_of(directory: &Path, name: &str, size: Size) -> PathBuf {
    let size = match size {
        Size::Smoke => "smoke",
        Size::Full => "full",
    };
    directory.join(format!("{}.{size}.json", plain(name)))
}

fn hex(fingerprint: u64) -> String {
    format!("{fingerprint:016x}")
}

fn write(directory: &Path, path: &Path, text: &[u8]) -> io::Result<()> {
    // The umask narrows the mode of a new file.
    const NEW_MODE: u32 = 0o666;
    std::fs::create_dir_all(directory)?;
    let mut builder = tempfile::Builder::new();
    let builder = builder
        .prefix(".gristmill-")
        .permissions(Permissions::from_mode(NEW_MODE));
    let mut draft = builder.tempfile_in(directory)?;
    draft.write_all(text)?;
    draft.persist(path).map(drop).map_err(|error| error.error)
}

#[cfg(test)]
mod tests {
    use plot::{Axis, Chart, Point, Scale, Series, Spread};

    use super::*;

    const NAME: &str = "nanosort/figure-12";

    fn axis() -> Axis {
        Axis {
            label: "x".to_owned(),
            scale: Scale::Log,
            names: Vec::new(),
        }
    }

    /// Numbers of which every bit matters.
    fn points() -> Vec<Point> {
        let point = |step: u32| {
            let x = f64::from(step) / 3.0 * 10_f64.powi(step as i32 % 40 - 20);
            Point {
                x,
                y: Spread {
                    mean: x.sqrt(),
                    sd: x.sin(),
                    min: -x,
                    max: x.exp2().min(1e9),
                },
            }
        };
        (1..500).map(point).collect()
    }

    fn figure() -> Figure {
        Figure {
            name: NAME.to_owned(),
            title: "Figure".to_owned(),
            source: "Paper".to_owned(),
            says: None,
            shows: None,
            note: Some("a\nb".to_owned()),
            size: Size::Full,
            smaller: Vec::new(),
            machine: "nanopu".to_owned(),
            machine_hash: None,
            changes: Vec::new(),
            seed: u64::MAX,
            runs: 3,
            command: "gristmill".to_owned(),
            charts: vec![Chart {
                title: "Chart".to_owned(),
                x: axis(),
                y: axis(),
                series: vec![Series {
                    label: "ours".to_owned(),
                    points: points(),
                }],
                paper: Vec::new(),
            }],
            trees: Vec::new(),
            claims: Vec::new(),
            faults: Vec::new(),
            breakdown: None,
            grid: None,
        }
    }

    #[test]
    fn a_kept_figure_is_unchanged() {
        let place = tempfile::tempdir().unwrap();
        let directory = place.path().join("new/results");
        keep(&directory, NAME, 7, &figure()).unwrap();
        assert_eq!(
            load(&directory, NAME, Size::Full, 7).unwrap(),
            Some(figure())
        );
        let again = Figure {
            title: "Other".to_owned(),
            ..figure()
        };
        keep(&directory, NAME, u64::MAX, &again).unwrap();
        assert_eq!(
            load(&directory, NAME, Size::Full, u64::MAX).unwrap(),
            Some(again)
        );
        let names: Vec<_> = std::fs::read_dir(&directory)
            .unwrap()
            .map(|e| e.unwrap().file_name())
            .collect();
        assert_eq!(
            names,
            ["nanosort-figure-12.full.json"],
            "nothing else is left"
        );
    }

    #[test]
    fn a_figure_of_another_experiment_is_not_used() {
        let place = tempfile::tempdir().unwrap();
        let load = |name, size, fingerprint| load(place.path(), name, size, fingerprint).unwrap();
        assert_eq!(load(NAME, Size::Full, 7), None, "there is none");
        keep(place.path(), NAME, 7, &figure()).unwrap();
        assert_eq!(load(NAME, Size::Full, 8), None, "another fingerprint");
        assert_eq!(load(NAME, Size::Smoke, 7), None, "another size");
        assert_eq!(
            load("nanosort.figure.12", Size::Full, 7),
            None,
            "another name, the same file"
        );
    }

    #[test]
    fn a_broken_file_is_an_error() {
        let place = tempfile::tempdir().unwrap();
        keep(place.path(), NAME, 7, &figure()).unwrap();
        let path = path_of(place.path(), NAME, Size::Full);
        let text = std::fs::read(&path).unwrap();
        std::fs::write(&path, &text[..text.len() / 2]).unwrap();
        let told = load(place.path(), NAME, Size::Full, 7)
            .unwrap_err()
            .to_string();
        assert!(
            told.contains("figure-12.full.json") && told.contains("is ignored"),
            "{told}"
        );
        keep(place.path(), NAME, 7, &figure()).unwrap();
        assert_eq!(
            load(place.path(), NAME, Size::Full, 7).unwrap(),
            Some(figure()),
            "mended"
        );
    }

    #[test]
    fn only_regular_files_are_read() {
        let place = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/dev/null", path_of(place.path(), NAME, Size::Full)).unwrap();
        let told = load(place.path(), NAME, Size::Full, 7)
            .unwrap_err()
            .to_string();
        assert!(
            told.ends_with("cannot be read: it is a device; name a regular file"),
            "{told}"
        );
    }

    #[test]
    fn a_figure_that_json_cannot_hold_is_not_kept() {
        let place = tempfile::tempdir().unwrap();
        let mut figure = figure();
        figure.charts[0].series[0].points[0].y.mean = f64::NAN;
        let told = keep(place.path(), NAME, 7, &figure)
            .unwrap_err()
            .to_string();
        assert!(told.contains("cannot be kept"), "{told}");
        assert_eq!(load(place.path(), NAME, Size::Full, 7).unwrap(), None);
    }

    #[test]
    fn an_impossible_directory_is_an_error() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("file");
        std::fs::write(&file, "").unwrap();
        let told = keep(&file, NAME, 7, &figure()).unwrap_err().to_string();
        assert!(told.contains("cannot be written"), "{told}");
    }
}
