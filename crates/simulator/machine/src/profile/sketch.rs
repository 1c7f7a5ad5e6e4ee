//! The `[graph]` table of a machine file as it is written, and the rules that make it a graph.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use toml::Spanned;

use super::graph::{FAR, Graph, LinkModel, LinkTimes, SwitchModel};
use super::{Nanoseconds, unit};

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Sketch {
    switches: Vec<Spanned<Entry<Switch>>>,
    #[serde(default)]
    links: Vec<Spanned<Entry<Link>>>,
}

/// A word, or a table with more.
struct Entry<T>(T);

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Switch {
    name: String,
    #[serde(default, deserialize_with = "unit::from_0")]
    nics: u32,
    switch_ns: Option<Nanoseconds>,
    link_ns: Option<Nanoseconds>,
    #[serde(default, deserialize_with = "unit::rate")]
    gbit_s: Option<u64>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Link {
    ends: String,
    #[serde(default = "one", deserialize_with = "unit::count")]
    count: u32,
    link_ns: Option<Nanoseconds>,
    #[serde(default, deserialize_with = "unit::rate")]
    gbit_s: Option<u64>,
}

fn one() -> u32 {
    1
}

/// A value that is written as one word.
trait Word {
    const EXPECTED: &'static str;
    fn of(word: &str) -> Self;
}

impl Word for Switch {
    const EXPECTED: &'static str = r#"a switch, "a" or { name = "a", nics = 4 }"#;

    fn of(word: &str) -> Switch {
        Switch {
            name: word.to_owned(),
            nics: 0,
            switch_ns: None,
            link_ns: None,
            gbit_s: None,
        }
    }
}

impl Word for Link {
    const EXPECTED: &'static str = r#"a link, "a - b" or { ends = "a - b", link_ns = 100 }"#;

    fn of(word: &str) -> Link {
        Link {
            ends: word.to_owned(),
            count: 1,
            link_ns: None,
            gbit_s: None,
        }
    }
}

impl<'de, T: Word + Deserialize<'de>> Deserialize<'de> for Entry<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Entry<T>, D::Error> {
        from.deserialize_any(WordOrTable(PhantomData))
    }
}

struct WordOrTable<T>(PhantomData<T>);

impl<'de, T: Word + Deserialize<'de>> Visitor<'de> for WordOrTable<T> {
    type Value = Entry<T>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(T::EXPECTED)
    }

    fn visit_str<E: Error>(self, word: &str) -> Result<Entry<T>, E> {
        Ok(Entry(T::of(word)))
    }

    fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<Entry<T>, M::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(Entry)
    }
}

/// A mistake, and where its line begins or ends.
pub(super) type Mistake = (usize, String);

/// Routes have a table of all pairs of switches.
const MOST_SWITCHES: usize = 4096;

/// More links than a switch has.
const MOST_LINKS: u64 = 4096;

impl Sketch {
    /// The graph, or all mistakes in it.
    pub(super) fn graph(&self) -> Result<Graph, Vec<Mistake>> {
        let mut mistakes = Vec::new();
        let names = self.names(&mut mistakes);
        let links = self.links(&names, &mut mistakes);
        let switches = self.switches.iter().map(|entry| {
            let Entry(switch) = entry.get_ref();
            SwitchModel {
                name: switch.name.clone(),
                nics: switch.nics,
                switch_ns: switch.switch_ns,
                link: LinkTimes {
                    link_ns: switch.link_ns,
                    gbit_s: switch.gbit_s,
                },
            }
        });
        let graph = Graph {
            switches: switches.collect(),
            links,
        };
        if mistakes.is_empty() {
            self.check_ways(&graph, &mut mistakes);
        }
        if mistakes.is_empty() {
            Ok(graph)
        } else {
            Err(mistakes)
        }
    }

