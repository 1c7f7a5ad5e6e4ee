//! Reading a profile from a TOML file.
//!
//! TOML has comments, which give the source of each number, and its errors have lines. A missing or
//! misspelt key is an error, never a default; only a file with a `base` takes the other keys from it.
//!
//! ```text
//!   format      of this file: 1, if it is there
//!   base        the machine with all other keys: built in, or a file beside this one
//!   name, description, tick_ps
//!   [core]      registers to the NIC        *_cycles, words
//!   [work]      what work costs             *_cycles with up to three decimals, cache_bytes
//!   [nic]       stages, buffers, sizes      *_cycles, *_bytes, mac_ns
//!   [network]   shape, links, switches      *_links, *_bytes, *_ns
//!   [graph]     switches and links, instead of a shape (sketch)
//! ```
//!
//! Keys end with their unit. Cycles are ticks of the profile; nanoseconds are rounded to ticks.
//! `check` has the rules between numbers.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::io;
use std::path::Path;

use super::tables::{self, Read};
use super::{Profile, ProfileError};
use crate::text;

/// The most files of which each is the base of the one before.
const MOST_FILES: usize = 8;

/// A machine file, or a text without a name.
struct Source {
    path: Option<String>,
    text: Cow<'static, str>,
}

impl Profile {
    /// Parses the text of a file.
    ///
    /// # Errors
    /// If the text is not a profile: all mistakes in one line, each with its place and what is
    /// expected.
    pub fn parse(text: &str) -> Result<Profile, ProfileError> {
        let text = Cow::Owned(text.to_owned());
        read(Source { path: None, text })
    }

    /// The built-in profile of this name, or else the profile in the file of this path.
    ///
    /// # Errors
    /// If there is neither, or the file is not a profile.
    pub fn load(name_or_path: &str) -> Result<Profile, ProfileError> {
        read(open(name_or_path)?)
    }

    /// The text of the file of a built-in machine, with its comments.
    pub fn text_of(name: &str) -> Option<&'static str> {
        let mut machines = Profile::BUILT_IN.into_iter();
        let found = machines.find(|(known, _)| *known == name);
        found.map(|(_, text)| text)
    }
}

fn open(name_or_path: &str) -> Result<Source, ProfileError> {
    if let Some(text) = Profile::text_of(name_or_path) {
        let text = Cow::Borrowed(text);
        return Ok(Source { path: None, text });
    }
    let text = text::read(Path::new(name_or_path), text::MOST_BYTES)
        .map_err(|error| unreadable(name_or_path, &error).in_file(name_or_path))?;
    Ok(Source {
        path: Some(name_or_path.to_owned()),
        text: Cow::Owned(text),
    })
}

/// Reads a file after its bases.
fn read(source: Source) -> Result<Profile, ProfileError> {
    let mut sources = vec![source];
    while let Some(base) = sources.last().and_then(base_of) {
        if sources.len() == MOST_FILES {
            let why = format!("more than {MOST_FILES} files with a base: is one its own base?");
            return Err(sources[0].refused(ProfileError::new(why)));
        }
        let opened = open(&base).map_err(|error| {
            let why = format!("its base is {error}");
            sources[sources.len() - 1].refused(ProfileError::new(why))
        });
        sources.push(opened?);
    }
    let mut read: Option<Read> = None;
    for source in sources.iter().rev() {
        let stem = source
            .path
            .as_deref()
            .map(Path::new)
            .and_then(Path::file_stem);
        let name = stem.and_then(OsStr::to_str).unwrap_or("machine");
        let over = tables::read(&source.text, read, name);
        read = Some(over.map_err(|error| source.refused(error))?);
    }
    Ok(read.expect("there is a source").profile)
}

/// The base of a file: a built-in machine, or a path from the directory of the file.
fn base_of(source: &Source) -> Option<String> {
    let base = tables::base_of(&source.text)?;
    if Profile::text_of(&base).is_some() {
        return Some(base);
    }
    let directory = source.path.as_deref().map(Path::new).and_then(Path::parent);
    let path = directory.map_or(base.clone().into(), |directory| directory.join(&base));
    path.to_str().map(str::to_owned)
}

impl Source {
    fn refused(&self, error: ProfileError) -> ProfileError {
        match &self.path {
            Some(path) => error.in_file(path),
            None => error,
        }
    }
}

fn unreadable(path: &str, error: &io::Error) -> ProfileError {
    if error.kind() != io::ErrorKind::NotFound {
        return ProfileError::new(format!("cannot be read: {error}"));
    }
    let file = Path::new(path);
    let stem = file
        .extension()
        .filter(|ending| *ending == "toml")
        .and(file.file_stem());
    let names_one = |stem: &&str| Profile::text_of(stem).is_some();
    if let Some(name) = stem.and_then(OsStr::to_str).filter(names_one) {
        let hint = format!("no such file; the built-in machine is {name}, without .toml");
        return ProfileError::new(hint);
    }
    let names = Profile::BUILT_IN.map(|(name, _)| name).join(", ");
    ProfileError::new(format!(
        "no file or built-in machine has this name; the built-in machines are {names}"
    ))
}
