//! `sort --shuffle`: each line may come to each place, a seed repeats an order, and no line is lost.

use crate::common::Place;

const LINES: u32 = 20_000;

fn numbers(lines: u32) -> String {
    (0..lines).map(|number| format!("{number}\n")).collect()
}

fn sorted(text: &[u8]) -> Vec<&[u8]> {
    let mut lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
    lines.sort_unstable();
    lines
}

/// Lines of each tenth of the input come to each tenth of the output equally often: chi squared of 81 degrees of
/// freedom, whose mean is 81 and whose standard deviation 13.
#[test]
fn lines_come_from_everywhere() {
    let place = Place::new();
    place.write("in", numbers(LINES));
    let out = place.run("sort --shuffle=7 in").succeeded().out;
    assert_eq!(sorted(&out), sorted(numbers(LINES).as_bytes()));
    let text = String::from_utf8(out).unwrap();
    let tenth = LINES / 10;
    let mut found = [[0_u32; 10]; 10];
    for (place, line) in (0..).zip(text.lines()) {
        let number: u32 = line.parse().unwrap();
        found[(number / tenth) as usize][(place / tenth) as usize] += 1;
    }
    let expected = f64::from(tenth) / 10.0;
    let off = |count: &u32| (f64::from(*count) - expected).powi(2) / expected;
    let chi_squared: f64 = found.iter().flatten().map(off).sum();
    assert!((30.0..146.0).contains(&chi_squared), "{chi_squared}");
}

/// Of two lines, each as often as the other, about half of the neighbours differ: 10,000 of 19,999, with a standard
/// deviation of 71. With `-R` they differ once.
#[test]
fn equal_lines_are_parted() {
    let place = Place::new();
    let half = LINES as usize / 2;
    place.write("in", "a\n".repeat(half) + &"b\n".repeat(half));
    // The same file twice, too: its lines have other places each time.
    for inputs in ["in", "in in"] {
        let ran = place.run(&format!("sort --shuffle=1 {inputs}")).succeeded();
        let lines = without_newlines(&ran.out);
        let changes = lines.windows(2).filter(|two| two[0] != two[1]).count();
        let expected = lines.len() / 2;
        assert!(changes.abs_diff(expected) < 600, "{inputs}: {changes}");
    }
}

fn without_newlines(text: &[u8]) -> Vec<u8> {
    text.iter().copied().filter(|byte| *byte != b'\n').collect()
}

#[test]
fn a_seed_decides_the_order() {
    let place = Place::new();
    place.write("in", numbers(LINES));
    place.run_shell("gzip -k in").succeeded();
    let run = |how: &str| {
        place
            .run(&format!("sort --shuffle=3 {how}"))
            .succeeded()
            .out
    };
    let once = run("in");
    for how in [
        "-S 6M --parallel 1 in",
        "--parallel 4 --plan merge in",
        "--plan two-pass in",
        "--io direct in",
        "in.gz",
    ] {
        assert!(run(how) == once, "{how}");
    }
    assert!(
        place
            .feed("sort --shuffle=3", numbers(LINES).as_bytes())
            .out
            == once
    );
    run("in -o out --compress-output zstd");
    assert!(place.run_shell("zstd -dc out").out == once);
    let ten = run("--top 10 in");
    assert!(once.starts_with(&ten));
    assert_eq!(ten.iter().filter(|byte| **byte == b'\n').count(), 10);
    // In place, and without a seed another order each time.
    place.run("sort --shuffle in -o in").succeeded();
    let other = place.read("in");
    assert_eq!(sorted(&other), sorted(&once));
    place.run("sort --shuffle in -o in").succeeded();
    assert!(other != once && place.read("in") != other);
}

#[test]
fn records_stay_whole_below_their_head() {
    let place = Place::new();
    place.write("a.csv", "\u{feff}name,n\nx,1\ny,2\n");
    place.write("b.csv", "name,n\nz,3");
    place.write("empty.csv", "");
    let inputs = "a.csv empty.csv b.csv";
    let out = place
        .run(&format!("sort --shuffle=5 --header 1 {inputs}"))
        .succeeded()
        .out;
    assert!(out.starts_with("\u{feff}name,n\n".as_bytes()));
    assert_eq!(sorted(&out[10..]), sorted(b"x,1\ny,2\nz,3\n"));
    place.write("in.vcf", "##a\n##b\n#CHROM\n1\t5\n2\t7\n");
    let out = place
        .run("sort --shuffle --header # in.vcf")
        .succeeded()
        .out;
    assert!(out.starts_with(b"##a\n##b\n#CHROM\n"));
    assert_eq!(out.len(), place.read("in.vcf").len());
    let reads: String = (0..500)
        .map(|read| format!("@r{read}\nACGT\n+\nFFFF\n"))
        .collect();
    place.write("reads.fq", &reads);
    for how in ["--record-lines 4", "--record-start @"] {
        let out = place
            .run(&format!("sort --shuffle=2 {how} reads.fq"))
            .succeeded()
            .out;
        assert!(out != reads.as_bytes());
        let text = String::from_utf8(out).unwrap();
        let mut found: Vec<&str> = text.split_inclusive("FFFF\n").collect();
        let mut expected: Vec<&str> = reads.split_inclusive("FFFF\n").collect();
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected, "{how}");
    }
    let out = place.feed("sort --shuffle -z", b"b\nc\0a\0").out;
    assert!(out == b"b\nc\0a\0" || out == b"a\0b\nc\0", "{out:?}");
}

