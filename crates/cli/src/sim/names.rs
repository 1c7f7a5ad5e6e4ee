//! Names of programs and machines: which there are, and which a mistyped one may be.

use std::path::Path;

use lab::{LabError, machines, programs};

use crate::failure::CliFailure;

/// Refuses a program that there is not.
pub fn check_program(name: &str) -> Result<(), CliFailure> {
    let names: Vec<_> = programs().iter().map(|program| program.name).collect();
    if names.contains(&name) {
        return Ok(());
    }
    let guess = guess(name, &names);
    let message = format!(
        "there is no program '{name}'{guess}; the programs are {}",
        names.join(", ")
    );
    Err(CliFailure::usage(message))
}

/// Why there is no machine of that name.
pub fn machine_failure(name: &str, error: LabError) -> CliFailure {
    // What ends so was meant as a file, and the error says what is wrong with it.
    let is_file = Path::new(name).exists() || name.contains('/') || name.ends_with(".toml");
    if is_file || !matches!(error, LabError::Profile { .. }) {
        return error.into();
    }
    let machines = machines();
    let names: Vec<_> = machines.iter().map(|(name, _)| *name).collect();
    let guess = guess(name, &names);
    let all = names.join(", ");
    let message = format!("there is no machine or file '{name}'{guess}; the machines are {all}");
    CliFailure {
        message,
        ..error.into()
    }
}

fn guess(name: &str, names: &[&str]) -> String {
    nearest(name, names).map_or_else(String::new, |near| format!(" (did you mean {near}?)"))
}

/// The name that a slip of the finger or two turns into this one.
fn nearest<'a>(name: &str, names: &[&'a str]) -> Option<&'a str> {
    let most = if name.chars().count() < 5 { 1 } else { 2 };
    let slips = names.iter().map(|known| (slips(name, known), *known));
    slips
        .filter(|(slips, _)| *slips <= most)
        .min()
        .map(|(_, known)| known)
}

/// Letters to add, leave out or replace so that one word becomes the other (Levenshtein's
/// distance).
fn slips(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    // Slips to the first letters of `to`, from as many letters of `from` as were seen.
    let mut slips: Vec<usize> = (0..=to.len()).collect();
    for (seen, letter) in from.chars().enumerate() {
        let mut before = slips[0];
        slips[0] = seen + 1;
        for (at, other) in to.iter().enumerate() {
            let replaced = before + usize::from(letter != *other);
            before = slips[at + 1];
            slips[at + 1] = replaced.min(before + 1).min(slips[at] + 1);
        }
    }
    slips[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_counted() {
        let cases = [
            ("", "", 0),
            ("kv", "", 2),
            ("", "kv", 2),
            ("flod", "flood", 1),
        ];
        let more = [
            ("kitten", "sitting", 3),
            ("nanopu", "nanopu", 0),
            ("sned", "send", 2),
        ];
        for (from, to, count) in cases.into_iter().chain(more) {
            assert_eq!(slips(from, to), count, "{from} {to}");
        }
    }

    #[test]
    fn only_a_slip_is_guessed() {
        let names = ["kv", "flood", "merge-min", "send"];
        assert_eq!(nearest("flod", &names), Some("flood"));
        assert_eq!(nearest("merg-mni", &names), None);
        assert_eq!(nearest("merge-mn", &names), Some("merge-min"));
        assert_eq!(nearest("sleep", &names), None);
        assert_eq!(nearest("x", &names), None);
    }
}
