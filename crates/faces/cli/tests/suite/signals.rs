//! Signals: a sort that SIGINT, SIGTERM, SIGHUP or SIGQUIT ends exits with 128 and the signal's
//! number, leaves no file of its own, and shows the old output or the complete new one, whenever
//! the signal comes.

use std::fs::File;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rustix::fs::{CWD, Mode, mkfifoat};
use rustix::process::{Pid, Signal, kill_process};

use crate::common::{Place, RECORD_BYTES, Ran, cases, sorted};

const SIGNALS: [Signal; 4] = [Signal::INT, Signal::TERM, Signal::HUP, Signal::QUIT];

/// The part of all signals that must meet a sort under way: others come late where the machine is
/// busy.
const INTERRUPTED_AT_LEAST: f64 = 0.25;

/// 40 MB: long enough to be met in every stage.
const RECORDS: u64 = 400_000;

/// 4 MB: more than a pipe holds, which a sort widens to 1 MiB.
const MORE_THAN_A_PIPE_HOLDS: u64 = 40_000;

const OLD: &[u8] = b"the old output";
const SORT: &str = "sort --format gensort in -o out";

fn send(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

fn ended(child: Child) -> Ran {
    Ran::from(child.wait_with_output().unwrap())
}

fn code(signal: Signal) -> i32 {
    128 + signal.as_raw()
}

/// An input, and what its sort looks like.
struct Scene {
    place: Place,
    input: Vec<u8>,
    sorted: Vec<u8>,
}

impl Scene {
    fn new() -> Scene {
        let place = Place::with_records(RECORDS);
        let input = place.read("in");
        let sorted = sorted(&input, RECORD_BYTES);
        Scene {
            place,
            input,
            sorted,
        }
    }

    /// How long a sort takes, process and all.
    fn life(&self) -> Duration {
        let begin = Instant::now();
        self.place.run(SORT).succeeded();
        begin.elapsed()
    }

    fn interrupted(&self, signal: Signal, after: Duration) -> Ran {
        self.place.write("out", OLD);
        let child = self.place.command(SORT).spawn().unwrap();
        std::thread::sleep(after);
        send(&child, signal);
        ended(child)
    }

    fn check(&self, ran: &Ran, signal: Signal) {
        assert!([0, code(signal)].contains(&ran.code), "{signal:?}: {ran:?}");
        assert!(ran.err.lines().count() <= 1, "{signal:?}: {ran:?}");
        assert_eq!(self.place.names(), ["in", "out"], "{signal:?}");
        assert!(
            self.place.read("in") == self.input,
            "{signal:?}: the input was changed"
        );
        let output = self.place.read("out");
        let complete = output == self.sorted;
        assert!(
            complete || output == OLD,
            "{signal:?}: a part of an output is shown"
        );
        assert!(
            complete || ran.code != 0,
            "{signal:?}: success without an output"
        );
    }
}

#[test]
fn at_many_instants_of_a_sort() {
    let instants = cases(5, 20);
    let scene = Scene::new();
    let life = scene.life().min(scene.life());
    for signal in SIGNALS {
        let mut interrupted = 0;
        for instant in 0..instants {
            let ran = scene.interrupted(signal, life * instant / instants);
            scene.check(&ran, signal);
            interrupted += u32::from(ran.code != 0);
        }
        assert!(
            f64::from(interrupted) >= INTERRUPTED_AT_LEAST * f64::from(instants),
            "{signal:?} met {interrupted} sorts"
        );
    }
}

/// Runs `act` once for each signal, at the same time, in places of their own.
fn for_each_signal(act: impl Fn(&Place, Signal) + Sync) {
    std::thread::scope(|scope| {
        for signal in SIGNALS {
            let act = &act;
            scope.spawn(move || act(&Place::with_records(MORE_THAN_A_PIPE_HOLDS), signal));
        }
    });
}

#[test]
fn while_a_pipe_gives_nothing() {
    for_each_signal(|place, signal| {
        place.write("out", OLD);
        let mut command = place.command("sort --format gensort -o out");
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        let pipe = child.stdin.take();
        place.wait_for_output(&mut child);
        send(&child, signal);
        let ran = ended(child);
        drop(pipe);
        assert_eq!(ran.code, code(signal), "{ran:?}");
        ran.complaint();
        assert_eq!(place.names(), ["in", "out"]);
        assert_eq!(place.read("out"), OLD);
    });
}

#[test]
fn while_a_named_pipe_has_no_other_end() {
    for_each_signal(|place, signal| {
        mkfifoat(CWD, place.path("fifo"), Mode::RUSR | Mode::WUSR).unwrap();
        for arguments in [
            "sort --format gensort fifo -o out",
            "sort --format gensort in -o fifo",
        ] {
            let child = place.command(arguments).spawn().unwrap();
            std::thread::sleep(Duration::from_millis(100));
            send(&child, signal);
            let ran = ended(child);
            assert_eq!(ran.code, code(signal), "{arguments}: {ran:?}");
            assert_eq!(place.names(), ["fifo", "in"], "{arguments}");
        }
    });
}

#[test]
fn while_the_output_has_no_reader() {
    for_each_signal(|place, signal| {
        mkfifoat(CWD, place.path("fifo"), Mode::RUSR | Mode::WUSR).unwrap();
        let child = place
            .command("sort --format gensort in -o fifo")
            .spawn()
            .unwrap();
        // Opening ends once the sort has opened the other end. The pipe is never read.
        let fifo = place.path("fifo");
        let reader = children::in_time(|| File::open(fifo).unwrap());
        send(&child, signal);
        let ran = ended(child);
        drop(reader);
        assert_eq!(ran.code, code(signal), "{ran:?}");
        assert_eq!(place.names(), ["fifo", "in"]);
    });
}

#[test]
fn while_records_are_made() {
    for_each_signal(|place, signal| {
        place.write("made", OLD);
        let mut child = place.command("gensort 3000000 made").spawn().unwrap();
        place.wait_for_output(&mut child);
        send(&child, signal);
        let ran = ended(child);
        assert_eq!(ran.code, code(signal), "{ran:?}");
        assert_eq!(place.names(), ["in", "made"]);
        assert_eq!(place.read("made"), OLD);
    });
}

/// `nohup` and background jobs of a shell rely on this.
#[test]
fn an_ignored_signal_stays_ignored() {
    for_each_signal(|place, signal| {
        let number = signal.as_raw();
        let script = format!("trap '' {number}; exec \"$GRISTMILL\" sort --format gensort -o out");
        let mut child = place.shell(&script).stdin(Stdio::piped()).spawn().unwrap();
        let pipe = child.stdin.take();
        place.wait_for_output(&mut child);
        send(&child, signal);
        drop(pipe);
        let ran = ended(child);
        assert_eq!(ran.code, 0, "{signal:?} was to be ignored: {ran:?}");
        assert!(place.read("out").is_empty());
    });
}
