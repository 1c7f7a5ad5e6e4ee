//! Compressed inputs are read as their contents, and outputs are compressed (docs/sorting.md).

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use codec::{Decoder, Encoder, Front, Header, read_past};
use node::{Compress, Compression, Decompress};

use crate::common::{Place, RECORD_BYTES, is_long, sorted};

/// Bytes as a file in that format.
fn compressed(format: Compression, bytes: &[u8]) -> Vec<u8> {
    let how = Compress {
        format,
        cores: 1,
        memory_bytes: 1 << 30,
    };
    let mut encoder = Encoder::new(how, Vec::new()).unwrap();
    encoder.write(bytes).unwrap();
    encoder.end().unwrap()
}

/// Lines that are not in order.
fn lines(count: usize) -> Vec<u8> {
    let line = |number: usize| format!("{}\n", number * 7919 % 1_000_003);
    (0..count).map(line).collect::<String>().into_bytes()
}

/// Lines of 20 bytes that are not in order: enough bytes for a limit of memory, with few lines to sort.
fn long_lines(bytes: usize) -> Vec<u8> {
    let line = |number: usize| format!("{:07}-{number:011}\n", number * 7919 % 1_000_003);
    (0..bytes / 20).map(line).collect::<String>().into_bytes()
}

fn sorted_lines(all: &[u8]) -> Vec<u8> {
    let mut lines: Vec<&[u8]> = all.split_inclusive(|&byte| byte == b'\n').collect();
    lines.sort_unstable();
    lines.concat()
}

#[test]
fn every_format_is_read_as_its_contents() {
    let place = Place::with_records(3000);
    let (records, text) = (place.read("in"), lines(20_000));
    for format in Compression::ALL {
        let name = format.name();
        place.write("records", compressed(format, &records));
        place.write("text", compressed(format, &text));
        let cases = [
            ("--format gensort records", sorted(&records, RECORD_BYTES)),
            ("--format fixed:10 records", sorted(&records, 10)),
            ("text", sorted_lines(&text)),
        ];
        for (input, expected) in cases {
            let ran = place.run(&format!("sort {input}")).succeeded();
            assert!(ran.out == expected, "{name}, {input}");
            let forced = place.run(&format!(
                "sort --decompress {name} {input} --io direct -o out"
            ));
            forced.succeeded();
            assert!(place.read("out") == expected, "{name}, {input}");
        }
        let piped = place.feed("sort", &place.read("text")).succeeded();
        assert!(piped.out == sorted_lines(&text), "{name} from a pipe");
        let from_file = place
            .run_shell("exec \"$GRISTMILL\" sort <text")
            .succeeded();
        assert!(from_file.out == sorted_lines(&text), "{name} from a file");
    }
}

/// Compressed inputs, plain ones and a pipe together; a last line without its newline gets one.
#[test]
fn compressed_inputs_are_sorted_with_others() {
    let place = Place::new();
    let parts: Vec<Vec<u8>> = (0..Compression::ALL.len())
        .map(|part| [&lines(300 + part)[..], b"an open end"].concat())
        .collect();
    let mut names = Vec::new();
    for (format, part) in Compression::ALL.into_iter().zip(&parts) {
        place.write(format.name(), compressed(format, part));
        names.push(format.name());
    }
    place.write("plain", &parts[0]);
    place.write("none", compressed(Compression::Gzip, b""));
    let inputs = format!("{} plain none - ", names.join(" "));
    let line = format!("sort {inputs} -o out --json");
    let report = place.feed(&line, &place.read("gzip")).succeeded().json();
    let mut all: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
    all.extend([&parts[0][..], &parts[0]]);
    let all: Vec<u8> = all
        .iter()
        .flat_map(|part| [part, &b"\n"[..]].concat())
        .collect();
    assert!(place.read("out") == sorted_lines(&all));
    assert_eq!(report["plan"], "merge");
    let count = all.iter().filter(|&&byte| byte == b'\n').count();
    assert_eq!(report["records"], count);
}

/// Inputs beyond the first few are opened again when their turn comes.
#[test]
fn many_compressed_inputs_need_few_descriptors() {
    let place = Place::new();
    let mut names = String::new();
    for number in 0..60 {
        let text = format!("{}\n{}\n", 100 - number, 200 + number);
        place.write(
            &format!("in{number}"),
            compressed(Compression::Zstd, text.as_bytes()),
        );
        names.push_str(&format!("in{number} "));
    }
    let limited = format!("ulimit -n 40; exec \"$GRISTMILL\" sort -n {names} -o out");
    place.run_shell(&limited).succeeded();
    let numbers = (41..=100).chain(200..260);
    let expected: String = numbers.map(|number| format!("{number}\n")).collect();
    assert_eq!(String::from_utf8(place.read("out")).unwrap(), expected);
}

