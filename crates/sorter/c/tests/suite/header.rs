//! The header has the functions, the statuses and the fields of the code.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Types of the border, and of C.
const TYPES: [(&str, &str); 25] = [
    ("Out<'_,*mut Sorter>", "gristmill_sorter **"),
    ("Out<'_,*const u8>", "const uint8_t **"),
    ("Out<'_,*const usize>", "const size_t **"),
    ("Out<'_,usize>", "size_t *"),
    ("Out<'_,u64>", "uint64_t *"),
    ("Out<'_,ReportOfC>", "gristmill_report *"),
    ("Out<'_,ProgressOfC>", "gristmill_progress *"),
    ("Option<&mut Key>", "gristmill_key *"),
    ("Option<Box<Sorter>>", "gristmill_sorter *"),
    ("Handle", "gristmill_sorter *"),
    ("Text", "const char *"),
    ("First<u8>", "const uint8_t *"),
    ("First<usize>", "const size_t *"),
    ("First<Text>", "const char *const *"),
    ("KeyFunction", "gristmill_key_function "),
    ("*mut c_void", "void *"),
    ("*const c_char", "const char *"),
    ("Status", "gristmill_status "),
    ("usize", "size_t "),
    ("u8", "uint8_t "),
    ("u32", "uint32_t "),
    ("u64", "uint64_t "),
    ("i64", "int64_t "),
    ("f64", "double "),
    ("c_int", "int "),
];

fn read(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap()
}

fn of_c(rust: &str) -> &'static str {
    let known = TYPES.iter().find(|(of_rust, _)| *of_rust == rust);
    known.unwrap_or_else(|| panic!("{rust} has no type of C")).1
}

/// The text between words, with one space for any white space.
fn between<'t>(text: &'t str, from: &str, to: &str) -> Vec<String> {
    let parts = text.split(from).skip(1);
    let parts = parts.map(|part: &'t str| part.split(to).next().unwrap());
    parts
        .map(|part| part.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect()
}

/// The prototype of a function whose declaration in Rust this is, from its name on.
fn prototype(declaration: &str) -> String {
    let (name, rest) = declaration.split_once('(').unwrap();
    let (parameters, result) = rest.rsplit_once(')').unwrap();
    // A comma in brackets divides no parameters.
    let parameters = parameters.replace("<'_, ", "<'_,");
    let parameters = parameters
        .split(", ")
        .map(|one| one.trim().trim_end_matches(','));
    let parameters: Vec<String> = parameters
        .filter_map(|one| one.split_once(": "))
        .map(|(name, of_rust)| of_c(of_rust).to_owned() + name)
        .collect();
    let result = result.trim().strip_prefix("-> ").map_or("void ", of_c);
    if parameters.is_empty() {
        format!("{result}{name}(void)")
    } else {
        format!("{result}{name}({})", parameters.join(", "))
    }
}

#[test]
fn each_function_has_its_prototype() {
    let header = read("include/gristmill.h");
    let declared: BTreeSet<String> = header
        .split("*/")
        .flat_map(|part| part.split("/*").next())
        .filter(|code| code.contains("(") && !code.contains("typedef"))
        .map(|code| between(&format!("^{code}"), "^", ";").concat())
        .collect();
    let files = ["setup", "records", "files", "keys"].map(|name| format!("src/border/{name}.rs"));
    let defined: BTreeSet<String> = files
        .iter()
        .flat_map(|name| between(&read(name), "pub extern \"C\" fn ", " {\n"))
        .map(|declaration| prototype(&declaration))
        .collect();
    assert!(defined.len() > 30, "{defined:#?}");
    let missing: Vec<&String> = defined.difference(&declared).collect();
    let unknown: Vec<&String> = declared.difference(&defined).collect();
    assert!(
        missing.is_empty() && unknown.is_empty(),
        "not in C: {missing:#?}\nnot in Rust: {unknown:#?}"
    );
}

#[test]
fn statuses_and_fields_are_the_same() {
    let header = read("include/gristmill.h");
    let numbered = |text: &str| -> Vec<String> {
        let lines = text.lines().map(|line| line.trim().trim_end_matches(','));
        let lines = lines.filter(|line| line.contains(" = ") && !line.contains("//"));
        lines
            .map(|line| line.to_uppercase().replace("GRISTMILL_", ""))
            .collect()
    };
    let body = |text: &str, from: &str| -> String {
        let rest = text.split(from).nth(1).unwrap();
        rest.split("\n}").next().unwrap().to_owned()
    };
    let of_rust = numbered(&body(&read("src/fault.rs"), "pub enum Status {"));
    assert_eq!(numbered(&body(&header, "enum gristmill_status {")), of_rust);
    assert_eq!(of_rust.len(), 16);
    let fields = |text: &str, is_field: fn(&str) -> Option<String>| -> Vec<String> {
        text.lines()
            .filter_map(|line| is_field(line.trim()))
            .collect()
    };
    for (file, rust, c) in [
        ("src/border/records.rs", "ReportOfC", "gristmill_report"),
        ("src/border/setup.rs", "ProgressOfC", "gristmill_progress"),
    ] {
        let of_rust = fields(
            &body(&read(file), &format!("pub struct {rust} {{")),
            |line| {
                let (name, kind) = line
                    .strip_prefix("pub ")?
                    .trim_end_matches(',')
                    .split_once(": ")?;
                Some(match kind {
                    "[c_char; PHASE_BYTES]" => format!("char {name}[32]"),
                    "u32" => format!("uint32_t {name}"),
                    kind => of_c(kind).to_owned() + name,
                })
            },
        );
        let of_c = fields(&body(&header, &format!("struct {c} {{")), |line| {
            line.strip_suffix(';').map(str::to_owned)
        });
        assert_eq!(of_c, of_rust, "{c}");
    }
}
