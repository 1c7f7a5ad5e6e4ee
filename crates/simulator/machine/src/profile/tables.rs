//! The keys of a machine file over those of its base, and all mistakes in them.
//!
//! The reader stops at the first mistake. So the key of a mistake is replaced by that of the nanoPU,
//! and the file is read again, until it has no more; a key that the nanoPU does not have is removed.

use std::ops::Range;
use std::sync::Arc;

use serde::Deserialize;
use toml::Spanned;
use toml::de::{DeTable, DeValue, Deserializer, Error, ValueDeserializer};

use super::graph::Graph;
use super::sketch::Sketch;
use super::{Profile, ProfileError};

/// A file as it was read, with all its keys and those of its base.
pub(super) struct Read<'a> {
    pub profile: Profile,
    keys: DeTable<'a>,
}

/// Keys of `[network]` that a graph replaces.
const SHAPE: [&str; 4] = ["layers", "down_links", "up_links", "top_links"];

/// The place of a key of a base, which is in another file.
const ELSEWHERE: Range<usize> = usize::MAX..usize::MAX;

/// The format of machine files; a file that names none is of the first.
const FORMAT: &str = "1";

/// Mistakes that a message tells.
const MOST_MISTAKES: usize = 20;

/// The base that a file names.
pub(super) fn base_of(text: &str) -> Option<String> {
    if !text.contains("base") {
        return None;
    }
    let keys = DeTable::parse(text).ok()?;
    let base = keys.get_ref().get("base")?.get_ref().as_str();
    base.map(str::to_owned)
}

/// Reads a file over its base; without a name of its own it gets `name`.
pub(super) fn read<'a>(
    text: &'a str,
    base: Option<Read<'a>>,
    name: &str,
) -> Result<Read<'a>, ProfileError> {
    let mut mistakes = Mistakes::of(text);
    let (keys, errors) = DeTable::parse_recoverable(text);
    errors.iter().for_each(|error| mistakes.add_error(error));
    mistakes.none()?;
    let mut keys = keys.into_inner();
    if let Some(base) = keys.remove("base")
        && base.get_ref().as_str().is_none()
    {
        mistakes.add(
            base.span().start,
            "expected the name of a machine, or a file".into(),
        );
    }
    if let Some(format) = keys.remove("format") {
        let given = format.get_ref().as_integer().map(|it| it.as_str());
        if given != Some(FORMAT) {
            let why =
                format!("expected {FORMAT}, the format of machine files that this version reads");
            mistakes.add(format.span().start, why);
        }
    }
    mistakes.none()?;
    let sketch = keys.remove("graph");
    let has_graph = sketch.is_some();
    let graph = sketch.and_then(|sketch| graph_of(sketch, &mut mistakes));
    let mut hash = fnv1a(FNV_BASIS, text.as_bytes());
    let mut inherited = None;
    if let Some(Read {
        profile,
        keys: under,
    }) = base
    {
        hash = fnv1a(hash, &profile.hash.to_le_bytes());
        let replaces = SHAPE.iter().any(|key| offset_of(&keys, key).is_some());
        inherited = profile.graph.clone().filter(|_| !replaces && !has_graph);
        name_after(&mut keys, name, &profile.description);
        keys = over(keys, under);
    }
    let graph = graph.map(Arc::new).or(inherited);
    shape(&mut keys, has_graph || graph.is_some(), &mut mistakes);
    let profile = profile_of(keys.clone(), &mut mistakes);
    mistakes.none()?;
    let profile = Profile {
        graph,
        hash,
        ..profile.ok_or_else(|| ProfileError::new("it cannot be read".into()))?
    };
    profile.check()?;
    elsewhere(&mut keys);
    Ok(Read { profile, keys })
}

fn graph_of(sketch: Spanned<DeValue<'_>>, mistakes: &mut Mistakes) -> Option<Graph> {
    let sketch = Sketch::deserialize(ValueDeserializer::from(sketch));
    let sketch = sketch.map_err(|error| mistakes.add_error(&error)).ok()?;
    let graph = sketch.graph();
    let told = |all: Vec<_>| {
        all.into_iter()
            .for_each(|(at, what)| mistakes.add(at, what))
    };
    graph.map_err(told).ok()
}

/// A graph has no shape of layers; without a graph all of the shape must be there.
fn shape(keys: &mut DeTable<'_>, has_graph: bool, mistakes: &mut Mistakes) {
    for key in SHAPE {
        let place = offset_of(keys, key);
        let Some(network) = keys.get_mut("network") else {
            continue;
        };
        let at = network.span().start;
        let DeValue::Table(network) = network.get_mut() else {
            continue;
        };
        match place {
            Some(place) if has_graph => {
                if place != ELSEWHERE.start {
                    mistakes.add(
                        place,
                        format!("a machine with a [graph] has no key `{key}`"),
                    );
                }
                network.remove(key);
            }
            None if !has_graph => mistakes.add(at, format!("missing key `{key}`")),
            _ => {}
        }
    }
}

/// The place of a key of `[network]`.
fn offset_of(keys: &DeTable<'_>, key: &str) -> Option<usize> {
    let network = keys.get("network")?.get_ref().as_table()?;
    network.get_key_value(key).map(|(key, _)| key.span().start)
}

/// Gives a file with a base a name and a description of its own.
fn name_after(keys: &mut DeTable<'_>, name: &str, of_base: &str) {
    let description = format!("{of_base}; changed");
    for (key, text) in [("name", name.to_owned()), ("description", description)] {
        if !keys.contains_key(key) {
            let value = Spanned::new(ELSEWHERE, DeValue::String(text.into()));
            keys.insert(Spanned::new(ELSEWHERE, key.to_owned().into()), value);
        }
    }
}

