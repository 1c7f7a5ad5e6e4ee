//! The syncs of whole sorts as the system sees them. The simulated disk forgets what was not
//! synced, and so proves that sorts ask for the syncs that they need; here the real disk is seen to
//! issue them, and each one to matter.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use children::Command;

use crate::common::{Place, RECORD_BYTES, cases, sorted};
use crate::strace::{Call, Traced, missing, skip, traced};

const OLD: &[u8] = b"the old output";

/// A sort that is done in one pass.
const PLAIN: &str = "sort --format gensort in -o out";
const SET: &str = "sort --format gensort in -o set/";

/// 25 MB. A sort holds less than half of them in memory, so it writes a checkpoint of each kind and
/// has some groups of partitions.
const RECORDS: u64 = 250_000;

/// More, for several epochs.
const MORE_RECORDS: u64 = 500_000;
const RESUMED: &str = "sort --format gensort in -o out -S 16M --resume";

/// Whether the tests are skipped; prints the reason.
fn is_skipped() -> bool {
    missing().inspect(|why| skip(why)).is_some()
}

fn directory(place: &Place) -> PathBuf {
    place.path("in").parent().unwrap().to_owned()
}

#[track_caller]
fn run(place: &Place, sort: &str) -> Vec<Call> {
    let Traced { status, calls, err } = traced(&directory(place), &[], &place.command(sort));
    assert!(status.success(), "{err}");
    calls
}

fn is_punch(call: &Call) -> bool {
    call.is("fallocate") && call.text.contains("PUNCH_HOLE")
}

/// The last line at which a file was changed, of changes that began before `line`.
fn changed(calls: &[Call], path: &Path, line: usize) -> Option<usize> {
    let before = calls
        .iter()
        .filter(|call| call.began < line && call.is_on(path));
    before
        .filter(|call| call.is_change() && !is_punch(call))
        .map(|call| call.ended)
        .max()
}

/// Whether a file was synced within these lines.
fn is_synced(calls: &[Call], path: &Path, after: usize, before: usize) -> bool {
    calls
        .iter()
        .any(|call| call.syncs(path) && call.began > after && call.ended < before)
}

/// Checks each name that was given: the file is synced between its last change and the rename, and
/// the directory between the rename and whatever relies on it. Gives the new names in their order.
#[track_caller]
fn check_names(calls: &[Call]) -> Vec<(PathBuf, usize)> {
    let renames = calls
        .iter()
        .filter(|call| call.is_rename() && call.result == 0);
    let mut names = Vec::new();
    for rename in renames {
        let [draft, name] = &rename.paths[..] else {
            panic!("{rename:?}")
        };
        let last = changed(calls, draft, rename.began).expect("something was written");
        assert!(
            last < rename.began,
            "{draft:?} is changed while it gets its name"
        );
        let is_durable = is_synced(calls, draft, last, rename.began);
        assert!(
            is_durable,
            "{name:?} has its name before its data are durable"
        );
        // A call relies on the name if it changes the file under that name, gives another file its
        // name, or gives up data that were kept until then.
        let relies = |call: &&Call| {
            call.is_rename()
                || call.name.starts_with("unlink")
                || is_punch(call)
                || call.is_on(name)
        };
        let later = calls.iter().filter(|call| call.began > rename.ended);
        let next = later
            .filter(relies)
            .map(|call| call.began)
            .min()
            .unwrap_or(usize::MAX);
        let is_durable = is_synced(calls, name.parent().unwrap(), rename.ended, next);
        assert!(
            is_durable,
            "line {next} relies on {name:?}, which is not durable"
        );
        names.push((name.clone(), rename.began));
    }
    names
}

#[test]
fn a_plain_sort_syncs_its_output_and_then_its_name() {
    if is_skipped() {
        return;
    }
    let place = Place::with_records(20_000);
    place.write("out", OLD);
    let calls = run(&place, PLAIN);
    let names: Vec<PathBuf> = check_names(&calls)
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    assert_eq!(names, [place.path("out")]);
    assert!(place.read("out") == sorted(&place.read("in"), RECORD_BYTES));
}

/// On a file system without locks a sort cannot tell live files from dead ones.
#[test]
fn a_file_system_without_locks_is_sorted_on() {
    if is_skipped() {
        return;
    }
    let without_locks = ["-e", "inject=flock:error=ENOLCK"];
    for sort in [PLAIN, "sort --format gensort in -o out --resume"] {
        let place = Place::with_records(1000);
        let traced = traced(&directory(&place), &without_locks, &place.command(sort));
        assert!(traced.status.success(), "{}", traced.err);
        assert!(traced.calls.iter().any(|call| call.is("flock")));
        assert!(place.read("out") == sorted(&place.read("in"), RECORD_BYTES));
    }
}

