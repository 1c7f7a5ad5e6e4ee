//! Checkpoints on a disk of this machine: found, refused, and removed.

use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::PathBuf;

use serde_json::json;
use tempfile::TempDir;

use super::*;
use crate::epochs::checkpoint::{Epoch, WrittenGroup};
use crate::files::run_here;
use crate::records::framing::Framing;
use crate::records::size::{Size, Sum};
use crate::records::span::{Left, Span};

const RECORDS: u64 = 10;
const RECORD_BYTES: u64 = 100;
const SPILL_BYTES: u64 = 4096;

/// A sort of one range that has read all of its ten records and written none.
#[derive(Clone)]
struct Case {
    place: PathBuf,
    resume: Resume,
}

impl Case {
    /// With its spill file and its draft.
    fn new(place: &TempDir) -> Case {
        let place = place.path().canonicalize().unwrap();
        let resume = Resume {
            name: "out".to_owned(),
            sources: Vec::new(),
            target: place.join("out"),
            temporary: vec![place.join("t")],
        };
        let case = Case { place, resume };
        fs::create_dir(case.path("t")).unwrap();
        set_length(&case.spill(), SPILL_BYTES);
        set_length(&case.draft(), RECORDS * RECORD_BYTES);
        case
    }

    fn path(&self, name: &str) -> PathBuf {
        self.place.join(name)
    }

    fn entry(&self, what: &str) -> PathBuf {
        let stem = job_stem(&self.resume.name);
        self.path("t").join(format!("{stem}0.{what}"))
    }

    fn spill(&self) -> PathBuf {
        self.entry("00000007-spill-0")
    }

    fn draft(&self) -> PathBuf {
        let entry = self.entry("00000007-output");
        self.place.join(entry.file_name().unwrap())
    }

    fn begun(&self) -> Begun {
        let fingerprint = json!({ "version": "1", "format": format!("fixed:{RECORD_BYTES}"), "keys": [],
            "stable": false, "unique": false, "header": [0, 0], "exchange": "Streams", "shared": false, "together": false,
            "resume": true, "bytes": 0 });
        let begun = json!({ "name": "out", "fingerprint": fingerprint, "header": [], "division": 1, "range": 0,
            "rank": 0, "sources": [], "memory_bytes": 1, "epochs": 1, "expected": 0, "copy": 7,
            "parts": [{ "bytes": RECORDS * RECORD_BYTES, "added": 0, "ends": 0, "stamp": { "content": 0, "files": 0 } }], "ranges": [], "partitions": [],
            "draft": fs::metadata(self.draft()).unwrap().ino(), "chunk_bytes": SPILL_BYTES,
            "kinds": [[1, true]], "directories": [self.path("t")], "target": self.path("out") });
        serde_json::from_value(begun).unwrap()
    }

    /// Writes the entries, with these of the output.
    fn write(&self, begun: &Begun, written: &[WrittenGroup]) {
        let (case, begun, written) = (self.clone(), begun.clone(), written.to_vec());
        run_here(move |node| {
            let (case, begun, written) = (case.clone(), begun.clone(), written.clone());
            async move {
                let site = Site::of(&node, &case.resume, 0, 0).await.unwrap();
                let begin = Checkpoint::begin(&node, site, begun).await;
                let mut checkpoint = begin.unwrap();
                checkpoint.add_epoch(&node, epoch()).await.unwrap();
                for more in written {
                    checkpoint.add_written(&node, more).await.unwrap();
                }
            }
        });
    }

    /// How many epochs and parts the checkpoint has, if one is found, or why it is refused.
    fn find(&self) -> Result<Option<(usize, usize)>, String> {
        let case = self.clone();
        run_here(move |node| {
            let case = case.clone();
            async move {
                let found = Checkpoint::find(&node, &case.resume, &case.path("t")).await;
                let found = found.map_err(|failure| failure.to_string())?;
                assert!(found.len() < 2, "there is one range");
                let found = found.first();
                Ok(found.map(|found| (found.epochs.len(), found.written.len())))
            }
        })
    }

    #[track_caller]
    fn is_refused(&self, expected: &str) {
        let told = self.find().expect_err("it is refused");
        assert!(told.contains(expected), "{told}");
    }
}

fn set_length(path: &Path, length: u64) {
    File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path)
        .unwrap()
        .set_len(length)
        .unwrap();
}

fn epoch() -> Epoch {
    let (size, crc) = (Framing::fixed(RECORD_BYTES as usize).of(RECORDS), 0);
    let run = 1; // One chunk at the beginning of the first file.
    Epoch {
        skipped: Size::default(),
        read: Sum { size, crc },
        came: Sum { size, crc },
        partitions: vec![(vec![run], size)],
    }
}