/// The keys of a file, and those of its base that it leaves out.
fn over<'a>(keys: DeTable<'a>, mut under: DeTable<'a>) -> DeTable<'a> {
    for (key, mut value) in keys {
        // A key that is replaced would keep its old place.
        if let Some((_, below)) = under.remove_entry(&*key.get_ref().clone())
            && let (DeValue::Table(own), DeValue::Table(below)) =
                (value.get_mut(), below.into_inner())
        {
            *own = over(std::mem::take(own), below);
        }
        under.insert(key, value);
    }
    under
}

/// Notes that all keys are of another file from now on.
fn elsewhere(keys: &mut DeTable<'_>) {
    for (key, mut value) in std::mem::take(keys) {
        if let DeValue::Table(more) = value.get_mut() {
            elsewhere(more);
        }
        let key = Spanned::new(ELSEWHERE, key.into_inner());
        keys.insert(key, Spanned::new(ELSEWHERE, value.into_inner()));
    }
}

/// Reads all keys, and notes every mistake.
fn profile_of(mut keys: DeTable<'_>, mistakes: &mut Mistakes) -> Option<Profile> {
    let whole = || DeTable::parse(Profile::BUILT_IN[0].1).expect("a built-in machine");
    for _ in 0..=MOST_MISTAKES {
        let place = 0..mistakes.text.len();
        match Profile::deserialize(Deserializer::from(Spanned::new(place, keys.clone()))) {
            Ok(profile) => return Some(profile),
            Err(error) => {
                mistakes.add_error(&error);
                if !mend(&mut keys, whole().get_ref(), &error) {
                    return None;
                }
            }
        }
    }
    None
}

/// Replaces the key of a mistake; returns whether it is found.
fn mend<'a>(keys: &mut DeTable<'a>, whole: &DeTable<'a>, error: &Error) -> bool {
    let Some(at) = error.span().map(|span| span.start) else {
        return false;
    };
    let missing = error.message().strip_prefix("missing field `");
    let missing = missing.and_then(|rest| rest.split('`').next());
    if let Some(key) = missing.filter(|key| !keys.contains_key(*key) && whole.contains_key(*key)) {
        return replace(keys, whole, key);
    }
    for (key, value) in keys.iter_mut() {
        let name = key.get_ref().to_string();
        let is_here = key.span().contains(&at) || value.span().contains(&at);
        let of_whole = whole
            .get(name.as_str())
            .and_then(|value| value.get_ref().as_table());
        match (value.get_mut(), of_whole) {
            (DeValue::Table(own), Some(of_whole)) => {
                let missing = missing.filter(|_| is_here);
                let found = own
                    .iter()
                    .find(|(key, value)| key.span().contains(&at) || value.span().contains(&at));
                let found = found.map(|(key, _)| key.get_ref().to_string());
                if let Some(key) = missing.or(found.as_deref()) {
                    return replace(own, of_whole, key);
                }
            }
            _ if is_here => return replace(keys, whole, &name),
            _ => {}
        }
    }
    false
}

fn replace<'a>(keys: &mut DeTable<'a>, whole: &DeTable<'a>, key: &str) -> bool {
    keys.remove(key);
    if let Some(value) = whole.get(key) {
        let value = Spanned::new(ELSEWHERE, value.get_ref().clone());
        keys.insert(Spanned::new(ELSEWHERE, key.to_owned().into()), value);
    }
    true
}

/// The mistakes in a text, each with its line and key.
struct Mistakes<'a> {
    text: &'a str,
    told: Vec<(usize, String)>,
}

impl<'a> Mistakes<'a> {
    fn of(text: &'a str) -> Mistakes<'a> {
        Mistakes {
            text,
            told: Vec::new(),
        }
    }

    fn add_error(&mut self, error: &Error) {
        let what = error
            .message()
            .replace("field `", "key `")
            .replace('\n', ", ");
        let start = error.span().map_or(usize::MAX, |span| span.start);
        self.add(start, what);
    }

    fn add(&mut self, start: usize, what: String) {
        let before = self.text.get(..start).unwrap_or("");
        let number = before.matches('\n').count() + 1;
        let line = self.text.lines().nth(number - 1).unwrap_or("");
        let place = line.split(['=', '#']).next().unwrap_or("").trim();
        // A key that is missing outside of tables has no line.
        let has_no_line =
            place.is_empty() || (what.starts_with("missing") && !place.starts_with('['));
        let told = if has_no_line || start == usize::MAX {
            what
        } else {
            format!("line {number} ({place}): {what}")
        };
        self.told.push((start, told));
    }

    /// The error that tells all mistakes, if there are any.
    fn none(&self) -> Result<(), ProfileError> {
        if self.told.is_empty() {
            return Ok(());
        }
        let mut all: Vec<_> = self.told.iter().collect();
        all.sort_by_key(|(start, _)| *start);
        let mut told: Vec<&str> = all.into_iter().map(|(_, told)| told.as_str()).collect();
        told.dedup();
        if told.len() > MOST_MISTAKES {
            told.truncate(MOST_MISTAKES);
            told.push("and more");
        }
        Err(ProfileError::new(told.join("; ")))
    }
}

const FNV_BASIS: u64 = 0xcbf2_9ce4_8422_2325;

/// The 64-bit FNV-1a hash, which identifies a file's text in reports.
fn fnv1a(basis: u64, bytes: &[u8]) -> u64 {
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    bytes.iter().fold(basis, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(PRIME)
    })
}
