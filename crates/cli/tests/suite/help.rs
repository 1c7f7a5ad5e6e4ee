//! Help and hints: examples that run, options under headings, man pages, and what to do instead
//! where a command line is that of another sort.

use std::fs;

use crate::common::{Place, Ran};

const COMMANDS: [&str; 10] = [
    "",
    "sort",
    "check",
    "explain",
    "gensort",
    "valsort",
    "lab",
    "demo",
    "doctor",
    "completions",
];

/// The headings of `sort --help`, in their order.
const HEADINGS: [&str; 7] = [
    "\nOrder:\n",
    "\nInput and output:\n",
    "\nMemory and disks:\n",
    "\nChecks:\n",
    "\nCluster:\n",
    "\nExpert:\n",
    "\nHelp:\n",
];

fn told(ran: Ran) -> String {
    String::from_utf8(ran.succeeded().out).unwrap()
}

/// A place with the files that examples name.
fn place_of_examples() -> Place {
    let place = Place::new();
    let made = place.run_shell(
        r#"set -e
        "$GRISTMILL" gensort 2000 input.dat
        head -c 16000 input.dat > pairs.bin
        "$GRISTMILL" sort --format fixed:16 --key 8+8:u64le:desc pairs.bin -o sorted.bin
        seq 100 | sed 's/./& name,&,&/' | tee names.txt sales.csv > day.log
        "$GRISTMILL" sort --format gensort input.dat -o output.dat
        "$GRISTMILL" sort --format gensort input.dat -o sorted/
        head -c 100000 output.dat > part-1
        tail -c 100000 output.dat > part-2
        printf '[[series]]\nprogram = "merge-min"\nvary = "incast"\nover = [4, 8]\n' > mine.toml"#,
    );
    made.succeeded();
    place
}

/// The lines of examples that a help begins with.
fn examples(help: &str) -> Vec<&str> {
    let lines = help.strip_prefix("Examples:\n").expect(help).lines();
    let examples: Vec<&str> = lines.take_while(|line| !line.is_empty()).collect();
    assert!(examples.iter().all(|line| line.len() <= 80), "{help}");
    examples
}

#[test]
fn the_examples_of_each_command_run() {
    let place = place_of_examples();
    for command in COMMANDS {
        let help = told(place.run(&format!("{command} --help")));
        // Ranks and a million simulated keys have tests of their own.
        let is_run = |line: &&str| !line.contains("mpirun") && line.trim() != "gristmill demo";
        let run: Vec<&str> = examples(&help).into_iter().filter(is_run).collect();
        assert!(!run.is_empty(), "{command}");
        let ran = place.run_shell(&format!("set -e\n{}", run.join("\n")));
        assert_eq!(ran.code, 0, "{command}: {}", ran.err);
    }
}

#[test]
fn the_options_of_sort_have_headings() {
    let place = Place::new();
    let help = told(place.run("sort --help"));
    let places = HEADINGS.map(|heading| help.find(heading).expect(heading));
    assert!(places.is_sorted(), "{help}");
    // As with GNU, -h is an order.
    place.write("in", "1K\n900\n");
    assert_eq!(told(place.run("sort -h in")), "900\n1K\n");
}

#[test]
fn options_for_lines_are_answered() {
    let place = Place::with_records(10);
    for (given, instead) in [
        ("-r", ":desc"),
        ("-rn", ":desc"),
        ("--reverse", ":desc"),
        ("-k2,2n", "OFFSET+LENGTH"),
        ("-k 2", "OFFSET+LENGTH"),
        ("-t,", "no fields"),
        ("--field-separator=,", "no fields"),
        ("-n", "u64le"),
        ("-h", "u64le"),
        ("-z", "no end marker"),
        ("-f", "the bytes of a key"),
        ("--sort=numeric", "the bytes of a key"),
        ("--random-source=in", "the bytes of a key"),
    ] {
        let ran = place.run(&format!("sort --format gensort {given} in"));
        assert_eq!(ran.code, 2, "{given}: {ran:?}");
        let line = ran.complaint();
        assert!(line.contains(instead) && !line.contains("-- -"), "{line}");
    }
    let ran = place.run("sort --format gensort -r in --json");
    let message = ran.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(ran.complaint().ends_with(&message), "{message}");
}

#[test]
fn other_names_of_formats_are_answered_with_the_right_one() {
    let place = Place::with_records(10);
    for (format, instead) in [
        ("json", "use --format jsonl"),
        ("ndjson", "use --format jsonl"),
        ("text", "use --format lines"),
    ] {
        let ran = place.run(&format!("sort --format {format} --key age in -o out"));
        assert_eq!(ran.code, 2, "{format}: {ran:?}");
        assert!(ran.complaint().contains(instead), "{ran:?}");
    }
}

#[test]
fn each_command_has_a_man_page() {
    let place = Place::new();
    fs::create_dir(place.path("man")).unwrap();
    place.run("manual man").succeeded();
    for command in COMMANDS {
        let name = format!("gristmill {command}").trim_end().replace(' ', "-");
        let page = fs::read_to_string(place.path(&format!("man/{name}.1"))).unwrap();
        let parts = [".TH ", ".SH NAME", ".SH SYNOPSIS", ".SH EXAMPLES"];
        assert!(parts.iter().all(|part| page.contains(part)), "{page}");
    }
    assert!(place.path("man/gristmill-sim-nano-sort.1").exists());
    assert!(!place.path("man/gristmill-manual.1").exists());
    let ran = place.run("manual nowhere");
    assert!(
        ran.code == 2 && ran.complaint().contains("nowhere"),
        "{ran:?}"
    );
}

#[test]
fn each_command_has_a_page_of_the_site() {
    let place = Place::new();
    fs::create_dir(place.path("site")).unwrap();
    place.run("manual --markdown site").succeeded();
    for command in COMMANDS {
        let title = format!("gristmill {command}").trim_end().to_owned();
        let name = format!("site/{}.md", title.replace(' ', "-"));
        let page = fs::read_to_string(place.path(&name)).unwrap();
        let head = format!("# {title}\n\n");
        assert!(
            page.starts_with(&head) && page.contains("## Examples\n"),
            "{page}"
        );
    }
    let page = fs::read_to_string(place.path("site/gristmill-sort.md")).unwrap();
    for part in [
        "## Memory and disks\n",
        "\n`-t, --field-separator <SEP>`\n: Byte between fields, such as , or $'\\\\t';",
        "\n  - `merge`: Write sorted runs, and merge them\n",
        "\n  Default: `auto`\n",
        "\n  Also: `--buffer-size`\n",
    ] {
        assert!(page.contains(part), "no {part:?} in\n{page}");
    }
    let page = fs::read_to_string(place.path("site/gristmill-sim.md")).unwrap();
    assert!(
        page.contains("\n- [kv](gristmill-sim-kv.md): Read and write"),
        "{page}"
    );
    assert!(!place.path("site/gristmill-manual.md").exists());
}