#[test]
fn the_tools_beside_the_sort_read_compressed_files() {
    let place = Place::with_records(1000);
    let text = lines(5000);
    place.write("text", compressed(Compression::Gzip, &text));
    place.write("sorted", compressed(Compression::Xz, &sorted_lines(&text)));
    place.run("sort -c sorted").succeeded();
    assert_eq!(place.run("sort -C text").code, 1);
    let ran = place.run("sort -c text");
    assert!(
        ran.err.contains("text:") && ran.err.contains("disorder"),
        "{ran:?}"
    );
    let merged = place.run("sort -m sorted text").succeeded();
    assert!(merged.out == sorted_lines(&[&text[..], &text].concat()));
    place.write("names", b"text\0sorted\0");
    let ran = place.run("sort --files0-from names").succeeded();
    assert!(ran.out == merged.out);
    place.write("few", compressed(Compression::Lz4, b"b 2\na 1\n"));
    let ran = place.run("sort --debug -k2n few").succeeded();
    assert!(ran.out.starts_with(b"a 1\n"), "{ran:?}");
    place.write(
        "records",
        compressed(Compression::Zstd, &sorted(&place.read("in"), RECORD_BYTES)),
    );
    place.run("valsort records").succeeded();
}

#[test]
fn records_that_begin_like_a_compressed_file_are_records() {
    let place = Place::new();
    for magic in [
        &b"\x1f\x8b\x08"[..],
        b"\x28\xb5\x2f\xfd",
        b"\x04\x22\x4d\x18",
        b"BZh9",
    ] {
        let mut records = magic.to_vec();
        records.resize(2 * RECORD_BYTES, 0xff);
        place.write("in", &records);
        place.run("sort --format gensort in -o out").succeeded();
        assert!(place.read("out") == sorted(&records, RECORD_BYTES));
    }
    // Even with a valid header, if the user says so.
    let file = compressed(Compression::Gzip, &lines(100));
    place.write("in", &file);
    let line = "sort --format fixed:1 --decompress none in -o out";
    place.run(line).succeeded();
    assert!(place.read("out") == sorted(&file, 1));
    place
        .run("sort -c --format fixed:1 --decompress none out")
        .succeeded();
}

/// One line with the file, the fault and what to do; the output stays as it was.
#[test]
fn a_damaged_input_is_refused() {
    let place = Place::new();
    let text = lines(3000);
    for format in Compression::ALL {
        let whole = compressed(format, &text);
        let middle = whole.len() / 2;
        let mut flipped = whole.clone();
        flipped[middle] ^= 0x10;
        let behind = [&whole[..], b"more"].concat();
        for damaged in [
            &whole[..middle],
            &whole[..whole.len() - 1],
            &flipped,
            &behind,
        ] {
            place.write("in", damaged);
            place.write("out", b"as it was");
            for how in ["", "--plan two-pass", "--plan one-pass", "-S 16M"] {
                let ran = place.run(&format!("sort {how} in -o out --json"));
                assert_eq!(ran.code, 2, "{format:?}");
                let line = ran.complaint();
                let parts = ["cannot decompress in: ", format.name(), "--decompress none"];
                assert!(parts.iter().all(|part| line.contains(part)), "{line}");
                assert_eq!(ran.json()["error"]["file"], "in");
                assert_eq!(place.read("out"), b"as it was");
                assert!(place.unfinished().is_empty());
            }
            let ran = place.feed("sort", damaged);
            assert!(ran.code == 2 && ran.out.is_empty(), "{ran:?}");
            assert!(ran.complaint().contains("standard input"), "{ran:?}");
        }
    }
}

#[test]
fn records_cut_in_the_contents_are_refused() {
    let place = Place::new();
    place.write("in", compressed(Compression::Zstd, &[7; 250]));
    let ran = place.run("sort --format gensort in -o out");
    assert_eq!(ran.code, 2);
    let line = ran.complaint();
    assert!(
        line.contains("inside a record") && line.contains("byte 200"),
        "{line}"
    );
    assert!(fs::metadata(place.path("out")).is_err());
}

