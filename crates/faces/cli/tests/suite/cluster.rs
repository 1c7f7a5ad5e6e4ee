//! `gristmill sort` over the ranks of an MPI job on this machine; skipped, with a line that says
//! why, where there is no MPI. Several hosts: hosts/sort.sh.

use std::fs::{OpenOptions, Permissions};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use rustix::fs::{FileType, Mode};
use serde_json::Value;

use crate::common::{GRISTMILL, Place, RECORD_BYTES, Ran, sorted};
use crate::ranks::{command, inputs, launch, lines, outputs, run, start};

#[test]
fn ranks_sort_their_own_inputs() {
    let (place, all) = inputs(3, 30_000);
    let sort = "sort --format gensort in-{rank} -o out-{rank} -S 64M --verify --report report";
    let Some(ran) = run(&place, 3, sort) else {
        return;
    };
    ran.succeeded();
    assert!(outputs(&place, 3) == sorted(&all, RECORD_BYTES));
    // Each rank spills what its memory does not hold.
    let spilling = "sort --format gensort in-{rank} -o out-{rank} -S 12M --plan two-pass --json";
    let report = run(&place, 3, spilling).unwrap().succeeded().json();
    assert_eq!(
        (
            &report["records"],
            report["ranks"].as_array().unwrap().len()
        ),
        (&90_000.into(), 3)
    );
    assert!(outputs(&place, 3) == sorted(&all, RECORD_BYTES));
    assert!(
        report["stages"]
            .as_array()
            .unwrap()
            .iter()
            .any(|stage| stage["name"] == "sender")
    );
    assert!(place.unfinished().is_empty());
}

/// Where all outputs can be seen their list is a set of files.
#[test]
fn the_outputs_of_all_ranks_are_listed() {
    let (place, _) = inputs(3, 5_000);
    place.write("out-0.manifest.json", "an old one");
    let Some(ran) = run(&place, 3, "sort --format gensort in-{rank} -o out-{rank}") else {
        return;
    };
    ran.succeeded();
    let list = read_json(&place, "out-0.manifest.json");
    let files = list["files"].as_array().unwrap();
    assert_eq!((files.len(), &list["records"]), (3, &15_000.into()));
    for (rank, file) in files.iter().enumerate() {
        assert!(
            file["path"]
                .as_str()
                .unwrap()
                .ends_with(&format!("out-{rank}")),
            "{file}"
        );
        assert!(!file["host"].as_str().unwrap().is_empty(), "{file}");
    }
    // The list has the read rights of the output, and only its owner may write it.
    let mode = |name: &str| std::fs::metadata(place.path(name)).unwrap().mode() & 0o755;
    assert_eq!(mode("out-0.manifest.json"), mode("out-0"));
    place.run("valsort out-0.manifest.json").succeeded();
    // With fewer ranks, a warning names outputs of the earlier sort.
    let again = || run(&place, 2, "sort --format gensort in-{rank} -o out-{rank}").unwrap();
    let said = again().succeeded().err;
    assert!(
        said.contains("out-2: an earlier sort left this file"),
        "{said}"
    );
    std::fs::remove_file(place.path("out-2")).unwrap();
    assert!(!again().succeeded().err.contains("earlier"));
    // Two ranks may not write one file under two names.
    std::os::unix::fs::symlink("link-0", place.path("link-1")).unwrap();
    let ran = run(&place, 2, "sort --format gensort in-{rank} -o link-{rank}").unwrap();
    let said = lines(&ran);
    assert!(ran.code == 2 && said.len() == 1, "{said:?}");
    assert!(said[0].contains("writes the same file"), "{said:?}");
    assert!(!place.path("link-0").exists());
    let mut part = place.read("out-1");
    part[1234] ^= 1;
    place.write("out-1", part);
    assert_eq!(place.run("valsort out-0.manifest.json").code, 1);
}

/// A job of one rank is one of many, too.
#[test]
fn one_rank_lists_what_it_has_written() {
    let (place, _) = inputs(2, 1000);
    let sort = "sort --format gensort in-{rank} -o out-{rank}";
    let Some(ran) = run(&place, 2, sort) else {
        return;
    };
    ran.succeeded();
    let said = run(&place, 1, sort).unwrap().succeeded().err;
    assert!(
        said.contains("out-1: an earlier sort left this file"),
        "{said}"
    );
    place.run("valsort out-0.manifest.json").succeeded();
}

