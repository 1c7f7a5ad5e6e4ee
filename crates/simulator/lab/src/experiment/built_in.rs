//! The built-in experiments: their names and files.

use std::io::ErrorKind;
use std::path::Path;

use machine::text;
use node::Mutex;

use crate::error::LabError;

macro_rules! experiments {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../../experiments/", $name, ".toml")))),*]
    };
}

const BUILT_IN: [(&str, &str); 39] = experiments![
    "nanosort/table-1",
    "nanosort/figure-1",
    "nanosort/figure-2",
    "nanosort/figure-3",
    "nanosort/figure-4",
    "nanosort/figure-5",
    "nanosort/pivot-trees",
    "nanosort/figure-6",
    "nanosort/figure-7",
    "nanosort/figure-8",
    "nanosort/figure-9",
    "nanosort/figure-10",
    "nanosort/figure-11",
    "nanosort/figure-12",
    "nanosort/figure-13",
    "nanosort/figure-14",
    "nanosort/figure-15",
    "nanosort/messages",
    "nanosort/multicast",
    "nanosort/acks",
    "nanosort/transports",
    "nanosort/readings",
    "nanosort/suspects",
    "nanosort/distributions",
    "nanosort/headline",
    "nanosort/figure-16",
    "nanosort/phase-ends",
    "nanosort/busy",
    "nanosort/table-2",
    "nanosort/thesis",
    "nanosort/faster",
    "nanosort/half",
    "nanosort/beside",
    "nanosort/bvh",
    "nanosort/nodes",
    "now/logp",
    "now/sensitivity",
    "now/caching",
    "now/paging",
];

/// The experiments that callers have added: their names, and the texts of their files.
static ADDED: Mutex<Vec<(&str, &str)>> = Mutex::new(Vec::new());

/// Adds experiments behind the others.
pub fn add(experiments: &[(&'static str, &'static str)]) {
    ADDED.lock().extend(experiments);
}

fn all() -> Vec<(&'static str, &'static str)> {
    BUILT_IN.into_iter().chain(ADDED.lock().clone()).collect()
}

pub(super) fn names() -> impl Iterator<Item = &'static str> {
    all().into_iter().map(|(name, _)| name)
}

/// Name and text of an experiment: a built-in one, by its name or by the last part of it if no other has the same,
/// or a file.
pub(super) fn text_of(name: &str) -> Result<(String, String), LabError> {
    let is_named = |known: &str| known == name || known.rsplit('/').next() == Some(name);
    let known: Vec<_> = all()
        .into_iter()
        .filter(|(known, _)| is_named(known))
        .collect();
    match known[..] {
        [] => {}
        [(known, text)] => return Ok((known.to_owned(), text.to_owned())),
        [..] => {
            let names: Vec<&str> = known.into_iter().map(|(known, _)| known).collect();
            let why = format!(
                "several experiments end with this name: {}",
                names.join(", ")
            );
            return Err(LabError::file(Path::new(name), why));
        }
    }
    let text = text::read(Path::new(name), text::MOST_BYTES).map_err(|cause| {
        let names = names().collect::<Vec<_>>().join(", ");
        let why = match cause.kind() {
            ErrorKind::NotFound => {
                format!("no experiment or file has this name; the experiments are {names}")
            }
            _ => format!("cannot be read: {cause}"),
        };
        LabError::file(Path::new(name), why)
    })?;
    Ok((name.to_owned(), text))
}
