//! The suite finds broken promises: it runs on shell scripts that break one promise each.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use children::Command;

const HOSTILE: &str = env!("CARGO_BIN_EXE_hostile");

/// Runs the suite on a script in the place of the sort: its output, and whether it succeeded.
fn said_of(name: &str, script: &str, arguments: &[&str]) -> (String, bool) {
    // Other users must reach it.
    let place = std::env::temp_dir().join(format!("finds-{}-{name}", std::process::id()));
    fs::create_dir_all(&place).unwrap();
    let binary = place.join("script");
    fs::write(&binary, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&binary, Permissions::from_mode(0o755)).unwrap();
    let mut command = Command::new(HOSTILE);
    command
        .arg("--binary")
        .arg(&binary)
        .arg("--place")
        .arg(&place)
        .args(arguments);
    let output = command.args(["--limit", "1"]).output().unwrap();
    assert_ne!(
        output.status.code(),
        Some(2),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(
        fs::read_dir(&place).unwrap().count(),
        1,
        "it removes what it made"
    );
    fs::remove_dir_all(&place).unwrap();
    (
        String::from_utf8(output.stdout).unwrap(),
        output.status.success(),
    )
}

/// A sort that refuses everything breaks no promise where it may refuse.
#[test]
fn a_refusal_is_no_failure() {
    let script = "echo 'gristmill: no' >&2; exit 2";
    let (said, is_good) = said_of(
        "refuses",
        script,
        &["--cases", "20", "--kills", "0", "--only", "owners"],
    );
    assert!(
        is_good && said.contains("20 cases: no failure") && said.starts_with("seed 1\n"),
        "{said}"
    );
}

#[test]
fn a_broken_promise_is_told() {
    let journal = ["--cases", "2", "--kills", "0", "--only", "journal-forged"];
    let kill = ["--cases", "0", "--kills", "2"];
    let refused = "echo 'gristmill: no' >&2; exit 2";
    for (name, script, arguments, what) in [
        (
            "removes",
            format!("rm ../victim/data; {refused}"),
            &journal[..],
            "victim/data: removed",
        ),
        (
            "writes",
            format!("echo >>../victim/out; {refused}"),
            &journal,
            "victim/out: of another length",
        ),
        (
            "dresses",
            format!("chmod 777 ../victim/out; {refused}"),
            &journal,
            "of another mode",
        ),
        (
            "input",
            format!("echo >>in; {refused}"),
            &journal,
            "own/in: of another length",
        ),
        (
            "leaves",
            format!("touch tmp/.gristmill-1.tmp; {refused}"),
            &journal,
            "left: ",
        ),
        (
            "does nothing",
            "exit 0".to_owned(),
            &journal,
            "wrong output: ",
        ),
        ("hangs", "exec sleep 100".to_owned(), &journal, "hang: "),
        (
            "panics",
            "echo x panicked at y >&2; exit 101".to_owned(),
            &journal,
            "panic: x panicked at y",
        ),
        (
            "dies",
            "kill -11 $$".to_owned(),
            &journal,
            "died: of signal 11",
        ),
        (
            "talks",
            "echo gristmill: a >&2; echo b >&2; exit 2".to_owned(),
            &journal,
            "not one line: ",
        ),
        (
            "never sorts",
            refused.to_owned(),
            &kill,
            "refused: gristmill: no",
        ),
        (
            "tears",
            format!("echo >in; echo >out; mkdir -p set; echo >set/manifest.json; {refused}"),
            &kill,
            "FAILED",
        ),
    ] {
        let (said, is_good) = said_of(name, &script, arguments);
        assert!(!is_good && said.contains(what), "{name}: {said}");
        assert!(said.contains("FAILED seed 1 case 0"), "{name}: {said}");
    }
}

/// Shared directories, large manifests and unfinished sorts have promises of their own.
#[test]
fn a_broken_promise_of_a_kind_is_told() {
    // It is killed when its entries exist; resumed, it reports success.
    let unfinished = r#"
        if [ -e tmp/.gristmill-1.part-3 ]; then exit 0; fi
        echo draft >.gristmill-1.2-output; echo spilled >tmp/.gristmill-1.2-spill-0
        for entry in begun epoch-0 epoch-1 part-0 part-1 part-2 part-3; do
            echo '{"ranges":[],"partitions":[1,2]}' >tmp/.gristmill-1.$entry
        done
        exec sleep 100"#;
    // An edit follows as soon as one entry exists.
    let begun = unfinished.replace("part-3 ]", "begun ]");
    let is_root = fs::metadata("/proc/self").is_ok_and(|seen| seen.uid() == 0);
    let has_tracer = Command::new("strace").arg("-V").output().is_ok();
    for (kind, script, what, needs) in [
        ("manifest-long", "exit 0", "believed: ", ""),
        (
            "manifest-long",
            "exec dd if=/dev/zero of=/dev/null bs=150M count=1",
            "memory: ",
            "",
        ),
        (
            "owners-replaced",
            "touch set/part-00000-deadbeef",
            "piled up: ",
            "root",
        ),
        (
            "owners-shared",
            "cp set/* fresh; chmod 644 fresh/*",
            "decided by others: ",
            "root",
        ),
        ("checkpoint-lists", unfinished, "wrong output: ", ""),
        ("checkpoint-draft", unfinished, "wrong output: ", ""),
        ("checkpoint-spill", unfinished, "wrong output: ", ""),
        ("edit-resumed", begun.as_str(), "stale: ", ""),
        ("edit-stopped", "exit 0", "mixed: ", "strace"),
    ] {
        if needs == "root" && !is_root || needs == "strace" && !has_tracer {
            eprintln!("skipped: no tool: {kind} needs {needs}");
            continue;
        }
        let arguments = ["--cases", "2", "--kills", "0", "--only", kind];
        let (said, is_good) = said_of(kind, script, &arguments);
        assert!(!is_good && said.contains(what), "{kind}: {said}");
    }
}