#[test]
fn ranks_share_one_input() {
    let place = Place::with_records(50_001);
    for exchange in ["streams", "rounds"] {
        let sort = format!("sort --format gensort in -o out-{{rank}} --exchange {exchange}");
        let Some(ran) = run(&place, 4, &sort) else {
            return;
        };
        ran.succeeded();
        assert!(
            outputs(&place, 4) == sorted(&place.read("in"), RECORD_BYTES),
            "{exchange}"
        );
    }
}

/// A file without {rank} is one for all.
#[test]
fn ranks_write_one_file() {
    let place = Place::with_records(50_001);
    let wanted = sorted(&place.read("in"), RECORD_BYTES);
    let together = "sort --format gensort in -o out --verify --json";
    let Some(ran) = run(&place, 3, together) else {
        return;
    };
    assert_eq!(ran.succeeded().json()["records"], 50_001);
    assert!(place.read("out") == wanted);
    // Records of its own, over what is there.
    for rank in 0..2 {
        place
            .run(&format!("gensort -b{} 20000 in-{rank}", rank * 20_000))
            .succeeded();
    }
    let each = [place.read("in-0"), place.read("in-1")].concat();
    run(
        &place,
        2,
        "sort --format gensort in-{rank} -o out -S 12M --stable",
    )
    .unwrap()
    .succeeded();
    assert!(place.read("out") == sorted(&each, RECORD_BYTES));
    // And in place.
    run(
        &place,
        3,
        "sort --format gensort in -o in --exchange rounds",
    )
    .unwrap()
    .succeeded();
    assert!(place.read("in") == wanted);
    assert!(place.unfinished().is_empty());
    // Through a link to a read-only file, but not to a pipe.
    place.write("target", "old");
    std::fs::set_permissions(place.path("target"), Permissions::from_mode(0o440)).unwrap();
    std::os::unix::fs::symlink("target", place.path("link")).unwrap();
    run(&place, 2, "sort --format gensort in -o link")
        .unwrap()
        .succeeded();
    assert!(place.read("target") == wanted);
    assert!(place.path("link").is_symlink());
    assert_eq!(
        std::fs::metadata(place.path("target")).unwrap().mode() & 0o777,
        0o440
    );
    rustix::fs::mknodat(
        rustix::fs::CWD,
        place.path("pipe"),
        FileType::Fifo,
        Mode::RWXU,
        0,
    )
    .unwrap();
    for (output, told) in [
        ("-o pipe", "a regular file"),
        ("-o out --resume", "put {rank} in the name"),
        ("-o set/", "put {rank} in their names"),
        ("", "no common standard output"),
        ("-o /dev/null", "a regular file"),
    ] {
        let ran = run(&place, 2, &format!("sort --format gensort in {output}")).unwrap();
        let said = lines(&ran);
        assert!(
            ran.code == 2 && said.len() == 1 && said[0].contains(told),
            "{output}: {said:?}"
        );
    }
    assert!(!place.path("set").exists());
}

/// Files of one name and length in the directories of two ranks are not one input.
#[test]
fn a_shared_input_is_one_file() {
    let place = Place::new();
    let lines = |first: u32| -> String {
        (0..5000)
            .map(|line| format!("{:06}\n", first + line))
            .collect()
    };
    for (rank, first) in [(0, 0), (1, 500_000)] {
        std::fs::create_dir(place.path(&rank.to_string())).unwrap();
        place.write(&format!("{rank}/in"), lines(first));
    }
    let script = "cd ${OMPI_COMM_WORLD_RANK:-$PMI_RANK} && exec \"$0\" sort in -o ../out-{rank}";
    let Some(mut job) = launch::launcher(2, "gristmill sort") else {
        return;
    };
    job.args(["sh", "-c", script, GRISTMILL])
        .current_dir(place.path("."));
    let ran = Ran::from(launch::ended(job.spawn().unwrap()));
    let said = crate::ranks::lines(&ran);
    assert!(ran.code == 2 && said.len() == 1, "{ran:?}");
    assert!(
        said[0].contains("another input under that name"),
        "{said:?}"
    );
    assert!(!place.path("out-0").exists() && !place.path("out-1").exists());
}

