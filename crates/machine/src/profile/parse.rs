//! Reading a profile: the layout of its file, and where to find it.
//!
//! The file is TOML, read by the `toml` crate: it is the form that people who write Rust know for
//! such tables, it has comments (each number gives its source in one), and its errors know the
//! line. `serde` checks the layout: a key that is missing or misspelt is an error, never a default.
//!
//! ```text
//!   name, description, tick_ps
//!   [core]      registers to the NIC        *_cycles, words
//!   [work]      what work costs             *_cycles with up to three decimals, cache_bytes
//!   [nic]       stages, buffers, sizes      *_cycles, *_bytes, mac_ns
//!   [network]   shape, links, switches      *_links, *_bytes, *_ns
//! ```
//!
//! A unit ends each key that has one. Cycles are ticks of the profile; nanoseconds are rounded to
//! the nearest tick. What the numbers must be to one another is `check`'s.

use std::ffi::OsStr;
use std::io;
use std::path::Path;

use node::Costs;
use serde::Deserialize;

use super::number::{Cost, Count, Cycles, Thousandths, Whole};
use super::{CoreModel, NetworkModel, NicModel, Profile, ProfileError, ticks_of};
use crate::text;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    description: String,
    tick_ps: Thousandths,
    core: Core,
    work: Work,
    nic: Nic,
    network: Network,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Core {
    cores_per_rank: Count,
    ranks_per_nic: Count,
    notice_cycles: Cycles,
    receive_cycles: Cycles,
    receive_word_cycles: Cycles,
    receive_done_cycles: Cycles,
    send_cycles: Cycles,
    send_word_cycles: Cycles,
    forward_cycles: Cycles,
    transmit_words: Count,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Work {
    scan_word_cycles: Cost,
    load_line_cycles: Cost,
    cache_bytes: Whole,
    sort_key_level_cycles: Cost,
    select_key_cycles: Cost,
    classify_record_cycles: Cost,
    bucket_key_cycles: Cost,
    bucket_splitter_cycles: Cost,
    hash_key_cycles: Cost,
    copy_line_cycles: Cost,
    checksum_line_cycles: Cost,
    account_unit_cycles: Cost,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nic {
    receive_cycles: Cycles,
    transmit_cycles: Cycles,
    turn_cycles: Cycles,
    transmit_buffers: Count,
    large_transmit_buffers: Count,
    receive_buffers: Count,
    entry_bytes: Count,
    queue_entries: Count,
    all_entries: Count,
    header_bytes: Count,
    control_bytes: Count,
    segment_bytes: Count,
    timeout_cycles: Whole,
    mac_ns: Thousandths,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Network {
    layers: Count,
    down_links: Count,
    up_links: Count,
    top_links: Count,
    flit_bytes: Count,
    link_ns: Thousandths,
    switch_ns: Thousandths,
    queue_bytes: Option<Whole>,
}

impl Profile {
    /// The profile that this text of a file describes.
    ///
    /// # Errors
    /// When the text is no profile: one line that says where, and what is expected.
    pub fn parse(text: &str) -> Result<Profile, ProfileError> {
        let file: File = toml::from_str(text).map_err(|error| located(text, &error))?;
        let tick_fs = file.tick_ps.0;
        let profile = Profile {
            name: file.name,
            description: file.description,
            tick_fs,
            core: file.core.model(file.work.costs()),
            nic: file.nic.model(),
            network: file.network.model(tick_fs),
            hash: fnv1a(text.as_bytes()),
        };
        profile.check()?;
        Ok(profile)
    }

    /// The profile of this name if it is built in, else the one in the file of this path.
    ///
    /// # Errors
    /// When there is neither, or the file is no profile.
    pub fn load(name_or_path: &str) -> Result<Profile, ProfileError> {
        if let Some(profile) = Profile::named(name_or_path) {
            return Ok(profile);
        }
        let text = text::read(Path::new(name_or_path), text::MOST_BYTES)
            .map_err(|error| unreadable(name_or_path, &error).in_file(name_or_path))?;
        Profile::parse(&text).map_err(|error| error.in_file(name_or_path))
    }
}

impl Core {
    fn model(self, costs: Costs) -> CoreModel {
        CoreModel {
            per_rank: self.cores_per_rank.0,
            ranks_per_nic: self.ranks_per_nic.0,
            costs,
            notice: self.notice_cycles.0,
            receive: self.receive_cycles.0,
            receive_word: self.receive_word_cycles.0,
            receive_done: self.receive_done_cycles.0,
            send: self.send_cycles.0,
            send_word: self.send_word_cycles.0,
            forward: self.forward_cycles.0,
            transmit_words: self.transmit_words.0,
        }
    }
}

impl Work {
    fn costs(self) -> Costs {
        Costs {
            scan: self.scan_word_cycles.0,
            sort: self.sort_key_level_cycles.0,
            select: self.select_key_cycles.0,
            classify: self.classify_record_cycles.0,
            bucket: self.bucket_key_cycles.0,
            splitter: self.bucket_splitter_cycles.0,
            hash: self.hash_key_cycles.0,
            copy: self.copy_line_cycles.0,
            load: self.load_line_cycles.0,
            checksum: self.checksum_line_cycles.0,
            account: self.account_unit_cycles.0,
            cache_bytes: self.cache_bytes.0,
        }
    }
}

impl Nic {
    fn model(self) -> NicModel {
        NicModel {
            receive: self.receive_cycles.0,
            transmit: self.transmit_cycles.0,
            turn: self.turn_cycles.0,
            transmit_buffers: self.transmit_buffers.0,
            large_transmit_buffers: self.large_transmit_buffers.0,
            receive_buffers: self.receive_buffers.0,
            entry_bytes: self.entry_bytes.0,
            queue_entries: self.queue_entries.0,
            all_entries: self.all_entries.0,
            header_bytes: self.header_bytes.0,
            control_bytes: self.control_bytes.0,
            segment_bytes: self.segment_bytes.0,
            timeout: self.timeout_cycles.0,
            mac_ps: self.mac_ns.0,
        }
    }
}

impl Network {
    fn model(self, tick_fs: u64) -> NetworkModel {
        NetworkModel {
            layers: self.layers.0,
            down: self.down_links.0,
            up: self.up_links.0,
            top: self.top_links.0,
            flit_bytes: self.flit_bytes.0,
            link: ticks_of(self.link_ns.value(), tick_fs),
            switch: ticks_of(self.switch_ns.value(), tick_fs),
            queue_bytes: self.queue_bytes.map(|bytes| bytes.0),
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
    let names_one = |stem: &&str| Profile::BUILT_IN.iter().any(|(name, _)| name == stem);
    if let Some(name) = stem.and_then(OsStr::to_str).filter(names_one) {
        let hint = format!("no such file; the built-in machine is {name}, without .toml");
        return ProfileError::new(hint);
    }
    let names = Profile::BUILT_IN.map(|(name, _)| name).join(", ");
    ProfileError::new(format!(
        "no such file, and no built-in machine: those are {names}"
    ))
}

/// The reader's error on one line, with the line of the file and what stands there.
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
    // A key that is missing at the top is missing at no line.
    if place.is_empty() || (what.starts_with("missing") && !place.starts_with('[')) {
        return ProfileError::new(what);
    }
    ProfileError::new(format!("line {number} ({place}): {what}"))
}

/// FNV-1a of 64 bits: names a file's text in reports.
fn fnv1a(bytes: &[u8]) -> u64 {
    const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    bytes.iter().fold(BASIS, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(PRIME)
    })
}
