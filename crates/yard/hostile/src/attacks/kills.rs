//! `kill -9` at drawn moments of drawn sorts; the next sort finds the leftovers.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use fastrand::Rng;

use crate::case::{Case, Output, Sorting, content, content_of_set, is_own, own_names, parts};
use crate::command::ended;
use crate::stash::wait_for;

/// The recent time of a sort in microseconds; kills are drawn from 1.5 times that.
static LIFE_US: AtomicU64 = AtomicU64::new(60_000);

/// A sort to be killed.
struct Plan {
    sorting: Sorting,
    /// Directories that the next sort sweeps.
    swept: Vec<PathBuf>,
    old: Option<Vec<u8>>,
}

/// Kills a sort, checks the files, and sorts again.
pub(crate) fn kill(case: &mut Case) -> io::Result<()> {
    let plan = draw(case)?;
    let before = case.look()?;
    case.lines
        .push(format!("{} # killed", plan.sorting.call.line()));
    killed(case, &plan)?;
    let now = there(&plan.sorting);
    if now != plan.old && !plan.sorting.is_right() {
        case.fail(
            "torn",
            format!("{:?} is neither old nor new", plan.sorting.output),
        );
    }
    for change in case.look()?.changes_since(&before) {
        let is_own_part = change.how == "added" || plan.sorting.old_parts.contains(&change.path);
        let is_output = match &plan.sorting.output {
            Output::File(path) => *path == change.path,
            Output::Set(all) => all.iter().any(|at| change.path.starts_with(at)) && is_own_part,
        };
        let is_manifest = change.path.ends_with("own/set/manifest.json");
        if !is_output && !is_manifest && !is_own(&change.path) {
            case.fail(
                "touched",
                format!("{}: {}", change.path.display(), change.how),
            );
        }
    }
    again(case, plan)
}

/// Runs the sort again, perhaps without its checkpoint: it is right, and sweeps the leftovers.
fn again(case: &mut Case, plan: Plan) -> io::Result<()> {
    let mut sorting = Sorting {
        may_refuse: false,
        ..plan.sorting
    };
    let is_dropped = sorting.may_keep && case.draw.u32(0..3) == 0;
    if is_dropped {
        sorting.call.arguments.retain(|word| word != "--resume");
    }
    if let Output::Set(directories) = &sorting.output {
        // Files of the killed run that already have their names are removed, too.
        let all = directories
            .iter()
            .filter_map(|at| fs::read_dir(at).ok())
            .flatten()
            .flatten();
        sorting.old_parts = all.map(|entry| entry.path()).collect();
    }
    let begin = Instant::now();
    case.sort(&sorting)?;
    let life = (3 * LIFE_US.load(Ordering::Relaxed) + begin.elapsed().as_micros() as u64) / 4;
    LIFE_US.store(life, Ordering::Relaxed);
    // Without the checkpoint it may spill nothing, and then does not sweep temporary directories.
    let swept = if is_dropped { 1 } else { plan.swept.len() };
    for directory in &plan.swept[..swept] {
        let is_kept = |name: &String| is_dropped && !name.ends_with(".tmp");
        for name in own_names(directory)
            .into_iter()
            .filter(|name| !is_kept(name))
        {
            case.fail("not swept", directory.join(name).display().to_string());
        }
    }
    if let Output::Set(directories) = &sorting.output {
        let listed = parts(&directories[0]).unwrap_or_default();
        let all = directories
            .iter()
            .filter_map(|at| fs::read_dir(at).ok())
            .flatten()
            .flatten();
        for path in all
            .map(|entry| entry.path())
            .filter(|path| !path.ends_with("manifest.json"))
        {
            if !listed.contains(&path) {
                case.fail("not swept", path.display().to_string());
            }
        }
    }
    Ok(())
}

fn there(sorting: &Sorting) -> Option<Vec<u8>> {
    match &sorting.output {
        Output::File(path) => content(path),
        Output::Set(directories) => content_of_set(&directories[0]),
    }
}