#[test]
fn the_report_counts_lines_and_their_bytes() {
    let place = Place::new();
    place.write("in", numbers(LINES));
    let ran = place
        .run("sort --shuffle=9 --report - in -o out")
        .succeeded();
    let report = ran.json();
    assert_eq!(report["records"], LINES);
    assert_eq!(report["bytes"], numbers(LINES).len());
    assert_eq!(report["seed"], 9);
    for bytes in ["read_bytes", "written_bytes"] {
        assert_eq!(report[bytes], numbers(LINES).len(), "{bytes}");
    }
    let ran = place
        .run("sort --shuffle --report - in -o first")
        .succeeded();
    let seed = &ran.json()["seed"];
    place
        .run(&format!("sort --shuffle={seed} in -o again"))
        .succeeded();
    assert!(place.read("first") == place.read("again"));
    assert_eq!(place.read("out").len(), numbers(LINES).len());
}

/// More than memory holds, with a line that is longer than a look at the first ones supposes.
#[test]
fn a_seed_decides_the_order_of_more_than_memory_holds() {
    let place = Place::new();
    let long = "x".repeat(300_000);
    let text = numbers(2_000_000) + &long + "\n" + &numbers(1000);
    place.write("in", &text);
    let whole = place.run("sort --shuffle=4 -S 400M in").succeeded().out;
    for how in ["-S 24M in", "-S 24M --parallel 1 --plan two-pass in"] {
        let spilled = place.run(&format!("sort --shuffle=4 {how}")).succeeded();
        assert!(spilled.out == whole, "{how}");
    }
    assert_eq!(sorted(&whole), sorted(text.as_bytes()));
    // Lengths are those of lines alone.
    place.write("long", format!("{}\nb\n", "x".repeat((1 << 20) - 1)));
    place
        .run("sort --shuffle --max-line 1M -S 64M long")
        .succeeded();
}

/// Once a lot began as a line on top does, and the record behind it stayed on top with it.
#[test]
fn no_lot_looks_like_a_line_on_top() {
    let place = Place::new();
    place.write("in", "one\ntwo\nthree\n");
    for seed in 0..300 {
        for mark in ["\u{a7}", "\u{bf}", "\u{10ffff}"] {
            let ran = place.run(&format!("sort --shuffle={seed} --header {mark} in"));
            assert_eq!(
                sorted(&ran.succeeded().out),
                [b"one\n", &b"three\n"[..], b"two\n"]
            );
        }
    }
}

/// The end of a file is where it was when it was opened, whether it is read with lots or line by line.
#[test]
fn lines_that_are_appended_meanwhile_are_left_out() {
    let place = Place::new();
    place.write("in", numbers(400_000));
    for how in ["--shuffle", "--record-lines 2"] {
        let script = format!(
            "cp in grows; (while printf 'appended\\nappended\\n' >>grows; do sleep 0.01; done) & more=$!; \
             \"$GRISTMILL\" sort {how} -S 12M --parallel 1 grows -o out; code=$?; kill $more; exit $code"
        );
        let ran = place.run_shell(&script).succeeded();
        let out = place.read("out");
        let count = |text: &[u8]| text.windows(8).filter(|text| text == b"appended").count();
        // Some came before the file was opened.
        let (appended, all) = (count(&out), count(&place.read("grows")));
        let told = ran.err.contains("grew");
        assert!(told && appended < all, "{how}: {appended}: {}", ran.err);
        assert_eq!(out.len() - 9 * appended, numbers(400_000).len());
    }
}

#[test]
fn an_order_is_refused_beside_it() {
    let place = Place::new();
    place.write("in", "b\na\n");
    for (options, told) in [
        ("-k1,1", "and -k is about one; leave one of them out"),
        ("-n", "and -n is about one"),
        ("--sort=random", "and -R is about one"),
        ("-u", "and -u is about one"),
        ("-m", "and -m is about one"),
        ("-c", "and -c is about one"),
        ("--verify -o out", "and --verify is about one"),
        ("--resume -o out", "begins anew each time"),
        ("--random-source in", "give --shuffle a seed"),
        ("--count", "and --count is about one"),
        ("--keep last", "and --keep is about one"),
        ("--locale de", "and --locale is about one"),
        ("-o set/", "name one file with -o"),
        (
            "--format csv",
            "leave --format out, and keep the header on top with --header 1",
        ),
        ("--format jsonl", "leave --format out: each row is a line"),
        ("--format gensort", "is for lines, not for --format gensort"),
        ("--bad-records bad", "and --bad-records is about one"),
        ("42", "--shuffle has its seed behind ="),
    ] {
        let ran = place.run(&format!("sort --shuffle {options} in"));
        assert!(ran.complaint().contains(told), "{options}: {}", ran.err);
        assert_eq!((ran.code, &ran.out[..]), (2, &b""[..]), "{options}");
    }
    let ran = place.run("explain --shuffle in");
    assert!(
        ran.complaint().contains("--shuffle has none"),
        "{}",
        ran.err
    );
    place.run("sort in -o set/").succeeded();
    let ran = place.run("sort --shuffle set");
    assert!(ran.complaint().contains("name its files"), "{}", ran.err);
    for seed in ["x", "-1", "18446744073709551616"] {
        let ran = place.run(&format!("sort --shuffle={seed} in"));
        assert!(ran.err.contains("whole number below 2^64"), "{}", ran.err);
        assert_eq!(ran.code, 2);
    }
}
