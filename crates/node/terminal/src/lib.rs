//! Commands on a terminal: how they end, what they say, their progress and the files they write.
//!
//! ```text
//!   text > ending > progress          each uses modules to its left
//!   files, launcher >
//! ```
//!
//! It knows nothing of what is sorted or simulated: commands of all floors stand on it.

#[cfg(feature = "pages")]
pub mod completions;
pub mod ending;
pub mod files;
pub mod launcher;
#[cfg(feature = "pages")]
pub mod manual;
pub mod progress;
pub mod text;
