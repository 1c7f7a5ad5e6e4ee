//! `gristmill sim map`: the map of a network by probes, its routes, and what a death does to them.

mod show;

use std::collections::BTreeMap;

use clap::Args;
use lab::Place;
use machine::mapper::{
    Episode, Found, Load, MapError, OverWires, Part, Port, ProbeTimes, Recovery, Routes, Sent,
    Sight, Speeds, Wiring, circle, map,
};
use machine::{Graph, Profile};

use super::options::RunOptions;
use grain::count;
use terminal::ending::failure::{CliFailure, Exit};
use terminal::ending::say;
use units::number;

/// The machine of the mapper's publication.
pub(super) const MACHINE: &str = "now-network";

/// More times than any publication has, in milliseconds: an hour.
const MOST_MS: f64 = 3_600_000.0;

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
    /// When it dies, in milliseconds
    #[arg(long, value_name = "X", default_value = "100", value_parser = number)]
    death_ms: f64,
    /// From one round of the mapper to the next, in milliseconds
    #[arg(long, value_name = "X", default_value = "1000", value_parser = number)]
    period_ms: f64,
    /// Turns of the longest probe [default: as many as this network needs]
    #[arg(long, value_name = "N", value_parser = count)]
    depth: Option<u32>,
    /// Time of a probe with an answer, in microseconds [default: a round trip of AM-II, 45]
    #[arg(long, value_name = "X", value_parser = number)]
    answer_us: Option<f64>,
    /// Time of a probe without one, in microseconds [default: fit to 248 ms for 36 hosts, 312]
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
        map_ns: times.of(sent),
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
        Some(us) => nanoseconds(option, us / 1e3),
    };
    Ok(ProbeTimes {
        answered_ns: ns("--answer-us", options.answer_us, default.answered_ns)?,
        timeout_ns: ns("--timeout-us", options.timeout_us, default.timeout_ns)?,
    })
}

fn nanoseconds(option: &str, ms: f64) -> Result<u64, CliFailure> {
    if (0.0..=MOST_MS).contains(&ms) {
        return Ok((ms * 1e6).round() as u64);
    }
    Err(CliFailure::usage(format!(
        "{option}: expected a time from 0 to an hour"
    )))
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
    Ok(Some(Episode {
        wiring: wiring.clone(),
        speeds: Speeds::of(profile),
        probes: times(options)?,
        part: part(dead, "--death", graph, wiring)?,
        death_ns: nanoseconds("--death-ms", options.death_ms)?,
        period_ns: nanoseconds("--period-ms", options.period_ms)?.max(1),
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
    /// What is wrong, in one line.
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
        (missing > 0).then(|| format!("{missing} pairs of hosts have no route"))
    }
}
