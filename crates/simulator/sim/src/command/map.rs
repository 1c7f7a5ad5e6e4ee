//! `gristmill sim map`: the map of a network by probes, its routes, and what a death does to them.

mod show;

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use clap::Args;
use lab::Place;
use machine::mapper::{
    Episode, Found, Load, MOST_HOSTS, MapError, OverWires, Part, Port, ProbeTimes, Recovery,
    Routes, Sent, Sight, Speeds, Wiring, circle, map,
};
use machine::{Graph, Profile};

use super::options::RunOptions;
use grain::count;
use terminal::ending::failure::{CliFailure, Exit};
use terminal::ending::say;
use units::{counted, number};

/// The machine of the mapper's publication.
pub(super) const MACHINE: &str = "now-network";

/// Until a death, and from one round to the next: hosts send messages all the time.
const DEATH_MS: RangeInclusive<f64> = 0.0..=10_000.0;
const PERIOD_MS: RangeInclusive<f64> = 1.0..=10_000.0;

/// Of one probe: a second.
const PROBE_US: RangeInclusive<f64> = 0.0..=1e6;

/// The longest time of a map while hosts send messages: a minute.
const MOST_MAP_NS: u64 = 60_000_000_000;

#[derive(Args)]
pub(crate) struct MapOptions {
    /// Hosts, at the machine's first NICs [default: all]
    #[arg(long, value_name = "N", value_parser = count)]
    cores: Option<u32>,
    /// A switch or a link that is absent; may be repeated
    #[arg(long, value_name = "switch:A|link:A:B")]
    without: Vec<String>,
    /// A switch or a link that dies while hosts send messages
    #[arg(long, value_name = "switch:A|link:A:B")]
    death: Option<String>,
    /// With --death, when it dies, in milliseconds
    #[arg(long, value_name = "X", default_value = "100", value_parser = number, requires = "death")]
    death_ms: f64,
    /// With --death, from one round of the mapper to the next, in milliseconds
    #[arg(long, value_name = "X", default_value = "1000", value_parser = number, requires = "death")]
    period_ms: f64,
    /// Turns of the longest probe of the map that is printed [default: enough for this network]
    #[arg(long, value_name = "N", value_parser = count)]
    depth: Option<u32>,
    /// Time of a probe with an answer, in microseconds [default: a round trip of AM-II on the NOW, 45, on every machine]
    #[arg(long, value_name = "X", value_parser = number)]
    answer_us: Option<f64>,
    /// Time of a probe without one, in microseconds [default: fit to 248 ms for 36 hosts of the NOW, 312, on every machine]
    #[arg(long, value_name = "X", value_parser = number)]
    timeout_us: Option<f64>,
}

/// A map, and all that was found out.
struct Report<'a> {
    seed: u64,
    profile: &'a Profile,
    graph: &'a Graph,
    /// The network that was mapped.
    wiring: &'a Wiring,
    sight: Sight,
    depth: usize,
    found: Found,
    sent: Sent,
    map_ns: u64,
    /// The switch of the machine that each switch of the map is, or a difference.
    same: Result<BTreeMap<u32, u32>, String>,
    root: u32,
    load: Load,
    /// Channels that wait for each other in a circle.
    circle: Option<Vec<Port>>,
    recovery: Option<Recovery>,
}

/// Runs `gristmill sim map` on the machine of this name.
pub(super) fn run(
    options: &MapOptions,
    asked: &str,
    place: &Place,
    runs: &RunOptions,
) -> Result<Exit, CliFailure> {
    let Place::Machine(profile, ..) = place else {
        let why = format!("--machine {asked}: a map needs a simulated machine with a [graph]");
        return Err(CliFailure::usage(why));
    };
    if let (Some(cores), Some(graph)) = (options.cores, profile.graph.as_deref()) {
        let most = graph.nics().min(MOST_HOSTS.into());
        if u64::from(cores) > most {
            let why = format!("--cores {cores}: expected 1 to {most} hosts on {asked}");
            return Err(CliFailure::usage(why));
        }
    }
    let refused = |why: String| CliFailure::new("profile", format!("{asked}: {why}"));
    let mut wiring = Wiring::of(profile, options.cores).map_err(refused)?;
    let graph = profile.graph.as_deref().expect("it has been wired");
    for absent in &options.without {
        wiring.remove(part(absent, "--without", graph, &wiring)?);
    }
    let report = report(options, profile, &wiring, runs.seeds().first)?;
    if runs.json {
        say::out(format!("{:#}", report.to_json()))?;
    } else {
        report.print()?;
    }
    match report.fault() {
        None => Ok(Exit::Done),
        Some(fault) => {
            say::err(format!("gristmill: {fault}"));
            Ok(Exit::CheckFailed)
        }
    }
}

