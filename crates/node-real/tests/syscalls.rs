//! The system calls of a real node: their order, their repetition after a signal, their errors, and
//! the calls that follow when the system does less than it was asked for.
//!
//! A tracer runs this program again with one test alone, the scene, and lets some of its calls
//! fail.

#[path = "common/strace.rs"]
mod strace;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use node::{Access, Buffer, DiskError, Node, Open};
use node_real::Cluster;
use strace::{Call, Traced, missing, skip, traced};
use tempfile::TempDir;

/// Names the directory that the scene plays in.
const PLACE: &str = "GRISTMILL_SCENE";

/// Where the scene writes, and how much.
const OFFSET: u64 = 4096;
const BYTES: usize = 8192;

/// The scene's steps. Each step succeeds if nothing is injected.
const STEPS: [&str; 11] = [
    "create", "lock", "reserve", "write", "read", "truncate", "mode", "release", "sync", "again",
    "rename",
];

/// Makes a file, and gives it its name; writes down how each step went.
#[test]
#[ignore = "the scene that the other tests trace"]
fn scene() {
    let Some(place) = std::env::var_os(PLACE).map(PathBuf::from) else {
        return;
    };
    let said = Cluster::new(1, 1).run({
        let place = place.clone();
        move |node| {
            let place = place.clone();
            async move { play(&node, &place).await }
        }
    });
    fs::write(place.join("said"), said.concat()).unwrap();
}

async fn play(node: &Node, place: &Path) -> String {
    let (draft, named) = (place.join("draft"), place.join("named"));
    let mut said = String::new();
    let mut say = |step: &str, result: Result<(), DiskError>| {
        let how = result.map_or_else(|error| error.to_string(), |()| "ok".to_owned());
        said.push_str(&format!("{step}: {how}\n"));
    };
    let file = match node
        .open(
            &draft,
            Open::Create {
                direct: false,
                mode: 0o600,
            },
        )
        .await
    {
        Ok(file) => file,
        Err(error) => return format!("create: {error}\n"),
    };
    say("create", Ok(()));
    say("lock", file.lock(node).await.map(|locked| assert!(locked)));
    say(
        "reserve",
        file.preallocate(node, 0..OFFSET + BYTES as u64).await,
    );
    let mut buffer = Buffer::heap(BYTES);
    buffer.bytes_mut().copy_from_slice(&content());
    let (buffer, written) = file.write(node, OFFSET, buffer, 0..BYTES).wait(node).await;
    say("write", written);
    let (_, read) = file.read(node, OFFSET, BYTES, buffer).wait(node).await;
    say("read", read);
    say("truncate", file.truncate(node, OFFSET + BYTES as u64).await);
    let access = node.access(file.path()).await.unwrap();
    say(
        "mode",
        file.set_access(
            node,
            Access {
                mode: 0o640,
                ..access
            },
        )
        .await,
    );
    say("release", file.release(node, 0..OFFSET).await);
    say("sync", file.sync(node).await);
    let again = node.open(&draft, Open::Again { direct: false }).await;
    say("again", again.map(drop));
    say("rename", node.rename(&draft, &named).await);
    said
}

fn content() -> Vec<u8> {
    (0..BYTES).map(|at| (at / 7) as u8 | 1).collect()
}

/// A scene that was played.
struct Played {
    place: TempDir,
    traced: Traced,
    said: String,
}

impl Played {
    /// Plays it with these injections, each on one file of the scene alone.
    fn with(injected: Option<(&str, &str)>) -> Played {
        let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "scene", "--ignored", "--test-threads=1"]);
        command.env(PLACE, place.path());
        let options = injected.map(|(file, call)| {
            let path = place
                .path()
                .join(file)
                .to_str()
                .unwrap()
                .trim_end_matches('/')
                .to_owned();
            (path, format!("inject={call}"))
        });
        let options: Vec<&str> = match &options {
            Some((path, call)) => vec!["-P", path, "-e", call],
            None => Vec::new(),
        };
        let traced = traced(place.path(), &options, &command);
        assert!(traced.status.success(), "{}", traced.err);
        let said = fs::read_to_string(place.path().join("said")).unwrap();
        if let Some(injected) = injected {
            assert!(
                traced.calls.iter().any(|call| call.is_injected),
                "{injected:?} was not met"
            );
        }
        Played {
            place,
            traced,
            said,
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    /// Calls on a file by the path that it has then.
    fn on(&self, name: &str) -> impl Iterator<Item = &Call> {
        let path = self.path(name);
        self.traced
            .calls
            .iter()
            .filter(move |call| call.is_on(&path))
    }

    /// How a step went.
    #[track_caller]
    fn step(&self, name: &str) -> &str {
        let line = self
            .said
            .lines()
            .find_map(|line| line.strip_prefix(&format!("{name}: ")));
        line.unwrap_or_else(|| panic!("no step {name}: {}", self.said))
    }

    /// The steps that failed.
    fn failed(&self) -> Vec<&str> {
        STEPS
            .into_iter()
            .filter(|step| self.step(step) != "ok")
            .collect()
    }
}

