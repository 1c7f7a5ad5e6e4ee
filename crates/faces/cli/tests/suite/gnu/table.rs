//! Every option once, beside GNU sort, and what is said about wrong command lines.

use super::{Both, is_here, words};
use crate::common::Place;

/// Command lines that both know, with the inputs of [`place`].
const LINES: &[&str] = &[
    "-b a",
    "-d a",
    "-f a",
    "-g a",
    "-i a",
    "-M a",
    "-h a",
    "-n a",
    "-R --random-source=salt a",
    "-r a",
    "-V a",
    "-k2 a",
    "-k 2,2nr a",
    "--key=1.2,1.3 a",
    "-t, -k2,2n a",
    "-s -k2,2 a",
    "--stable a",
    "-z z",
    "--parallel=2 a",
    "-S 64M a",
    "-S 100000 a",
    "-S 100000k a",
    "-S 67108864b a",
    "-S 50% a",
    "--buffer-size=1G a",
    "-T . a",
    "-T . -T / a",
    "--temporary-directory=. a",
    "-m sorted sorted2",
    "--merge sorted sorted2",
    "-mr r r",
    "-m sorted",
    "-m --batch-size=2 sorted sorted2 sorted sorted2 sorted",
    "--batch-size 5 a b",
    "-c a",
    "-C a",
    "-c sorted",
    "-C sorted",
    "--check=quiet a",
    "--check=silent a",
    "--check=diagnose-first a",
    "-cu sorted",
    "-u sorted",
    "-u a b",
    "-u -k1,1 -n a",
    "-mu sorted sorted2",
    "--unique a",
    "-cr sorted",
    "-cz z",
    "-cn a",
    "-c",
    "--files0-from=names",
    "--files0-from -",
    "--sort=general-numeric a",
    "--sort=human-numeric a",
    "--sort=month a",
    "--sort=numeric a",
    "--sort=random --random-source=salt a",
    "--sort=version a",
    "--ignore-leading-blanks a",
    "--dictionary-order a",
    "--ignore-case a",
    "--general-numeric-sort a",
    "--ignore-nonprinting a",
    "--month-sort a",
    "--human-numeric-sort a",
    "--numeric-sort a",
    "--random-sort --random-source salt a",
    "--reverse a",
    "--version-sort a",
    "+1 a",
    "+1 -2 a",
    "+1.1b -2.2n a",
    "a +1nr",
    "-- +1",
    "-rnk2 a",
    "a -r",
    "-r a -n b",
    "a b",
    "-n -r -n -r a",
    "-t , -t , -k2 a",
    "-t\\0 -k2 a",
    "-rn -- a",
    "-k1 -k1 a",
    "-k1,1 --reverse a",
    "a a",
    // Refused by both.
    "-dn a",
    "-k1dn a",
    "-nM a",
    "-gh a",
    "-cC a",
    "-Cc a",
    "-c a b",
    "-c -o out a",
    "-k0 a",
    "-k1.0 a",
    "-k a",
    "-k1, a",
    "-k1x a",
    "-t ab a",
    "-t a -t b a",
    "--batch-size=1 a",
    "--batch-size=x a",
    "-S x a",
    "-S 1X a",
    "-S -1 a",
    "missing",
    "-c missing",
    "--files0-from=names a",
    "--files0-from=empty",
    "--files0-from=missing",
    "--files0-from=hole",
    "--unknown a",
    "-x a",
    "+1 -2x a",
    "-R --random-source=short a",
    "-R --random-source=missing a",
    "--parallel=0 a",
    "--parallel=x a",
    "-o",
    "-k",
];

fn place() -> Place {
    let place = Place::new();
    let lines = "pears,12\nApples 7\n 3M,b\nfeb 1e2\n10\n9 x\n\napples 1.5\nv1.10,2\nv1.9,30\n";
    place.write("a", lines);
    place.write("b", "zebra\r\n-5\nJAN\0x");
    place.write("z", "b\na\0a\0c");
    place.write("sorted", "a\nb\nb\nc\n");
    place.write("sorted2", "A\nb\nd");
    place.write("r", "c\nb\na\n");
    place.write("salt", b"0123456789abcdef more");
    place.write("short", b"0123456789");
    place.write("names", b"a\0b");
    place.write("hole", b"a\0\0b\0");
    place.write("empty", b"");
    place.write("+1", "old\nname\n");
    place
}

#[test]
fn every_option_does_as_with_gnu_sort() {
    if !is_here() {
        return;
    }
    let place = place();
    for line in LINES {
        let both = Both::run(&place, &words(line), b"a\0b\0");
        both.assert_same(|| (*line).to_owned());
    }
}

