//! Failing system calls, and limits of the system.
//!
//! strace, if installed, makes the Nth call of a kind fail; limits are set on the process.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use rustix::process::Resource;

use crate::case::{Case, Output, Sorting, own_names};

/// Calls whose failure a sort must survive. Removals are missing, since a file that cannot be
/// removed stays.
const CALLS: [&str; 9] = [
    "pwritev",
    "preadv",
    "fsync",
    "fallocate",
    "rename",
    "ftruncate",
    "openat",
    "flock",
    "getdents64",
];
const ERRORS: [&str; 4] = ["EIO", "ENOSPC", "EDQUOT", "ENOMEM"];

/// Calls that a sort repeats after EINTR.
const TRIED_AGAIN: [&str; 4] = ["fsync", "fallocate", "ftruncate", "flock"];

/// The number of opens before the program begins, about.
const LIBRARIES: u32 = 8;

/// Makes a drawn sort meet a drawn fault.
pub(super) fn injected(case: &mut Case) -> io::Result<()> {
    let input = case.any_input();
    fs::create_dir(case.scene.own("tmp"))?;
    fs::write(case.scene.own("out"), b"old")?;
    let plan = case.pick(&["two-pass", "merge", "auto"]);
    let sorting = case.sorting(input, &["-T", "tmp", "-S", "8M", "--plan", plan])?;
    let mut sorting = match case.draw.u32(0..3) {
        0 => {
            let output = Output::Set(vec![case.scene.own("set")]);
            // If a failure leaves it open which set exists, the journal stays.
            Sorting {
                output,
                may_keep: true,
                ..sorting
            }
            .and(&["-o", "set/"])
        }
        1 if plan != "merge" => Sorting {
            may_keep: true,
            ..sorting
        }
        .and(&["-o", "out", "--resume"]),
        _ => sorting.and(&["-o", "out"]),
    };
    let plain = sorting.call.clone();
    if !has_tracer() || case.draw.u32(0..3) == 0 {
        limited(case, &mut sorting);
    } else {
        traced(case, &mut sorting);
    }
    let ran = case.sort(&sorting)?;
    if ran.code() == Some(2) && sorting.may_keep {
        again(
            case,
            Sorting {
                call: plain,
                may_refuse: false,
                may_keep: false,
                ..sorting
            },
        )?;
    }
    Ok(())
}

/// Runs the same sort without the fault: it is right, and removes leftovers of the failed one.
fn again(case: &mut Case, mut sorting: Sorting) -> io::Result<()> {
    let set = case.scene.own("set");
    if let Ok(entries) = fs::read_dir(&set) {
        sorting.old_parts = entries.flatten().map(|entry| entry.path()).collect();
    }
    case.sort(&sorting)?;
    for directory in [set, case.scene.own(""), case.scene.own("tmp")] {
        for name in own_names(&directory) {
            case.fail("not swept", directory.join(name).display().to_string());
        }
    }
    Ok(())
}

/// Limits the number of open files or their length.
fn limited(case: &mut Case, sorting: &mut Sorting) {
    let limit = if case.draw.bool() {
        (Resource::Nofile, case.draw.u64(4..40))
    } else {
        (Resource::Fsize, case.draw.u64(1..3_000_000))
    };
    case.lines
        .push(format!("({:?} at most {})", limit.0, limit.1));
    sorting.call.limits.push(limit);
}

/// Runs the sort under strace, which makes one call fail.
fn traced(case: &mut Case, sorting: &mut Sorting) {
    // A small sort makes few calls of most kinds.
    let when = case.draw.u32(1..12).min(case.draw.u32(1..12));
    let (call, error) = if case.draw.u32(0..4) == 0 {
        sorting.may_refuse = false;
        (case.pick(&TRIED_AGAIN), "EINTR")
    } else {
        (case.pick(&CALLS), case.pick(&ERRORS))
    };
    // A program opens its libraries first.
    let when = if call == "openat" {
        when + LIBRARIES
    } else {
        when
    };
    let (trace, inject) = (
        format!("trace={call}"),
        format!("inject={call}:error={error}:when={when}"),
    );
    let before = ["-f", "-qq", "-o", "/dev/null", "-e", &trace, "-e", &inject].map(OsString::from);
    let mut arguments: Vec<OsString> = before.to_vec();
    arguments.push(sorting.call.program.clone().into());
    arguments.append(&mut sorting.call.arguments);
    sorting.call.arguments = arguments;
    sorting.call.program = "strace".into();
}

/// Whether strace is installed and may trace.
pub(crate) fn has_tracer() -> bool {
    static HAS: OnceLock<bool> = OnceLock::new();
    *HAS.get_or_init(|| {
        let mut tracer = Command::new("strace");
        tracer.args(["-f", "-qq", "-e", "inject=fsync:error=EIO", "true"]);
        tracer
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        tracer.status().is_ok_and(|status| status.success())
    })
}
