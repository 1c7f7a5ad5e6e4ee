//! Foreign files in the sort's directories: forged, copied, altered. A sort trusts none of them,
//! touches no file that they name, and resumes from its own files or refuses in one line.

use std::path::{Path, PathBuf};

use crate::common::resumable::{Case, check, output, run};
use crate::common::set::{driver as with_directories, into_set, manifest};
use crate::common::{get, job, put, run as run_alone};
use kernel::patterns::{Pattern, draw};
use node::{Node, Open, Random};
use record::{Order, Ties};
use rehearsal::Driver;

const RECORDS: usize = 300;

/// A user who is not the caller.
const STRANGER: u32 = 1001;

/// A file that no sort of these tests has made, with a name that one could have.
const VICTIM: &str = "/b/part-00000-deadbeef";

fn seal(name: &str, text: &str) -> Vec<u8> {
    let crc = kernel::block_crc(&[name.as_bytes(), &[0], text.as_bytes()].concat());
    format!("{text}\ngristmill-seal {crc:08x}\n").into_bytes()
}

fn records() -> Vec<u8> {
    draw(Pattern::Uniform, 8, RECORDS, 100)
}

/// Sorts into a set in `/set`, where something was planted, and checks that the victim is there.
fn sorts_and_spares(driver: &Driver, what: &str) {
    let order = Order::gensort(Ties::Record);
    put(driver, "/in", &records());
    put(driver, VICTIM, b"precious");
    let done = run_alone(driver, &into_set(&["/in"], &["/set"], &order));
    assert!(done.is_ok(), "{what}: {done:?}");
    assert_eq!(
        get(driver, VICTIM).as_deref(),
        Some(&b"precious"[..]),
        "{what}"
    );
}

