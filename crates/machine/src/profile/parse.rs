//! Reading a profile from a TOML file.
//!
//! TOML has comments, which give the source of each number, and its errors have lines. A missing or
//! misspelt key is an error, never a default.
//!
//! ```text
//!   name, description, tick_ps
//!   [core]      registers to the NIC        *_cycles, words
//!   [work]      what work costs             *_cycles with up to three decimals, cache_bytes
//!   [nic]       stages, buffers, sizes      *_cycles, *_bytes, mac_ns
//!   [network]   shape, links, switches      *_links, *_bytes, *_ns
//! ```
//!
//! Keys end with their unit. Cycles are ticks of the profile; nanoseconds are rounded to ticks.
//! `check` has the rules between numbers.

use std::ffi::OsStr;
use std::io;
use std::path::Path;

use super::{Profile, ProfileError};
use crate::text;

impl Profile {
    /// Parses the text of a file.
    ///
    /// # Errors
    /// If the text is not a profile: one line with the place and what is expected.
    pub fn parse(text: &str) -> Result<Profile, ProfileError> {
        let profile: Profile = toml::from_str(text).map_err(|error| located(text, &error))?;
        let hash = fnv1a(text.as_bytes());
        profile.check()?;
        Ok(Profile { hash, ..profile })
    }

    /// The built-in profile of this name, or else the profile in the file of this path.
    ///
    /// # Errors
    /// If there is neither, or the file is not a profile.
    pub fn load(name_or_path: &str) -> Result<Profile, ProfileError> {
        if let Some(profile) = Profile::named(name_or_path) {
            return Ok(profile);
        }
        let text = text::read(Path::new(name_or_path), text::MOST_BYTES)
            .map_err(|error| unreadable(name_or_path, &error).in_file(name_or_path))?;
        Profile::parse(&text).map_err(|error| error.in_file(name_or_path))
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
    let names_one = |stem: &&str| Profile::BUILT_IN.iter().any(|(name, _)| name == stem);
    if let Some(name) = stem.and_then(OsStr::to_str).filter(names_one) {
        let hint = format!("no such file; the built-in machine is {name}, without .toml");
        return ProfileError::new(hint);
    }
    let names = Profile::BUILT_IN.map(|(name, _)| name).join(", ");
    ProfileError::new(format!(
        "no file or built-in machine has this name; the built-in machines are {names}"
    ))
}

/// The reader's error in one line, with the line of the file and its key.
fn located(text: &str, error: &toml::de::Error) -> ProfileError {
    let what = error
        .message()
        .replace("field `", "key `")
        .replace('\n', ", ");
    let before = error
        .span()
        .and_then(|span| text.get(..span.start))
        .unwrap_or("");
    let number = before.matches('\n').count() + 1;
    let line = text.lines().nth(number - 1).unwrap_or("");
    let place = line.split(['=', '#']).next().unwrap_or("").trim();
    // A key that is missing outside of tables has no line.
    if place.is_empty() || (what.starts_with("missing") && !place.starts_with('[')) {
        return ProfileError::new(what);
    }
    ProfileError::new(format!("line {number} ({place}): {what}"))
}

/// The 64-bit FNV-1a hash, which identifies a file's text in reports.
fn fnv1a(bytes: &[u8]) -> u64 {
    const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    bytes.iter().fold(BASIS, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(PRIME)
    })
}
