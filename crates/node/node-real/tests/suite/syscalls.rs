//! The system calls of a real node: their order, their repetition after a signal or a partial
//! transfer, and their errors.
//!
//! A tracer runs this program again with one test alone, the scene, and makes some of its calls
//! fail.

use std::fs;
use std::path::{Path, PathBuf};

use children::Command;
use node::{Access, Buffer, DiskError, Node, Open};
use node_real::Cluster;
use tempfile::TempDir;

use crate::strace::{Call, Traced, missing, skip, traced};

/// The variable that names the directory of the scene.
const PLACE: &str = "GRISTMILL_SCENE";

/// The range that the scene writes.
const OFFSET: u64 = 4096;
const BYTES: usize = 8192;

/// The scene's steps. Each step succeeds if nothing is injected.
const STEPS: [&str; 13] = [
    "create", "lock", "reserve", "write", "read", "truncate", "mode", "release", "sync", "again",
    "rename", "space", "remove",
];

/// Makes a file, gives it its name, and writes the outcome of each step to a file.
#[test]
#[ignore = "the scene that the other tests trace"]
fn scene() {
    let Some(place) = std::env::var_os(PLACE).map(PathBuf::from) else {
        return;
    };
    let outcomes = Cluster::new(1, 1).run({
        let place = place.clone();
        move |node| {
            let place = place.clone();
            async move { play(&node, &place).await }
        }
    });
    fs::write(place.join("outcomes"), outcomes.concat()).unwrap();
}

async fn play(node: &Node, place: &Path) -> String {
    let (draft, named) = (place.join("draft"), place.join("named"));
    let mut outcomes = String::new();
    let mut say = |step: &str, result: Result<(), DiskError>| {
        let outcome = result.map_or_else(|error| error.to_string(), |()| "ok".to_owned());
        outcomes.push_str(&format!("{step}: {outcome}\n"));
    };
    let (direct, mode) = (false, 0o600);
    let file = match node.open(&draft, Open::Create { direct, mode }).await {
        Ok(file) => file,
        Err(error) => return format!("create: {error}\n"),
    };
    say("create", Ok(()));
    say("lock", file.lock(node).await.map(|locked| assert!(locked)));
    let end = OFFSET + BYTES as u64;
    say("reserve", file.preallocate(node, 0..end).await);
    let mut buffer = Buffer::heap(BYTES);
    buffer.bytes_mut().copy_from_slice(&content());
    let (buffer, written) = file.write(node, OFFSET, buffer, 0..BYTES).wait(node).await;
    say("write", written);
    let (_, read) = file.read(node, OFFSET, BYTES, buffer).wait(node).await;
    say("read", read);
    say("truncate", file.truncate(node, end).await);
    let access = Access {
        mode: 0o640,
        ..node.access(file.path()).await.unwrap()
    };
    say("mode", file.set_access(node, access).await);
    say("release", file.release(node, 0..OFFSET).await);
    say("sync", file.sync(node).await);
    let again = node.open(&draft, Open::Again { direct: false }).await;
    say("again", again.map(drop));
    say("rename", node.rename(&draft, &named).await);
    say("space", node.space(place).await.map(drop));
    let extra = place.join("extra");
    let removed = async {
        node.open(&extra, Open::Create { direct, mode }).await?;
        node.remove(&extra).await
    };
    say("remove", removed.await);
    outcomes
}

fn content() -> Vec<u8> {
    (0..BYTES).map(|at| (at / 7) as u8 | 1).collect()
}

/// A scene that was played.
struct Played {
    place: TempDir,
    traced: Traced,
    /// A line per step.
    outcomes: String,
}

