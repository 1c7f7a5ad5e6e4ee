//! Where records come from and go to: files, several at once, standard streams, named pipes, links,
//! devices, and the input itself.

use std::fs::{self, Permissions};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};

use rustix::fs::{CWD, Mode, mkfifoat};

use crate::common::{Place, RECORD_BYTES, Ran, sorted};

const RECORDS: u64 = 30_000;

fn input_and_sorted(place: &Place) -> (Vec<u8>, Vec<u8>) {
    let input = place.read("in");
    let sorted = sorted(&input, RECORD_BYTES);
    assert!(input != sorted, "there is something to sort");
    (input, sorted)
}

fn mode(place: &Place, name: &str) -> u32 {
    fs::metadata(place.path(name)).unwrap().mode() & 0o777
}

#[test]
fn a_file_into_a_file() {
    let place = Place::with_records(RECORDS);
    let (input, sorted) = input_and_sorted(&place);
    let ran = place
        .run("sort --format gensort in -o out --verify")
        .succeeded();
    assert!(
        ran.out.is_empty() && ran.err.is_empty(),
        "quiet without a terminal: {ran:?}"
    );
    assert!(place.read("out") == sorted);
    assert!(place.read("in") == input);
    assert_eq!(place.names(), ["in", "out"]);
    place.run("valsort -q out").succeeded();
}

#[test]
fn several_inputs_are_one() {
    let place = Place::with_records(RECORDS);
    let (input, sorted) = input_and_sorted(&place);
    let parts = [
        ("a", 0..100),
        ("b", 100..100),
        ("c", 100..1_234_500),
        ("d", 1_234_500..3_000_000),
    ];
    for (name, range) in parts {
        place.write(name, &input[range]);
    }
    place
        .run("sort --format gensort d a c b -o out")
        .succeeded();
    assert!(place.read("out") == sorted);
    let ran = place
        .feed("sort --format gensort a b - d", &place.read("c"))
        .succeeded();
    assert!(ran.out == sorted);
}

#[test]
fn standard_input_to_standard_output() {
    let place = Place::with_records(RECORDS);
    let (input, sorted) = input_and_sorted(&place);
    for arguments in ["sort --format gensort", "sort --format gensort -"] {
        let ran = place.feed(arguments, &input).succeeded();
        assert!(ran.out == sorted && ran.err.is_empty(), "{arguments}");
    }
    place
        .feed("sort --format gensort -o out --verify", &input)
        .succeeded();
    assert!(place.read("out") == sorted);
    assert!(place.run("sort --format gensort in").succeeded().out == sorted);
    assert_eq!(place.names(), ["in", "out"]);
}

#[test]
fn standard_streams_that_are_files() {
    let place = Place::with_records(RECORDS);
    let (input, sorted) = input_and_sorted(&place);
    place
        .run_shell("\"$GRISTMILL\" sort --format gensort <in >out")
        .succeeded();
    assert!(place.read("out") == sorted);
    let script =
        "printf head >out; \"$GRISTMILL\" sort --format gensort <in >>out; printf tail >>out";
    place.run_shell(script).succeeded();
    assert!(place.read("out") == [b"head", &sorted[..], b"tail"].concat());
    let script =
        "{ dd bs=100 count=1 2>/dev/null; \"$GRISTMILL\" sort --format gensort; } <in >out";
    place.run_shell(script).succeeded();
    let rest = crate::common::sorted(&input[RECORD_BYTES..], RECORD_BYTES);
    assert!(place.read("out") == [&input[..RECORD_BYTES], &rest].concat());
}

#[test]
fn named_pipes_at_both_ends() {
    let place = Place::with_records(RECORDS);
    let (input, sorted) = input_and_sorted(&place);
    for name in ["from", "into"] {
        mkfifoat(CWD, place.path(name), Mode::RUSR | Mode::WUSR).unwrap();
    }
    let child = place
        .command("sort --format gensort from -o into")
        .spawn()
        .unwrap();
    let (from, into) = (place.path("from"), place.path("into"));
    let feeding = std::thread::spawn(|| fs::write(from, input).unwrap());
    let output = children::in_time(|| fs::read(into).unwrap());
    feeding.join().unwrap();
    Ran::from(child.wait_with_output().unwrap()).succeeded();
    assert!(output == sorted);
    assert!(
        fs::metadata(place.path("into"))
            .unwrap()
            .file_type()
            .is_fifo()
    );
    assert_eq!(place.names(), ["from", "in", "into"]);
}

#[test]
fn the_output_may_be_an_input() {
    let place = Place::with_records(RECORDS);
    let (input, sorted) = input_and_sorted(&place);
    place.write("more", &input[..RECORD_BYTES]);
    place
        .run("sort --format gensort in -o ./in --verify")
        .succeeded();
    assert!(place.read("in") == sorted);
    place
        .run("sort --format gensort in more -o more")
        .succeeded();
    assert_eq!(place.read("more").len(), input.len() + RECORD_BYTES);
    assert_eq!(place.names(), ["in", "more"]);
}