#[test]
fn a_set_is_durable_before_its_manifest_and_that_before_the_old_set_goes() {
    if is_skipped() {
        return;
    }
    let place = Place::with_records(20_000);
    fs::create_dir(place.path("set")).unwrap();
    place.run(SET).succeeded();
    let calls = run(&place, SET);
    let names = check_names(&calls);
    let file = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    let named: Vec<String> = names.iter().map(|(name, _)| file(name)).collect();
    assert!(named[0].ends_with(".journal"), "{named:?}");
    let (manifest, parts) = named[1..].split_last().unwrap();
    assert_eq!(manifest, "manifest.json");
    assert!(
        !parts.is_empty() && parts.iter().all(|part| part.starts_with("part-")),
        "{named:?}"
    );
    let given = names.last().unwrap().1;
    let removed = calls
        .iter()
        .filter(|call| call.name.starts_with("unlink") && call.result == 0);
    let removed: Vec<(String, usize)> = removed
        .map(|call| (file(&call.paths[0]), call.began))
        .collect();
    assert!(
        removed.iter().any(|(name, _)| name.starts_with("part-")),
        "{removed:?}"
    );
    assert!(removed.iter().all(|(_, line)| *line > given), "{removed:?}");
}

#[test]
fn data_of_a_checkpoint_is_durable_before_it() {
    if is_skipped() {
        return;
    }
    let place = Place::with_records(MORE_RECORDS);
    place.write("out", OLD);
    let calls = run(&place, RESUMED);
    let names = check_names(&calls);
    let mut entries: BTreeMap<&str, u32> = BTreeMap::new();
    let changed_files: Vec<&PathBuf> = calls
        .iter()
        .filter(|call| call.is_change())
        .filter_map(|call| call.paths.first())
        .collect();
    for (name, line) in &names {
        let name = name.to_string_lossy();
        let (kind, relied_on) = match &name[..] {
            entry if entry.contains(".epoch-") => (".epoch", "-spill-"),
            entry if entry.contains(".part-") => (".part", "-output"),
            _ => continue,
        };
        *entries.entry(kind).or_default() += 1;
        let path = changed_files
            .iter()
            .find(|path| path.to_string_lossy().contains(relied_on));
        let path = path.unwrap_or_else(|| panic!("nothing was written for {name}"));
        let last = changed(&calls, path, *line).expect("something was written");
        assert!(
            is_synced(&calls, path, last, *line),
            "{name} lists what is not durable"
        );
    }
    assert!(
        entries[".epoch"] >= 2 && entries[".part"] >= 2,
        "{entries:?}"
    );
    let given_up = calls
        .iter()
        .filter(|call| is_punch(call) && call.began > names[0].1);
    let first_part = names
        .iter()
        .find(|(name, _)| name.to_string_lossy().contains(".part-"));
    let first_part = first_part.expect("one at least").1;
    assert!(
        given_up.map(|call| call.began).min() > Some(first_part),
        "spilled data go too early"
    );
    assert!(names.last().unwrap().0 == place.path("out"));
    assert!(place.read("out") == sorted(&place.read("in"), RECORD_BYTES));
}

/// Names of passing files are drawn; the tracer picks calls by the names of their files, so all
/// runs must draw the same. This library, loaded before others, is all the chance that they have.
const CHANCE: &str = "#include <string.h>
long getrandom(void *bytes, unsigned long count, unsigned flags) {
    (void)flags;
    memset(bytes, 7, count);
    return (long)count;
}
";

/// Sorts that begin with the same files, draw the same, and whose syncs fail one after the other.
struct Failing {
    place: Place,
    /// The variable that loads the library.
    preload: String,
    sort: &'static str,
    /// The files before each sort, and their content.
    files: BTreeMap<PathBuf, Vec<u8>>,
}

impl Failing {
    /// Gives nothing where there is no compiler.
    fn new(place: Place, sort: &'static str) -> Option<Failing> {
        place.write("chance.c", CHANCE);
        let library = place.path("chance.so");
        let mut cc = Command::new("cc");
        cc.args(["-shared", "-fPIC", "-o"])
            .arg(&library)
            .arg(place.path("chance.c"));
        let Ok(true) = cc.status().map(|status| status.success()) else {
            skip("there is no C compiler for a library that fixes the names of passing files");
            return None;
        };
        // Blanks part names there, and the path of the place may have some; the sort runs in the
        // place.
        let preload = "LD_PRELOAD=./chance.so".to_owned();
        let files = contents(&directory(&place));
        Some(Failing {
            place,
            preload,
            sort,
            files,
        })
    }