impl Played {
    /// Plays it with an injection on one file of the scene.
    fn with(injected: Option<(&str, &str)>) -> Played {
        let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let mut command = Command::new(std::env::current_exe().unwrap());
        let scene = ["--exact", "syscalls::scene", "--ignored"];
        command.args(scene).arg("--test-threads=1");
        command.env(PLACE, place.path());
        let mut options = Vec::new();
        if let Some((file, call)) = injected {
            let path = place.path().join(file);
            let path = path.to_str().unwrap().trim_end_matches('/');
            options = ["-P", path, "-e", &format!("inject={call}")]
                .map(str::to_owned)
                .into();
        }
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        let traced = traced(place.path(), &options, &command);
        assert!(traced.status.success(), "{}", traced.err);
        let outcomes = fs::read_to_string(place.path().join("outcomes")).unwrap();
        if let Some(injected) = injected {
            let was_met = traced.calls.iter().any(|call| call.is_injected);
            assert!(was_met, "{injected:?} was not met");
        }
        Played {
            place,
            traced,
            outcomes,
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    /// Calls on the file with this name at the time.
    fn on(&self, name: &str) -> impl Iterator<Item = &Call> {
        let path = self.path(name);
        self.traced
            .calls
            .iter()
            .filter(move |call| call.is_on(&path))
    }

    /// The last arguments of all calls of this name on a file.
    fn last_arguments(&self, name: &str, call: &str) -> Vec<&str> {
        let calls = self.on(name).filter(|one| one.is(call));
        calls.map(Call::last_argument).collect()
    }

    /// The outcome of a step.
    #[track_caller]
    fn step(&self, name: &str) -> &str {
        let prefix = format!("{name}: ");
        let mut lines = self.outcomes.lines();
        let line = lines.find_map(|line| line.strip_prefix(&prefix));
        line.unwrap_or_else(|| panic!("no step {name}: {}", self.outcomes))
    }

    /// Checks that these steps failed, and no others.
    #[track_caller]
    fn assert_failed(&self, expected: &[&str]) {
        let mut failed = STEPS.to_vec();
        failed.retain(|step| self.step(step) != "ok");
        assert_eq!(failed, expected, "{}", self.outcomes);
    }
}

/// Whether the tests cannot run here; reports why.
fn is_skipped() -> bool {
    missing().inspect(|why| skip(why)).is_some()
}

/// A draft is synced before it is renamed. Its directory is opened before the rename and synced
/// after it.
#[test]
fn a_rename_follows_the_sync_of_the_file_and_precedes_that_of_its_directory() {
    if is_skipped() {
        return;
    }
    let played = Played::with(None);
    played.assert_failed(&[]);
    let directory = played.path("").components().collect::<PathBuf>();
    let draft = played.path("draft");
    let calls = played.traced.calls.iter();
    let is_change = |call: &&Call| call.is_change() && call.is_on(&draft);
    let written = calls.clone().rfind(is_change).expect("a write");
    let find = |what: &str, is_it: &dyn Fn(&Call) -> bool| {
        calls.clone().find(|call| is_it(call)).expect(what)
    };
    let synced = find("a sync", &|call| call.syncs(&draft));
    let renamed = find("a rename", &|call| call.is_rename() && call.is_on(&draft));
    let opened = find("an open", &|call| call.is_open() && call.is_on(&directory));
    let durable = find("a sync of the directory", &|call| call.syncs(&directory));
    assert_eq!(renamed.paths[1], played.path("named"));
    assert!(written.ended < synced.began, "the sync follows all writes");
    assert!(synced.ended < renamed.began);
    assert!(opened.ended < renamed.began);
    assert!(renamed.ended < durable.began);
    let flags = ["O_DIRECTORY", "O_CLOEXEC"];
    assert!(flags.iter().all(|flag| opened.text.contains(flag)));
}

/// An error of a sync is not swallowed.
#[test]
fn a_failed_sync_of_a_file_is_an_error() {
    if is_skipped() {
        return;
    }
    let played = Played::with(Some(("draft", "fsync:error=EIO")));
    played.assert_failed(&["sync"]);
    let error = played.step("sync");
    assert!(
        error.contains("cannot sync ") && error.contains("draft: Input/output error"),
        "{error}"
    );
}

/// An error of a directory's sync is not swallowed, and says that the file has its new name.
#[test]
fn a_failed_sync_of_a_directory_says_that_the_name_is_there() {
    if is_skipped() {
        return;
    }
    let played = Played::with(Some(("", "fsync:error=EIO")));
    played.assert_failed(&["rename"]);
    let error = played.step("rename");
    assert!(
        error.starts_with("cannot make durable the name of ") && !error.contains("rename"),
        "{error}"
    );
    assert!(
        error.contains("named: Input/output error") && error.contains("power failure"),
        "{error}"
    );
    assert!(played.path("named").exists() && !played.path("draft").exists());
}

/// A rename succeeds in a directory that the caller may not read, or that cannot be synced. If the
/// directory cannot be opened for another reason, the file is not renamed.
#[test]
fn a_directory_is_opened_before_the_rename_or_not_needed() {
    if is_skipped() {
        return;
    }
    let refused = Played::with(Some(("", "?open,openat:error=EACCES")));
    refused.assert_failed(&[]);
    assert!(refused.path("named").exists());
    for unsupported in ["EINVAL", "EOPNOTSUPP", "EACCES"] {
        let played = Played::with(Some(("", &format!("fsync:error={unsupported}"))));
        played.assert_failed(&[]);
    }
    let exhausted = Played::with(Some(("", "?open,openat:error=EMFILE")));
    exhausted.assert_failed(&["rename"]);
    assert!(
        exhausted.step("rename").starts_with("cannot rename to "),
        "{}",
        exhausted.outcomes
    );
    assert!(exhausted.path("draft").exists() && !exhausted.path("named").exists());
}

/// An interruption by a signal is not an error.
#[test]
fn interrupted_calls_are_tried_again() {
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
    // The first call reserves space, and the second one releases it.
    let more = [1, 2].map(|when| format!("fallocate:error=EINTR:when={when}"));
    for interrupted in calls.iter().chain(&more) {
        let played = Played::with(Some(("draft", interrupted)));
        played.assert_failed(&[]);
        let written = fs::read(played.path("named")).unwrap();
        assert!(written[OFFSET as usize..] == content(), "{interrupted}");
    }
    let directory = Played::with(Some(("", "fsync:error=EINTR:when=1")));
    directory.assert_failed(&[]);
    // Each of them on the directory, or on a name in it.
    for call in [
        "?open,openat",
        "/rename",
        "/unlink",
        "/statfs",
        "fstat",
        "newfstatat",
    ] {
        for when in ["when=1", "when=1+2"] {
            let played = Played::with(Some(("", &format!("{call}:error=EINTR:{when}"))));
            played.assert_failed(&[]);
            assert!(!played.path("extra").exists());
        }
    }
}

/// A system that says for ever that a signal came is not asked for ever.
#[test]
fn a_call_that_is_interrupted_for_ever_is_an_error() {
    if is_skipped() {
        return;
    }
    for (call, step) in [
        ("flock", "lock"),
        ("ftruncate", "truncate"),
        ("pwritev", "write"),
    ] {
        let played = Played::with(Some(("draft", &format!("{call}:error=EINTR"))));
        played.assert_failed(&[step]);
    }
}

/// Nobody else knows the name of a new file whose metadata cannot be read.
#[test]
fn a_file_that_was_made_and_cannot_be_looked_at_is_removed() {
    if is_skipped() {
        return;
    }
    let played = Played::with(Some(("draft", "fstat:error=EIO:when=1")));
    assert!(played.step("create").contains("Input/output error"));
    assert!(!played.path("draft").exists());
}

/// A short write is not taken for a whole one, and does not start again.
#[test]
fn a_short_write_continues_where_it_ended() {
    if is_skipped() {
        return;
    }
    // The tracer reports 100 bytes and writes none.
    let played = Played::with(Some(("draft", "pwritev:retval=100:when=1")));
    played.assert_failed(&[]);
    let offsets = played.last_arguments("draft", "pwritev");
    assert_eq!(offsets, [OFFSET.to_string(), (OFFSET + 100).to_string()]);
    let written = fs::read(played.path("named")).unwrap();
    let from = OFFSET as usize;
    assert!(written[..from + 100].iter().all(|&byte| byte == 0));
    assert!(written[from + 100..] == content()[100..]);
    // A read of 0 bytes is the end of the file, a short read is not.
    let played = Played::with(Some(("draft", "preadv:retval=100:when=1")));
    let offsets = played.last_arguments("draft", "preadv");
    assert_eq!(offsets, [OFFSET.to_string(), (OFFSET + 100).to_string()]);
}

/// An error of a transfer is not swallowed or tried again, and names its place.
#[test]
fn a_failed_transfer_is_an_error_with_its_offset() {
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
        played.assert_failed(&[step]);
        let expected = cause.replace("FILE", played.path("draft").to_str().unwrap());
        let error = played.step(step);
        assert!(error.starts_with(&expected), "{call}: {error}");
    }
}

/// Opening a file again adds the permission to write only if that is missing.
#[test]
fn a_file_that_cannot_be_opened_again_keeps_its_permissions() {
    if is_skipped() {
        return;
    }
    let played = Played::with(Some(("draft", "?open,openat:error=EIO:when=1")));
    played.assert_failed(&["again"]);
    let changes = played.on("draft").filter(|call| call.is("fchmod"));
    assert_eq!(changes.count(), 1, "by another step");
}

/// On a file system that cannot reserve space, only the length is set.
#[test]
fn a_length_is_set_where_no_space_is_reserved() {
    if is_skipped() {
        return;
    }
    let played = Played::with(Some(("draft", "fallocate:error=EOPNOTSUPP:when=1")));
    played.assert_failed(&[]);
    let lengths = played.last_arguments("draft", "ftruncate");
    assert_eq!(
        lengths,
        ["12288", "12288"],
        "once for the space, once by the scene"
    );
}