/// Starts the sort and kills it at a drawn moment, or as soon as it has begun to write.
fn killed(case: &mut Case, plan: &Plan) -> io::Result<()> {
    let life = LIFE_US.load(Ordering::Relaxed);
    let moment = Duration::from_micros(case.draw.u64(0..life + life / 2));
    let is_early = case.draw.u32(0..3) == 0;
    let mut child = plan.sorting.call.start(&case.scene.place.join("said"))?;
    if is_early {
        let has_begun = || plan.swept.iter().any(|at| !own_names(at).is_empty());
        wait_for(&mut child, has_begun, case.scene.limit)?;
        sleep(moment / 8);
    } else {
        sleep(moment);
    }
    child.kill()?;
    if ended(&mut child, case.scene.limit)?.is_none() {
        case.fail("hang", "after kill -9");
    }
    Ok(())
}

/// Draws a way to sort.
fn draw(case: &mut Case) -> io::Result<Plan> {
    let input = case.any_input();
    let scene = case.scene;
    fs::create_dir(scene.own("tmp"))?;
    let memory = case.pick(&["8M", "10M", "64M"]);
    let plan = case.pick(&["auto", "two-pass", "merge"]);
    let parallel = case.pick(&["1", "2"]);
    let layout = case.pick(&["log", "preallocated"]);
    let sorting = case.sorting(input, &["-S", memory, "--parallel", parallel])?;
    let sorting = sorting.and(&["--spill-layout", layout]);
    let mut swept = vec![scene.own("")];
    let sorting = if case.draw.bool() {
        swept.push(scene.own("tmp"));
        sorting.and(&["-T", "tmp"])
    } else {
        sorting
    };
    let (sorting, old) = match case.draw.u32(0..4) {
        0 => {
            let old = scene.inputs[input].bytes.clone();
            let output = Output::File(scene.own("in"));
            (
                Sorting { output, ..sorting }.and(&["-o", "in", "--plan", plan]),
                Some(old),
            )
        }
        1 => {
            fs::write(scene.own("out"), b"old")?;
            let sorting = Sorting {
                may_keep: true,
                ..sorting
            };
            (
                sorting.and(&["-o", "out", "--resume"]),
                Some(b"old".to_vec()),
            )
        }
        2 => {
            fs::write(scene.own("out"), b"old")?;
            (
                sorting.and(&["-o", "out", "--plan", plan]),
                Some(b"old".to_vec()),
            )
        }
        _ => {
            swept = vec![scene.own("set")];
            old_set(case, sorting.and(&["--plan", plan]))?
        }
    };
    Ok(Plan {
        sorting,
        swept,
        old,
    })
}

/// A sort into directories, which may already contain a set.
fn old_set(case: &mut Case, sorting: Sorting) -> io::Result<(Sorting, Option<Vec<u8>>)> {
    let count = case.draw.usize(1..=2);
    let directories: Vec<PathBuf> = ["set", "b"][..count]
        .iter()
        .map(|name| case.scene.own(name))
        .collect();
    let mut sorting = Sorting {
        output: Output::Set(directories.clone()),
        ..sorting
    };
    sorting = sorting.and(&["-o", "set/", "-o", "b/"][..2 * count]);
    if case.draw.bool() {
        let new = fs::read(case.scene.own("in"))?;
        let input = Rng::with_seed(case.draw.u64(..)).usize(0..case.scene.small_inputs());
        fs::write(case.scene.own("in"), &case.scene.inputs[input].bytes)?;
        let expected = Some(case.scene.inputs[input].sorted.clone());
        case.sort(&Sorting {
            expected,
            may_refuse: false,
            ..sorting.clone()
        })?;
        fs::write(case.scene.own("in"), new)?;
    }
    sorting.old_parts = parts(&directories[0]).unwrap_or_default();
    let old = content_of_set(&directories[0]);
    Ok((sorting, old))
}
