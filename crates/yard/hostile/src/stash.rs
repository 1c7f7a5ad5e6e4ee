//! Sorts with `--resume` that were killed, one at each stage, to be restored and altered.

use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{Duration, Instant};

use fastrand::Rng;

use crate::alter;
use crate::case::{Case, Sorting, own_names};
use crate::command::ended;
use crate::scene::Scene;

/// How often to try to catch a sort at a stage, since the moment is short.
const TRIES: usize = 12;

/// Entries that a sort may be caught at.
const STAGES: [&str; 7] = [
    "begun", "epoch-0", "epoch-1", "part-0", "part-1", "part-2", "part-3",
];

/// An unfinished sort.
pub(crate) struct Stash {
    pub stage: &'static str,
    pub input: usize,
    /// Its directory after the kill.
    files: PathBuf,
}

/// The sort that is killed and resumed: in place, or over an old output of its length.
pub(crate) fn sorting(case: &mut Case, input: usize) -> io::Result<Sorting> {
    let old = vec![b'o'; case.scene.inputs[input].bytes.len()];
    fs::create_dir_all(case.scene.own("tmp"))?;
    fs::write(case.scene.own("out"), old)?;
    let memory = [
        "-o",
        "out",
        "-T",
        "tmp",
        "-S",
        "8M",
        "--parallel",
        "1",
        "--resume",
    ];
    let sorting = case.sorting(input, &memory)?;
    keep_input(case.scene, input)?;
    Ok(Sorting {
        may_keep: true,
        ..sorting
    })
}

/// Makes the input a link to one file for all sorts of it: a copy would be another file, which no sort
/// continues with.
fn keep_input(scene: &Scene, input: usize) -> io::Result<()> {
    let kept = scene.place.join(format!("input-{input}"));
    if kept.exists() {
        fs::remove_file(scene.own("in"))?;
    } else {
        fs::rename(scene.own("in"), &kept)?;
    }
    symlink(kept, scene.own("in"))
}

/// Kills sorts of the large input and of one small input at every stage.
pub(crate) fn collect(scene: &Scene) -> io::Result<Vec<Stash>> {
    let large = scene.small_inputs();
    let mut found = Vec::new();
    for (input, stages) in [
        (large, &STAGES[..]),
        (large - 1, &["begun", "epoch-0", "part-0"][..]),
    ] {
        for stage in stages {
            for _ in 0..TRIES {
                if caught(scene, input, stage)? {
                    let files = scene.place.join("stash").join(found.len().to_string());
                    copy(&scene.place.join("own"), &files)?;
                    found.push(Stash {
                        stage,
                        input,
                        files,
                    });
                    break;
                }
            }
        }
    }
    scene.clear()?;
    Ok(found)
}

impl Stash {
    /// Restores it in an empty directory.
    pub(crate) fn restore(&self, scene: &Scene) -> io::Result<()> {
        fs::remove_dir_all(scene.place.join("own"))?;
        copy(&self.files, &scene.place.join("own"))?;
        number_draft(scene)
    }
}

/// Writes the inode number of the draft's copy into the first entry, since a sort may refuse a
/// draft that is another file.
fn number_draft(scene: &Scene) -> io::Result<()> {
    let named = |directory: &Path, end: &str| {
        let name = own_names(directory)
            .into_iter()
            .find(|name| name.ends_with(end));
        name.map(|name| directory.join(name))
    };
    let draft = named(&scene.own(""), "-output");
    let (Some(draft), Some(begun)) = (draft, named(&scene.own("tmp"), ".begun")) else {
        return Ok(());
    };
    let (json, was_sealed) = alter::unsealed(&fs::read(&begun)?);
    let key = b"\"draft\":";
    let at = json
        .windows(key.len())
        .rposition(|piece| piece == key)
        .map(|at| at + key.len());
    let token = alter::tokens(&json)
        .into_iter()
        .find(|token| Some(token.at.start) == at);
    if let Some(token) = token.filter(|token| token.is_number && was_sealed) {
        let number = fs::metadata(&draft)?.ino().to_string();
        let json = alter::with(&json, token.at, number.as_bytes());
        let name = begun.file_name().unwrap_or_default().to_string_lossy();
        fs::write(&begun, alter::sealed(&name, &json))?;
    }
    Ok(())
}

/// Starts a sort and kills it when an entry of that name exists; whether that succeeded.
fn caught(scene: &Scene, input: usize, stage: &str) -> io::Result<bool> {
    scene.clear()?;
    let draw = Rng::with_seed(0);
    let mut case = Case {
        scene,
        draw,
        lines: Vec::new(),
        failures: Vec::new(),
    };
    let sorting = sorting(&mut case, input)?;
    let mut child = sorting.call.start(&scene.place.join("said"))?;
    let is_met = || {
        own_names(&scene.own("tmp"))
            .iter()
            .any(|name| name.ends_with(stage))
    };
    wait_for(&mut child, is_met, scene.limit)?;
    child.kill()?;
    let status = ended(&mut child, scene.limit)?;
    let is_begun = own_names(&scene.own("tmp"))
        .iter()
        .any(|name| name.ends_with(".begun"));
    Ok(status.is_some_and(|status| status.code().is_none()) && is_met() && is_begun)
}

/// Waits until a condition holds or the child has ended.
pub(crate) fn wait_for(
    child: &mut Child,
    is_so: impl Fn() -> bool,
    limit: Duration,
) -> io::Result<()> {
    let begin = Instant::now();
    while !is_so() && begin.elapsed() < limit && child.try_wait()?.is_none() {
        std::hint::spin_loop();
    }
    Ok(())
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        let kind = entry.file_type()?;
        if kind.is_dir() {
            copy(&entry.path(), &target)?;
        } else if kind.is_symlink() {
            symlink(fs::read_link(entry.path())?, target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
