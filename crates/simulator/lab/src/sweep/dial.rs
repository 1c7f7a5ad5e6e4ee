//! Dials, and readings of them.

use std::collections::BTreeMap;
use std::fmt;

use plot::Size;
use serde::{Deserialize, Serialize};

/// A number or a word.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a number or a word")]
pub enum Scalar {
    /// A number of any size.
    Number(f64),
    /// A word, as on the command line.
    Word(String),
}

impl fmt::Display for Scalar {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scalar::Number(number) => number.fmt(out),
            Scalar::Word(word) => word.fmt(out),
        }
    }
}

impl Scalar {
    pub(crate) fn number(&self) -> Option<f64> {
        match self {
            Scalar::Number(number) => Some(*number),
            Scalar::Word(_) => None,
        }
    }

    pub(crate) fn word(&self) -> Option<&str> {
        match self {
            Scalar::Number(_) => None,
            Scalar::Word(word) => Some(word),
        }
    }
}

pub(crate) type Values = BTreeMap<String, Scalar>;

/// A value of a dial.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a number, a word, or a table of options"
)]
pub enum Choice {
    /// A value of the dial's own option; the word `default` leaves it out.
    One(Scalar),
    /// Values of several options.
    Several(BTreeMap<String, Scalar>),
}

/// The word that sets nothing.
const DEFAULT: &str = "default";

impl fmt::Display for Choice {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Choice::One(value) => value.fmt(out),
            Choice::Several(values) => {
                let words = values.iter().map(|(name, value)| format!("{name} {value}"));
                out.write_str(&words.collect::<Vec<_>>().join(", "))
            }
        }
    }
}

impl Choice {
    /// A word of the command line; `None` leaves the option out.
    pub(crate) fn of(word: Option<&str>) -> Choice {
        Choice::One(Scalar::Word(word.unwrap_or(DEFAULT).to_owned()))
    }

    /// The value as a word of the command line; `None` if the option is left out.
    pub(crate) fn word(&self) -> Option<String> {
        let word = self.to_string();
        (word != DEFAULT).then_some(word)
    }

    pub(crate) fn options(&self, dial: &str) -> Values {
        match self {
            Choice::One(Scalar::Word(word)) if word == DEFAULT => Values::new(),
            Choice::One(value) => [(dial.to_owned(), value.clone())].into(),
            Choice::Several(values) => values.clone(),
        }
    }
}

/// Something that varies: an option of a program, a change of the machine, or a name for several.
#[derive(Clone, Debug, PartialEq)]
pub struct Dial {
    /// Its name.
    pub name: String,
    /// Its values. Without any it is a number, and a search tries values near the present one.
    pub values: Vec<Choice>,
}

/// A value for each dial, in the order of the dials.
pub type Reading = Vec<Choice>;

/// All combinations of the dials' values; the last dial turns fastest.
pub(crate) fn all(dials: &[Dial]) -> Vec<Reading> {
    dials.iter().fold(vec![Reading::new()], |readings, dial| {
        let with_each = readings.iter().flat_map(|reading| {
            let values = dial.values.iter();
            values.map(|value| [&reading[..], std::slice::from_ref(value)].concat())
        });
        with_each.collect()
    })
}

/// The values at a size: some of all at smoke size, if a file names them.
pub(crate) fn at_size<'a, V>(over: &'a [V], smoke: Option<&'a Vec<V>>, size: Size) -> &'a [V] {
    smoke
        .filter(|_| size == Size::Smoke)
        .map_or(over, |smoke| smoke)
}

/// Checks that there are values at both sizes, each of which gives one of `what`.
pub(crate) fn check_values<V: PartialEq + fmt::Display>(
    over: &[V],
    smoke: Option<&Vec<V>>,
    what: &str,
) -> Result<(), String> {
    for (name, values) in [("over", Some(over)), ("smoke", smoke.map(Vec::as_slice))] {
        if values.is_some_and(<[V]>::is_empty) {
            return Err(format!("{name}: there is no value, so no {what}"));
        }
    }
    let mut odd = smoke.into_iter().flatten();
    match odd.find(|value| !over.contains(value)) {
        Some(odd) => Err(format!("smoke: {odd} is not in over")),
        None => Ok(()),
    }
}

/// The known name that is closest to a misspelt one, if one is close.
pub(crate) fn meant<'a>(given: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    /// Below this, of 0 to 1, names have too little in common.
    const CLOSE: f64 = 0.75;
    let likeness = |name: &'a str| (strsim::jaro_winkler(given, name), name);
    let close = known
        .map(likeness)
        .filter(|(likeness, _)| *likeness > CLOSE);
    close
        .max_by(|one, other| one.0.total_cmp(&other.0))
        .map(|(_, name)| name)
}

/// `there is no WHAT 'given'`, and what there is instead.
pub(crate) fn unknown(what: &str, given: &str, known: &[&str]) -> String {
    format!("there is no {what} '{given}'; {}", instead(given, known))
}

/// The word that was meant, or all known words.
pub(crate) fn instead(given: &str, known: &[&str]) -> String {
    match meant(given, known.iter().copied()) {
        Some(meant) => format!("did you mean {meant}?"),
        None if known.is_empty() => "there are none".to_owned(),
        None => format!("there are {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closest_name_is_meant() {
        let known = ["keys-per-core", "incast", "reorder"];
        let meant = |given| meant(given, known.into_iter());
        assert_eq!(meant("incats"), Some("incast"));
        assert_eq!(meant("keys_per_core"), Some("keys-per-core"));
        assert_eq!(meant("quux"), None);
    }

    #[test]
    fn the_last_dial_turns_fastest() {
        let dial = |name: &str, values: &[&str]| Dial {
            name: name.to_owned(),
            values: values.iter().map(|word| Choice::of(Some(word))).collect(),
        };
        let told = |dials: &[Dial]| {
            let words = |reading: &Reading| reading.iter().map(Choice::to_string).collect();
            all(dials).iter().map(words).collect::<Vec<String>>()
        };
        assert_eq!(told(&[]), [""]);
        assert_eq!(told(&[dial("x", &["a", "b"])]), ["a", "b"]);
        let both = [dial("x", &["a", "b"]), dial("y", &["1", "2"])];
        assert_eq!(told(&both), ["a1", "a2", "b1", "b2"]);
    }
}
