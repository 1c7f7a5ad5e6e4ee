//! Import cycles between the top-level modules of a crate, and between its files, read from its
//! sources.
//!
//! The modules of a crate and their imports are a graph; a knot is a strongly connected component
//! of it. Code under `#[cfg(test)]` does not count.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The modules that each module of a crate names.
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

/// The module of each file of a crate, as the names of its path, and its code.
pub type Files = BTreeMap<Vec<String>, String>;

/// The files of a crate without those of tests.
pub fn files(src: &Path) -> Files {
    let mut found = Files::new();
    let mut directories = vec![src.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap();
            if path.is_dir() && name != "tests" {
                directories.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") && name != "tests.rs" {
                let text = fs::read_to_string(&path).unwrap();
                found.insert(module_of(path.strip_prefix(src).unwrap()), code(&text));
            }
        }
    }
    found
}

/// The module of a file; none of its names for the root.
fn module_of(file: &Path) -> Vec<String> {
    let file = file.with_extension("");
    let mut names: Vec<String> = file
        .iter()
        .map(|name| name.to_string_lossy().into_owned())
        .collect();
    let is_root = names.len() == 1 && ["lib", "main"].contains(&&*names[0]);
    if is_root || names.ends_with(&["mod".to_owned()]) {
        names.pop();
    }
    names
}

/// The imports between files. A name that a module exports stands for the file that it comes from,
/// and exporting a name of a module below is no import.
pub fn graph_of_files(files: &Files) -> Graph {
    let named: BTreeMap<_, _> = files
        .iter()
        .map(|(module, code)| (module, paths(code)))
        .collect();
    let mut exports = BTreeMap::new();
    for (module, paths) in &named {
        for path in paths.iter().filter(|path| path.is_exported) {
            if let (Some((of, rest)), Some(name)) = (split(files, module, path), path.names.last())
                && of != **module
                && !rest.is_empty()
            {
                exports.insert(((*module).clone(), name.clone()), (of, rest));
            }
        }
    }
    let source = |module: &[String], path: &UsedPath| {
        let (mut of, mut rest) = split(files, module, path)?;
        while let Some(first) = rest.first()
            && let Some((next, names)) = exports.get(&(of.clone(), first.clone()))
        {
            of = next.clone();
            rest.splice(..1, names.iter().cloned());
        }
        Some(of)
    };
    let name = |module: &[String]| match module {
        [] => "the root".to_owned(),
        _ => module.join("::"),
    };
    let imports = |(module, paths): (&&Vec<String>, &Vec<UsedPath>)| {
        let of = paths.iter().filter_map(|path| {
            let of = source(module, path)?;
            let is_import = of != **module && !(path.is_exported && of.starts_with(module));
            is_import.then(|| name(&of))
        });
        (name(module), of.collect())
    };
    named.iter().map(imports).collect()
}

/// A path in a file that may lead to another one.
struct UsedPath {
    names: Vec<String>,
    is_exported: bool,
}

/// The paths of imports, and those in code that begin with `crate` or `super`.
fn paths(code: &str) -> Vec<UsedPath> {
    let mut found = Vec::new();
    let (mut others, mut end) = (String::new(), 0);
    let starts = code.match_indices("use ");
    for (at, _) in starts.filter(|(at, _)| is_start_of_word(code, *at)) {
        let line = code[..at].rsplit('\n').next().unwrap_or("").trim_start();
        // Bounds of lifetimes, `use<'a>`, have no space; words of texts are no statements.
        if at < end || !(line.is_empty() || line.starts_with("pub")) {
            continue;
        }
        let path = code[at + "use ".len()..].split(';').next().unwrap_or("");
        others += &code[end..at];
        end = at + "use ".len() + path.len();
        let is_exported = line.starts_with("pub");
        found.extend(
            expanded(path)
                .into_iter()
                .map(|names| UsedPath { names, is_exported }),
        );
    }
    others += &code[end..];
    for root in ["crate::", "super::"] {
        for (at, _) in others.match_indices(root) {
            if is_start_of_word(&others, at) {
                let path = others[at..]
                    .split(|c: char| !c.is_alphanumeric() && c != '_' && c != ':')
                    .next();
                found.extend(
                    expanded(path.unwrap_or(""))
                        .into_iter()
                        .map(|names| UsedPath {
                            names,
                            is_exported: false,
                        }),
                );
            }
        }
    }
    found
}

/// The paths of an import, each as its names, without other names that it gives them.
fn expanded(path: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for (first, rest) in branches(path.trim()) {
        let below = rest.strip_prefix("::").map(expanded).unwrap_or_default();
        if below.is_empty() {
            found.push(vec![first]);
        } else {
            found.extend(below.into_iter().map(|mut names| {
                names.insert(0, first.clone());
                names
            }));
        }
    }
    found
}