/// Whether the tests are to be skipped; says so.
fn is_skipped() -> bool {
    missing().inspect(|why| skip(why)).is_some()
}

/// A rename that is not followed by the sync of its directory, whose directory is opened only then,
/// or that comes before the file's own sync.
#[test]
fn a_name_is_given_between_the_sync_of_the_file_and_that_of_its_directory() {
    if is_skipped() {
        return;
    }
    let played = Played::with(None);
    assert_eq!(played.failed(), [""; 0], "{}", played.said);
    let directory = played.path("").components().collect::<PathBuf>();
    let (draft, calls) = (played.path("draft"), &played.traced.calls);
    let rename = calls
        .iter()
        .position(|call| call.is_rename() && call.is_on(&draft))
        .unwrap();
    assert_eq!(calls[rename].paths[1], played.path("named"));
    let written = calls
        .iter()
        .rposition(|call| call.is_change() && call.is_on(&draft))
        .unwrap();
    let synced = calls.iter().position(|call| call.syncs(&draft)).unwrap();
    assert!(
        calls[written].ended < calls[synced].began,
        "all is written before the sync"
    );
    assert!(
        calls[synced].ended < calls[rename].began,
        "the sync has ended before the rename"
    );
    let opened = calls
        .iter()
        .find(|call| call.is_open() && call.is_on(&directory))
        .unwrap();
    assert!(
        opened.ended < calls[rename].began,
        "the directory is opened before the rename"
    );
    let flags = ["O_DIRECTORY", "O_CLOEXEC"];
    assert!(flags.iter().all(|flag| opened.text.contains(flag)));
    let durable = calls
        .iter()
        .find(|call| call.syncs(&directory))
        .expect("the directory is synced");
    assert!(durable.began > calls[rename].ended, "after the rename");
}

/// An error of a sync that is swallowed.
#[test]
fn a_failed_sync_of_a_file_is_told() {
    if is_skipped() {
        return;
    }
    let played = Played::with(Some(("draft", "fsync:error=EIO")));
    assert_eq!(played.failed(), ["sync"], "{}", played.said);
    let told = played.step("sync");
    assert!(
        told.contains("cannot sync ") && told.contains("draft: Input/output error"),
        "{told}"
    );
}

/// An error of a directory's sync that is swallowed, or that says that the name is not there.
#[test]
fn a_failed_sync_of_a_directory_says_that_the_name_is_there() {
    if is_skipped() {
        return;
    }
    let played = Played::with(Some(("", "fsync:error=EIO")));
    assert_eq!(played.failed(), ["rename"], "{}", played.said);
    let told = played.step("rename");
    assert!(
        told.starts_with("cannot make durable the name of ") && !told.contains("rename"),
        "{told}"
    );
    assert!(
        told.contains("named: Input/output error") && told.contains("power failure"),
        "{told}"
    );
    assert!(played.path("named").exists() && !played.path("draft").exists());
}

/// A directory that cannot be opened: without the right to read it the name is given all the same,
/// and after any other error it is not given at all.
#[test]
fn a_directory_is_opened_before_the_rename_or_not_needed() {
    if is_skipped() {
        return;
    }
    let refused = Played::with(Some(("", "?open,openat:error=EACCES")));
    assert_eq!(refused.failed(), [""; 0], "{}", refused.said);
    assert!(refused.path("named").exists());
    for unsupported in ["EINVAL", "EOPNOTSUPP", "EACCES"] {
        let played = Played::with(Some(("", &format!("fsync:error={unsupported}"))));
        assert_eq!(played.failed(), [""; 0], "{unsupported}: {}", played.said);
    }
    let exhausted = Played::with(Some(("", "?open,openat:error=EMFILE")));
    assert_eq!(exhausted.failed(), ["rename"], "{}", exhausted.said);
    assert!(
        exhausted.step("rename").starts_with("cannot rename to "),
        "{}",
        exhausted.said
    );
    assert!(exhausted.path("draft").exists() && !exhausted.path("named").exists());
}

