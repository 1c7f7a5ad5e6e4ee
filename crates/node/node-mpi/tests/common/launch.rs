//! Starts a test program as the ranks of an MPI run, if there is an MPI.
#![allow(dead_code, reason = "each test program uses a part of it")]

use std::env;
use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Output, Stdio};

use children::Command;

/// Settings of several launchers: more ranks than cores, also as root, on this machine only. The
/// environment takes precedence.
const SETTINGS: [(&str, &str); 10] = [
    ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
    ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
    ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
    ("OMPI_MCA_hwloc_base_binding_policy", "none"),
    ("OMPI_MCA_mpi_yield_when_idle", "1"),
    ("OMPI_MCA_btl", "self,vader,tcp"),
    ("OMPI_MCA_btl_tcp_if_include", "lo"),
    ("OMPI_MCA_oob_tcp_if_include", "lo"),
    ("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe"),
    ("PRTE_MCA_hwloc_default_binding_policy", "none"),
];

/// A command that starts `count` ranks of the program whose name and arguments the caller adds. If
/// there is no MPI, reports that and returns `None`.
pub fn launcher(count: u32, test: &str) -> Option<Command> {
    let shim = shim();
    if !shim.exists() {
        let why = format!("there is no {}: make it with `make mpi`", shim.display());
        return skip(test, &why);
    }
    let Some(mpirun) = mpirun(&shim) else {
        return skip(test, "there is no mpirun");
    };
    let mut command = Command::new(mpirun);
    command
        .args(["-n", &count.to_string()])
        .envs(
            SETTINGS
                .into_iter()
                .filter(|(name, _)| env::var_os(name).is_none()),
        )
        .env("GRISTMILL_MPI", shim)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    Some(command)
}

/// Waits for the end of a run, which has the limit of time of all children.
pub fn ended(child: Child) -> Output {
    child.wait_with_output().unwrap()
}

/// Runs the test with this full name as `count` ranks, with an environment variable that makes a
/// process a rank.
pub fn ranks(
    count: u32,
    test: &str,
    (variable, value): (&str, impl AsRef<OsStr>),
) -> Option<Output> {
    let output = launcher(count, test)?
        .arg(env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env(variable, value)
        .output()
        .unwrap();
    Some(output)
}

/// The shim that `make mpi` makes in the target directory, or the one in the environment.
fn shim() -> PathBuf {
    if let Some(named) = env::var_os("GRISTMILL_MPI") {
        return named.into();
    }
    let program = env::current_exe().unwrap();
    let target = program.ancestors().nth(3).unwrap();
    target.join("mpi/libgristmill_mpi.so")
}

/// The launcher that fits the shim: the one in the environment, one installed with the shim, or the
/// system's.
fn mpirun(shim: &Path) -> Option<PathBuf> {
    let named = env::var_os("MPIRUN").map(PathBuf::from);
    let path = env::var_os("PATH").unwrap_or_default();
    let in_path = env::split_paths(&path).map(|place| place.join("mpirun"));
    let with_shim = shim.with_file_name("venv/bin/mpirun");
    let mut places = named.into_iter().chain([with_shim]).chain(in_path);
    places.find(|place| place.exists())
}

fn skip<T>(test: &str, why: &str) -> Option<T> {
    // Past the test runner's capture, so that no skip is silent.
    let _ = writeln!(std::io::stderr(), "skipped: {test} over MPI, since {why}");
    None
}
