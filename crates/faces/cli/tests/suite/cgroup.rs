//! A control group that limits memory also counts the page cache of its processes. A sort works
//! within it with every kind of I/O, and no process is killed (guarantee 3).

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use rustix::fs::{Advice, fadvise, statfs};
use serde_json::Value;

use crate::common::{Place, Ran, is_long, skip};

/// The group's limit. Input, spill files and output together are nearly three times as large.
const LIMIT_BYTES: u64 = 96 << 20;

const RECORDS: u64 = 800_000;

/// The reserve within a group's limit (guarantee 3).
const RESERVE_BYTES: u64 = 48 << 20;

/// The memory of the program beyond its limit.
const PROGRAM_BYTES: u64 = 32 << 20;

/// A way to set the memory limit, the kinds of I/O to try it with, and the greatest limit that may
/// result.
struct Way {
    asked: &'static str,
    io: &'static [&'static str],
    most_bytes: u64,
}

const EVERY_IO: &[&str] = &["auto", "direct", "buffered"];

const WAYS: [Way; 4] = [
    Way {
        asked: "",
        io: EVERY_IO,
        most_bytes: (LIMIT_BYTES - RESERVE_BYTES) / 100 * 75,
    },
    Way {
        asked: "--plan two-pass -S 32M",
        io: EVERY_IO,
        most_bytes: 32 << 20,
    },
    Way {
        asked: "--plan merge -S 32M",
        io: EVERY_IO,
        most_bytes: 32 << 20,
    },
    Way {
        asked: "-S 1G",
        io: &["buffered"],
        most_bytes: LIMIT_BYTES - RESERVE_BYTES,
    },
];

/// The files of a version of control groups.
struct Version {
    root: &'static str,
    limit: &'static str,
    /// Where it counts processes that were killed, and by which name.
    kills: (&'static str, &'static str),
    /// Where it counts how often the limit was met.
    met: (&'static str, &'static str),
}

const VERSIONS: [Version; 2] = [
    Version {
        root: "/sys/fs/cgroup/memory",
        limit: "memory.limit_in_bytes",
        kills: ("memory.oom_control", "oom_kill"),
        met: ("memory.failcnt", ""),
    },
    Version {
        root: "/sys/fs/cgroup",
        limit: "memory.max",
        kills: ("memory.events", "oom_kill"),
        met: ("memory.events", "max"),
    },
];

/// A control group of this test, gone with it.
struct Group {
    path: PathBuf,
    version: &'static Version,
}

impl Group {
    /// Makes a group with a limit, or returns why that is impossible.
    fn new(limit_bytes: u64) -> Result<Group, String> {
        let mut why = "there are no control groups".to_owned();
        for version in &VERSIONS {
            let name = format!("gristmill-{}-{limit_bytes}", std::process::id());
            let path = Path::new(version.root).join(name);
            if let Err(error) = fs::create_dir(&path) {
                why = format!("no control group can be made in {}: {error}", version.root);
                continue;
            }
            let group = Group { path, version };
            match fs::write(group.path.join(version.limit), limit_bytes.to_string()) {
                Ok(()) => return Ok(group),
                Err(error) => why = format!("no {} in {}: {error}", version.limit, version.root),
            }
        }
        Err(why)
    }

