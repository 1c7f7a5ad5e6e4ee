//! Limits of the system around a run: open files, file sizes, and a disk that is full.

use std::fs;

use crate::common::{Place, RECORD_BYTES, Ran, skip, sorted};

/// Runs a script with `full` a file system of one mebibyte, in a mount namespace of its own: no
/// privilege is needed where users may have namespaces, and nothing needs to be unmounted. What is
/// there afterwards is listed on standard output.
fn with_small_disk(place: &Place, script: &str) -> Option<Ran> {
    const UNAVAILABLE: &str = "no small disk";
    fs::create_dir_all(place.path("full")).unwrap();
    let mounted = format!(
        "mount -t tmpfs -o size=1m none full 2>/dev/null || {{ echo '{UNAVAILABLE}'; exit 0; }}
         {script}
         code=$?; ls -A full; exit $code"
    );
    let ran = Ran::from(
        place
            .shell("exec unshare --mount --map-root-user sh -c \"$SCRIPT\"")
            .env("SCRIPT", mounted)
            .output()
            .unwrap(),
    );
    let mounted = !ran.err.contains("unshare:") && !ran.out.starts_with(UNAVAILABLE.as_bytes());
    if !mounted {
        skip(&format!(
            "file systems cannot be mounted here: {}",
            ran.err.trim()
        ));
    }
    mounted.then_some(ran)
}

#[track_caller]
fn refused_for_room(ran: &Ran) {
    assert_eq!(ran.code, 2, "{ran:?}");
    let line = ran.complaint();
    assert!(
        line.contains("full/out") && line.contains("free some space"),
        "{line}"
    );
}

#[test]
fn a_small_disk_is_full() {
    let place = Place::with_records(20_000);
    let scripts = [
        "\"$GRISTMILL\" sort --format gensort in -o full/out",
        "\"$GRISTMILL\" sort --format gensort <in -o full/out",
        "cat in | \"$GRISTMILL\" sort --format gensort -o full/out",
        "\"$GRISTMILL\" gensort 20000 full/out",
    ];
    for script in scripts {
        let Some(ran) = with_small_disk(&place, script) else {
            return;
        };
        refused_for_room(&ran);
        assert!(
            ran.out.is_empty(),
            "{script} left {:?}",
            String::from_utf8_lossy(&ran.out)
        );
    }
}

/// Sorting in place needs space for a second file; without it the old file stays.
#[test]
fn a_small_disk_keeps_the_old_output() {
    let place = Place::with_records(7_000);
    let script = "cp in full/out; \"$GRISTMILL\" sort --format gensort full/out -o full/out
                  code=$?; cmp in full/out || code=9; (exit $code)";
    let Some(ran) = with_small_disk(&place, script) else {
        return;
    };
    refused_for_room(&ran);
    assert_eq!(ran.out, b"out\n");
}

#[test]
fn a_small_disk_takes_what_fits() {
    let place = Place::with_records(10_000);
    let script = "\"$GRISTMILL\" sort --format gensort in -o full/out && cat full/out";
    let Some(ran) = with_small_disk(&place, script) else {
        return;
    };
    let sorted = sorted(&place.read("in"), RECORD_BYTES);
    assert!(ran.succeeded().out == [sorted, b"out\n".to_vec()].concat());
}

#[test]
fn thirty_two_open_files_are_enough() {
    let place = Place::with_records(100_000);
    let script = "ulimit -n 32; exec \"$GRISTMILL\" sort --format gensort in -o out --parallel 8";
    place.run_shell(script).succeeded();
    assert!(place.read("out") == sorted(&place.read("in"), RECORD_BYTES));
    for other in ["gensort 100000 made", "valsort out", "doctor"] {
        let script = format!("ulimit -n 32; exec \"$GRISTMILL\" {other}");
        place.run_shell(&script).succeeded();
    }
}

