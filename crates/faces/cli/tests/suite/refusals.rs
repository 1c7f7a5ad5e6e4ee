//! A memory limit that is too small is answered with one that does.

use crate::common::{Place, Ran, cases};
use crate::gnu::draw::Draw;

/// An input: its name, and whether it is fed through a pipe.
struct Input {
    format: &'static str,
    is_piped: bool,
    is_packed: bool,
    bytes: Vec<u8>,
}

fn input(draw: &mut Draw) -> Input {
    let (format, width) = [
        ("", 0),
        ("-z", 0),
        ("--format csv --key a:num", 0),
        ("--format csv --key b --locale sv", 0),
        ("--format jsonl --key a:num", 0),
        ("--format gensort", 100),
        ("--format fixed:16 --key 0+8", 16),
        ("--format rdw --key 0+1", 4),
    ][draw.below(8)];
    let count = [0, 1, 3, 500, 20_000][draw.below(5)];
    let mut bytes = Vec::new();
    let long = draw.below(count.max(1));
    // A row of JSON or CSV is as long as its text.
    let longest = [0, 0, 3_000, 70_000, 400_000, 2_000_000][draw.below(6)];
    let goes_on = format.contains("csv") && draw.one_in(3);
    if format.contains("csv") {
        bytes.extend(b"a,b\n");
    }
    for number in 0..count {
        let key = (number * 7919) % 10_007;
        let mut text = "x".repeat(if number == long {
            longest
        } else {
            draw.below(60)
        });
        // A row over two lines.
        if number == long && goes_on {
            text = format!("\"\n{text}\"");
        }
        match format {
            "-z" => bytes.extend(format!("{key} {text}\0").bytes()),
            "" => bytes.extend(format!("{key} {text}\n").bytes()),
            _ if format.contains("csv") => bytes.extend(format!("{key},{text}\n").bytes()),
            _ if format.contains("jsonl") => {
                bytes.extend(format!("{{\"a\":{key},\"b\":\"{text}\"}}\n").bytes());
            }
            _ if format.contains("rdw") => {
                let body = &text.as_bytes()[..text.len().min(30_000)];
                bytes.extend((body.len() as u16 + 5).to_be_bytes());
                bytes.extend([0, 0, key as u8]);
                bytes.extend(body);
            }
            _ => {
                let mut record = vec![0; width];
                record[..8].copy_from_slice(&draw.next().to_be_bytes());
                bytes.extend(record);
            }
        }
    }
    Input {
        format,
        is_piped: draw.one_in(2),
        is_packed: draw.one_in(4),
        bytes,
    }
}

fn options(draw: &mut Draw, format: &str) -> String {
    let of_lines = matches!(format, "" | "-z");
    let mut options = String::new();
    for (option, fits) in [
        (" -k2", of_lines),
        (" --locale de", of_lines),
        (" -u", !format.contains("gensort")),
        (" -s", true),
        (" --top 3", true),
        (" --plan two-pass", true),
        (" --plan merge", true),
        (" -m", of_lines),
        (" -o out", true),
        (" --parallel 1", true),
    ] {
        let conflicts = |other: &str| options.contains(other);
        let is_taken = option.contains("--plan") && (conflicts("--plan") || conflicts("--top"))
            || option == " -m" && (conflicts("--plan") || conflicts("--top"));
        if fits && !is_taken && draw.one_in(5) {
            options += option;
        }
    }
    options
}

/// The limit of a refusal, if it is one.
fn named(err: &str) -> Option<&str> {
    let behind = err.split("give at least -S ").nth(1)?;
    Some(behind.trim_end())
}

fn mebibytes(refused: &Ran) -> u64 {
    let named = named(&refused.err).expect("a refusal");
    named.trim_end_matches('M').parse().expect("whole MiB")
}

/// The memory that the reported sort took, in whole MiB.
fn resident(place: &Place) -> u64 {
    let report: serde_json::Value = serde_json::from_slice(&place.read("report")).unwrap();
    report["peak_rss_bytes"].as_u64().unwrap().div_ceil(1 << 20)
}

fn one_record(format: &str) -> &'static [u8] {
    match format {
        "" => b"1\n",
        "-z" => b"1\0",
        _ if format.contains("csv") => b"a,b\n1,2\n",
        _ if format.contains("jsonl") => b"{\"a\":1}\n",
        _ if format.contains("rdw") => &[0, 5, 0, 0, 1],
        _ if format.contains("fixed") => &[0; 16],
        _ => &[0; 100],
    }
}

#[test]
fn the_limit_that_a_refusal_names_is_accepted() {
    let (mut refused, mut drawn) = (0, 0);
    for seed in 0..cases(40, 300) {
        let random = &mut Draw(seed.into());
        let input = input(random);
        let options = options(random, input.format);
        let limit = [
            1 << 10,
            4 << 20,
            6 << 20,
            9 << 20,
            14 << 20,
            24 << 20,
            64 << 20,
        ][random.below(7)];
        let place = Place::new();
        place.write("in", &input.bytes);
        let is_packed = input.is_packed && place.run_shell("gzip -c in > packed").code == 0;
        let name = if is_packed { "packed" } else { "in" };
        let run = |limit: &str| {
            let line = format!("sort {}{options} {limit}", input.format);
            let _ = std::fs::remove_file(place.path("out"));
            if input.is_piped {
                place.feed(&line, &place.read(name))
            } else {
                place.run(&format!("{line} {name}"))
            }
        };
        let content = |ran: &Ran| {
            if options.contains("-o out") {
                place.read("out")
            } else {
                ran.out.clone()
            }
        };
        drawn += 1;
        let first = run(&format!("-S {limit}b"));
        let shown = format!(
            "seed {seed}: {} {options}, piped {}",
            input.format, input.is_piped
        );
        let Some(second) = named(&first.err) else {
            let is_long = first.err.contains("is longer than the buffers");
            let is_disorder = first.err.contains("is out of order");
            let sorted = first.code == 0 || is_long || is_disorder;
            assert!(sorted, "{shown}: {}", first.err);
            if first.code == 0 {
                let out = content(&first);
                assert!(
                    out == content(&run("").succeeded()),
                    "{shown}: {limit}: another output"
                );
            }
            continue;
        };
        refused += 1;
        let ran = run(&format!("-S {second}"));
        if ran.code == 0 {
            let sorted = content(&ran);
            assert!(
                sorted == content(&run("").succeeded()),
                "{shown}: {second}: another output"
            );
        }
        let is_refused = ran.err.contains("of memory");
        assert!(!is_refused, "{shown}: {limit} and {second}: {}", ran.err);
        let below = mebibytes(&first) - 1;
        let less = run(&format!("-S {below}M"));
        assert!(less.code != 0, "{shown}: {second} is not the least");
        // Two passes that are asked for have room for a longest line in each of their buffers.
        let is_free = !options.contains("two-pass") && seed % 4 == 0;
        if is_free && run("--report report").code == 0 {
            let resident = resident(&place);
            place.write("in", one_record(input.format));
            place.run_shell("gzip -c in > packed").succeeded();
            let least = mebibytes(&run("-S 1024b"));
            let most = least.max(resident * 5 / 4);
            let is_near = below < most;
            assert!(
                is_near,
                "{shown}: {second}, {resident}M resident, {least}M at least"
            );
        }
        // A pipe tells its long lines when they come.
        let told = ran.code == 0 || input.is_piped || options.contains("-m");
        assert!(told, "{shown}: {second}: {}", ran.err);
    }
    assert!(refused * 4 > drawn, "{refused} of {drawn} were refused");
}