#[test]
fn a_link_stays_a_link() {
    let place = Place::with_records(RECORDS);
    let (_, sorted) = input_and_sorted(&place);
    fs::create_dir(place.path("inside")).unwrap();
    place.write("inside/old", "old");
    for (link, target) in [
        ("to-old", "inside/old"),
        ("to-new", "inside/new"),
        ("twice", "to-old"),
    ] {
        symlink(target, place.path(link)).unwrap();
        place
            .run(&format!("sort --format gensort in -o {link}"))
            .succeeded();
        assert_eq!(
            fs::read_link(place.path(link)).unwrap().to_str(),
            Some(target)
        );
        assert!(place.read(target) == sorted, "{link}");
    }
    assert_eq!(fs::read_dir(place.path("inside")).unwrap().count(), 2);
}

#[test]
fn an_existing_output_keeps_its_mode() {
    let place = Place::with_records(RECORDS);
    place.write("out", "old");
    for bits in [0o640, 0o444, 0o777] {
        fs::set_permissions(place.path("out"), Permissions::from_mode(bits)).unwrap();
        place
            .run_shell("umask 022; exec \"$GRISTMILL\" sort --format gensort in -o out")
            .succeeded();
        assert_eq!(mode(&place, "out"), bits);
    }
}

#[test]
fn a_new_output_follows_the_umask() {
    let place = Place::with_records(RECORDS);
    for (mask, bits) in [
        ("022", 0o644),
        ("027", 0o640),
        ("077", 0o600),
        ("000", 0o666),
    ] {
        let script =
            format!("umask {mask}; exec \"$GRISTMILL\" sort --format gensort in -o {mask}");
        place.run_shell(&script).succeeded();
        assert_eq!(mode(&place, mask), bits, "umask {mask}");
    }
}

#[test]
fn a_device_is_written_and_not_replaced() {
    let place = Place::with_records(RECORDS);
    place
        .run("sort --format gensort in -o /dev/null")
        .succeeded();
    place.run("gensort 1000 /dev/null").succeeded();
    assert!(
        fs::metadata("/dev/null")
            .unwrap()
            .file_type()
            .is_char_device()
    );
}

/// The names that a shell gives to `>(program)` and `<(program)`.
#[test]
fn names_of_open_pipes() {
    let place = Place::with_records(RECORDS);
    let (input, sorted) = input_and_sorted(&place);
    for line in [
        "in -o /dev/stdout",
        "/dev/stdin -o /dev/fd/1",
        "- -o /proc/self/fd/1",
    ] {
        let ran = place
            .feed(&format!("sort --format gensort {line}"), &input)
            .succeeded();
        assert!(ran.out == sorted, "{line}");
    }
}

#[test]
fn names_may_be_anything() {
    let place = Place::with_records(1000);
    let name = "-a b\n\"c\",buf";
    fs::rename(place.path("in"), place.path(name)).unwrap();
    let mut command = place.command("sort --format gensort -o out --");
    Ran::from(command.arg(name).output().unwrap()).succeeded();
    assert_eq!(place.read("out"), sorted(&place.read(name), RECORD_BYTES));
}

/// A pipe gives what is there: only a read of nothing is its end.
#[test]
fn pipes_that_give_a_little_at_a_time_are_read_to_their_ends() {
    const RECORD: usize = 24;
    let place = Place::new();
    let mut all = Vec::new();
    for number in 0..6_u64 {
        let record = |at: u64| {
            let key = (at * 6 + number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            [
                &key.to_be_bytes()[..],
                &at.to_be_bytes(),
                &number.to_be_bytes(),
            ]
            .concat()
        };
        let records: Vec<u8> = (0..20_000).flat_map(record).collect();
        place.write(&format!("f{number}"), &records);
        all.extend(records);
    }
    let expected = sorted(&all, RECORD);
    for (options, records) in [
        ("--top 10 --io direct -S 16M", 10),
        ("--io direct -S 16M", 120_000),
        ("--io direct", 120_000),
        ("", 120_000),
    ] {
        // Written in pieces that are neither pages nor records.
        let script = format!(
            "for i in 0 1 2 3 4 5; do mkfifo p$i; dd if=f$i of=p$i bs=1001 2>/dev/null & done; \
             $GRISTMILL sort --format fixed:{RECORD} {options} p0 p1 p2 p3 p4 p5; code=$?; \
             rm p?; exit $code"
        );
        let ran = place.run_shell(&script).succeeded();
        assert!(ran.out == expected[..records * RECORD], "{options}");
    }
}