#[test]
fn a_resumable_sort_refuses_a_compressed_input() {
    let place = Place::new();
    place.write("in", compressed(Compression::Gzip, &lines(100)));
    let ran = place.run("sort --resume in -o out");
    assert_eq!(ran.code, 2);
    let line = ran.complaint();
    assert!(
        line.contains("in is compressed") && line.contains("decompress it"),
        "{line}"
    );
}

/// A line that is longer than the buffers: the sort begins again, as for a plain file.
#[test]
fn long_lines_in_a_compressed_file_are_sorted() {
    let place = Place::new();
    let mut text = lines(1000);
    text.extend(vec![b'x'; 3 << 20]);
    text.extend(b"\nlast\n");
    place.write("in", compressed(Compression::Zstd, &text));
    place.run("sort in -o out -S 1G").succeeded();
    assert!(place.read("out") == sorted_lines(&text));
}

/// Rows keep their header on top, which is skipped each time that a compressed file is opened.
#[test]
fn compressed_rows_keep_their_header() {
    let place = Place::new();
    for (number, format) in Compression::ALL.into_iter().enumerate() {
        let rows = format!("name,size\nb{number},2\n\"a\n{number}\",1\n");
        place.write(format.name(), compressed(format, rows.as_bytes()));
    }
    let line = "sort --format csv --key size:num --key name gzip zstd lz4 bzip2 xz -";
    let ran = place.feed(line, &place.read("lz4"));
    let mut expected = "name,size\n".to_owned();
    let numbers = [0, 1, 2, 2, 3, 4];
    numbers
        .iter()
        .for_each(|number| expected += &format!("\"a\n{number}\",1\n"));
    numbers
        .iter()
        .for_each(|number| expected += &format!("b{number},2\n"));
    assert_eq!(String::from_utf8(ran.succeeded().out).unwrap(), expected);
    for how in ["", "--plan two-pass", "--plan one-pass"] {
        let line = format!("{line} {how} -o out.zst --verify");
        place.feed(&line, &place.read("lz4")).succeeded();
        let out = contents(Compression::Zstd, &place.read("out.zst"));
        assert_eq!(String::from_utf8(out).unwrap(), expected, "{line}");
    }
    place
        .run("sort --format csv --key size:num --key name -c out.zst")
        .succeeded();
}

/// Memory for decompression is a part of `-S`.
#[test]
fn the_memory_limit_holds_with_compressed_inputs() {
    const PROGRAM_BYTES: u64 = 32 << 20;
    let bytes = if is_long() { 80_000_000 } else { 40_000_000 };
    let place = Place::new();
    let text = long_lines(bytes);
    let expected = sorted_lines(&text);
    for format in Compression::ALL {
        place.write("in", compressed(format, &text));
        // The larger limit has memory for members that are decompressed ahead.
        for mib in [16, 128] {
            let line = format!("sort in -o out --json -S {mib}M");
            let report = place.run(&line).succeeded().json();
            assert!(place.read("out") == expected, "{format:?}");
            let peak = report["peak_rss_bytes"].as_u64().unwrap();
            assert!(peak <= (mib << 20) + PROGRAM_BYTES, "{format:?}: {peak}");
        }
    }
    let ran = place.run("sort in -o out -S 4M");
    assert_eq!(ran.code, 2);
    assert!(ran.complaint().contains("give at least -S"), "{ran:?}");
}

/// The contents of a file in that format.
fn contents(format: Compression, file: &[u8]) -> Vec<u8> {
    let mut rest = std::io::Cursor::new(file.to_vec());
    let front = Front::of(Vec::new(), &mut rest, Decompress::Never, read_past).unwrap();
    let header = Header::of(&file[..file.len().min(4096)], 1 << 30).expect("a header");
    assert_eq!(header.format, format);
    let mut all = vec![0; 16 << 20];
    let read = Decoder::new(header, front, rest).fill(&mut all);
    all.truncate(read.unwrap());
    all
}