/// Maps a network, and lets a part of it die.
fn report<'a>(
    options: &MapOptions,
    profile: &'a Profile,
    wiring: &'a Wiring,
    seed: u64,
) -> Result<Report<'a>, CliFailure> {
    let Some((mapper, _)) = wiring.hosts().next() else {
        let why = "--without: no host has a cable that is left";
        return Err(CliFailure::usage(why));
    };
    let episode = episode(options, profile, wiring, seed)?;
    let times = times(options)?;
    let sight = Sight::of(wiring, mapper).expect("a host with a cable");
    let depth = options.depth.map_or(sight.depth, |depth| depth as usize);
    let mut probes = OverWires::new(wiring, mapper);
    let failed = |why: MapError| CliFailure::new("map", format!("{}: {why}", profile.name));
    let found = map(&mut probes, depth).map_err(failed)?;
    let sent = probes.sent();
    let map_ns = times.of(sent);
    if episode.is_some() && map_ns > MOST_MAP_NS {
        let why =
            "--death: a map takes more than a minute, for which all hosts would send messages";
        return Err(CliFailure::usage(why));
    }
    let recovery = episode.map(|episode| episode.run()).transpose();
    let (routes, root) = Routes::up_down(&found.map, seed);
    let ways: Vec<_> = routes.ways(&found.map).collect();
    Ok(Report {
        seed,
        profile,
        graph: profile.graph.as_deref().expect("it has been wired"),
        wiring,
        same: same(&found.map, &sight.seen, mapper),
        sight,
        depth,
        sent,
        map_ns,
        root,
        load: routes.load(&found.map),
        circle: circle(ways.iter().map(Vec::as_slice)),
        found,
        recovery: recovery.map_err(failed)?,
    })
}

/// The switches of the map in the machine, if it has all of them and no other.
fn same(map: &Wiring, seen: &Wiring, mapper: u32) -> Result<BTreeMap<u32, u32>, String> {
    let both = map.compare(seen, mapper)?;
    if both.len() < map.wired() {
        return Err("the map has switches that nothing leads to".to_owned());
    }
    Ok(both)
}

fn times(options: &MapOptions) -> Result<ProbeTimes, CliFailure> {
    let default = ProbeTimes::default();
    let ns = |option: &str, us: Option<f64>, ns: u64| match us {
        None => Ok(ns),
        Some(us) => within(option, us, PROBE_US).map(|us| (us * 1e3).round() as u64),
    };
    Ok(ProbeTimes {
        answered_ns: ns("--answer-us", options.answer_us, default.answered_ns)?,
        timeout_ns: ns("--timeout-us", options.timeout_us, default.timeout_ns)?,
    })
}

fn within(option: &str, given: f64, range: RangeInclusive<f64>) -> Result<f64, CliFailure> {
    if range.contains(&given) {
        return Ok(given);
    }
    let [least, most] = [range.start(), range.end()];
    let why = format!("{option} {given}: expected {least} to {most}");
    Err(CliFailure::usage(why))
}

/// The episode in which a part dies, if one is to.
fn episode(
    options: &MapOptions,
    profile: &Profile,
    wiring: &Wiring,
    seed: u64,
) -> Result<Option<Episode>, CliFailure> {
    let Some(dead) = &options.death else {
        return Ok(None);
    };
    let graph = profile.graph.as_deref().expect("it has been wired");
    let ns = |option: &str, ms: f64, range| {
        within(option, ms, range).map(|ms| (ms * 1e6).round() as u64)
    };
    Ok(Some(Episode {
        wiring: wiring.clone(),
        speeds: Speeds::of(profile),
        probes: times(options)?,
        part: part(dead, "--death", graph, wiring)?,
        death_ns: ns("--death-ms", options.death_ms, DEATH_MS)?,
        period_ns: ns("--period-ms", options.period_ms, PERIOD_MS)?,
        seed,
    }))
}

/// A part of the machine by name: `switch:a`, or `link:a:b`, the first link of several.
fn part(text: &str, option: &str, graph: &Graph, wiring: &Wiring) -> Result<Part, CliFailure> {
    let refuse = |why: String| CliFailure::usage(format!("{option} {text}: {why}"));
    let switch = |name: &str| {
        let found = graph.switches.iter().position(|switch| switch.name == name);
        found
            .map(|switch| switch as u32)
            .ok_or_else(|| refuse(format!("there is no switch {name}")))
    };
    match text.split(':').collect::<Vec<_>>()[..] {
        ["switch", name] => switch(name).map(Part::Switch),
        ["link", a, b] => {
            let (from, to) = (switch(a)?, switch(b)?);
            let mut links = wiring.neighbours(from).filter(|(_, far)| far.switch == to);
            let found = links.next().map(|(near, _)| Part::Link(near));
            found.ok_or_else(|| refuse(format!("there is no link between {a} and {b}")))
        }
        _ => Err(refuse(
            "expected switch:A, or link:A:B with the switches at both ends".to_owned(),
        )),
    }
}

impl Report<'_> {
    /// The first thing that is wrong, in one line.
    fn fault(&self) -> Option<String> {
        if let Err(why) = &self.same {
            return Some(format!("the map is not the network: {why}"));
        }
        if let Some(channels) = &self.circle {
            return Some(format!(
                "{} channels wait for each other in a circle",
                channels.len()
            ));
        }
        let unrouted = self
            .recovery
            .as_ref()
            .map_or(0, |recovery| recovery.unrouted);
        let missing = self.load.missing + unrouted;
        (missing > 0).then(|| format!("no route for {} of hosts", counted(missing, "pair")))
    }
}
