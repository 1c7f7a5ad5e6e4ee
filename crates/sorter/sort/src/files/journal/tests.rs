//! Journals of dead runs, and the files that they remove.

use std::fs;
use std::os::unix::fs::chown;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;
use crate::files::{may_give, run_here};

const STRANGER: u32 = 4242;

const OLD: &str = "part-00000-deadbeef";
const LISTED: &str = "part-00001-deadbeef";

/// Three directories, each with a file that the manifest in the first may list, and another one.
struct Dead {
    place: TempDir,
}

impl Dead {
    fn new() -> Dead {
        let place = TempDir::new().unwrap();
        let dead = Dead { place };
        for directory in ["a", "b", "c"] {
            fs::create_dir(dead.path(directory)).unwrap();
            for name in [OLD, LISTED] {
                fs::write(dead.path(directory).join(name), "").unwrap();
            }
        }
        let listed = dead.path("b").join(LISTED);
        let files = [LISTED, listed.to_str().unwrap()].map(|path| {
            json!({ "path": path, "records": 0, "checksum": "0", "first_key": "", "last_key": "" })
        });
        let manifest = json!({ "gristmill_set": 1, "format": "fixed:1", "keys": [],
            "stable": false, "record_bytes": 1, "records": 0, "checksum": "0", "directory": "/",
            "files": files });
        fs::write(dead.path("a/manifest.json"), manifest.to_string()).unwrap();
        dead
    }

    /// A path with all links followed.
    fn path(&self, name: &str) -> PathBuf {
        self.place.path().canonicalize().unwrap().join(name)
    }

    /// Settles a journal of these directories and files, with the directories `beside` named, too.
    /// Whether nothing of it is left, and the files that are gone.
    fn settle(&self, directories: &[&str], files: Value, beside: &[&str]) -> (bool, Vec<String>) {
        let all = || {
            ["a", "b", "c"].map(|directory| [OLD, LISTED].map(|name| format!("{directory}/{name}")))
        };
        let all = all().into_iter().flatten();
        let directories: Vec<_> = directories.iter().map(|name| self.path(name)).collect();
        let text = json!({ "directories": directories, "files": files }).to_string();
        let journal = self.path("a/.gristmill-0.journal");
        let beside: Vec<_> = beside.iter().map(|name| self.path(name)).collect();
        let is_settled = run_here(move |node| {
            let (journal, text, beside) = (journal.clone(), text.clone(), beside.clone());
            async move {
                let text = text.into_bytes();
                text_file::put_entry(&node, &journal, text).await.unwrap();
                settle(&node, &journal, &beside).await
            }
        });
        let gone = all.filter(|name| !self.path(name).exists()).collect();
        (is_settled, gone)
    }
}

fn both() -> Value {
    json!([[0, OLD], [0, LISTED], [1, OLD], [1, LISTED]])
}

fn gone(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| format!("{name}/{OLD}")).collect()
}

#[test]
fn files_that_the_manifest_does_not_list_are_removed() {
    let settled = Dead::new().settle(&["a", "b"], both(), &["c", "b"]);
    assert_eq!(settled, (true, gone(&["a", "b"])));
}

#[test]
fn files_in_a_directory_that_is_not_named_wait() {
    let settled = Dead::new().settle(&["a", "b"], both(), &["c"]);
    assert_eq!(settled, (false, gone(&["a"])));
}

/// The files in the copied directory belong to the copy, all others to the first set.
#[test]
fn a_copy_of_a_directory_has_only_its_own_files() {
    let settled = Dead::new().settle(&["c", "b"], both(), &["c", "b"]);
    assert_eq!(settled, (true, gone(&["a"])));
}

#[test]
fn a_journal_of_impossible_files_is_left_alone() {
    for (directories, files) in [
        (&["a"][..], json!([[0, OLD], [1, OLD]])),
        (&["a"], json!([[0, OLD], [0, "notes"]])),
        (&["a"], json!([[0, OLD], [0, format!("../b/{OLD}")]])),
        (&[], json!([])),
    ] {
        let settled = Dead::new().settle(directories, files.clone(), &["b"]);
        assert_eq!(settled, (false, gone(&[])), "{files}");
    }
}

/// The owner of a directory and its manifest says which files in that directory go, but no others.
#[test]
fn another_owner_is_believed_about_one_directory() {
    if !may_give(STRANGER) {
        return;
    }
    let dead = Dead::new();
    for path in ["a", "a/manifest.json"] {
        chown(dead.path(path), Some(STRANGER), None).unwrap();
    }
    let settled = dead.settle(&["a", "b"], both(), &["b"]);
    assert_eq!(settled, (false, gone(&["a"])));
    let dead = Dead::new();
    chown(dead.path("a/manifest.json"), Some(STRANGER), None).unwrap();
    let settled = dead.settle(&["a", "b"], both(), &["b"]);
    assert_eq!(settled, (false, gone(&[])), "of a third user");
}
