//! Memory: a sort stays within `-S` and 32 MiB for the program, and what it writes depends on its
//! inputs and its order alone (guarantees 3 and 6).

use serde_json::Value;

use crate::common::{Place, RECORD_BYTES, Ran, cases, sorted};

/// The memory of the program beyond the limit.
const PROGRAM_BYTES: u64 = 32 << 20;

/// The least `-S`, in MiB, that a refusal names.
fn least_memory_mib(place: &Place, sort: &str) -> u64 {
    let refused = place.run(&format!("{sort} -S 1M"));
    assert_eq!(refused.code, 2);
    let line = refused.complaint();
    let figure = line
        .split("-S ")
        .nth(1)
        .and_then(|rest| rest.split('M').next());
    figure
        .and_then(|figure| figure.parse().ok())
        .unwrap_or_else(|| panic!("no figure: {line}"))
}

fn check_peak(place: &Place, limit_mib: u64) {
    let sort = format!("sort --plan one-pass --format gensort in -o out --json -S {limit_mib}M");
    check_peak_of(place.run(&sort), limit_mib);
}

fn check_peak_of(ran: Ran, limit_mib: u64) {
    let report = ran.succeeded().json();
    let peak_rss_bytes = report["peak_rss_bytes"].as_u64().unwrap();
    let most = (limit_mib << 20) + PROGRAM_BYTES;
    assert!(
        peak_rss_bytes > 60_000_000,
        "memory is filled: {peak_rss_bytes}"
    );
    assert!(
        peak_rss_bytes <= most,
        "{peak_rss_bytes} bytes resident, {most} allowed"
    );
}

#[test]
fn the_least_memory_is_enough_and_is_kept() {
    let place = Place::with_records(600_000);
    let sort = "sort --plan one-pass --format gensort in -o out";
    let least = least_memory_mib(&place, sort);
    check_peak(&place, least);
    assert_eq!(place.run(&format!("{sort} -S {}M", least - 1)).code, 2);
}

/// For a few very large records the least memory that a plan asks for is enough, and little more
/// than the sort then has resident. Once two records of 100 MB asked for 3.7 GB, and 0.8 GB were
/// resident.
#[test]
fn the_least_memory_for_large_records_is_nearly_resident() {
    const LARGE_BYTES: usize = 4_000_000;
    for &records in &[3, 2, 10][..cases(1, 3) as usize] {
        let place = Place::new();
        place
            .run(&format!(
                "gensort {} in",
                records * LARGE_BYTES / RECORD_BYTES
            ))
            .succeeded();
        let expected = sorted(&place.read("in"), LARGE_BYTES);
        for options in [
            "",
            "--stable",
            "--plan one-pass",
            "--plan two-pass",
            "--plan merge",
        ] {
            let sort = format!("sort --format fixed:{LARGE_BYTES} {options} in -o out --json");
            let least = least_memory_mib(&place, &sort) << 20;
            let report = place
                .run(&format!("{sort} -S {}M", least >> 20))
                .succeeded()
                .json();
            assert!(place.read("out") == expected, "{sort}");
            let resident = report["peak_rss_bytes"].as_u64().unwrap();
            let here = format!("{records} records, {options}: {least} asked, {resident} resident");
            assert!(4 * least <= 5 * resident, "{here}");
            assert!(resident <= least + PROGRAM_BYTES, "{here}");
        }
        // A pipe needs more, since the number of its records is not known beforehand.
        let sort = format!("sort --format fixed:{LARGE_BYTES} -o out");
        let least = least_memory_mib(&place, &sort);
        place
            .feed(&format!("{sort} -S {least}M"), &place.read("in"))
            .succeeded();
        assert!(
            place.read("out") == expected && least << 20 < 20 * LARGE_BYTES as u64,
            "{least}M"
        );
    }
}

#[test]
fn sorted_and_skewed_inputs_keep_the_limit_too() {
    let place = Place::new();
    for make in ["gensort -s 600000 in", "sort --format gensort in -o in"] {
        place.run(make).succeeded();
        check_peak(
            &place,
            least_memory_mib(&place, "sort --plan one-pass --format gensort in -o out"),
        );
    }
}

/// One sort of a series at several limits.
struct Limited {
    report: Value,
    limit_mib: u64,
    is_sorted: bool,
    /// The commands, for the messages of failures.
    here: String,
}

/// Sorts 60 MB of random, skewed and sorted records in two orders at each limit, given in MiB (a
/// fifth of all combinations in `make test`), and checks that each limit holds.
fn at_limits(options: &str, limits: [u64; 4], check: impl Fn(Limited)) {
    const MAKES: [&str; 3] = [
        "gensort 600000 in",
        "gensort -s 600000 in",
        "sort --format gensort in -o in",
    ];
    const ORDERS: [&str; 2] = ["", "--stable --key 0+2"];
    let place = Place::new();
    let mut number = 0_u32;
    for make in MAKES {
        place.run(make).succeeded();
        let ways = limits.map(|limit_mib| ORDERS.map(|order| (limit_mib, order)));
        for (limit_mib, order) in ways.into_iter().flatten() {
            number += 1;
            if !number.is_multiple_of(cases(5, 1)) {
                continue;
            }
            let sort = format!("sort {options} --format gensort {order} in -o out --json");
            let ran = place.run(&format!("{sort} -S {limit_mib}M"));
            let report = ran.succeeded().json();
            let here = format!("{make}, {sort} -S {limit_mib}M: {report}");
            let most = (limit_mib << 20) + PROGRAM_BYTES;
            assert!(report["peak_rss_bytes"].as_u64() <= Some(most), "{here}");
            check(Limited {
                report,
                limit_mib,
                is_sorted: make.starts_with("sort"),
                here,
            });
        }
    }
}