#[test]
fn a_forged_journal_removes_nothing() {
    const NAME: &str = ".gristmill-0123456789abcdef.journal";
    let path = format!("/set/{NAME}");
    // One of a version that trusted paths, and one of this version.
    let old = format!(r#"{{"directory":"/set","files":["{VICTIM}","../b/part-00000-deadbeef"]}}"#);
    let new = r#"{"directories":["/set","/b"],"files":[[1,"part-00000-deadbeef"]]}"#;
    let dots = r#"{"directories":["/set"],"files":[[0,"../b/part-00000-deadbeef"]]}"#;
    let whole = r#"{"directories":["/set"],"files":[[0,"/b/part-00000-deadbeef"]]}"#;
    let number = r#"{"directories":["/set"],"files":[[7,"part-00000-deadbeef"]]}"#;
    let own = [old.as_str(), new, dots, whole, number].map(|text| (text, 0));
    for (text, owner) in own.into_iter().chain([(new, STRANGER)]) {
        for text in [text.as_bytes().to_vec(), seal(NAME, text)] {
            let driver = with_directories(1);
            put(&driver, &path, &text);
            driver.disks(0).give(Path::new(&path), owner);
            sorts_and_spares(&driver, &String::from_utf8_lossy(&text));
        }
    }
}

/// A dead run's files in a second directory are removed when a command names that directory, not
/// before.
#[test]
fn a_journal_is_settled_where_the_command_line_says() {
    const NAME: &str = ".gristmill-0123456789abcdef.journal";
    let text = r#"{"directories":["/set","/b"],"files":[[0,"part-00003-deadbeef"],[1,"part-00000-deadbeef"]]}"#;
    let driver = with_directories(1);
    let journal = format!("/set/{NAME}");
    put(&driver, &journal, &seal(NAME, text));
    put(&driver, "/set/part-00003-deadbeef", b"of a dead run");
    sorts_and_spares(&driver, "one directory");
    assert!(
        get(&driver, "/set/part-00003-deadbeef").is_none(),
        "what lies beside the journal goes"
    );
    assert!(
        get(&driver, &journal).is_some(),
        "the journal waits for the other directory"
    );
    // The process that locked it has ended.
    driver.disks(0).mend();
    run_alone(
        &driver,
        &into_set(&["/in"], &["/set", "/b"], &Order::gensort(Ties::Record)),
    )
    .unwrap();
    assert!(get(&driver, VICTIM).is_none() && get(&driver, &journal).is_none());
}

/// Files of an old set are removed in directories that the command line names. Others stay, with a
/// warning.
#[test]
fn a_forged_manifest_removes_nothing() {
    let order = Order::gensort(Ties::Record);
    for (listed, owner) in [
        (VICTIM, 0),
        ("../b/part-00000-deadbeef", 0),
        ("/set/../b/part-00000-deadbeef", 0),
        ("part-00000-deadbeef", STRANGER),
    ] {
        let driver = with_directories(1);
        put(&driver, "/few", &records()[..500]);
        run_alone(&driver, &into_set(&["/few"], &["/set"], &order)).unwrap();
        let mut forged = manifest(&driver, "/set");
        forged.files[0].path = listed.to_owned();
        put(&driver, "/set/part-00000-deadbeef", b"not of the set");
        put(
            &driver,
            "/set/manifest.json",
            &serde_json::to_vec(&forged).unwrap(),
        );
        driver.disks(0).give(Path::new("/set/manifest.json"), owner);
        sorts_and_spares(&driver, listed);
        assert!(
            get(&driver, "/set/part-00000-deadbeef").is_some(),
            "{listed}"
        );
    }
}

/// A resumable sort of three ranks, ended by a death, with entries of this kind on its disks.
fn ended(seed: u64, kind: &str) -> (Case, Driver) {
    for nth in 0.. {
        let case = Case::new(seed, 3, 500);
        let driver = case.begin(seed);
        driver.kill(1, 600 + 150 * nth);
        let _ = run(&driver, &case.job);
        assert!(
            driver.deaths() > 0,
            "no death left entries of the kind {kind}"
        );
        if entries(&driver)
            .iter()
            .any(|(_, path)| path.to_string_lossy().contains(kind))
        {
            driver.disks(1).crash(seed);
            return (case, driver);
        }
    }
    unreachable!()
}

/// The entries of checkpoints, by rank.
fn entries(driver: &Driver) -> Vec<(u32, PathBuf)> {
    let kinds = [".begun", ".epoch-", ".part-"];
    let is_entry = |path: &PathBuf| {
        kinds
            .iter()
            .any(|kind| path.to_string_lossy().contains(kind))
    };
    let of = |rank| {
        driver
            .disks(rank)
            .paths()
            .into_iter()
            .map(move |path| (rank, path))
    };
    (0..3)
        .flat_map(of)
        .filter(|(_, path)| is_entry(path))
        .collect()
}

/// A copy of the disks.
fn copy(driver: &Driver, seed: u64) -> Driver {
    let next = Driver::new(seed, 3);
    for rank in 0..3 {
        for path in driver.disks(rank).paths() {
            next.disks(rank).move_here(driver.disks(rank), &path);
        }
    }
    next
}

/// Runs again with an altered entry: all ranks refuse, or the outputs are right. True if they
/// refused.
fn is_refused(case: &Case, driver: &Driver, what: &str) -> bool {
    let ends = run(driver, &case.job);
    if ends.iter().any(Result::is_err) {
        assert!(ends.iter().all(Result::is_err), "{what}: some ranks refuse");
        return true;
    }
    assert!(case.outputs(driver, 3) == Some(case.expected()), "{what}");
    false
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

/// The JSON text of an entry.
fn text_of(driver: &Driver, rank: u32, path: &Path) -> String {
    let bytes = driver.disks(rank).get(path).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    text.split_once("\ngristmill-seal ")
        .expect("a seal")
        .0
        .to_owned()
}

#[test]
fn an_entry_with_a_flipped_byte_is_refused() {
    let mut random = Random::new(5);
    for kind in [".begun", ".epoch-", ".part-"] {
        let (case, driver) = ended(11, kind);
        for (rank, path) in entries(&driver) {
            let bytes = driver.disks(rank).get(&path).unwrap();
            for _ in 0..3 {
                let driver = copy(&driver, 1);
                let (at, bit) = (random.below(bytes.len()), random.below(8));
                let mut altered = bytes.clone();
                altered[at] ^= 1 << bit;
                driver.disks(rank).put(&path, altered);
                let what = format!("{} byte {at} bit {bit}", path.display());
                assert!(is_refused(&case, &driver, &what), "{what}");
            }
        }
    }
}

/// Numbers that are replaced under a valid seal: refused, or without harm.
#[test]
fn numbers_of_an_entry_are_checked_before_they_are_used() {
    let mut random = Random::new(6);
    let (mut refused, mut tried) = (0, 0);
    for (seed, kind) in [
        (11, ".begun"),
        (12, ".epoch-"),
        (13, ".part-"),
        (14, ".part-"),
    ] {
        let (case, driver) = ended(seed, kind);
        for (rank, path) in entries(&driver) {
            let text = text_of(&driver, rank, &path);
            let digits = |at: usize| text.as_bytes()[at].is_ascii_digit();
            // A part of the output, which its owner may alter like the output itself.
            let records = text
                .find("\"bytes\":[")
                .map(|begin| begin..begin + text[begin..].find(']').expect("the end of the list"));
            let is_record = |at: &usize| records.as_ref().is_some_and(|all| all.contains(at));
            let begins = |at: &usize| digits(*at) && !digits(at - 1) && !is_record(at);
            let starts: Vec<usize> = (1..text.len()).filter(begins).collect();
            for _ in 0..8 {
                let start = starts[random.below(starts.len())];
                let end = (start..text.len())
                    .find(|&at| !digits(at))
                    .unwrap_or(text.len());
                let was: u128 = text[start..end].parse().unwrap();
                let values = [
                    0,
                    1,
                    was + 1,
                    was * 2 + 1,
                    1 << 32,
                    u128::from(u64::MAX),
                    u128::MAX,
                ];
                let now = values[random.below(values.len())];
                let altered = format!("{}{now}{}", &text[..start], &text[end..]);
                let driver = copy(&driver, 1);
                driver.disks(rank).put(&path, seal(&name(&path), &altered));
                let what = format!("{} at {start}: {was} is {now}", path.display());
                refused += usize::from(is_refused(&case, &driver, &what));
                tried += 1;
            }
        }
    }
    assert!(
        tried > 100 && refused > tried / 2,
        "{refused} of {tried} refused"
    );
}

/// Entries of another user, under another name, or written for another place.
#[test]
fn entries_of_others_are_refused() {
    let (case, driver) = ended(11, ".begun");
    let (rank, path) = entries(&driver)
        .into_iter()
        .find(|(_, path)| path.to_string_lossy().ends_with(".begun"))
        .expect("one was asked for");
    let said = |driver: &Driver| {
        let ends = run(driver, &case.job);
        ends.into_iter()
            .next()
            .unwrap()
            .expect_err("refused")
            .to_string()
    };
    let given = copy(&driver, 1);
    given.disks(rank).give(&path, STRANGER);
    assert!(
        said(&given).contains("belongs to user 1001, not to user 0"),
        "{}",
        said(&given)
    );
    let unsealed = copy(&driver, 1);
    unsealed
        .disks(rank)
        .put(&path, text_of(&driver, rank, &path).into_bytes());
    assert!(
        said(&unsealed).contains("seal is missing or broken"),
        "{}",
        said(&unsealed)
    );
    let target = output(rank).display().to_string();
    let text = text_of(&driver, rank, &path);
    let moved = text.replace(&format!("\"{target}\""), "\"/victim\"");
    assert_ne!(moved, text);
    let elsewhere = copy(&driver, 1);
    elsewhere.disks(rank).put(&path, seal(&name(&path), &moved));
    elsewhere
        .disks(rank)
        .put(Path::new("/victim"), b"precious".to_vec());
    let told = said(&elsewhere);
    assert!(
        told.contains("for the output /victim") && told.contains(&target),
        "{told}"
    );
    assert_eq!(
        elsewhere.disks(rank).get(Path::new("/victim")).as_deref(),
        Some(&b"precious"[..])
    );
}

/// A draft that was cut, or restored from a copy, lacks written records: its range is sorted again.
#[test]
fn only_the_written_draft_is_continued() {
    for seed in 13..17 {
        let (case, driver) = ended(seed, ".part-");
        let is_draft = |path: &PathBuf| path.to_string_lossy().ends_with("-output");
        for rank in 0..3 {
            let Some(draft) = driver.disks(rank).paths().into_iter().find(is_draft) else {
                continue;
            };
            let length = driver.disks(rank).length(&draft).unwrap();
            let cut = copy(&driver, seed);
            let path = draft.clone();
            let ends = cut.run(move |node: Node| {
                let path = path.clone();
                async move {
                    if node.rank().0 == rank {
                        let file = node
                            .open(&path, Open::Again { direct: false })
                            .await
                            .unwrap();
                        file.truncate(&node, 0).await.unwrap();
                    }
                }
            });
            ends.unwrap_or_else(|stuck| panic!("{stuck}"));
            let restored = copy(&driver, seed);
            restored.disks(rank).put(&draft, vec![0; length as usize]);
            for (driver, how) in [(cut, "cut"), (restored, "restored")] {
                let what = format!("seed {seed}, rank {rank}, {how}");
                check(run(&driver, &case.job), &what);
                assert!(case.outputs(&driver, 3) == Some(case.expected()), "{what}");
            }
        }
    }
}

/// A sort that starts from the beginning removes its own earlier files, and leaves those of others
/// with such names.
#[test]
fn files_of_others_are_not_cleared() {
    let case = Case::new(23, 1, 200);
    let driver = case.begin(23);
    let stem = format!("/.gristmill-{:08x}-0.", kernel::block_crc(b"/out-{rank}"));
    let path = |end: &str| PathBuf::from(format!("{stem}{end}"));
    let foreign = ["epoch-3", "part-7", "deadbeef-output", "deadbeef-spill-0"].map(path);
    for path in &foreign {
        driver.disks(0).put(path, b"theirs".to_vec());
        driver.disks(0).give(path, STRANGER);
    }
    driver.disks(0).put(&path("notes"), b"of no sort".to_vec());
    driver
        .disks(0)
        .put(&path("deadbee0-output"), b"of an earlier run".to_vec());
    check(run(&driver, &case.job), "anew");
    assert!(case.outputs(&driver, 1) == Some(case.expected()));
    assert!(
        foreign
            .iter()
            .all(|path| driver.disks(0).get(path).as_deref() == Some(b"theirs"))
    );
    assert!(driver.disks(0).get(&path("notes")).is_some());
    assert!(driver.disks(0).get(&path("deadbee0-output")).is_none());
}

/// A sort that dies between setting its output's final rights and renaming it, with the output of
/// another user, is resumed.
#[test]
fn a_death_before_the_rename_is_resumed() {
    let mut resumed = 0;
    for nth in (1..6000).step_by(3) {
        let case = Case::new(22, 1, 200);
        let driver = case.begin(22);
        driver.disks(0).put(&output(0), b"old".to_vec());
        driver.disks(0).give(&output(0), STRANGER);
        driver.kill(0, nth);
        let _ = run(&driver, &case.job);
        if driver.deaths() == 0 {
            break;
        }
        driver.disks(0).mend();
        check(run(&driver, &case.job), &format!("dead after {nth}"));
        assert!(
            case.outputs(&driver, 1) == Some(case.expected()),
            "dead after {nth}"
        );
        assert_eq!(
            driver.disks(0).owner(&output(0)),
            STRANGER,
            "dead after {nth}"
        );
        resumed += 1;
    }
    assert!(resumed > 100, "{resumed} deaths");
}

/// A file with the output's name counts as the output only if it is the one that was written,
/// complete.
#[test]
fn only_the_written_output_counts_as_done() {
    let find = |change: fn(&Driver, u32)| {
        let mut found = 0;
        for nth in (1..6000).step_by(13) {
            let case = Case::new(21, 2, 300);
            let driver = case.begin(21);
            driver.kill(0, nth);
            let _ = run(&driver, &case.job);
            let is_named = driver.disks(0).get(&output(0)).is_some();
            if driver.deaths() == 0 || !is_named || entries_of_one(&driver) == 0 {
                continue;
            }
            found += 1;
            (0..2).for_each(|rank| driver.disks(rank).mend());
            change(&driver, 0);
            check(run(&driver, &case.job), &format!("dead after {nth}"));
            assert!(
                case.outputs(&driver, 2) == Some(case.expected()),
                "dead after {nth}"
            );
        }
        assert!(
            found > 0,
            "no death came between the name and the end of the entries"
        );
    };
    // One that was cut in place, and one replaced by another file of its length.
    find(|driver, rank| {
        let ends = driver.run(move |node: Node| async move {
            let how = Open::Keep {
                direct: false,
                mode: 0o600,
            };
            let file = node.open(&output(rank), how).await.unwrap();
            file.truncate(&node, 1).await.unwrap();
        });
        ends.unwrap_or_else(|stuck| panic!("{stuck}"));
    });
    find(|driver, rank| {
        let length = driver.disks(rank).length(&output(rank)).unwrap();
        driver
            .disks(rank)
            .put(&output(rank), vec![7; length as usize]);
    });
}

fn entries_of_one(driver: &Driver) -> usize {
    let paths = driver.disks(0).paths();
    paths
        .iter()
        .filter(|path| path.to_string_lossy().ends_with(".begun"))
        .count()
}

/// A pipe with a temporary file's name is no file of a dead run: a sweep does not wait for it.
#[test]
fn pipes_are_not_swept() {
    let driver = Driver::new(1, 1);
    put(&driver, "/in", &records());
    let pipes = [
        "/.gristmill-0123456789abcdef.tmp",
        "/.gristmill-0123456789abcdef.journal",
    ];
    for path in pipes {
        driver
            .disks(0)
            .put_pipe(Path::new(path), b"endless".to_vec());
    }
    run_alone(
        &driver,
        &job(&["/in"], "/out", &Order::gensort(Ties::Record)),
    )
    .unwrap();
    assert!(
        pipes
            .iter()
            .all(|path| driver.disks(0).paths().contains(&PathBuf::from(path)))
    );
}
