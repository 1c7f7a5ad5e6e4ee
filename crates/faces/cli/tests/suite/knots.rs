//! Import cycles between the top-level modules of a crate, read from its sources.
//!
//! The modules of a crate and their imports are a graph; a knot is a strongly connected component
//! of it. Code under `#[cfg(test)]` does not count.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The modules that each top-level module of a crate names.
pub type Graph = BTreeMap<String, BTreeSet<String>>;

/// The imports of the crate whose sources are in `src`.
pub fn graph(src: &Path) -> Graph {
    let root = ["lib.rs", "main.rs"].map(|name| src.join(name));
    let root = root.iter().find(|path| path.exists()).expect("a crate");
    let text = code(&fs::read_to_string(root).unwrap());
    let modules: BTreeSet<String> = modules(&text).into_iter().collect();
    // A name that the root exports stands for the module it comes from.
    let exports: BTreeMap<String, String> = uses(&text)
        .into_iter()
        .filter(|(module, _)| modules.contains(module))
        .map(|(module, name)| (name, module))
        .collect();
    let mut graph = Graph::new();
    for module in &modules {
        let mut files = Vec::new();
        read_module(&src.join(module), 1, &mut files);
        assert!(!files.is_empty(), "{module} has no file in {src:?}");
        let named = files
            .iter()
            .flat_map(|(depth, text)| names_of_the_root(text, *depth));
        let named = named.filter_map(|name| {
            if modules.contains(&name) {
                Some(name)
            } else {
                exports.get(&name).cloned()
            }
        });
        graph.insert(module.clone(), named.collect());
    }
    graph
}

/// The largest knot of a crate.
pub fn largest(graph: &Graph) -> BTreeSet<String> {
    let knots = graph.keys().map(|module| knot_of(module, graph));
    knots
        .max_by_key(BTreeSet::len)
        .expect("a crate has a module")
}

/// The modules that `module` reaches and that reach it.
fn knot_of(module: &str, graph: &Graph) -> BTreeSet<String> {
    let reached = reached_from(module, graph);
    let is_mutual = |other: &String| other == module || reached_from(other, graph).contains(module);
    let mut knot: BTreeSet<String> = reached.into_iter().filter(is_mutual).collect();
    knot.insert(module.to_owned());
    knot
}

fn reached_from(module: &str, graph: &Graph) -> BTreeSet<String> {
    let (mut reached, mut next) = (BTreeSet::new(), vec![module.to_owned()]);
    while let Some(module) = next.pop() {
        let new = graph[&module].iter();
        let new: Vec<String> = new.filter(|n| !reached.contains(*n)).cloned().collect();
        reached.extend(new.iter().cloned());
        next.extend(new);
    }
    reached
}

/// Reads the code and the depth of a module and of all modules below.
fn read_module(path: &Path, depth: usize, found: &mut Vec<(usize, String)>) {
    let files: [PathBuf; 2] = [path.with_extension("rs"), path.join("mod.rs")];
    let Some(text) = files.iter().find_map(|file| fs::read_to_string(file).ok()) else {
        return;
    };
    let text = code(&text);
    for below in modules(&text) {
        read_module(&path.join(below), depth + 1, found);
    }
    found.push((depth, text));
}

/// A file without comments, and without items of tests. An item ends with the first line of its own
/// indentation that ends a block or a statement.
fn code(text: &str) -> String {
    let mut code = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let line = without_comment(line);
        if line.trim_start().starts_with("#[cfg(test)]") {
            let indent = line.len() - line.trim_start().len();
            let ends = |line: &str| {
                line.len() > indent
                    && line[..indent].trim().is_empty()
                    && !line[indent..].starts_with(' ')
                    && line.ends_with(['}', ';'])
            };
            lines.find(|line| ends(line));
            continue;
        }
        code += line;
        code.push('\n');
    }
    code
}

fn without_comment(line: &str) -> &str {
    let is_comment = |(at, _): &(usize, &str)| line[..*at].chars().all(char::is_whitespace);
    let comment = line.match_indices("//").find(is_comment);
    let end = comment.map(|(at, _)| at).or_else(|| line.find(" //"));
    line[..end.unwrap_or(line.len())].trim_end()
}

