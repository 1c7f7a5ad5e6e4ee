//! Numbers of the sources that may only fall.
//!
//! Each is a ratchet: lower it freely, whenever the sources allow it. To raise one, edit it here, in
//! the change that needs it, and say there why nothing else could go.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;

use crate::house::{crates, place_of, rooms};
use crate::knots;

/// The most files of a crate that may import each other in a circle.
const LARGEST_CIRCLE: usize = 4;

/// The most lines of each crate, without those of tests.
const LINES: [(&str, usize); 26] = [
    ("units", 200),
    // Views: how the bytes of a file look, for records of several lines; beside them in node-real and record.
    // Lots, by which records are shuffled: 300 lines with their tests.
    ("node", 4_545),
    ("codec", 2360),
    ("node-real", 3_015),
    ("terminal", 2_070),
    ("node-mpi", 2550),
    ("active", 3_600),
    // Forms of values of rows and lines: amounts, sizes, addresses, versions, dates by a pattern, orders of files, years of two digits.
    ("record", 14_695),
    ("kernel", 3_710),
    ("pipeline", 1950),
    ("sort", 35_480),
    ("gristmill", 2_580),
    ("c", 1_310),
    ("disk", 2_560),
    // The mapper of an unknown network: 2,200 lines.
    ("machine", 16_450),
    // IS, LogP, caches of files that work together, and paging to idle memory.
    ("grain", 12_640),
    ("plot", 2850),
    ("lab", 8_050),
    ("sim", 3_270),
    ("hostile", 3800),
    ("bench", 7_490),
    ("rehearsal", 50),
    ("host", 1_360),
    ("simulated-sort", 3_220),
    ("cli", 7_880),
    ("python", 2_440),
];

/// Lines of all crates.
const ALL_LINES: usize = 148_910;

/// Functions of five parameters or more of which one is a tuple: it hides a sixth, and lacks a name.
const TUPLE_PARAMETERS: usize = 4;

/// Packages in `Cargo.lock`, ours included. regex-lite, for records of several lines, brings none with it.
const PACKAGES: usize = 236;

/// The files of a crate without those of tests, each with its code.
fn files(room: &str) -> knots::Files {
    let mut files = knots::files(&place_of(room).join("src"));
    files.retain(|module, _| !module.iter().any(|name| name.starts_with("conformance")));
    files
}

#[test]
fn files_import_each_other_one_way() {
    for (_, room, _) in rooms() {
        let graph = knots::graph_of_files(&files(room));
        let circle = knots::largest(&graph);
        assert!(
            circle.len() <= LARGEST_CIRCLE,
            "{room} has a circle of {} files, {LARGEST_CIRCLE} at most: {circle:?}. Move the type or function \
             that closes the circle to a file below them",
            circle.len()
        );
    }
}

#[test]
fn no_crate_grows_unseen() {
    let most: BTreeMap<&str, usize> = LINES.into();
    let (mut sum, mut over) = (0, String::new());
    for (_, room, _) in rooms() {
        let files = files(room);
        let lines: usize = files.values().map(|code| code.lines().count()).sum();
        let most = most.get(room).copied().unwrap_or(0);
        sum += lines;
        if lines > most {
            let more = lines - most;
            writeln!(over, "{room}: {lines} lines, {more} over its {most}").unwrap();
        }
    }
    if sum > ALL_LINES {
        let more = sum - ALL_LINES;
        writeln!(
            over,
            "all crates: {sum} lines, {more} over their {ALL_LINES}"
        )
        .unwrap();
    }
    assert!(
        over.is_empty(),
        "{over}Remove as many lines, or raise the number in {} and say why",
        file!()
    );
}

#[test]
fn tuples_hide_no_sixth_parameter() {
    let mut found = Vec::new();
    for (_, room, _) in rooms() {
        for (module, code) in files(room) {
            let hiding = functions(&code).filter(|(_, parameters)| hides_a_sixth(parameters));
            let of = format!("{room}: {}", module.join("::"));
            found.extend(hiding.map(|(name, _)| format!("{of}::{name}")));
        }
    }
    assert!(
        found.len() <= TUPLE_PARAMETERS,
        "{} functions of five parameters take a tuple, {TUPLE_PARAMETERS} at most. Name what belongs \
         together by a struct:\n{}",
        found.len(),
        found.join("\n")
    );
}

#[test]
fn no_package_is_added_unseen() {
    let lock = crates().parent().unwrap().join("Cargo.lock");
    let lock = fs::read_to_string(lock).unwrap();
    let packages = lock.matches("[[package]]").count();
    assert!(
        packages <= PACKAGES,
        "Cargo.lock has {packages} packages, {PACKAGES} at most: do without the new ones, or raise the \
         number in {} and say why",
        file!()
    );
}

/// The functions of a file: the name of each, and its parameters.
fn functions(code: &str) -> impl Iterator<Item = (&str, Vec<&str>)> {
    code.match_indices("fn ").filter_map(|(at, _)| {
        let is_word = !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let declared = &code[at + "fn ".len()..];
        let name = declared.split(['(', '<']).next()?;
        let generics = &declared[name.len()..];
        let begin = generics.find('(').filter(|_| !generics.starts_with('<'));
        let begin = begin.or_else(|| Some(parts(&generics[1..])?.1 + 1))?;
        let (parameters, _) = parts(generics[begin..].strip_prefix('(')?)?;
        is_word.then_some((name, parameters))
    })
}

/// The parts between commas of a list whose opening bracket is behind us, and where the list ends, past
/// its closing bracket.
fn parts(list: &str) -> Option<(Vec<&str>, usize)> {
    let (mut depth, mut start, mut found) = (0, 0, Vec::new());
    let mut before = ' ';
    for (at, c) in list.char_indices() {
        match c {
            '(' | '[' | '{' | '<' => depth += 1,
            // An arrow closes nothing.
            '>' if before == '-' => {}
            ')' | ']' | '}' | '>' if depth > 0 => depth -= 1,
            ')' | ']' | '}' | '>' => {
                found.push(list[start..at].trim());
                found.retain(|part| !part.is_empty());
                return Some((found, at + 1));
            }
            ',' if depth == 0 => {
                found.push(list[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
        before = c;
    }
    None
}

fn hides_a_sixth(parameters: &[&str]) -> bool {
    let is_tuple = |parameter: &&str| {
        // The type stands behind the first colon that no path has; a pattern has none.
        let kind = parameter.split_once(": ").map_or("", |(_, kind)| kind);
        kind.starts_with('(') && kind != "()"
    };
    parameters.len() >= 5 && parameters.iter().any(is_tuple)
}

#[test]
fn a_tuple_among_five_parameters_is_found() {
    let code = "fn a<F: Fn(u8) -> (u8, u8)>(self, b: u8, (c, d): (u8, &[u8]), e: F, f: u8) {}\n\
                fn b(self, a: u8, b: (u8, u8), c: u8) {}\n\
                fn c(a: u8, b: u8, c: u8, d: &[(u8, u8)], e: ()) {}\n\
                fn d(\n    a: u8,\n    b: u8,\n    c: u8,\n    d: (u8, u8),\n    e: u8,\n) {}\n";
    let hiding = functions(code).filter(|(_, parameters)| hides_a_sixth(parameters));
    assert_eq!(hiding.map(|(name, _)| name).collect::<Vec<_>>(), ["a", "d"]);
}