/// All records are written twice or, with very little memory, some more often.
#[test]
fn a_sort_that_spills_keeps_the_limit() {
    at_limits("", [8, 16, 24, 40], |ran| {
        let passes = ran.report["passes"].as_u64().unwrap();
        let most = match ran.limit_mib {
            8 => 4,
            40 => 2,
            _ => 3,
        };
        assert!(passes <= most, "{}", ran.here);
        let temp = ran.report["temp_peak_bytes"].as_u64().unwrap();
        // Chunks of a page leave more of it empty, and with 8M nothing else fits.
        let most = if ran.limit_mib < 16 {
            66_000_000
        } else {
            63_000_000
        };
        assert!(temp > 0 && temp <= most, "{}", ran.here);
    });
}

/// Random records are written twice or, with very little memory, some more often; sorted input is
/// one run.
#[test]
fn a_sort_that_merges_keeps_the_limit() {
    at_limits("--plan merge --verify", [8, 16, 24, 40], |ran| {
        let most = if ran.limit_mib == 8 && !ran.is_sorted {
            3
        } else {
            2
        };
        let passes = ran.report["passes"].as_u64().unwrap();
        assert!(passes <= most, "{}", ran.here);
        assert_eq!(ran.report["plan"], "merge");
        assert_eq!(ran.report["partitions"] == 1, ran.is_sorted, "{}", ran.here);
    });
}

/// A pipe's length is not known: its sort may fill what `-S` gives, and no more.
#[test]
fn a_pipe_keeps_the_limit() {
    const LIMIT_MIB: u64 = 180;
    let place = Place::with_records(600_000);
    let sort = format!("sort --format gensort -o out --json -S {LIMIT_MIB}M");
    check_peak_of(place.feed(&sort, &place.read("in")), LIMIT_MIB);
}

/// Workers keep copies of long lines for a while. The heap held on to those it had freed: 100 MB more than
/// `-S 128M`.
#[test]
fn merges_of_long_lines_keep_the_limit() {
    const LIMIT_MIB: u64 = 72;
    let place = Place::new();
    let lines = (b'a'..=b'x').rev().flat_map(|letter| {
        let long = [b"b", &*vec![letter; 4_000_000], b"\n"].concat();
        [long, vec![b'a', letter, b'\n']]
    });
    place.write("in", lines.flatten().collect::<Vec<u8>>());
    for options in ["", "-u", "-u -k1,1"] {
        let sort = format!("sort {options} --plan merge in -o out --json -S {LIMIT_MIB}M");
        check_peak_of(place.run(&sort), LIMIT_MIB);
        place.run(&format!("sort -c {options} out")).succeeded();
        assert_eq!(place.read("out").len(), place.read("in").len(), "{options}");
    }
}

#[test]
fn the_output_depends_on_nothing_but_input_and_order() {
    const WAYS: [&str; 8] = [
        "-S 200M",
        "-S 2G",
        "--parallel 1",
        "--parallel 7 --io direct",
        "--io buffered",
        "--plan one-pass --parallel 3 -S 1G",
        "--plan merge -S 12M",
        "--plan merge --parallel 3 -S 1G",
    ];
    // A key of one bit a byte: nearly every record has the key of many others.
    const ORDERS: [&str; 3] = [
        "gensort",
        "gensort --key 2+1:i8:desc",
        "gensort --key 2+1 --stable",
    ];
    let place = Place::with_records(200_000);
    let input = place.read("in");
    for order in ORDERS {
        let fed = place
            .feed(&format!("sort --format {order}"), &input)
            .succeeded()
            .out;
        for way in WAYS {
            place
                .run(&format!("sort --format {order} in -o out {way}"))
                .succeeded();
            assert!(place.read("out") == fed, "{order} {way}");
        }
        assert_eq!(fed == sorted(&input, RECORD_BYTES), order == "gensort");
    }
}

/// The memory for the first records follows their number, whatever the limit and the input are.
#[test]
fn the_first_records_take_memory_for_themselves() {
    const MOST: u64 = 64 << 20;
    let place = Place::new();
    place.run("gensort -a 1000000 in").succeeded();
    place.run_shell("LC_ALL=C sort in -o sorted").succeeded();
    for (sort, from) in [
        ("sort --top 10", "in"),
        ("sort --top 10 -S 8G", "in"),
        ("sort --top 10", "< in"),
        ("sort --top 2000 --format gensort", "in"),
    ] {
        for before in ["", "cat in | "] {
            let from = if before.is_empty() { from } else { "" };
            let script = format!("{before}\"$GRISTMILL\" {sort} {from} -o out --json");
            let report = place.run_shell(&script).succeeded().json();
            let peak = report["peak_rss_bytes"].as_u64().unwrap();
            assert!(peak <= MOST, "{script}: {peak} bytes resident");
            assert_eq!(report["temp_peak_bytes"], 0, "{script}");
            let out = place.read("out");
            assert!(place.read("sorted").starts_with(&out), "{script}");
            assert!(!out.is_empty(), "{script}");
        }
    }
}