#[test]
fn an_output_is_compressed_as_its_name_says() {
    let place = Place::with_records(20_000);
    let text = lines(50_000);
    place.write("text", &text);
    let expected = sorted_lines(&text);
    for format in Compression::ALL {
        let out = format!("out.{}", format.extension());
        for how in [
            "",
            "-S 24M --verify",
            "--plan two-pass",
            "--plan merge",
            "--plan one-pass",
        ] {
            let line = format!("sort text -o {out} --json {how}");
            let report = place.run(&line).succeeded().json();
            assert!(contents(format, &place.read(&out)) == expected, "{line}");
            assert_eq!(report["records"], 50_000);
        }
        let line = format!("sort --format gensort in -o {out} --verify --plan two-pass -S 24M");
        place.run(&line).succeeded();
        let records = sorted(&place.read("in"), RECORD_BYTES);
        assert!(contents(format, &place.read(&out)) == records, "{line}");
        // It reads its own output, also where that replaces the input.
        place
            .run(&format!("sort -r {out} --format lines -o {out}"))
            .succeeded();
        let name = format.name();
        let ran = place
            .run(&format!("sort text --compress-output {name}"))
            .succeeded();
        assert!(contents(format, &ran.out) == expected, "{name} to a pipe");
        let line = format!("sort -u text text -o {out}");
        place.run(&line).succeeded();
        assert!(contents(format, &place.read(&out)) == expected, "{line}");
        place.run("sort text -o plain").succeeded();
        place
            .run(&format!("sort text --compress-output none -o {out}"))
            .succeeded();
        assert!(place.read(&out) == place.read("plain"));
        assert!(place.unfinished().is_empty());
    }
}

/// A compressed output has the guarantees of any: the old content until the new one is complete,
/// and the old rights.
#[test]
fn a_compressed_output_replaces_the_old_one_at_the_end() {
    let place = Place::new();
    place.write("out.gz", "as it was");
    fs::set_permissions(place.path("out.gz"), Permissions::from_mode(0o640)).unwrap();
    let whole = compressed(Compression::Gzip, &lines(50_000));
    place.write("in", &whole[..whole.len() - 5]);
    assert_eq!(place.run("sort in -o out.gz").code, 2);
    assert_eq!(place.read("out.gz"), b"as it was");
    assert!(place.unfinished().is_empty());
    // A disk that is full in the middle.
    let text = lines(200_000);
    place.write("text", &text);
    let limited = "ulimit -f 100; exec \"$GRISTMILL\" sort text -o out.gz -T /tmp";
    let ran = place.run_shell(limited);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.complaint().contains("out.gz"), "{ran:?}");
    assert_eq!(place.read("out.gz"), b"as it was");
    assert!(place.unfinished().is_empty());
    place.run("sort text -o out.gz").succeeded();
    assert!(contents(Compression::Gzip, &place.read("out.gz")) == sorted_lines(&text));
    let mode = fs::metadata(place.path("out.gz"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o640);
}

#[test]
fn outputs_that_are_not_written_front_to_back_are_not_compressed() {
    let place = Place::new();
    place.write("in", lines(10));
    for (line, words) in [
        ("sort in --resume -o out.gz", "remove --resume"),
        ("sort in --compress-output zstd -o set/", "name one file"),
    ] {
        let ran = place.run(line);
        assert_eq!(ran.code, 2, "{line}");
        let said = ran.complaint();
        let parts = [words, "--compress-output none"];
        assert!(parts.iter().all(|part| said.contains(part)), "{said}");
        assert_eq!(place.names(), ["in"], "{line}");
    }
    place.run("sort in -o set.gz/").succeeded();
    assert!(place.read("set.gz/manifest.json").starts_with(b"{"));
}

/// Memory for compression is a part of `-S`, and the least memory that a refusal names is enough.
#[test]
fn the_memory_limit_holds_with_compressed_outputs() {
    const PROGRAM_BYTES: u64 = 32 << 20;
    let bytes = if is_long() { 60_000_000 } else { 20_000_000 };
    let place = Place::new();
    let text = long_lines(bytes);
    place.write("in", &text);
    place.run("gensort 20000 records").succeeded();
    for format in Compression::ALL {
        let out = format!("out.{}", format.extension());
        for limit in [24, 96] {
            let line = format!("sort in -o {out} --json -S {limit}M --parallel 4");
            let report = place.run(&line).succeeded().json();
            let peak = report["peak_rss_bytes"].as_u64().unwrap();
            assert!(peak <= (limit << 20) + PROGRAM_BYTES, "{line}: {peak}");
        }
        let sort = format!("sort --format gensort records -o {out}");
        let refused = place.run(&format!("{sort} -S 1M"));
        let figure = refused.complaint().split("-S ").nth(1).unwrap().to_owned();
        place.run(&format!("{sort} -S {figure}")).succeeded();
    }
}