/// The file that a path leads to without exports, and what is left of the path; `None` of a path to
/// another crate.
fn split(files: &Files, module: &[String], path: &UsedPath) -> Option<(Vec<String>, Vec<String>)> {
    let mut names = path.names.iter().peekable();
    let below = |of: &[String], name: &str| [of, &[name.to_owned()]].concat();
    let mut of = match names.peek()?.as_str() {
        "crate" => Vec::new(),
        "self" | "super" => module.to_owned(),
        name if files.contains_key(&below(module, name)) => module.to_owned(),
        _ => return None,
    };
    while let Some(name) = names.next_if(|name| ["crate", "self", "super"].contains(&name.as_str()))
    {
        if name == "super" {
            of.pop();
        }
    }
    while let Some(name) = names.next_if(|name| files.contains_key(&below(&of, name))) {
        of.push(name.clone());
    }
    Some((of, names.cloned().collect()))
}

/// The largest knot of a crate.
pub fn largest(graph: &Graph) -> BTreeSet<&str> {
    let reached: BTreeMap<&str, BTreeSet<&str>> = graph
        .keys()
        .map(|module| (module.as_str(), reached_from(module, graph)))
        .collect();
    let knots = reached.keys().map(|module| knot_of(module, &reached));
    knots.max_by_key(BTreeSet::len).unwrap_or_default()
}

/// The modules that `module` reaches and that reach it.
fn knot_of<'a>(module: &'a str, reached: &BTreeMap<&str, BTreeSet<&'a str>>) -> BTreeSet<&'a str> {
    let others = reached[module].iter().copied();
    let mut knot: BTreeSet<&str> = others.filter(|it| reached[it].contains(module)).collect();
    knot.insert(module);
    knot
}

fn reached_from<'a>(module: &str, graph: &'a Graph) -> BTreeSet<&'a str> {
    let (mut reached, mut next) = (BTreeSet::new(), vec![module]);
    while let Some(module) = next.pop() {
        for named in &graph[module] {
            if reached.insert(named.as_str()) {
                next.push(named);
            }
        }
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
pub fn code(text: &str) -> String {
    let mut code = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let line = without_comment(line);
        let start = line.trim_start();
        if start.starts_with("#[cfg(test)]") || start.starts_with("#[cfg(all(test") {
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
    let graph = |edges: &[(&str, &str)]| -> Graph {
        let named = |named: &str| named.split_whitespace().map(str::to_owned).collect();
        let edges = edges.iter();
        edges
            .map(|(of, to)| ((*of).to_owned(), named(to)))
            .collect()
    };
    let knotted = graph(&[("a", "b"), ("b", "c"), ("c", "a d"), ("d", ""), ("e", "a")]);
    assert_eq!(largest(&knotted), BTreeSet::from(["a", "b", "c"]));
    let free = graph(&[("a", "b"), ("b", "c"), ("c", "d"), ("d", ""), ("e", "a")]);
    assert_eq!(largest(&free).len(), 1);
}

/// A name that a module exports is that of the file below, through two exports and a group.
#[test]
fn files_import_the_file_that_a_name_comes_from() {
    let files = [
        ("lib.rs", "mod a;\nmod d;\npub use a::C;\n"),
        (
            "a.rs",
            "mod b;\nmod c;\npub use self::c::C;\nuse self::b::B;\n",
        ),
        (
            "a/b.rs",
            "pub struct B;\nfn f() -> super::C {\n    crate::d::new()\n}\n",
        ),
        ("a/c.rs", "use std::fs;\nuse crate::d::{e::E, new};\n"),
        ("d/mod.rs", "mod e;\npub(crate) use crate::C;\n"),
        ("d/e.rs", "use super::super::a::B;\n"),
    ];
    let files: Files = files
        .iter()
        .map(|(file, text)| (module_of(Path::new(file)), code(text)))
        .collect();
    let graph = graph_of_files(&files);
    let of = |file: &str| graph[file].iter().map(String::as_str).collect::<Vec<_>>();
    assert!(of("the root").is_empty());
    assert_eq!(of("a"), ["a::b"]);
    assert_eq!(of("a::b"), ["a::c", "d"]);
    assert_eq!(of("a::c"), ["d", "d::e"]);
    assert_eq!(of("d"), ["a::c"]);
    assert_eq!(of("d::e"), ["a"]);
    assert_eq!(
        largest(&graph),
        BTreeSet::from(["a", "a::b", "a::c", "d", "d::e"])
    );
}