/// The modules in separate files.
fn modules(code: &str) -> Vec<String> {
    let declared = code.lines().filter_map(|line| {
        let line = line.trim_start_matches("pub(crate) ");
        let line = line.trim_start_matches("pub ");
        line.strip_prefix("mod ")?.strip_suffix(';')
    });
    declared.map(str::to_owned).collect()
}

/// The imports of a file: the first part of each path, and the name that it brings.
fn uses(code: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let starts = code.match_indices("use ");
    for (at, _) in starts.filter(|(at, _)| is_start_of_word(code, *at)) {
        let path = code[at + "use ".len()..].split(';').next().unwrap_or("");
        let path = path.trim_start_matches("crate::");
        for (first, rest) in branches(path) {
            let last = |path: &str| path.rsplit([':', ' ']).next().unwrap_or("").to_owned();
            let names = rest.split(['{', '}', ',']).map(|path| last(path.trim()));
            let names = names.filter(|name| !name.is_empty());
            found.extend(names.map(|name| (first.clone(), name)));
        }
    }
    found
}

/// The names that a file at that depth asks of the crate's root.
fn names_of_the_root(code: &str, depth: usize) -> Vec<String> {
    let mut names = Vec::new();
    for root in ["crate::".to_owned(), "super::".repeat(depth)] {
        for (at, _) in code.match_indices(&root) {
            if is_start_of_word(code, at) {
                let path = &code[at + root.len()..];
                names.extend(branches(path).into_iter().map(|(name, _)| name));
            }
        }
    }
    names
}

fn is_start_of_word(code: &str, at: usize) -> bool {
    let is_inside = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    !code[..at].ends_with(is_inside)
}

/// The paths of a group `{a::b, c}`, or the one that stands there: the first name of each, and the
/// rest.
fn branches(path: &str) -> Vec<(String, String)> {
    let Some(group) = path.strip_prefix('{') else {
        let end = path.find(|c: char| !c.is_alphanumeric() && c != '_');
        let (name, rest) = path.split_at(end.unwrap_or(path.len()));
        let rest = if rest.is_empty() { name } else { rest };
        return vec![(name.to_owned(), rest.to_owned())];
    };
    let (mut depth, mut start, mut found) = (0, 0, Vec::new());
    for (at, c) in group.char_indices() {
        let is_over = c == '}' && depth == 0;
        if is_over || c == ',' && depth == 0 {
            let item = group[start..at].trim();
            found.extend(
                branches(item)
                    .into_iter()
                    .filter(|(name, _)| !name.is_empty()),
            );
            start = at + 1;
        }
        match c {
            _ if is_over => break,
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
    }
    found
}

#[test]
fn imports_are_read_through_groups_and_not_in_tests() {
    let text = "use crate::{a::{b, c}, d};\n// crate::comment\nfn f() {\n    crate::e::g();\n}\n\
                #[cfg(test)]\nmod tests {\n    use crate::h;\n}\n#[cfg(test)]\nmod i;\nmod j;\n";
    let code = code(text);
    let names = names_of_the_root(&code, 1);
    assert_eq!(names, ["a", "d", "e"]);
    assert_eq!(modules(&code), ["j"]);
    let exported = uses("pub use a::{B, c::D};\npub use e::F as G;\n");
    let exported: Vec<_> = exported.iter().map(|(a, b)| format!("{a} {b}")).collect();
    assert_eq!(exported, ["a B", "a D", "e G"]);
}

#[test]
fn a_knot_is_all_that_is_reached_and_reaches_back() {
    let graph = [("a", "b"), ("b", "c"), ("c", "a d"), ("d", ""), ("e", "a")];
    let graph: Graph = graph
        .iter()
        .map(|(module, named)| {
            let named = named.split_whitespace().map(str::to_owned);
            ((*module).to_owned(), named.collect())
        })
        .collect();
    assert_eq!(knot_of("a", &graph).len(), 3);
    assert_eq!(knot_of("d", &graph).len(), 1);
    assert_eq!(knot_of("e", &graph).len(), 1);
}