    /// Sorts once more. The system fails the call of number `failing.1` to sync the file
    /// `failing.0`.
    fn run(&self, failing: Option<(&Path, usize)>) -> Traced {
        let directory = directory(&self.place);
        for path in contents(&directory)
            .keys()
            .filter(|path| !self.files.contains_key(*path))
        {
            fs::remove_file(path).unwrap();
        }
        for (path, bytes) in &self.files {
            if fs::read(path).ok().as_ref() != Some(bytes) {
                fs::write(path, bytes).unwrap();
            }
        }
        let options =
            ["--seccomp-bpf", "-E", &self.preload, "-e", "trace=fsync"].map(str::to_owned);
        let mut options = options.to_vec();
        if let Some((path, number)) = failing {
            let failing = format!("inject=fsync:error=EIO:when={number}");
            options.extend(["-P".to_owned(), path.to_str().unwrap().to_owned()]);
            options.extend(["-e".to_owned(), failing]);
        }
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        traced(&directory, &options, &self.place.command(self.sort))
    }

    /// Lets each sync of the sort fail in turn (every third in `make test`), and lets `judge` look
    /// at the files that are left. `judge` is told whether the sync is the last one of all.
    fn each(&self, judge: impl Fn(&Place, bool)) {
        let whole = self.run(None);
        assert!(whole.status.success(), "{}", whole.err);
        let synced: Vec<PathBuf> = whole
            .calls
            .iter()
            .filter(|call| call.is("fsync"))
            .map(|call| call.paths[0].clone())
            .collect();
        let mut times: BTreeMap<&PathBuf, usize> = BTreeMap::new();
        for (number, path) in synced.iter().enumerate() {
            let nth = times.entry(path).or_default();
            *nth += 1;
            let is_last = number + 1 == synced.len();
            if !is_last && !number.is_multiple_of(cases(3, 1) as usize) {
                continue;
            }
            let failed = self.run(Some((path, *nth)));
            // The tracer counts by threads. One thread syncs directories, but several threads sync
            // files. If a file is synced again and again, the tracer need not meet a later sync.
            let is_met = failed.calls.iter().any(|call| call.is_injected);
            let must_be_met = *nth == 1 || path.is_dir();
            assert!(
                is_met || !must_be_met,
                "sync {nth} of {path:?} was not met: {}",
                failed.err
            );
            if is_met {
                assert_eq!(
                    failed.status.code(),
                    Some(2),
                    "sync {nth} of {path:?}: {}",
                    failed.err
                );
                let told = failed
                    .err
                    .lines()
                    .filter(|line| line.starts_with("gristmill: cannot "));
                let told: Vec<&str> = told.collect();
                assert!(
                    told.len() == 1 && told[0].contains("Input/output error"),
                    "{}",
                    failed.err
                );
                judge(&self.place, is_last);
            } else {
                assert!(failed.status.success(), "{}", failed.err);
            }
        }
        assert!(
            times.keys().any(|path| path.is_dir()) && times.len() > 1,
            "{times:?}"
        );
    }
}

/// All files below a directory.
fn contents(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(contents(&path));
        } else {
            let bytes = fs::read(&path).unwrap();
            files.insert(path, bytes);
        }
    }
    files
}

#[test]
fn each_failed_sync_of_a_plain_sort_leaves_the_old_output() {
    if is_skipped() {
        return;
    }
    let place = Place::with_records(2000);
    place.write("out", OLD);
    let new = sorted(&place.read("in"), RECORD_BYTES);
    let Some(failing) = Failing::new(place, PLAIN) else {
        return;
    };
    failing.each(|place, is_last| {
        assert!(place.read("out") == if is_last { &new[..] } else { OLD });
        assert!(place.unfinished().is_empty(), "{:?}", place.unfinished());
    });
}

/// The records of a set, as its manifest lists them.
fn records_of_set(place: &Place) -> Vec<u8> {
    let manifest: serde_json::Value =
        serde_json::from_slice(&place.read("set/manifest.json")).unwrap();
    let files = manifest["files"].as_array().unwrap().iter();
    files
        .flat_map(|file| place.read(&format!("set/{}", file["path"].as_str().unwrap())))
        .collect()
}

#[test]
fn each_failed_sync_of_a_set_leaves_the_old_set() {
    if is_skipped() {
        return;
    }
    let place = Place::with_records(1000);
    fs::create_dir(place.path("set")).unwrap();
    place.run(SET).succeeded();
    let old = records_of_set(&place);
    place.run("gensort -b7 2000 in").succeeded();
    let new = sorted(&place.read("in"), RECORD_BYTES);
    let Some(failing) = Failing::new(place, SET) else {
        return;
    };
    failing.each(|place, is_last| {
        let there = records_of_set(place);
        assert!(there == if is_last { &new[..] } else { &old[..] });
    });
}