#[test]
fn outputs_are_written_as_by_gnu_sort() {
    if !is_here() {
        return;
    }
    let place = place();
    for line in [
        "a b -o out",
        "-oout -r a",
        "--output=out z",
        "a -nr --output out",
        "-o +1 +1",
    ] {
        for name in ["out", "+1"] {
            place.write(name, "b\na\n");
        }
        let expected = place.run_shell(&format!("LC_ALL=C sort {line}; cat out +1"));
        for name in ["out", "+1"] {
            place.write(name, "b\na\n");
        }
        let script = format!("\"$GRISTMILL\" sort {line}; cat out +1");
        let ours = place.run_shell(&script);
        assert_eq!(ours.out, expected.out, "{line}: {ours:?}");
    }
}

/// Without a source each shuffle is another, and keeps equal lines together.
#[test]
fn a_shuffle_draws_its_salt() {
    let place = Place::new();
    let lines: String = (0..64).map(|number| format!("{}\n", number / 2)).collect();
    place.write("in", &lines);
    let shuffle = || place.run("sort -R in").succeeded().out;
    let (one, other) = (shuffle(), shuffle());
    assert_ne!(one, other);
    let shuffled: Vec<&[u8]> = one.split(|&byte| byte == b'\n').collect();
    assert!(shuffled[..64].chunks(2).all(|pair| pair[0] == pair[1]));
}

/// The number of a line counts over all blocks of a large input.
#[test]
fn a_check_finds_the_line() {
    let place = Place::new();
    let script = r#"seq -w 400000 > in; seq -w 400000 | sed '350000s/.*/000000/;390000s/.*/1/' > out
        "$GRISTMILL" sort -c in && ! "$GRISTMILL" sort -c out && ! "$GRISTMILL" sort -C <out
        cat out | "$GRISTMILL" sort -c -S 32M"#;
    let ran = place.run_shell(script);
    assert_eq!(ran.code, 1, "{ran:?}");
    let told = "350000: disorder: 000000\n";
    assert_eq!(ran.err, format!("gristmill: out:{told}gristmill: -:{told}"));
}

#[test]
fn lines_are_verified() {
    let place = Place::new();
    let script = r#"seq 100000 > in; "$GRISTMILL" sort -rn in -o out --verify -S 16M
        printf 'no end' > in; "$GRISTMILL" sort in in -o out2 --verify; sort -rnc out"#;
    let ran = place.run_shell(script);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert_eq!(place.read("out2"), b"no end\nno end\n");
    let ran = place.run("sort in -R -o new --resume");
    assert!(ran.complaint().contains("--random-source"), "{ran:?}");
    assert_eq!(place.names(), ["in", "out", "out2"]);
}

#[test]
fn a_check_of_binary_records() {
    let place = Place::with_records(1000);
    place.run("sort --format gensort in -o out").succeeded();
    assert_eq!(place.run("sort --format gensort -c out").code, 0);
    let ran = place.run("sort --format fixed:2 --key 1+1:desc -c out");
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.complaint().contains("out:") && ran.complaint().contains(": disorder: "));
}

#[test]
fn messages_say_what_to_do() {
    let place = place();
    for (line, part) in [
        ("-dn a", "-dn contradict"),
        ("-k 0+10 a", "--format gensort or fixed:LEN"),
        ("-k0 a", "counted from 1"),
        ("-t ab a", "more than one byte"),
        ("-t a -t b a", "give -t once"),
        ("-c a b", "checks one input"),
        ("-C a -o b", "-o has nothing to do"),
        ("-c -C a", "give only one"),
        ("--debug -o x a", "leave -o or --debug out"),
        ("--compress lz4 --compress-program=gzip a", "give only one"),
        ("--batch-size 1 a", "give a number from 2 on"),
        ("-m sorted a", "a: line 2 is out of order"),
        ("-m sorted r", "r: line 2 is out of order"),
        ("--files0-from names a", "beside --files0-from"),
        ("--files0-from empty", "names no input"),
        ("--files0-from hole", "name 2 is empty"),
        ("-R --random-source short a", "end of file"),
        ("--sort=x a", "give one of general-numeric"),
        ("--check=x a", "give diagnose-first"),
        ("--format json a", "use --format jsonl"),
        ("--format gensort -t, a", "no fields"),
        ("--format gensort -z a", "no end marker"),
        ("--format gensort -n a", "the bytes of a key"),
        ("--format gensort -r a", ":desc"),
    ] {
        let ran = place.run(&format!("sort {line}"));
        assert_eq!(ran.code, 2, "{line}: {ran:?}");
        assert!(ran.complaint().contains(part), "{line}: {ran:?}");
    }
}
