//! Figures that were run before, kept as JSON in a directory.
//!
//! ```text
//!   DIR/nanosort-figure-12.full.json   { name, size, fingerprint, figure }
//! ```
//!
//! A figure is used again only if all that decided it is the same. The caller says what that is, as
//! a fingerprint: a hash of the experiment's file, its machine's, the program's version and the
//! seeds. A file that is half, foreign or of another fingerprint is never used. A file has its name
//! when it is complete, not before.

use std::fs::Permissions;
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use machine::text;
use serde::{Deserialize, Serialize};

use crate::error::LabError;
use crate::figure::{Figure, Size};
use crate::page::plain;

/// No kept figure is longer: it is thousands of points of some hundred bytes each.
const MOST_BYTES: u64 = 64 << 20;

/// A file's content. Name and size are in it too: two names may give one file's name.
#[derive(Serialize, Deserialize)]
struct Kept<F> {
    name: String,
    size: Size,
    /// In sixteen hexadecimal digits: JSON's numbers are not exact above 53 bits.
    fingerprint: String,
    figure: F,
}

/// The figure that was kept under this name and size, if it is of this fingerprint.
///
/// # Errors
/// When there is a file that cannot be read or understood: it is to be told, and the experiment
/// run.
pub fn load(
    directory: &Path,
    name: &str,
    size: Size,
    fingerprint: u64,
) -> Result<Option<Figure>, LabError> {
    let path = path_of(directory, name, size);
    let refused = |why: String| LabError::File {
        path: path.clone(),
        why,
    };
    let text = match text::read_bytes(&path, MOST_BYTES) {
        Ok(text) => text,
        Err(cause) if cause.kind() == ErrorKind::NotFound => return Ok(None),
        Err(cause) => return Err(refused(format!("cannot be read: {cause}"))),
    };
    let kept: Kept<Figure> = serde_json::from_slice(&text)
        .map_err(|error| refused(format!("is no kept figure ({error}); it is not used")))?;
    let is_same = kept.name == name && kept.size == size && kept.fingerprint == hex(fingerprint);
    Ok(is_same.then_some(kept.figure))
}

/// Keeps a figure under this name, instead of what was kept there. The directory is made if there
/// is none.
///
/// # Errors
/// When it cannot be written, or has something that is no number: JSON does not know that, so it
/// could not be read again.
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
    let refused = |why: String| LabError::File {
        path: path.clone(),
        why,
    };
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
    // A new file's mode, which the umask narrows.
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
    use super::*;
    use crate::figure::{Axis, Chart, Point, Scale, Series};
    use crate::spread::Spread;

    const NAME: &str = "nanosort/figure-12";

    fn axis() -> Axis {
        Axis {
            label: "x".to_owned(),
            scale: Scale::Log,
            names: Vec::new(),
        }
    }

    /// Numbers whose decimals are many: each bit of them is kept.
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
            claims: Vec::new(),
            faults: Vec::new(),
            breakdown: None,
        }
    }

    #[test]
    fn a_kept_figure_is_the_same() {
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
    fn what_was_otherwise_is_not_used() {
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
    fn a_broken_file_is_told() {
        let place = tempfile::tempdir().unwrap();
        keep(place.path(), NAME, 7, &figure()).unwrap();
        let path = path_of(place.path(), NAME, Size::Full);
        let text = std::fs::read(&path).unwrap();
        std::fs::write(&path, &text[..text.len() / 2]).unwrap();
        let told = load(place.path(), NAME, Size::Full, 7)
            .unwrap_err()
            .to_string();
        assert!(
            told.contains("figure-12.full.json") && told.contains("not used"),
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
    fn what_is_no_regular_file_is_not_read() {
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
    fn what_could_not_be_read_again_is_not_kept() {
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
    fn a_directory_that_cannot_be_is_told() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("file");
        std::fs::write(&file, "").unwrap();
        let told = keep(&file, NAME, 7, &figure()).unwrap_err().to_string();
        assert!(told.contains("cannot be written"), "{told}");
    }
}