/// To open a named pipe would wait for its writer.
#[test]
fn a_named_pipe_is_refused_at_once() {
    let (place, _) = inputs(2, 100);
    std::fs::remove_file(place.path("in-1")).unwrap();
    let pipe = place.path("in-1");
    rustix::fs::mknodat(rustix::fs::CWD, pipe, FileType::Fifo, Mode::RWXU, 0).unwrap();
    for line in [
        "sort --format gensort in-{rank} -o out-{rank}",
        "sort --format csv in-{rank} -o out-{rank}",
        "sort in-{rank} -o out-{rank} --resume",
        "sort -R --random-source in-1 in-0 -o out",
    ] {
        let Some(ran) = run(&place, 2, line) else {
            return;
        };
        let said = lines(&ran);
        assert!(ran.code == 2 && said.len() == 1, "{line}: {ran:?}");
        assert!(said[0].contains("pipe"), "{line}: {said:?}");
    }
    // One process that saves its progress divides its input, too.
    let ran = place.run("sort in-1 -o out --resume");
    assert!(ran.code == 2 && ran.complaint().contains("pipe"), "{ran:?}");
    assert_eq!(place.names(), ["in-0", "in-1"]);
}

#[test]
fn a_refusal_by_one_rank_is_one_line() {
    let (place, _) = inputs(2, 100);
    std::fs::remove_file(place.path("in-1")).unwrap();
    let Some(ran) = run(&place, 2, "sort --format gensort in-{rank} -o out-{rank}") else {
        return;
    };
    assert_eq!(ran.code, 2);
    let said = lines(&ran);
    assert!(
        said.len() == 1 && said[0].contains("rank 1: cannot open in-1"),
        "{said:?}"
    );
    let ran = run(&place, 2, "sort --format gensort in-0 -o out --plan merge").unwrap();
    assert_eq!(ran.code, 2);
    let said = lines(&ran);
    assert!(said.len() == 1 && said[0].contains("--plan"), "{said:?}");
    assert_eq!(place.names(), ["in-0"]);
}

/// A single rank is rank 0; without ranks `{rank}` has no meaning.
#[test]
fn a_rank_may_be_alone() {
    let (place, all) = inputs(1, 1000);
    let ran = place.run("sort --format gensort in-{rank} -o out-{rank}");
    assert_eq!(ran.code, 2);
    assert!(ran.complaint().contains("mpirun"), "{}", ran.err);
    let Some(ran) = run(&place, 1, "sort --format gensort in-{rank} -o out-{rank}") else {
        return;
    };
    ran.succeeded();
    assert!(outputs(&place, 1) == sorted(&all, RECORD_BYTES));
}

/// Mistakes in the command line or in the installation are the same for all ranks.
#[test]
fn mistakes_of_all_ranks_are_reported_once() {
    let (place, _) = inputs(3, 10);
    let Some(ran) = run(&place, 3, "sort --no-such-option --json") else {
        return;
    };
    assert_eq!(ran.code, 2);
    let said = lines(&ran);
    assert!(
        said.len() == 1 && said[0].contains("--no-such-option"),
        "{}",
        ran.err
    );
    assert_eq!(ran.json()["error"]["kind"], "usage");
    let mut job = command(
        &place,
        3,
        "sort --format gensort in-{rank} -o out-{rank} --json",
    )
    .unwrap();
    let ran = Ran::from(launch::ended(
        job.env("GRISTMILL_MPI", "/nowhere").spawn().unwrap(),
    ));
    assert_eq!(ran.code, 2);
    let said = lines(&ran);
    assert!(
        said.len() == 1 && said[0].contains("/nowhere"),
        "{}",
        ran.err
    );
    assert_eq!(ran.json()["error"]["kind"], "network");
}