    fn names(&self, mistakes: &mut Vec<Mistake>) -> HashMap<&str, u32> {
        let mut names = HashMap::new();
        for (number, entry) in (0..).zip(&self.switches) {
            let Entry(switch) = entry.get_ref();
            let name = switch.name.as_str();
            let mut refuse = |why: String| mistakes.push((entry.span().start, why));
            if name.is_empty() || name.contains(|c: char| c.is_whitespace() || c.is_control()) {
                refuse(format!("the name {name:?} of a switch: expected one word"));
            } else if names.insert(name, number).is_some() {
                refuse(format!(
                    "there are two switches {name}; give each its own name"
                ));
            }
            if is_zero(switch.link_ns) {
                refuse(format!(
                    "the links of {name} to its NICs take no time: {LEAST}"
                ));
            }
        }
        if names.is_empty() || names.len() > MOST_SWITCHES {
            let start = self.switches.first().map_or(0, |entry| entry.span().start);
            let count = self.switches.len();
            mistakes.push((
                start,
                format!("{count} switches: expected 1 to {MOST_SWITCHES}"),
            ));
        }
        names
    }

    fn links(&self, names: &HashMap<&str, u32>, mistakes: &mut Vec<Mistake>) -> Vec<LinkModel> {
        let (mut links, mut pairs) = (Vec::new(), HashSet::new());
        for entry in &self.links {
            let Entry(link) = entry.get_ref();
            let ends = &link.ends;
            let found = ends_of(ends, names).and_then(|[a, b]| {
                if a == b {
                    return Err(format!("{ends:?} leads back to its own switch"));
                }
                if is_zero(link.link_ns) {
                    return Err(format!("{ends:?} takes no time: {LEAST}"));
                }
                if !pairs.insert([a.min(b), a.max(b)]) {
                    return Err(format!(
                        "{ends:?} is a second link of these switches; write one with count = 2"
                    ));
                }
                Ok([a, b])
            });
            match found {
                Err(why) => mistakes.push((entry.span().start, why)),
                Ok(ends) => links.push(LinkModel {
                    ends,
                    count: link.count,
                    link: LinkTimes {
                        link_ns: link.link_ns,
                        gbit_s: link.gbit_s,
                    },
                }),
            }
        }
        links
    }

    /// Every switch reaches every other one; there are NICs, and not too many links.
    fn check_ways(&self, graph: &Graph, mistakes: &mut Vec<Mistake>) {
        let neighbours = graph.neighbours();
        let distances = graph.distances(&neighbours, 0);
        let first = &graph.switches[0].name;
        if graph.nics() == 0 {
            let start = self.switches[0].span().start;
            mistakes.push((
                start,
                "no switch has a NIC, so no core has a switch; give one nics = 4".to_owned(),
            ));
        }
        let mut links: Vec<u64> = graph
            .switches
            .iter()
            .map(|switch| switch.nics.into())
            .collect();
        for link in &graph.links {
            for end in link.ends {
                links[end as usize] += u64::from(link.count);
            }
        }
        for ((entry, switch), (links, distance)) in self
            .switches
            .iter()
            .zip(&graph.switches)
            .zip(links.iter().zip(distances))
        {
            let (at, name) = (entry.span().start, &switch.name);
            if distance == FAR {
                mistakes.push((
                    at,
                    format!("no way leads from switch {first} to {name}; add links"),
                ));
            }
            if *links > MOST_LINKS {
                mistakes.push((
                    at,
                    format!("switch {name} has {links} links: expected at most {MOST_LINKS}"),
                ));
            }
        }
    }
}

/// The reason why a latency must not be 0.
const LEAST: &str =
    "expected link_ns of a tick or more, since a packet is simulated a latency ahead";

fn is_zero(latency: Option<Nanoseconds>) -> bool {
    latency.is_some_and(|ns| ns.value() == 0.0)
}

/// The switches at both ends of a link, from their names.
fn ends_of(ends: &str, names: &HashMap<&str, u32>) -> Result<[u32; 2], String> {
    let words: Vec<&str> = ends.split_whitespace().collect();
    let &[a, "-", b] = words.as_slice() else {
        return Err(format!("{ends:?}: expected two switches, as in \"a - b\""));
    };
    let find = |name| {
        names
            .get(name)
            .copied()
            .ok_or_else(|| format!("{ends:?}: there is no switch {name}"))
    };
    Ok([find(a)?, find(b)?])
}
