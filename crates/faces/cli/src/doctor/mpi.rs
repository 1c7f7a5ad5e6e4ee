//! MPI on this machine: the shim, the library that it opens, and the launcher of ranks.

use std::env;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use node_mpi::{Shim, shim};
use serde_json::{Value, json};

/// MPI's names of its launcher.
const LAUNCHERS: [&str; 2] = ["mpirun", "mpiexec"];

/// The parts that were found.
pub(super) struct Mpi {
    shim: Result<Shim, String>,
    launcher: Option<Launcher>,
}

struct Launcher {
    path: PathBuf,
    /// Its first line about its version.
    version: Option<String>,
}

impl Mpi {
    /// Looks for the shim as a sort does, and for the launcher as a shell does.
    pub(super) fn look() -> Mpi {
        Mpi {
            shim: shim(),
            launcher: Launcher::find(),
        }
    }

    /// The parts as JSON.
    pub(super) fn json(&self) -> Value {
        let launcher = self.launcher.as_ref();
        let (library, failure) = match &self.shim {
            Ok(Shim {
                library: Ok(library),
                ..
            }) => (Some(library), None),
            Ok(Shim {
                library: Err(failure),
                ..
            })
            | Err(failure) => (None, Some(failure)),
        };
        json!({
            "shim": self.shim.as_ref().ok().map(|shim| shim.path.display().to_string()),
            "library": library,
            "launcher": launcher.map(|launcher| launcher.path.display().to_string()),
            "launcher_version": launcher.and_then(|launcher| launcher.version.as_ref()),
            "error": failure,
        })
    }

    /// The parts as lines for people.
    pub(super) fn text(&self) -> String {
        let (shim, library) = match &self.shim {
            Ok(shim) => {
                let library = shim.library.as_ref().unwrap_or_else(|failure| failure);
                (shim.path.display().to_string(), library.as_str())
            }
            Err(nowhere) => (nowhere.clone(), "-"),
        };
        let launcher = match &self.launcher {
            Some(Launcher { path, version }) => {
                let version = version.as_deref().unwrap_or("version unknown");
                format!("{} ({version})", path.display())
            }
            None => format!("no {} in PATH", LAUNCHERS.join(" or ")),
        };
        [
            "MPI, to sort on several hosts".to_owned(),
            format!("  shim                {shim}"),
            format!("  library             {library}"),
            format!("  launcher            {launcher}"),
        ]
        .join("\n")
    }
}

impl Launcher {
    fn find() -> Option<Launcher> {
        let directories: Vec<PathBuf> =
            env::split_paths(&env::var_os("PATH").unwrap_or_default()).collect();
        let places = LAUNCHERS.iter().flat_map(|name| {
            directories
                .iter()
                .map(move |directory| directory.join(name))
        });
        let path = places.into_iter().find(|path| path.is_file())?;
        let told = Command::new(&path)
            .arg("--version")
            .stdin(Stdio::null())
            .output()
            .ok();
        let told = told.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
        let version = told.as_deref().and_then(version);
        Some(Launcher { path, version })
    }
}

/// Open MPI says it in the first line, MPICH in the second (`HYDRA build details:`, `Version:
/// 4.0.2`).
fn version(told: &str) -> Option<String> {
    let lines = || told.lines().map(str::trim).filter(|line| !line.is_empty());
    let numbered = lines().find(|line| line.starts_with("Version:"));
    let words: Vec<&str> = numbered
        .or_else(|| lines().next())?
        .split_whitespace()
        .collect();
    Some(words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_both_libraries() {
        let open_mpi = "mpirun (Open MPI) 4.1.4\n\nReport bugs to http://www.open-mpi.org/";
        assert_eq!(
            version(open_mpi).as_deref(),
            Some("mpirun (Open MPI) 4.1.4")
        );
        let mpich = "HYDRA build details:\n    Version:                                 4.0.2\n";
        assert_eq!(version(mpich).as_deref(), Some("Version: 4.0.2"));
        assert_eq!(version(""), None);
    }

    #[test]
    fn a_missing_shim_or_launcher_is_reported() {
        let none = Mpi {
            shim: Err("no shim: looked for x".to_owned()),
            launcher: None,
        };
        let text = none.text();
        assert!(
            text.contains("looked for x") && text.contains("no mpirun or mpiexec"),
            "{text}"
        );
        assert_eq!(none.json()["shim"], Value::Null);
        assert_eq!(none.json()["error"], "no shim: looked for x");
        let library = Err("cannot be opened".to_owned());
        let broken = Mpi {
            shim: Ok(Shim {
                path: "/x".into(),
                library,
            }),
            launcher: None,
        };
        assert_eq!(
            (&broken.json()["shim"], &broken.json()["error"]),
            (&"/x".into(), &"cannot be opened".into())
        );
    }
}
