//! Programs in C: compiled without a warning, run with the shared library, and once more with the
//! static one, under the sanitizers for addresses, leaks and undefined behaviour.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::OnceLock;
use std::time::Duration;

use children::Command;

const STRICT: [&str; 5] = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-std=c99"];

/// The libraries beneath a static library of Rust; `gristmill.pc` names them, too.
const BENEATH: [&str; 4] = ["-lpthread", "-lm", "-ldl", "-lgcc_s"];

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The directory of both libraries, which are built once.
fn libraries() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
        let mut build = Command::new(env!("CARGO"));
        // It may build everything.
        build.within(Duration::from_secs(3600));
        // With the features of all tests, which are built then: alone, most crates would be built again.
        build
            .args([
                "build",
                "--quiet",
                "--locked",
                "--workspace",
                "--lib",
                "--tests",
            ])
            .arg("--target-dir")
            .arg(target)
            .current_dir(here());
        succeed(&mut build);
        target.join("debug")
    })
}

fn succeed(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    assert!(
        output.status.success(),
        "{command:?} failed ({}):\n{}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    output
}

fn compiler(name: &str, usual: &str) -> Command {
    Command::new(env::var_os(name).unwrap_or_else(|| usual.into()))
}

/// Compiles and runs a program twice; returns what the runs printed.
fn run(source: &str) -> [String; 2] {
    let place = tempfile::tempdir().unwrap();
    let source = here().join(source);
    let include = here().join("include");
    let shared = |cc: &mut Command| {
        cc.arg("-L").arg(libraries()).arg("-lgristmill");
        cc.arg(format!("-Wl,-rpath,{}", place.path().display()));
    };
    // The program asks for the name in the library, which no file in target has.
    let named = place.path().join(soname());
    std::os::unix::fs::symlink(libraries().join("libgristmill.so"), named).unwrap();
    let fixed = |cc: &mut Command| {
        cc.args([
            "-fsanitize=address,undefined",
            "-fno-sanitize-recover=all",
            "-g",
        ]);
        cc.arg(libraries().join("libgristmill.a")).args(BENEATH);
    };
    let links: [&dyn Fn(&mut Command); 2] = [&shared, &fixed];
    links.map(|link| {
        let program = place.path().join("program");
        let mut cc = compiler("CC", "cc");
        cc.args(STRICT)
            .arg("-I")
            .args([&include, &source])
            .args([OsStr::new("-o"), program.as_os_str()]);
        link(&mut cc);
        cc.arg("-lpthread");
        succeed(&mut cc);
        let work = tempfile::tempdir().unwrap();
        let output = succeed(
            Command::new(&program)
                .current_dir(work.path())
                .env("TMPDIR", work.path()),
        );
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
        String::from_utf8(output.stdout).unwrap()
    })
}

fn soname() -> String {
    let version = env!("CARGO_PKG_VERSION");
    let parts: Vec<&str> = version.split('.').collect();
    match parts[0] {
        "0" => format!("libgristmill.so.0.{}", parts[1]),
        major => format!("libgristmill.so.{major}"),
    }
}

#[test]
fn pushed_records_come_back_in_order() {
    for printed in run("examples/records.c") {
        assert_eq!(printed, "Rome 7\nBonn 5\nOslo 5\n");
    }
}

#[test]
fn files_are_sorted_merged_and_checked() {
    for printed in run("examples/files.c") {
        assert_eq!(
            printed,
            "sorted 3 records\nmerged 5 records\nmerged.txt is in order\n\
             cannot open no/such/file: No such file or directory (os error 2); check the name\n"
        );
    }
}

#[test]
fn another_thread_watches_and_stops() {
    for printed in run("examples/watch.c") {
        assert_eq!(printed, "the sort was stopped\n");
    }
}

#[test]
fn misuse_is_answered() {
    for printed in run("tests/programs/misuse.c") {
        assert_eq!(printed, "passed\n");
    }
}

#[test]
fn endings_leave_nothing() {
    for printed in run("tests/programs/endings.c") {
        assert_eq!(printed, "passed\n");
    }
}

#[test]
fn pipes_and_limits_end_no_program() {
    for printed in run("tests/programs/pipes.c") {
        assert_eq!(printed, "passed\n");
    }
}

#[test]
fn any_number_is_answered() {
    for printed in run("tests/programs/numbers.c") {
        assert_eq!(printed, "passed\n");
    }
}

#[test]
fn sorts_that_begin_again_give_each_record_once() {
    for printed in run("tests/programs/again.c") {
        assert_eq!(printed, "passed\n");
    }
}

#[test]
fn cpp_includes_the_header() {
    let place = tempfile::tempdir().unwrap();
    let source = place.path().join("program.cpp");
    let text =
        "#include \"gristmill.h\"\nint main() { return gristmill_version()[0] == '0' ? 0 : 1; }\n";
    fs::write(&source, text).unwrap();
    let program = place.path().join("program");
    let mut cxx = compiler("CXX", "c++");
    cxx.args([
        "-std=c++11",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-pedantic",
        "-I",
    ])
    .args([&here().join("include"), &source])
    .args([OsStr::new("-o"), program.as_os_str()])
    .arg(libraries().join("libgristmill.a"))
    .args(BENEATH);
    if cxx.get_program() == "c++" && Command::new("c++").arg("--version").output().is_err() {
        println!("skipped: there is no compiler of C++");
        return;
    }
    succeed(&mut cxx);
    succeed(&mut Command::new(program));
}

/// docs/c.md shows the examples as they are.
#[test]
fn the_page_has_the_examples() {
    let page = fs::read_to_string(here().join("../../../docs/c.md")).unwrap();
    for name in ["records.c", "files.c", "watch.c"] {
        let text = fs::read_to_string(here().join("examples").join(name)).unwrap();
        assert!(page.contains(&text), "docs/c.md has another {name}");
    }
}