/// Temporary data is compressed as asked, whatever the plan, and takes less disk.
#[test]
fn temporary_data_is_compressed() {
    let place = Place::new();
    let text = lines(2_000_000);
    place.write("in", &text);
    let expected = sorted_lines(&text);
    for plan in ["two-pass", "merge"] {
        let peak = |how: &str| {
            let line = format!("sort in -o out --json -S 16M --parallel 2 --plan {plan} {how}");
            let report = place.run(&line).succeeded().json();
            assert!(place.read("out") == expected, "{line}");
            report["temp_peak_bytes"].as_u64().unwrap()
        };
        let (plain, lz4, zstd) = (
            peak("--compress none"),
            peak("--compress lz4"),
            peak("--compress zstd"),
        );
        assert!(lz4 < plain && zstd < lz4, "{plan}: {zstd} {lz4} {plain}");
        // How much of it is on disk at a time differs a little from run to run.
        let middle = lz4.midpoint(zstd);
        let by_lz4 = peak("--compress-program lz4");
        assert!(middle < by_lz4 && by_lz4 < plain, "{plan}: {by_lz4}");
        let by_gzip = peak("--compress-program /usr/bin/gzip");
        assert!(by_gzip < middle, "{plan}: {by_gzip}");
    }
    // A saved sort continues with packed data, also of another kind.
    // The saved data of a resumable sort is compressed, too.
    place
        .run("sort in -o out -S 20M --resume --compress zstd")
        .succeeded();
    assert!(place.read("out") == expected);
}

/// Frames that a decoder skips, before the first one with data: of other tools, and of any length. In
/// every way that an input can come.
#[test]
fn long_skippable_frames_come_first_in_every_kind_of_input() {
    let place = Place::new();
    let text: String = (0..3000)
        .rev()
        .map(|number| format!("{number:05} line\n"))
        .collect();
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    let expected = lines
        .iter()
        .map(|line| format!("{line}\n"))
        .collect::<String>();
    let skippable = |bytes: u32| {
        let mut frame = [&0x184d_2a53_u32.to_le_bytes()[..], &bytes.to_le_bytes()].concat();
        frame.resize(8 + bytes as usize, b'\n');
        frame
    };
    let fronts = [
        skippable(5000),
        skippable(2_000_000),
        [
            skippable(4000),
            skippable(100),
            skippable(0),
            skippable(90_000),
        ]
        .concat(),
    ];
    for format in [Compression::Zstd, Compression::Lz4] {
        let how = Compress {
            format,
            cores: 1,
            memory_bytes: 64 << 20,
        };
        let packed = |text: &str| {
            let mut encoder = Encoder::new(how, Vec::new()).unwrap();
            encoder.write(text.as_bytes()).unwrap();
            encoder.end().unwrap()
        };
        for front in &fronts {
            place.write("in", [&front[..], &packed(&text)].concat());
            place.write("sorted", [&front[..], &packed(&expected)].concat());
            place.write("names", "in\0");
            place.write("empty", front);
            for line in [
                "sort in",
                "sort --io direct in",
                "sort < in",
                "cat in | $GRISTMILL sort",
                "sort --files0-from names",
                "sort -S 16M in empty empty",
                "sort -m sorted empty",
                "sort -m < sorted",
                "sort --decompress auto in",
                "cat sorted empty | $GRISTMILL sort -m",
            ] {
                let line = if line.starts_with("cat") {
                    line.to_owned()
                } else {
                    format!("$GRISTMILL {line}")
                };
                let ran = place.run_shell(&line).succeeded();
                assert!(ran.out == expected.as_bytes(), "{format:?}: {line}");
            }
            place.run("sort -c sorted").succeeded();
            assert_eq!(place.run("sort -C in").code, 1);
            let told = place.run("explain in").succeeded();
            let told = String::from_utf8_lossy(&told.out).into_owned() + &told.err;
            assert!(told.contains("02999"), "{told}");
            let raw = place.run("sort --decompress none in").succeeded().out;
            assert!(raw.len() >= front.len());
            // It is cut in the skippable frame.
            place.write("cut", &front[..front.len() - 1]);
            for line in [
                "$GRISTMILL sort cut",
                "$GRISTMILL sort < cut",
                "$GRISTMILL sort -m cut",
            ] {
                let ran = place.run_shell(line);
                assert_eq!(ran.code, 2, "{line}: {ran:?}");
                let says = format!("cut short after {} bytes", front.len() - 1);
                assert!(ran.complaint().contains(&says), "{line}: {ran:?}");
            }
            // Other data follows.
            place.write("other", [&front[..], b"b\na\nand more\n"].concat());
            for ran in [
                place.run("sort other"),
                place.feed("sort", &place.read("other")),
            ] {
                let advice = ran.complaint().contains("--decompress none");
                assert!(ran.code == 2 && advice, "{ran:?}");
            }
        }
    }
}
