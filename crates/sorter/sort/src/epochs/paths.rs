//! Paths of the files of a range (`--resume`). They come from the command line and from nothing
//! else.
//!
//! ```text
//! T/.gristmill-JOB-2.begun ...                    entries, in the first temporary directory
//! T/.gristmill-JOB-2.COPY-spill-0 ...             records, in each of them
//! O/.gristmill-JOB-2.COPY-output                  the draft, beside the output
//! ```
//!
//! JOB stands for the name of the output, 2 for the range, and COPY for a number that tells the
//! files of this start from those of an earlier one.

use std::path::{Path, PathBuf};

use node::{DiskError, Node};

use crate::files::output::replaced_kind;
use crate::files::path_template::of_rank;
use crate::files::text_file::spelled;
use crate::job::Resume;
use node::temporary::PREFIX;

const DRAFT: &str = "-output";

/// Places of the files of a range, links followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Site {
    /// The beginning of all file names.
    pub stem: String,
    /// Temporary directories; entries lie in the first.
    pub directories: Vec<PathBuf>,
    pub target: PathBuf,
}

impl Site {
    /// The site of a range that `rank` has begun.
    ///
    /// # Errors
    /// When a directory does not exist, or the output is a file that cannot be replaced.
    pub(crate) async fn of(
        node: &Node,
        resume: &Resume,
        rank: u32,
        range: u32,
    ) -> Result<Site, DiskError> {
        let mut directories = Vec::new();
        for place in places(resume, rank, range) {
            directories.push(node.resolve(&place).await?);
        }
        let target = of_rank(&resume.target, range);
        replaced_kind(node, &target).await?;
        let target = node.resolve(&target).await?;
        Ok(Site {
            stem: stem(&resume.name, range),
            directories,
            target,
        })
    }

    pub(crate) fn home(&self) -> &Path {
        &self.directories[0]
    }

    pub(crate) fn entry(&self, what: &str) -> PathBuf {
        self.home().join(format!("{}{what}", self.stem))
    }

    pub(crate) fn draft(&self, copy: u32) -> PathBuf {
        self.target
            .with_file_name(format!("{}{copy:08x}{DRAFT}", self.stem))
    }

    pub(crate) fn spill_stem(&self, copy: u32) -> String {
        format!("{}{copy:08x}-", self.stem)
    }

    pub(crate) fn all_directories(&self) -> impl Iterator<Item = &Path> {
        let beside = self.target.parent().unwrap_or(Path::new("/"));
        self.directories
            .iter()
            .map(PathBuf::as_path)
            .chain([beside])
    }

    /// The directories and the output, spelled as in an entry.
    pub(crate) fn spelled(&self) -> (Vec<String>, String) {
        let directories = self.directories.iter().map(|path| spelled(path));
        (directories.collect(), spelled(&self.target))
    }
}

pub(crate) fn places(resume: &Resume, rank: u32, range: u32) -> Vec<PathBuf> {
    if !resume.temporary.is_empty() {
        return resume
            .temporary
            .iter()
            .map(|path| of_rank(path, rank))
            .collect();
    }
    let target = of_rank(&resume.target, range);
    let beside = target
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    vec![beside.unwrap_or(Path::new(".")).to_owned()]
}

pub(crate) fn job_stem(name: &str) -> String {
    format!("{PREFIX}{:08x}-", kernel::block_crc(name.as_bytes()))
}

/// Whether a file name of a sort can end so behind its stem.
pub(crate) fn is_file_name(end: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_copy = |text: &str| text.len() == 8 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let numbered = ["epoch-", "part-"]
        .iter()
        .find_map(|kind| end.strip_prefix(kind));
    let spill = end.split_once("-spill-");
    end == "begun"
        || numbered.is_some_and(is_number)
        || end.strip_suffix(DRAFT).is_some_and(is_copy)
        || spill.is_some_and(|(copy, number)| is_copy(copy) && is_number(number))
}

fn stem(name: &str, range: u32) -> String {
    format!("{}{range}.", job_stem(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_a_sort_gives_are_its_own() {
        let own = [
            "begun",
            "epoch-0",
            "part-12",
            "0a1b2c3d-output",
            "0a1b2c3d-spill-7",
        ];
        assert!(own.into_iter().all(is_file_name));
        let others = [
            "notes",
            "begun2",
            "epoch-",
            "part-x",
            "deadbee-output",
            "output",
            "0a1b2c3d-spill-",
        ];
        assert!(!others.into_iter().any(is_file_name));
    }
}
