//! The directory of a worker, in which its cases run.
//!
//! ```text
//! PLACE/bin/gristmill    the binary under test, which other users can reach
//!       own/             the sort's directory: inputs, outputs, temporary files
//!       victim/          files of others, which no sort may touch
//!       stash/           unfinished sorts, to be put into own/
//! ```

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::input::Input;
use crate::stash::Stash;

/// Another user: `nobody`.
pub(crate) const FOREIGN: u32 = 65534;

/// The directory of a worker, and the common data of its cases.
pub(crate) struct Scene {
    pub place: PathBuf,
    pub limit: Duration,
    pub inputs: Arc<Vec<Input>>,
    /// Whether files of other users can be created.
    pub is_root: bool,
    pub stashes: Vec<Stash>,
}

impl Scene {
    pub(crate) fn new(place: PathBuf, binary: &Path, inputs: Arc<Vec<Input>>) -> io::Result<Scene> {
        fs::create_dir_all(place.join("bin"))?;
        fs::create_dir_all(place.join("stash"))?;
        for directory in [&place, &place.join("bin")] {
            fs::set_permissions(directory, Permissions::from_mode(0o755))?;
        }
        let is_root = rustix::process::geteuid().is_root();
        let limit = Duration::from_secs(30);
        let scene = Scene {
            place,
            limit,
            inputs,
            is_root,
            stashes: Vec::new(),
        };
        fs::copy(binary, scene.binary())?;
        fs::set_permissions(scene.binary(), Permissions::from_mode(0o755))?;
        scene.make_victim()?;
        scene.clear()?;
        Ok(scene)
    }

    pub(crate) fn binary(&self) -> PathBuf {
        self.place.join("bin/gristmill")
    }

    pub(crate) fn own(&self, name: &str) -> PathBuf {
        self.place.join("own").join(name)
    }

    pub(crate) fn victim(&self, name: &str) -> PathBuf {
        self.place.join("victim").join(name)
    }

    pub(crate) fn small_inputs(&self) -> usize {
        self.inputs.len() - 1
    }

    /// Empties the directory for the next case.
    pub(crate) fn clear(&self) -> io::Result<()> {
        let own = self.place.join("own");
        if own.exists() {
            fs::remove_dir_all(&own)?;
        }
        fs::create_dir(&own)?;
        fs::set_permissions(&own, Permissions::from_mode(0o755))
    }

    /// Creates files that a sort might take for its own.
    pub(crate) fn make_victim(&self) -> io::Result<()> {
        let root = self.place.join("victim");
        if root.exists() {
            fs::remove_dir_all(&root)?;
        }
        fs::create_dir(&root)?;
        for name in [
            "part-00000-deadbeef",
            "part-00001-deadbeef",
            "part-00002-0badf00d",
            "data",
            "out",
        ] {
            fs::write(self.victim(name), format!("the content of {name}"))?;
        }
        for name in ["manifest.json", ".gristmill-0123456789abcdef.tmp", "linked"] {
            fs::write(self.victim(name), b"{}")?;
        }
        // As long as an output: a sort must not take it for one.
        for (number, input) in self.inputs.iter().enumerate() {
            fs::write(
                self.victim(&format!("long-{number}")),
                vec![b'v'; input.bytes.len()],
            )?;
        }
        fs::hard_link(self.victim("data"), self.victim("data-again"))?;
        symlink("data", self.victim("link"))?;
        mknodat(
            CWD,
            self.victim("fifo"),
            FileType::Fifo,
            Mode::RUSR | Mode::WUSR,
            0,
        )?;
        fs::set_permissions(
            self.victim("part-00001-deadbeef"),
            Permissions::from_mode(0o4755),
        )?;
        if self.is_root {
            for name in ["part-00002-0badf00d", "out"] {
                chown(self.victim(name), Some(FOREIGN), Some(FOREIGN))?;
            }
        }
        Ok(())
    }
}