/// All records, except the last `left` bytes.
fn written(left: u64) -> WrittenGroup {
    let record = vec![0; RECORD_BYTES as usize];
    let span = Span {
        begin: Size::default(),
        size: Framing::fixed(RECORD_BYTES as usize).of(RECORDS),
        file: 0,
        sum: 0,
        first: record.clone(),
        last: record,
    };
    let left = Left {
        block: 0,
        begin: (RECORDS * RECORD_BYTES - left) as usize,
        bytes: vec![0; left as usize],
    };
    WrittenGroup {
        partitions: 1,
        span: Some(span),
        dropped: Sum::default(),
        left: vec![left],
    }
}

#[test]
fn a_checkpoint_is_found_with_its_spill_file_and_its_draft() {
    let place = TempDir::new().unwrap();
    let case = Case::new(&place);
    assert_eq!(case.find(), Ok(None));
    let begun = case.begun();
    case.write(&begun, &[]);
    assert_eq!(case.find(), Ok(Some((1, 0))));
    set_length(&case.spill(), SPILL_BYTES - 1);
    case.is_refused("has 4095 bytes, but its records end at byte 4096");
    fs::remove_file(case.spill()).unwrap();
    assert_eq!(case.find(), Ok(None));
    set_length(&case.spill(), SPILL_BYTES + 1);
    assert_eq!(case.find(), Ok(Some((1, 0))));
    // Nothing is written, so the draft may have any length, but it must be the same file.
    set_length(&case.draft(), 0);
    assert_eq!(case.find(), Ok(Some((1, 0))));
    fs::rename(case.draft(), case.path("draft")).unwrap();
    assert_eq!(case.find(), Ok(None));
    set_length(&case.draft(), RECORDS * RECORD_BYTES);
    assert_eq!(case.find(), Ok(None));
    // Epochs beyond the last one are ignored.
    fs::rename(case.path("draft"), case.draft()).unwrap();
    fs::write(case.entry("epoch-1"), "no entry").unwrap();
    assert_eq!(case.find(), Ok(Some((1, 0))));
}

#[test]
fn the_draft_has_the_bytes_that_are_written() {
    let place = TempDir::new().unwrap();
    let case = Case::new(&place);
    case.write(&case.begun(), &[written(28)]);
    set_length(&case.draft(), 972);
    assert_eq!(case.find(), Ok(Some((1, 1))));
    set_length(&case.draft(), 971);
    assert_eq!(case.find(), Ok(None));
    // All records are in the output, so none is needed of the spill file.
    set_length(&case.draft(), 972);
    set_length(&case.spill(), 0);
    assert_eq!(case.find(), Ok(Some((1, 1))));
}

#[test]
fn a_complete_output_may_have_its_name_already() {
    let place = TempDir::new().unwrap();
    let case = Case::new(&place);
    case.write(&case.begun(), &[written(0)]);
    let target = case.path("out");
    fs::rename(case.draft(), &target).unwrap();
    assert_eq!(case.find(), Ok(Some((1, 1))));
    set_length(&target, RECORDS * RECORD_BYTES - 1);
    assert_eq!(case.find(), Ok(None), "cut");
    set_length(&target, RECORDS * RECORD_BYTES);
    set_length(&case.draft(), 0);
    assert_eq!(case.find(), Ok(None), "there is a draft");
    fs::remove_file(case.draft()).unwrap();
    fs::rename(&target, case.path("output")).unwrap();
    set_length(&target, RECORDS * RECORD_BYTES);
    assert_eq!(case.find(), Ok(None), "another file");
    fs::rename(case.path("output"), &target).unwrap();
    assert_eq!(case.find(), Ok(Some((1, 1))));
    fs::remove_file(case.entry("part-0")).unwrap();
    assert_eq!(case.find(), Ok(None), "of an output that is not complete");
}

/// An output of rows has their header, too.
#[test]
fn a_complete_output_has_its_header() {
    const HEADER: u64 = 12;
    let place = TempDir::new().unwrap();
    let case = Case::new(&place);
    let mut begun = case.begun();
    begun.header = vec![b'x'; HEADER as usize];
    begun.fingerprint.header = (HEADER, kernel::block_crc(&begun.header));
    let mut all = written(0);
    all.left[0].begin += HEADER as usize;
    case.write(&begun, &[all.clone()]);
    let target = case.path("out");
    set_length(&case.draft(), RECORDS * RECORD_BYTES);
    assert_eq!(case.find(), Ok(None), "a draft that was cut");
    case.write(&begun, &[all]);
    set_length(&case.draft(), HEADER + RECORDS * RECORD_BYTES);
    fs::rename(case.draft(), &target).unwrap();
    assert_eq!(case.find(), Ok(Some((1, 1))));
    set_length(&target, RECORDS * RECORD_BYTES);
    assert_eq!(case.find(), Ok(None), "without its header");
}

