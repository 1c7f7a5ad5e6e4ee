//! `sort --resume`: after any failure the same command continues the sort.

use std::fs::File;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::common::{GRISTMILL, Place, RECORD_BYTES, Ran, cases, sorted};
use crate::ranks::{inputs, launch, rank_of, run, start};

/// 60 MB; a sort holds a quarter of them, so it has four epochs.
const RECORDS: u64 = 600_000;
const SORT: &str = "sort --format gensort in -o out -S 16M --resume";

/// A step of a sort takes less.
const STEP: Duration = Duration::from_secs(60);

/// Waits until a file whose name ends so is there, or the child has ended.
fn until_there(place: &Place, end: &str, child: &mut Child) -> bool {
    let begin = Instant::now();
    loop {
        if place.unfinished().iter().any(|name| name.ends_with(end)) {
            return true;
        }
        if child.try_wait().unwrap().is_some() {
            return false;
        }
        assert!(begin.elapsed() < STEP, "no {end}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Kills a sort when such an entry is there.
fn ended_in(place: &Place, sort: &str, end: &str) -> Option<Ran> {
    ended_by(place, sort, end, Signal::KILL)
}

/// Ends the usual sort when such an entry is there.
fn ended_at(place: &Place, end: &str, signal: Signal) -> Option<Ran> {
    ended_by(place, SORT, end, signal)
}

fn ended_by(place: &Place, sort: &str, end: &str, signal: Signal) -> Option<Ran> {
    let mut child = place.command(sort).stderr(Stdio::piped()).spawn().unwrap();
    let met = until_there(place, end, &mut child);
    if met {
        let _ = kill_process(Pid::from_child(&child), signal);
    }
    let ran = Ran::from(child.wait_with_output().unwrap());
    (met && ran.code != 0).then_some(ran)
}

#[test]
fn a_killed_sort_continues() {
    let place = Place::with_records(RECORDS);
    let expected = sorted(&place.read("in"), RECORD_BYTES);
    let moments = [
        (".begun", Signal::KILL),
        (".epoch-1", Signal::KILL),
        (".epoch-2", Signal::INT),
        (".part-0", Signal::KILL),
        (".part-2", Signal::TERM),
    ];
    for (end, signal) in moments.into_iter().step_by(cases(2, 1) as usize) {
        place.write("out", "old");
        let Some(ran) = ended_at(&place, end, signal) else {
            continue;
        };
        assert_eq!(ran.code, 128 + signal.as_raw(), "{}", ran.err);
        assert_eq!(place.read("out"), b"old");
        assert!(
            place.unfinished().iter().any(|name| name.ends_with(end)),
            "{end} is kept"
        );
        let report = place
            .run(&format!("{SORT} --verify --json"))
            .succeeded()
            .json();
        assert!(place.read("out") == expected, "after {end}");
        assert!(place.unfinished().is_empty(), "after {end}");
        let read = report["stages"].as_array().unwrap();
        let read = read.iter().find(|stage| stage["name"] == "reader");
        let read = read.map_or(0, |stage| stage["bytes"].as_u64().unwrap());
        match end {
            ".begun" => {}
            ".epoch-1" | ".epoch-2" => assert!(read < RECORDS * 100, "{end}: {read}"),
            _ => assert_eq!(read, 0, "{end}"),
        }
    }
}

/// Other sorts, and the same sort without `--resume`, leave saved progress alone.
#[test]
fn saved_progress_is_not_swept() {
    let place = Place::with_records(RECORDS);
    let Some(_) = ended_at(&place, ".epoch-0", Signal::KILL) else {
        return;
    };
    let kept = |place: &Place| {
        place
            .unfinished()
            .into_iter()
            .filter(|name| !name.ends_with(".tmp"))
            .count()
    };
    let before = kept(&place);
    assert!(before > 2);
    place
        .run("sort --format gensort in -o other -S 16M")
        .succeeded();
    assert_eq!(kept(&place), before);
    place.run(SORT).succeeded();
    assert!(place.unfinished().is_empty() && place.read("out") == place.read("other"));
}

/// The input was changed, or the command says another order.
#[test]
fn progress_of_another_sort_is_refused() {
    let place = Place::with_records(RECORDS);
    let Some(_) = ended_at(&place, ".epoch-0", Signal::KILL) else {
        return;
    };
    let ran = place.run(&format!("{SORT} --key 2+8"));
    assert!(
        ran.code == 2 && ran.err.contains("belongs to another sort"),
        "{}",
        ran.err
    );
    place.run(&format!("gensort -b7 {RECORDS} in")).succeeded();
    let ran = place.run(SORT);
    assert!(ran.code == 2 && ran.err.contains("part 0"), "{}", ran.err);
}

/// The saved progress is of an order, to which the language of rows belongs.
#[test]
fn rows_continue_in_their_language() {
    let place = Place::new();
    let row = |number: u64| {
        let letter = ["o", "\u{f6}", "z"][number as usize % 3];
        format!("{letter}{},{number}\n", number * 7919 % 100_003)
    };
    let rows: String = (0..1_000_000).map(row).collect();
    place.write("in", format!("name,number\n{rows}"));
    let sort = |tag: &str| format!("sort --locale {tag} --format csv --key name in -o out -S 16M");
    let resumed = |tag: &str| format!("{} --resume", sort(tag));
    let Some(_) = ended_by(&place, &resumed("sv"), ".begun", Signal::KILL) else {
        return;
    };
    for other in ["de".to_owned(), "sv-u-kn".to_owned()] {
        let ran = place.run(&resumed(&other));
        let refused = ran.err.contains("belongs to another sort") && ran.err.contains("locale:");
        assert!(ran.code == 2 && refused, "{}", ran.err);
    }
    place.run(&resumed("sv")).succeeded();
    let continued = place.read("out");
    place.run(&sort("sv")).succeeded();
    assert!(place.read("out") == continued);
}

/// A file, what is done to it, and how it is told.
type Change<'a> = (&'a str, &'a dyn Fn(&str), &'a str);

/// An input that is not as it was is refused, with its name, whatever tells: its content with a new
/// or the old time, another file with its name, or its rights. Without the saved progress, the sort
/// begins anew.
#[test]
fn an_input_that_is_not_as_it_was_is_refused() {
    let place = Place::with_records(RECORDS / 2);
    place
        .run(&format!("gensort -b{RECORDS} {} other", RECORDS / 2))
        .succeeded();
    let sort = "sort --format gensort in other -o out -S 16M --resume";
    let modified = |name: &str| {
        std::fs::metadata(place.path(name))
            .unwrap()
            .modified()
            .unwrap()
    };
    let set_modified = |name: &str, time| {
        let file = File::options().write(true).open(place.path(name)).unwrap();
        file.set_modified(time).unwrap();
    };
    // Whole records in the middle, where no probe looks; the length stays.
    let edit = |name: &str| {
        let file = File::options().write(true).open(place.path(name)).unwrap();
        file.write_all_at(&[b'x'; 2000], RECORDS / 4 * 100 + 700)
            .unwrap();
    };
    let changes: [Change<'_>; 4] = [
        ("in", &|name| edit(name), "has other contents"),
        (
            "other",
            &|name| {
                let before = modified(name);
                edit(name);
                set_modified(name, before);
            },
            "was replaced, or",
        ),
        (
            "other",
            &|name| {
                let before = modified(name);
                std::fs::copy(place.path(name), place.path("copy")).unwrap();
                edit("copy");
                set_modified("copy", before);
                std::fs::rename(place.path("copy"), place.path(name)).unwrap();
            },
            "was replaced, or",
        ),
        (
            "in",
            &|name| {
                let mode = std::fs::Permissions::from_mode(0o600);
                std::fs::set_permissions(place.path(name), mode).unwrap();
            },
            "rights",
        ),
    ];
    for (number, (name, change, told)) in changes.into_iter().enumerate() {
        let end = [".epoch-0", ".part-0"][number % 2];
        let Some(_) = ended_in(&place, sort, end) else {
            continue;
        };
        // Times of files have steps of some milliseconds.
        std::thread::sleep(Duration::from_millis(50));
        change(name);
        let ran = place.run(sort);
        let said = ran.complaint();
        assert!(ran.code == 2, "{number}: {ran:?}");
        assert!(
            said.contains(&format!("{name} {told}")) || said.contains(told),
            "{number}: {said}"
        );
        assert!(
            said.contains(name) && said.contains("remove .gristmill-*"),
            "{number}: {said}"
        );
        for name in place.unfinished() {
            std::fs::remove_file(place.path(&name)).unwrap();
        }
        place.run(sort).succeeded();
        let all = [place.read("in"), place.read("other")].concat();
        assert!(place.read("out") == sorted(&all, RECORD_BYTES), "{number}");
    }
}

#[test]
fn sorts_that_cannot_resume_are_refused() {
    let place = Place::with_records(10);
    std::fs::create_dir(place.path("set")).unwrap();
    for (arguments, what) in [
        ("- -o out", "standard input"),
        ("in", "output"),
        ("in -o set", "set of files"),
        ("in -o out --plan merge", "two passes"),
    ] {
        let ran = place.run(&format!("sort --format gensort --resume {arguments}"));
        assert!(
            ran.code == 2 && ran.err.contains(what),
            "{arguments}: {}",
            ran.err
        );
    }
}

/// Three ranks begin, one is killed; two ranks continue, with the outputs of three.
#[test]
fn fewer_ranks_continue() {
    let place = Place::with_records(RECORDS);
    let expected = sorted(&place.read("in"), RECORD_BYTES);
    let sort = "sort --format gensort in -o out-{rank} -S 16M --resume --verify";
    for end in ["-1.epoch-0", "-2.part-0"] {
        let start = |ranks| {
            let mut command = launch::launcher(ranks, "gristmill sort --resume")?;
            command
                .arg(GRISTMILL)
                .args(sort.split_whitespace())
                .current_dir(place.path("."));
            Some(command.spawn().unwrap())
        };
        let Some(mut child) = start(3) else { return };
        if until_there(&place, end, &mut child) {
            let _ = kill_process(Pid::from_child(&child), Signal::TERM);
        }
        launch::ended(child);
        let outputs = || (0..3).filter(|rank| place.path(&format!("out-{rank}")).exists());
        if outputs().count() == 3 {
            continue; // It had ended before it was met.
        }
        Ran::from(launch::ended(start(2).unwrap())).succeeded();
        let all: Vec<u8> = outputs()
            .flat_map(|rank| place.read(&format!("out-{rank}")))
            .collect();
        assert!(all == expected, "after {end}");
        assert!(place.unfinished().is_empty(), "{:?}", place.unfinished());
        for rank in 0..3 {
            let _ = std::fs::remove_file(place.path(&format!("out-{rank}")));
        }
    }
}

/// Ranks that have more inputs than a sort was begun with are not left out in silence.
#[test]
fn more_ranks_with_inputs_of_their_own_are_refused() {
    let (place, _) = inputs(3, RECORDS);
    let sort = "sort --format gensort in-{rank} -o out-{rank} -S 16M --resume";
    let Some(mut job) = start(&place, 2, sort) else {
        return;
    };
    assert!(until_there(&place, "-1.epoch-0", &mut job));
    kill_process(rank_of(&job, 1), Signal::KILL).unwrap();
    launch::ended(job);
    let ran = run(&place, 3, sort).unwrap();
    assert!(
        ran.code == 2 && ran.err.contains("was begun by 2 ranks"),
        "{}",
        ran.err
    );
    run(&place, 2, sort).unwrap().succeeded();
    assert!(place.path("out-1").exists() && place.unfinished().is_empty());
}

/// Rows of 24 MB, some with newlines inside of quotes; and sorted by their number.
fn rows_of(place: &Place) -> (Vec<u8>, Vec<u8>) {
    let row = |number: u64| match number % 10 {
        0 => format!("{number},\"a \"\"quote\"\"\n{:050}\"\n", number * 31 % 977),
        _ => format!("{number},{:070}\n", number * 31 % 977),
    };
    let mut numbers: Vec<u64> = (0..300_000).map(|number| number * 7919 % 300_000).collect();
    let header = "number,text\n".to_owned();
    let all: String = numbers.iter().map(|&number| row(number)).collect();
    place.write("rows.csv", header.clone() + &all);
    numbers.sort_unstable();
    let sorted: String = numbers.into_iter().map(row).collect();
    ((header.clone() + &sorted).into_bytes(), header.into_bytes())
}

#[test]
fn killed_sorts_of_rows_continue() {
    let place = Place::new();
    let (expected, _) = rows_of(&place);
    let sort = "sort --format csv --key number:num rows.csv -o out -S 16M --resume";
    for end in [".epoch-0", ".part-0"] {
        let mut child = place.command(sort).stderr(Stdio::piped()).spawn().unwrap();
        if until_there(&place, end, &mut child) {
            let _ = kill_process(Pid::from_child(&child), Signal::KILL);
        }
        child.wait_with_output().unwrap();
        place.run(&format!("{sort} --verify")).succeeded();
        assert!(place.read("out") == expected, "after {end}");
        assert!(place.unfinished().is_empty(), "{:?}", place.unfinished());
    }
}

/// Ranks divide one file of rows, or have files of their own with the same header.
#[test]
fn ranks_sort_rows_with_newlines_in_quotes() {
    let place = Place::new();
    let (expected, header) = rows_of(&place);
    let sort = "sort --format csv --key number:num -S 64M --verify";
    let Some(ran) = run(&place, 3, &format!("{sort} rows.csv -o one.csv")) else {
        return;
    };
    ran.succeeded();
    assert!(place.read("one.csv") == expected, "one file for all");
    let rows = &place.read("rows.csv")[header.len()..];
    // A newline inside of quotes is followed by zeros.
    let ends = |two: &[u8]| two[0] == b'\n' && (b'1'..=b'9').contains(&two[1]);
    let third = rows.len() / 3;
    let cut = third + rows[third..].windows(2).position(ends).unwrap();
    place.write("in-0", [&header, &rows[..=cut]].concat());
    place.write("in-1", [&header, &rows[cut + 1..]].concat());
    place.write("in-2", b"");
    let own = format!("{sort} in-{{rank}} -o out-{{rank}}");
    run(&place, 3, &own).unwrap().succeeded();
    let outputs = (0..3).map(|rank| place.read(&format!("out-{rank}")));
    let all: Vec<u8> = outputs
        .flat_map(|out| out[header.len()..].to_vec())
        .collect();
    assert!(all == expected[header.len()..], "files of their own");
    place.run("valsort out-0.manifest.json").succeeded();
    place.write("in-2", b"other,text\n1,2\n");
    let ran = run(&place, 3, &own).unwrap();
    let said = "in-2: its header differs from that of rank 0";
    assert!(ran.code == 2 && ran.err.contains(said), "{}", ran.err);
}
