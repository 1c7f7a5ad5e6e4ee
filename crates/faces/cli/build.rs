//! Gives the command its version: that of the package and, in a release build, the commit.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    // Else any change of the package would run this again. A changed script is run without being named, and
    // `build.rs` does not lie in each package that it builds.
    println!("cargo::rerun-if-changed=Cargo.toml");
    let version = env!("CARGO_PKG_VERSION");
    let is_release = env::var("PROFILE").is_ok_and(|profile| profile == "release");
    // A debug build does not name its commit: every commit would compile the command again.
    let version = if is_release {
        match commit() {
            Some(commit) => format!("{version} ({commit})"),
            None => version.to_owned(),
        }
    } else {
        format!("{version} (debug build)")
    };
    println!("cargo::rustc-env=GRISTMILL_VERSION={version}");
}

/// The commit of this tree, unless it lies outside of its repository, as an unpacked archive does.
fn commit() -> Option<String> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let top = top.canonicalize().ok()?;
    if Path::new(&git(&top, &["rev-parse", "--show-toplevel"])?) != top {
        return None;
    }
    // HEAD changes with the branch, its log with every commit, the sources with every edit.
    let mut watched = ["HEAD", "logs/HEAD"]
        .iter()
        .filter_map(|name| git(&top, &["rev-parse", "--git-path", name]))
        .map(|path| top.join(path))
        .collect::<Vec<PathBuf>>();
    watched.extend(["crates", "machines", "experiments", "Cargo.lock"].map(|name| top.join(name)));
    for path in watched.iter().filter(|path| path.exists()) {
        println!("cargo::rerun-if-changed={}", path.display());
    }
    let commit = git(&top, &["rev-parse", "--short", "HEAD"])?;
    let changes = git(&top, &["status", "--porcelain", "--untracked-files=no"])?;
    Some(if changes.is_empty() {
        commit
    } else {
        format!("{commit}, modified")
    })
}

fn git(place: &Path, arguments: &[&str]) -> Option<String> {
    let mut git = Command::new("git");
    git.arg("-C").arg(place).args(arguments);
    // `git status` would write the index that another git may be writing.
    let output = git.env("GIT_OPTIONAL_LOCKS", "0").output().ok()?;
    let told = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| told.trim_end().to_owned())
}