/// Inputs beyond those that the process may have open are opened in turn.
#[test]
fn twenty_open_files_are_enough_for_forty_inputs() {
    let place = Place::new();
    let mut all = Vec::new();
    for part in 0..40 {
        place
            .run(&format!("gensort -b{} 100 in{part}", part * 100))
            .succeeded();
        all.extend(place.read(&format!("in{part}")));
    }
    let script = r#"set -e; for name in in*; do
        "$GRISTMILL" sort --format gensort $name -o in-order-$name
        "$GRISTMILL" sort --format gensort $name -o $name.gz
        done; mkdir set"#;
    place.run_shell(script).succeeded();
    let all = sorted(&all, RECORD_BYTES);
    for limit in [32, 24, 20] {
        for (way, kept) in [
            ("in? in?? -o out", 4000),
            ("in? in?? -o out --io direct --parallel 8", 4000),
            (
                "in? in?? -o out -S 6M -T . -T set --plan two-pass --parallel 8",
                4000,
            ),
            ("in? in?? -o out --plan merge --io direct", 4000),
            (
                "in? in?? -o set/; exec \"$GRISTMILL\" sort --format gensort -m set/ -o out",
                4000,
            ),
            ("in? in?? -o out --top 50", 50),
            ("-m in-order-* -o out", 4000),
            ("-m in-order-* -o out --io direct -T . -T set", 4000),
            ("-m in-order-* -o out --batch-size 5", 4000),
            ("-m *.gz -o out", 4000),
        ] {
            let script = format!("ulimit -n {limit}; \"$GRISTMILL\" sort --format gensort {way}");
            place.run_shell(&script).succeeded();
            let found = place.read("out");
            assert!(found == all[..kept * RECORD_BYTES], "{limit}: {way}");
            fs::remove_file(place.path("out")).unwrap();
        }
    }
    // A set whose files all stay open tells what to do.
    let script = "outputs=; for name in in-order-*; do outputs=\"$outputs -o $name.set/\"; done
                  mkdir $(echo $outputs | sed 's/-o//g')
                  ulimit -n 24; exec \"$GRISTMILL\" sort --format gensort in0 $outputs";
    let ran = place.run_shell(script);
    assert!(
        ran.code == 2 && ran.complaint().contains("(ulimit -n)"),
        "{ran:?}"
    );
}

/// The default answer to a file that grows too large is a signal that kills.
#[test]
fn a_file_size_limit_is_an_error_and_no_death() {
    let place = Place::with_records(20_000);
    for run in ["sort --format gensort in -o out", "gensort 20000 out"] {
        let ran = place.run_shell(&format!("ulimit -f 100; exec \"$GRISTMILL\" {run}"));
        assert_eq!(ran.code, 2, "{run}: {ran:?}");
        assert!(ran.complaint().contains("out"), "{ran:?}");
        assert_eq!(place.names(), ["in"], "{run}");
    }
}

/// A limit on processes counts threads too; root is above it.
#[test]
fn too_few_threads_are_an_error() {
    let place = Place::without_privilege(1000);
    // Shells do not agree about the option's name.
    let script = "ulimit -u 1 2>/dev/null || ulimit -p 1
                  exec \"$GRISTMILL\" sort --format gensort in -o out";
    let ran = place.run_shell(script);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("ulimit -u"), "{ran:?}");
    assert_eq!(place.names(), ["in"]);
}

/// A few records that are large in relation to the memory must not need thousands of times their
/// size.
#[test]
fn a_few_large_records_are_sorted() {
    const LARGE_BYTES: usize = 5_000_000;
    let place = Place::new();
    let records: Vec<u8> = [9, 2, 7]
        .iter()
        .flat_map(|&byte| vec![byte; LARGE_BYTES])
        .collect();
    place.write("in", &records);
    let line = format!("sort --format fixed:{LARGE_BYTES} -S 300M in -o out");
    place.run(&line).succeeded();
    assert!(place.read("out") == sorted(&records, LARGE_BYTES));
}
