//! Texts that people name: machines, experiments, summaries. A name may lead to a pipe, a device,
//! or far too much.

use std::time::Duration;

use crate::common::{Place, Ran};
use rustix::fs::{CWD, Mode, mkfifoat};

/// A command that takes longer than this is taken to read without end.
const PATIENCE: Duration = Duration::from_secs(60);

/// Commands that read a text, whose name follows as the last argument.
const READERS: [&str; 2] = ["sim merge-min --cores 4 --machine", "lab run"];

/// Runs a command that might read without end: it ends by itself, within some memory.
#[track_caller]
fn run(place: &Place, arguments: &str) -> Ran {
    // In KiB. Far more than these commands need, far less than a machine has.
    let script = format!("ulimit -v 4194304; exec \"$GRISTMILL\" {arguments}");
    Ran::from(place.shell(&script).within(PATIENCE).output().unwrap())
}

fn pipe(place: &Place, name: &str) {
    mkfifoat(CWD, place.path(name), Mode::from_raw_mode(0o600)).unwrap();
}

#[test]
fn a_machine_or_an_experiment_is_a_regular_file_of_some_length() {
    let place = Place::new();
    pipe(&place, "pipe.toml");
    std::fs::create_dir(place.path("directory.toml")).unwrap();
    place.write("long.toml", vec![b'#'; 2 << 20]);
    place.write("odd.toml", [0xff]);
    for reader in READERS {
        for (name, why) in [
            ("pipe.toml", "it is a pipe; name a regular file"),
            ("/dev/zero", "it is a device; name a regular file"),
            ("directory.toml", "it is a directory; name a regular file"),
            ("long.toml", "it is longer than 1 MiB; name another file"),
            ("odd.toml", "it is not UTF-8 text"),
        ] {
            let ran = run(&place, &format!("{reader} {name}"));
            assert_eq!(ran.code, 2, "{reader} {name}: {ran:?}");
            let told = format!("{name}: cannot be read: {why}");
            assert!(ran.complaint().ends_with(&told), "{reader} {name}: {ran:?}");
        }
    }
}

/// Summaries may come through a pipe, so their length alone is bounded.
#[test]
fn summaries_come_through_a_pipe_and_end_somewhere() {
    let place = Place::with_records(100);
    place.run("sort --format gensort in -o out").succeeded();
    place.run("valsort -o sum out").succeeded();
    let whole = place.run("valsort -s sum").succeeded();
    pipe(&place, "pipe");
    let piped = run(&place, "valsort -s pipe & cat sum > pipe; wait $!");
    assert_eq!((piped.code, piped.err), (0, whole.err));
    let endless = run(&place, "valsort -s /dev/zero");
    assert_eq!(endless.code, 2, "{endless:?}");
    let told = "cannot read /dev/zero: it is longer than 64 MiB; check the name";
    assert!(endless.complaint().ends_with(told), "{endless:?}");
}
