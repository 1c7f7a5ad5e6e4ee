//! Starts a test's own program as the ranks of an MPI run, where there is MPI.
#![allow(dead_code, reason = "each test file uses its part")]

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;
use std::{env, thread};

use rustix::process::{Pid, Signal, kill_process};

/// A run takes a few seconds, on busy cores maybe a minute.
pub const PATIENCE: Duration = Duration::from_secs(300);

/// More ranks than cores, as root too, in this machine alone; each launcher takes its own of these.
/// What the environment says otherwise stays.
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

/// A command that starts so many ranks of the program whose name and arguments are added to it;
/// `None`, and a line that says why, where there is no MPI.
pub fn launcher(count: u32, test: &str) -> Option<Command> {
    let shim = shim();
    if !shim.exists() {
        return skip(
            test,
            &format!("there is no {}: make it with `make mpi`", shim.display()),
        );
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

/// Awaits what was started, but not for ever.
pub fn ended(child: Child) -> Output {
    let (finish, finished) = mpsc::channel::<()>();
    let id = Pid::from_child(&child);
    let guard = thread::spawn(move || {
        if finished.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
            kill_process(id, Signal::TERM).unwrap();
        }
    });
    let output = child.wait_with_output().unwrap();
    drop(finish);
    guard.join().unwrap();
    output
}

/// Runs one test of this program as so many ranks, with a variable that tells them so.
pub fn ranks(count: u32, test: &str, told: (&str, impl AsRef<OsStr>)) -> Option<Output> {
    let child = launcher(count, test)?
        .arg(env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env(told.0, told.1)
        .spawn()
        .unwrap();
    Some(ended(child))
}

/// The shim that `make mpi` makes: in the directory that this program was built in.
fn shim() -> PathBuf {
    let target = || {
        env::current_exe()
            .unwrap()
            .ancestors()
            .nth(3)
            .unwrap()
            .to_owned()
    };
    let named = env::var_os("GRISTMILL_MPI").map(PathBuf::from);
    named.unwrap_or_else(|| target().join("mpi/libgristmill_mpi.so"))
}

/// The launcher that fits the shim: the one that is named, one that was installed with the shim, or
/// the system's.
fn mpirun(shim: &Path) -> Option<PathBuf> {
    let named = env::var_os("MPIRUN").map(PathBuf::from);
    let path = env::var_os("PATH").unwrap_or_default();
    let in_path = env::split_paths(&path).map(|place| place.join("mpirun"));
    let with_shim = shim.with_file_name("venv/bin/mpirun");
    named
        .into_iter()
        .chain([with_shim])
        .chain(in_path)
        .find(|place| place.exists())
}

fn skip<T>(test: &str, why: &str) -> Option<T> {
    // Past the test runner's capture: a skip is never silent.
    let _ = writeln!(std::io::stderr(), "skipped: {test} over MPI, since {why}");
    None
}
