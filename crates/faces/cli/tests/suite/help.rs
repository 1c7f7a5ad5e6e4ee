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
        let help = told(place.run(&format!("{command} --help=all")));
        // Ranks, a million simulated keys, and all experiments have tests of their own.
        let apart = ["mpirun", "gristmill lab report"];
        let is_apart = |line: &str| apart.iter().any(|of| line.contains(of));
        let is_run = |line: &&str| line.trim() != "gristmill demo" && !is_apart(line);
        let run: Vec<&str> = examples(&help).into_iter().filter(is_run).collect();
        assert!(!run.is_empty(), "{command}");
        let ran = place.run_shell(&format!("set -e\n{}", run.join("\n")));
        assert_eq!(ran.code, 0, "{command}: {}", ran.err);
    }
}

#[test]
fn the_options_of_sort_have_headings() {
    let place = Place::new();
    let help = told(place.run("sort --help=all"));
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
        let synopsis = page.split(".SH ").find(|part| part.starts_with("SYNOPSIS"));
        assert!(synopsis.unwrap().lines().count() < 8, "{page}");
    }
    let page = fs::read_to_string(place.path("man/gristmill-sort.1")).unwrap();
    assert!(
        page.contains("gristmill sort [OPTIONS] [INPUT]...\n"),
        "{page}"
    );
    assert!(page.contains("max\\-line"), "all options: {page}");
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

/// The help fits on a screen and names the formats; all of it is behind `--help=all`.
#[test]
fn the_short_help_is_one_screen() {
    let place = Place::new();
    for command in [
        "", "sort", "check", "explain", "lab", "lab run", "demo", "sim",
    ] {
        let help = told(place.run(&format!("{command} --help")));
        assert!(help.lines().count() <= 50, "{command}: {help}");
        assert!(
            !help.contains("manual") && !help.contains("bench "),
            "{help}"
        );
    }
    let sort = told(place.run("sort --help"));
    for named in [
        "csv",
        "rdw",
        "varlen",
        "kv",
        "CSV, TSV or JSON Lines",
        "--help=all",
        "Usage:",
    ] {
        assert!(sort.contains(named), "{named}: {sort}");
    }
    assert!(
        !sort.contains("--max-line") && !sort.contains("--plan"),
        "{sort}"
    );
    assert_eq!(told(place.run("help sort")), sort);
    let all = told(place.run("sort --help=all"));
    assert!(
        all.contains("--max-line") && all.contains("--plan"),
        "{all}"
    );
    assert!(told(place.run("--help")).contains("CSV, TSV and JSON Lines"));
    let wrong = place.run("sort --help=some");
    assert_eq!(wrong.code, 2, "{wrong:?}");
}

/// The screen of a terminal without a window has 24 lines; one more leads to all of the help.
#[test]
fn the_short_help_of_each_simulation_is_a_small_screen() {
    let place = Place::new();
    let listed = told(place.run("sim --help"));
    let programs = listed.split("Programs:\n").nth(1).unwrap().lines();
    let programs = programs.take_while(|line| !line.is_empty());
    let names = programs.map(|line| line.split_whitespace().next().unwrap());
    let names: Vec<&str> = names
        .filter(|name| !["machine", "map", "tune"].contains(name))
        .collect();
    assert!(names.len() > 10, "{names:?}");
    for name in names {
        for command in [format!("sim {name}"), format!("sim tune {name}")] {
            let help = told(place.run(&format!("{command} --help")));
            let (shown, pointer) = help.trim_end().rsplit_once("\n\n").unwrap();
            assert!(shown.lines().count() <= 24, "{command}: {help}");
            assert!(pointer.starts_with("`--help=all`"), "{help}");
            assert!(
                help.contains("--seed") && !help.contains("--anyway"),
                "{help}"
            );
            let all = told(place.run(&format!("{command} --help=all")));
            assert!(all.contains("--anyway"), "{all}");
        }
    }
    let short = told(place.run("sim nano-sort --help"));
    for shown in [
        "--cores",
        "--keys-per-core",
        "--buckets",
        "--machine",
        "--json",
    ] {
        assert!(short.contains(shown), "{short}");
    }
    assert_eq!(told(place.run("help sim nano-sort")), short);
    let all = told(place.run("sim nano-sort --help=all"));
    fs::create_dir(place.path("man")).unwrap();
    place.run("manual man").succeeded();
    let page = fs::read_to_string(place.path("man/gristmill-sim-nano-sort.1")).unwrap();
    for hidden in ["walked-bytes", "link-ns", "critical-path"] {
        assert!(!short.contains(hidden), "{short}");
        assert!(all.contains(hidden), "{all}");
        assert!(page.contains(&hidden.replace('-', "\\-")), "{page}");
    }
    // It has the name of another command.
    assert!(told(place.run("sim sort --help")).contains("--faults"));
}

#[test]
fn help_that_cannot_be_written_is_an_error() {
    let place = Place::new();
    for command in [
        "--help",
        "--version",
        "sort --help",
        "sort --help=all",
        "help sim",
        "completions bash",
    ] {
        let ran = place.run_shell(&format!("\"$GRISTMILL\" {command} > /dev/full"));
        assert_eq!(ran.code, 2, "{command}: {ran:?}");
        assert!(
            ran.err.contains("cannot write to standard output"),
            "{ran:?}"
        );
    }
}

/// The values of options are completed, and nothing that the help hides.
#[test]
fn completions_have_values_and_nothing_hidden() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = told(place.run(&format!("completions {shell}")));
        for value in [
            "jsonl",
            "de-u-co-phonebk",
            "nanopu-3-layer",
            "figure-16",
            "two-pass",
        ] {
            // For fish the generator writes no values of arguments without an option.
            let is_argument = value == "figure-16" && shell == "fish";
            assert!(script.contains(value) || is_argument, "{shell}: {value}");
        }
        for hidden in [
            "manual",
            "compress-program",
            "gristmill__bench",
            "'bench:",
            "-a \"bench\"",
        ] {
            assert!(!script.contains(hidden), "{shell}: {hidden}");
        }
    }
}

#[test]
fn a_terminal_that_is_read_is_told() {
    let place = Place::new();
    place.write("in", "b\na\n");
    if !place.run_shell("script -V").err.is_empty() {
        return crate::common::skip("the terminal, since there is no `script`");
    }
    let told = "reads the terminal; Ctrl-D ends it; help: --help";
    for (command, is_told) in [
        ("sort", true),
        ("check", true),
        ("sort -c", true),
        ("explain --lines 1", true),
        ("sort in", false),
        ("sort -", false),
        ("check in", false),
    ] {
        let script = format!("printf 'a\\n' | script -qec '\"$GRISTMILL\" {command}' /dev/null");
        let ran = place.run_shell(&script);
        let out = String::from_utf8_lossy(&ran.out).into_owned();
        assert_eq!(out.contains(told), is_told, "{command}: {out}");
    }
    let piped = place.run_shell("cat in | \"$GRISTMILL\" sort");
    assert_eq!((piped.out, piped.err), (b"a\nb\n".to_vec(), String::new()));
}
