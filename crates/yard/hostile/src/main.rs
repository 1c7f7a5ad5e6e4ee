//! Attacks a gristmill binary: thousands of drawn cases, hundreds of kills.
//!
//! ```text
//! seed > case > hostile files, faults, moments
//!                  a sort in its directory, next to the directory of a victim
//!                  checks: exit, output, leftovers, and all files that are not the sort's
//! ```
//!
//! One seed decides everything that is drawn, and is printed first; a case is drawn from the seed
//! and its number, on any worker. Moments of kills also depend on the machine. A broken promise is
//! printed with the case, its commands, and the changed names; the run continues, and ends with
//! counts by kind. This is a black-box test, which knows the names and texts of files that the
//! command leaves. Of the command's code it uses only `kernel::block_crc`, to seal forged texts as
//! the command would and to tell files apart.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use clap::Parser;
use fastrand::Rng;

use case::Case;
use scene::Scene;

mod alter;
mod attacks;
mod case;
mod command;
mod input;
mod lists;
mod scene;
mod stash;
mod tree;

/// Attacks a gristmill binary and checks that nothing outside its own names is touched.
#[derive(Parser)]
struct Options {
    /// The binary to attack.
    #[arg(long)]
    binary: PathBuf,
    /// Decides everything that is drawn.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Hostile cases.
    #[arg(long, default_value_t = 2000)]
    cases: u32,
    /// Kills.
    #[arg(long, default_value_t = 500)]
    kills: u32,
    /// The first case, to run one again.
    #[arg(long, default_value_t = 0)]
    from: u32,
    /// The only kind of attack to run.
    #[arg(long, value_parser = attacks::kind)]
    only: Option<String>,
    /// Seconds that a command may take.
    #[arg(long, default_value_t = 30.0)]
    limit: f64,
    /// A directory in which a working directory is created.
    #[arg(long, default_value_os_t = std::env::temp_dir())]
    place: PathBuf,
}

/// The number of commands that run at the same time.
const WORKERS: usize = 2;

/// The kind of a kill, in addition to those of attacks.
const KILL: &str = "kill";

/// Cases and failures by kind.
type Counts = BTreeMap<&'static str, (u32, BTreeMap<&'static str, u32>)>;

/// The state that workers share.
struct Shared {
    options: Options,
    /// The next case; kills come after all others.
    next: AtomicU32,
    counts: Mutex<Counts>,
}

fn main() -> ExitCode {
    match run(Options::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("hostile: {error}");
            ExitCode::from(2)
        }
    }
}

/// Runs all cases; whether no promise was broken.
fn run(options: Options) -> io::Result<bool> {
    println!("seed {}", options.seed);
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: files of other users, which root alone can make");
    }
    if !attacks::has_tracer() {
        eprintln!("skipped: injected faults, since strace is missing or may not trace");
    }
    let place = options
        .place
        .join(format!("gristmill-hostile-{}", std::process::id()));
    let inputs = Arc::new(input::pool(options.seed));
    let next = AtomicU32::new(options.from);
    let shared = Shared {
        options,
        next,
        counts: Mutex::default(),
    };
    let ran = std::thread::scope(|scope| {
        let worker = |number: usize| {
            let place = place.join(number.to_string());
            let (shared, inputs) = (&shared, Arc::clone(&inputs));
            scope.spawn(move || work(shared, place, inputs))
        };
        let workers: Vec<_> = (0..WORKERS).map(worker).collect();
        workers
            .into_iter()
            .try_for_each(|worker| worker.join().expect("a worker ends"))
    });
    let removed = fs::remove_dir_all(&place);
    ran?;
    removed?;
    Ok(report(&shared.counts.lock().expect("no worker panicked")))
}

/// Runs cases until none are left.
fn work(shared: &Shared, place: PathBuf, inputs: Arc<Vec<input::Input>>) -> io::Result<()> {
    let options = &shared.options;
    fs::create_dir_all(&place)?;
    let place = fs::canonicalize(place)?;
    let binary: &Path = &options.binary;
    let mut scene = Scene::new(place, binary, inputs)?;
    scene.limit = Duration::from_secs_f64(options.limit);
    let needs_stashes = options
        .only
        .as_ref()
        .is_none_or(|kind| kind.starts_with("checkpoint"));
    if needs_stashes && options.cases > 0 {
        scene.stashes = stash::collect(&scene)?;
        if scene.stashes.is_empty() {
            eprintln!("skipped: attacks on checkpoints, since no unfinished sort was caught");
        }
        scene.make_victim()?;
    }
    loop {
        let number = shared.next.fetch_add(1, Ordering::Relaxed);
        let count = number - options.from;
        if count >= options.cases + options.kills {
            return Ok(());
        }
        one(shared, &scene, number, count >= options.cases)?;
    }
}

/// Runs one case and records its failures.
fn one(shared: &Shared, scene: &Scene, number: u32, is_kill: bool) -> io::Result<()> {
    let options = &shared.options;
    let mut draw =
        Rng::with_seed(options.seed ^ u64::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let (kind, attack) = if is_kill {
        (KILL, attacks::kill as attacks::Run)
    } else {
        attacks::draw(&mut draw, options.only.as_deref())
    };
    scene.clear()?;
    let mut case = Case {
        scene,
        draw,
        lines: Vec::new(),
        failures: Vec::new(),
    };
    attack(&mut case)
        .map_err(|error| io::Error::other(format!("case {number}, {kind}: {error}")))?;
    if !case.failures.is_empty() {
        scene.make_victim()?;
    }
    let mut counts = shared.counts.lock().expect("no worker panicked");
    let count = counts.entry(kind).or_default();
    count.0 += 1;
    let mut told = String::new();
    for failure in &case.failures {
        *count.1.entry(failure.what).or_default() += 1;
        told += &format!(
            "FAILED seed {} case {number} {kind}: {}: {}\n",
            options.seed, failure.what, failure.detail
        );
    }
    if !case.failures.is_empty() {
        case.lines
            .iter()
            .for_each(|line| told += &format!("    {line}\n"));
        print!("{told}");
    }
    Ok(())
}

/// Prints the counts; whether no case failed.
fn report(counts: &Counts) -> bool {
    let mut is_good = true;
    for (kind, (cases, failures)) in counts {
        let failed: Vec<String> = failures
            .iter()
            .map(|(what, count)| format!("{what} {count}"))
            .collect();
        is_good &= failed.is_empty();
        let told = if failed.is_empty() {
            "no failure".to_owned()
        } else {
            failed.join(", ")
        };
        println!("{kind:20} {cases:5} cases: {told}");
    }
    is_good
}