#[test]
fn a_checkpoint_of_another_place_is_refused() {
    let place = TempDir::new().unwrap();
    let case = Case::new(&place);
    let right = case.begun();
    let other = || "/other".to_owned();
    for (begun, expected) in [
        (
            Begun {
                name: other(),
                ..right.clone()
            },
            "is of a sort into /other",
        ),
        (
            Begun {
                range: 1,
                ..right.clone()
            },
            "belongs to range 1, but its name says 0",
        ),
        (
            Begun {
                target: other(),
                ..right.clone()
            },
            "was begun for the output /other",
        ),
        (
            Begun {
                directories: vec![other()],
                ..right.clone()
            },
            "was begun with temporary files in /other",
        ),
        (
            Begun {
                epochs: 0,
                ..right.clone()
            },
            "cannot be trusted: epochs is 0",
        ),
    ] {
        case.write(&begun, &[]);
        case.is_refused(expected);
    }
    case.write(&right, &[written(28), written(28)]);
    case.is_refused("cannot be trusted: part 1: partitions is 1, not 2 to 1");
}

/// Another host may have the directories of a range.
#[test]
fn a_range_whose_directories_are_missing_is_of_another_host() {
    let place = TempDir::new().unwrap();
    let mut case = Case::new(&place);
    case.write(&case.begun(), &[]);
    case.resume.temporary = vec![case.path("t"), case.path("missing/t")];
    assert_eq!(case.find(), Ok(None));
    symlink("circle", case.path("circle")).unwrap();
    case.resume.temporary[1] = case.path("circle");
    case.is_refused("links");
}

#[test]
fn epochs_that_are_cut_are_removed() {
    let place = TempDir::new().unwrap();
    let case = Case::new(&place);
    case.write(&case.begun(), &[written(0)]);
    let left = run_here({
        let case = case.clone();
        move |node| {
            let case = case.clone();
            async move {
                let found = Checkpoint::find(&node, &case.resume, &case.path("t")).await;
                let mut found = found.unwrap().pop().unwrap();
                found.hold(&node).await.unwrap();
                let again = Checkpoint::find(&node, &case.resume, &case.path("t")).await;
                assert!(again.unwrap()[0].hold(&node).await.is_err(), "it is locked");
                found.add_epoch(&node, epoch()).await.unwrap();
                assert_eq!(
                    (found.came().size.records, found.read().size.records),
                    (20, 20)
                );
                found.cut(&node, 1).await.unwrap();
                assert!(case.entry("epoch-0").exists() && !case.entry("epoch-1").exists());
                assert_eq!(found.epochs.len(), 1);
                found.remove(&node).await;
                node.list(&case.place).await.unwrap()
            }
        }
    });
    assert_eq!(left, ["t"]);
    assert_eq!(fs::read_dir(case.path("t")).unwrap().count(), 0);
}

#[test]
fn only_own_files_that_no_sort_holds_are_cleared() {
    let place = TempDir::new().unwrap();
    let case = Case::new(&place);
    case.write(&case.begun(), &[written(0)]);
    let theirs = case.entry("part-7");
    symlink("/dev/null", &theirs).unwrap();
    run_here({
        let case = case.clone();
        move |node| {
            let case = case.clone();
            async move {
                let stem = format!("{}0.", job_stem("out"));
                let (home, all) = (case.path("t"), ["begun", "epoch-0", "part-0"]);
                let found = Checkpoint::find(&node, &case.resume, &home).await;
                let mut found = found.unwrap().pop().unwrap();
                found.hold(&node).await.unwrap();
                assert!(Checkpoint::clear(&node, &home, &stem).await.is_err());
                assert!(all.iter().all(|name| case.entry(name).exists()));
                drop(found);
                Checkpoint::clear(&node, &home, &stem).await.unwrap();
                assert!(all.iter().all(|name| !case.entry(name).exists()));
                // A directory with such a name is no file of the sort.
                fs::create_dir(case.entry("begun")).unwrap();
                assert!(Checkpoint::clear(&node, &home, &stem).await.is_err());
            }
        }
    });
    assert!(theirs.symlink_metadata().is_ok() && case.draft().exists());
}

/// An entry of a version that did not compare the times of inputs.
#[test]
fn an_entry_of_an_older_form_is_refused() {
    let place = TempDir::new().unwrap();
    let case = Case::new(&place);
    case.write(&case.begun(), &[written(0)]);
    let mut begun = serde_json::to_value(case.begun()).unwrap();
    begun["parts"][0].as_object_mut().unwrap().remove("stamp");
    let (path, text) = (case.entry(BEGUN), serde_json::to_vec(&begun).unwrap());
    run_here(move |node| {
        let (path, text) = (path.clone(), text.clone());
        async move { drop(text_file::put_entry(&node, &path, text).await.unwrap()) }
    });
    let said = case.find().unwrap_err();
    assert!(said.contains("is not as this version writes it"), "{said}");
    assert!(
        said.contains("remove .gristmill-*") && !said.contains('\n'),
        "{said}"
    );
}