#[test]
fn each_failed_sync_of_a_sort_with_checkpoints_leaves_the_old_output() {
    if is_skipped() {
        return;
    }
    let place = Place::with_records(RECORDS);
    place.write("out", OLD);
    let new = sorted(&place.read("in"), RECORD_BYTES);
    let Some(failing) = Failing::new(place, RESUMED) else {
        return;
    };
    failing.each(|place, is_last| {
        assert!(place.read("out") == if is_last { &new[..] } else { OLD });
    });
    // The last run failed at some sync; the same command completes the sort from the files that are
    // left.
    failing.place.run(RESUMED).succeeded();
    assert!(failing.place.read("out") == new);
}

/// Files that cannot be kept are no reason to make more of them, or to leave them.
#[test]
fn a_directory_where_no_file_can_be_kept_is_given_up() {
    if is_skipped() {
        return;
    }
    let place = Place::with_records(1000);
    place.write("out", OLD);
    let sort = "sort --format gensort in -o out -T . -S 8M --plan two-pass";
    for sort in [PLAIN, SET, sort, "gensort 10 out"] {
        let _ = fs::create_dir(place.path("set"));
        let inject = ["-e", "inject=flock:error=EAGAIN"];
        let traced = traced(&directory(&place), &inject, &place.command(sort));
        assert_eq!(traced.status.code(), Some(2), "{sort}: {}", traced.err);
        assert!(
            traced.err.contains("name a place on another file system"),
            "{}",
            traced.err
        );
        assert_eq!(traced.err.lines().count(), 1, "{}", traced.err);
        let locks = traced.calls.iter().filter(|call| call.is("flock"));
        assert!((2..100).contains(&locks.count()));
        assert!(place.unfinished().is_empty(), "{:?}", place.unfinished());
        assert_eq!(fs::read_dir(place.path("set")).unwrap().count(), 0);
        assert_eq!(place.read("out"), OLD);
    }
}

/// Fails each call of a name in turn, until a run has fewer of them. Returns the number of those runs
/// that failed.
fn each_call(place: &Place, sort: &str, call: &str, check: impl Fn(&Traced)) -> usize {
    let mut failed = 0;
    for when in 1..400 {
        let inject = format!("inject={call}:when={when}");
        let traced = traced(&directory(place), &["-e", &inject], &place.command(sort));
        if !traced.calls.iter().any(|call| call.is_injected) {
            return failed;
        }
        check(&traced);
        failed += usize::from(!traced.status.success());
    }
    panic!("{sort} has too many calls of {call}");
}

/// Spills to one directory and writes to another, through every kind of file that a sort makes.
const SPILLS: &str = "sort --format gensort in -o out -T tmp -S 8M --plan two-pass";

#[test]
fn each_failed_look_at_a_file_leaves_nothing() {
    if is_skipped() {
        return;
    }
    let place = Place::with_records(1000);
    fs::create_dir(place.path("tmp")).unwrap();
    let new = sorted(&place.read("in"), RECORD_BYTES);
    for call in [
        "fstat:error=EIO",
        "newfstatat:error=EIO",
        "flock:error=EAGAIN",
        "flock:error=EIO",
    ] {
        place.write("out", OLD);
        let failed = each_call(&place, SPILLS, call, |traced| {
            let out = place.read("out");
            assert!(
                out == new || !traced.status.success() && out == OLD,
                "{call}"
            );
            assert!(place.unfinished().is_empty(), "{call}: {}", traced.err);
            assert_eq!(
                fs::read_dir(place.path("tmp")).unwrap().count(),
                0,
                "{call}"
            );
            let _ = fs::write(place.path("out"), OLD);
        });
        assert!(failed > 0 || call.ends_with("EAGAIN"), "{call}");
    }
}

#[test]
fn each_interrupted_call_is_made_again() {
    if is_skipped() {
        return;
    }
    let place = Place::with_records(1000);
    fs::create_dir(place.path("tmp")).unwrap();
    let new = sorted(&place.read("in"), RECORD_BYTES);
    let calls = [
        "/rename",
        "/statfs",
        "fstat",
        "flock",
        "/unlink",
        "fsync",
        "ftruncate",
        "fallocate",
    ];
    for call in calls {
        place.write("out", OLD);
        let failed = each_call(&place, SPILLS, &format!("{call}:error=EINTR"), |traced| {
            assert!(traced.status.success(), "{call}: {}", traced.err);
            assert!(place.read("out") == new && place.unfinished().is_empty());
        });
        assert_eq!(failed, 0);
    }
}