/// The report of rank 0 has every rank and stage, and the time of the launch.
#[test]
fn the_report_has_every_rank_and_stage() {
    let (place, all) = inputs(2, 20_000);
    let sort = "sort --format gensort in-{rank} -o out-{rank} --report report-{rank} --json";
    let Some(ran) = run(&place, 2, sort) else {
        return;
    };
    let report = ran.succeeded().json();
    assert_eq!(report, read_json(&place, "report-0"));
    let ranks = report["ranks"].as_array().unwrap();
    let sum = |name: &str| {
        ranks
            .iter()
            .map(|rank| rank[name].as_u64().unwrap())
            .sum::<u64>()
    };
    assert_eq!(sum("bytes"), all.len() as u64);
    for rank in ranks {
        assert!(
            !rank["host"].as_str().unwrap().is_empty() && rank["peak_rss_bytes"].as_u64() > Some(0)
        );
        let of = |name: &str| {
            let stages = rank["stages"].as_array().unwrap();
            let stage = stages.iter().find(|stage| stage["name"] == name);
            stage.unwrap_or_else(|| panic!("no {name}: {rank}"))["bytes"]
                .as_u64()
                .unwrap()
        };
        assert_eq!(of("reader"), 2_000_000);
        // In whole blocks.
        assert!(of("writer") >= rank["bytes"].as_u64().unwrap());
    }
    // The launch does not count as sorting.
    let [launch, sort] = ["launch_seconds", "seconds"].map(|name| report[name].as_f64().unwrap());
    assert!(launch > 0.0 && sort > 0.0, "{report:#}");
    assert!(!report["launch_since"].as_str().unwrap().is_empty());
    // Another rank reports its own part.
    let other = read_json(&place, "report-1");
    assert_eq!(
        (&other["ranks"][0]["stages"], &other["launch_seconds"]),
        (&Value::Null, &Value::Null)
    );
    assert_eq!(other["bytes"], ranks[1]["bytes"]);
}

fn read_json(place: &Place, name: &str) -> Value {
    serde_json::from_slice(&place.read(name)).unwrap()
}

/// The table of all ranks, and what another rank than the first has noticed.
#[test]
fn rank_0_tells_for_all() {
    let (place, all) = inputs(2, 1_000_000);
    let sort = "sort --format gensort in-{rank} -o out-{rank} -S 64M --report report";
    let Some(mut job) = start(&place, 2, sort) else {
        return;
    };
    place.wait_for_output(&mut job);
    let mut grows = OpenOptions::new()
        .append(true)
        .open(place.path("in-1"))
        .unwrap();
    grows.write_all(b"twelve bytes").unwrap();
    let ran = Ran::from(launch::ended(job)).succeeded();
    let warned: Vec<_> = ran
        .err
        .lines()
        .filter(|line| line.starts_with("WARNING "))
        .collect();
    assert!(
        warned.len() == 1 && warned[0].starts_with("WARNING rank 1: in-1: grew from 100000000 to"),
        "{}",
        ran.err
    );
    for word in [
        "two-pass on 2 ranks: 2,000,000 records",
        "\nlaunch ",
        "node distributor",
        "\nskew ",
    ] {
        assert!(ran.err.contains(word), "{word:?} is not in {}", ran.err);
    }
    let report = read_json(&place, "report");
    let warnings = report["warnings"].as_array().unwrap();
    assert!(
        warnings.len() == 1 && warnings[0]["rank"] == 1,
        "{warnings:?}"
    );
    assert!(outputs(&place, 2) == sorted(&all, RECORD_BYTES));
}

/// Only rank 0 shows progress, as soon as every rank has reported: at once and then every second. A
/// fast machine needs more records for that.
#[test]
fn progress_is_that_of_all() {
    for records in [1_000_000, 4_000_000, 16_000_000] {
        let (place, all) = inputs(2, records);
        let sort = "sort --format gensort in-{rank} -o out-{rank} -S 64M --progress json";
        let Some(ran) = run(&place, 2, sort) else {
            return;
        };
        let ran = ran.succeeded();
        let steps: Vec<Value> = ran
            .err
            .lines()
            .filter(|line| line.starts_with("{\"phase\""))
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert!(
            steps.iter().all(|step| step["ranks"]["count"] == 2),
            "{}",
            ran.err
        );
        // All is read once and written once. Where ranks are in different phases, what they expect
        // differs a little.
        let whole = 2.0 * all.len() as f64;
        let totals = steps.iter().filter_map(|step| step["total_bytes"].as_f64());
        if totals
            .filter(|total| (total / whole - 1.0).abs() < 0.1)
            .count()
            > 0
        {
            return;
        }
    }
    panic!("no line had what all ranks do");
}