    fn count(&self, (file, name): (&str, &str)) -> u64 {
        let text = fs::read_to_string(self.path.join(file)).unwrap();
        let count = |line: &str| line.strip_prefix(name)?.trim().parse().ok();
        text.lines()
            .find_map(count)
            .unwrap_or_else(|| panic!("{file}: {text}"))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // A process that has just been waited for may still be leaving.
        for _ in 0..100 {
            if fs::remove_dir(&self.path).is_ok() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        eprintln!("{} is left", self.path.display());
    }
}

/// A place on a disk. Files in memory would stay in the group's memory.
fn place_on_disk() -> Result<Place, String> {
    const TMPFS_MAGIC: u64 = 0x0102_1994;
    let place = Place::new();
    match statfs(place.path(".")) {
        Ok(found) if found.f_type as u64 == TMPFS_MAGIC => Err("files lie in memory here".into()),
        Ok(_) => Ok(place),
        Err(error) => Err(error.to_string()),
    }
}

/// Lets the page cache forget a file, so that whoever reads it pays for it.
fn forget(file: &Path) {
    let file = File::open(file).unwrap();
    file.sync_all().unwrap();
    fadvise(&file, 0, None, Advice::DontNeed).unwrap();
}

/// Sorts `in` to `out` within the group: from the file, or from a pipe that a process outside
/// feeds.
fn sort_within(group: &Group, place: &Place, options: &str, from_pipe: bool) -> Value {
    let (feeder, input) = if from_pipe {
        ("cat in |", "-")
    } else {
        ("", "in")
    };
    let sort = format!("sort --format gensort {options} {input} -o out --report report");
    let script =
        format!("{feeder} sh -c 'echo $$ >\"$GROUP/cgroup.procs\" && exec \"$GRISTMILL\" {sort}'");
    forget(&place.path("in"));
    let ran = place
        .shell(&script)
        .env("GROUP", &group.path)
        .output()
        .unwrap();
    let ran = Ran::from(ran);
    assert_eq!(ran.code, 0, "{feeder} {sort}: {}", ran.err);
    serde_json::from_slice(&place.read("report")).unwrap()
}

#[test]
fn a_sort_lives_within_a_group_that_counts_the_page_cache() {
    let both = place_on_disk().and_then(|place| Ok((place, Group::new(LIMIT_BYTES)?)));
    let (place, group) = match both {
        Ok(both) => both,
        Err(why) => return skip(&why),
    };
    let made = place.run(&format!("gensort -c {RECORDS} in")).succeeded();
    let told = format!("Records: {RECORDS}\nChecksum: {}\n", made.err.trim());
    for Way {
        asked,
        io,
        most_bytes,
    } in WAYS
    {
        let io = if is_long() { io } else { &io[..1] };
        for (io, from_pipe) in io.iter().flat_map(|io| [(io, false), (io, true)]) {
            let options = format!("{asked} --io {io}");
            let report = sort_within(&group, &place, &options, from_pipe);
            check_memory(&report, most_bytes, &options);
            let sorted = place.run("valsort out").succeeded().err;
            assert!(sorted.starts_with(&told), "{options}: {sorted}");
        }
    }
    assert_eq!(group.count(group.version.kills), 0, "processes were killed");
    assert!(
        group.count(group.version.met) > 0,
        "the limit was never met"
    );
}

/// Checks the limit that the sort used, which is in its reason, and its memory.
fn check_memory(report: &Value, most_bytes: u64, what: &str) {
    let reason = report["reason"].as_str().unwrap();
    let limit = reason.split(" of memory").next().unwrap();
    let words: Vec<&str> = limit.rsplit(' ').take(2).collect();
    let unit = match words[0] {
        "MB" => 1e6,
        "GB" => 1e9,
        _ => panic!("{reason}"),
    };
    let limit = (words[1].parse::<f64>().expect(reason) * unit) as u64;
    // The reason is rounded to a tenth of its unit.
    let rounding = (unit / 20.0) as u64;
    assert!(
        limit <= most_bytes + rounding,
        "{what}: {reason}, and {most_bytes} are allowed"
    );
    let peak = report["peak_rss_bytes"].as_u64().unwrap();
    assert!(
        peak <= limit + rounding + PROGRAM_BYTES,
        "{what}: {peak} bytes resident, {limit} asked for"
    );
}

/// Half of a small group is for its sort.
#[test]
fn small_groups_sort_small_inputs() {
    let place = Place::new();
    place.write("lines", "b\na\n");
    place.write("rows", "id,name\n2,b\n\n1,a\n");
    place.run("gensort 1000 records").succeeded();
    let many: String = (0..200_000)
        .map(|id| format!("{}\n", id * 7919 % 200_003))
        .collect();
    place.write("many", many);
    for mib in [48, 64, 80] {
        let group = match Group::new(mib << 20) {
            Ok(group) => group,
            Err(why) => return skip(&why),
        };
        for options in [
            "lines",
            "-u < lines",
            "--top 1 < lines",
            "--locale de lines",
            "--format csv --key id:num rows",
            "--format csv --key id:num < rows",
            "--format gensort records",
            "--format gensort --plan two-pass < records",
            "many",
            "-n < many",
            "-S 1G -s -k1,1 many",
        ] {
            let enter = "echo $$ >\"$GROUP/cgroup.procs\" && exec \"$GRISTMILL\"";
            let feed = options
                .split(" < ")
                .nth(1)
                .map_or(String::new(), |file| format!("cat {file} | "));
            let options = options.split(" < ").next().unwrap();
            let script = format!("{feed}sh -c '{enter} sort {options} -o out'");
            let ran = place
                .shell(&script)
                .env("GROUP", &group.path)
                .output()
                .unwrap();
            let ran = Ran::from(ran);
            assert_eq!(ran.code, 0, "{mib} MiB: {script}: {}", ran.err);
        }
        assert_eq!(
            group.count(group.version.kills),
            0,
            "{mib} MiB: processes were killed"
        );
    }
}