/// A signal that is taken for an error.
#[test]
fn what_a_signal_interrupts_is_tried_again() {
    if is_skipped() {
        return;
    }
    let calls = [
        "?open,openat",
        "flock",
        "pwritev",
        "preadv",
        "ftruncate",
        "fchmod",
        "fsync",
    ];
    let calls = calls.map(|call| format!("{call}:error=EINTR:when=1"));
    // Space is reserved, and then released by the same call.
    let more = [
        "fallocate:error=EINTR:when=1",
        "fallocate:error=EINTR:when=2",
    ]
    .map(str::to_owned);
    for interrupted in calls.iter().chain(&more) {
        let played = Played::with(Some(("draft", interrupted)));
        assert_eq!(played.failed(), [""; 0], "{interrupted}: {}", played.said);
        let written = fs::read(played.path("named")).unwrap();
        assert!(written[OFFSET as usize..] == content(), "{interrupted}");
    }
    let directory = Played::with(Some(("", "fsync:error=EINTR:when=1")));
    assert_eq!(directory.failed(), [""; 0], "{}", directory.said);
    let directory = Played::with(Some(("", "?open,openat:error=EINTR:when=1")));
    assert_eq!(directory.failed(), [""; 0], "{}", directory.said);
}

/// A short write that is taken for a whole one, or that begins anew.
#[test]
fn a_short_write_continues_where_it_ended() {
    if is_skipped() {
        return;
    }
    // The tracer reports that 100 bytes were written, and writes none.
    let played = Played::with(Some(("draft", "pwritev:retval=100:when=1")));
    assert_eq!(played.failed(), [""; 0], "{}", played.said);
    let offsets: Vec<&str> = played
        .on("draft")
        .filter(|call| call.is("pwritev"))
        .map(Call::last_argument)
        .collect();
    assert_eq!(offsets, [OFFSET.to_string(), (OFFSET + 100).to_string()]);
    let written = fs::read(played.path("named")).unwrap();
    let from = OFFSET as usize;
    assert!(written[..from + 100].iter().all(|&byte| byte == 0));
    assert!(written[from + 100..] == content()[100..]);
    // A read that gives nothing is the end of the file; one that gives a part is not.
    let played = Played::with(Some(("draft", "preadv:retval=100:when=1")));
    let offsets: Vec<&str> = played
        .on("draft")
        .filter(|call| call.is("preadv"))
        .map(Call::last_argument)
        .collect();
    assert_eq!(offsets, [OFFSET.to_string(), (OFFSET + 100).to_string()]);
}

/// An error of a transfer that is swallowed, tried for ever, or told without its place.
#[test]
fn a_failed_transfer_is_told_with_its_offset() {
    if is_skipped() {
        return;
    }
    for (call, step, cause) in [
        (
            "pwritev:error=ENOSPC",
            "write",
            "cannot write FILE at byte 4096: No space left on device",
        ),
        (
            "pwritev:error=EIO",
            "write",
            "cannot write FILE at byte 4096: Input/output error",
        ),
        (
            "pwritev:retval=0",
            "write",
            "cannot write FILE at byte 4096: ",
        ),
        (
            "preadv:error=EIO",
            "read",
            "cannot read FILE at byte 4096: Input/output error",
        ),
        (
            "fallocate:error=ENOSPC:when=1",
            "reserve",
            "cannot reserve space for FILE: No space left",
        ),
        (
            "ftruncate:error=EIO",
            "truncate",
            "cannot set the length of FILE: Input/output error",
        ),
        (
            "flock:error=EIO",
            "lock",
            "cannot lock FILE: Input/output error",
        ),
    ] {
        let played = Played::with(Some(("draft", call)));
        assert_eq!(played.failed(), [step], "{call}: {}", played.said);
        let expected = cause.replace("FILE", played.path("draft").to_str().unwrap());
        let told = played.step(step);
        assert!(told.starts_with(&expected), "{call}: {told}");
    }
}

/// Only a file without the right to write is given that right.
#[test]
fn a_file_that_is_not_opened_again_keeps_its_rights() {
    if is_skipped() {
        return;
    }
    let played = Played::with(Some(("draft", "?open,openat:error=EIO:when=2")));
    assert_eq!(played.failed(), ["again"], "{}", played.said);
    let changes = played.on("draft").filter(|call| call.is("fchmod"));
    assert_eq!(changes.count(), 1, "by another step");
}

/// A file system that reserves no space sets the length alone, whatever signal comes meanwhile.
#[test]
fn a_length_is_set_where_no_space_is_reserved() {
    if is_skipped() {
        return;
    }
    let played = Played::with(Some(("draft", "fallocate:error=EOPNOTSUPP:when=1")));
    assert_eq!(played.failed(), [""; 0], "{}", played.said);
    let lengths: Vec<&str> = played
        .on("draft")
        .filter(|call| call.is("ftruncate"))
        .map(Call::last_argument)
        .collect();
    assert_eq!(
        lengths,
        ["12288", "12288"],
        "once for the space, once as the scene does"
    );
}
