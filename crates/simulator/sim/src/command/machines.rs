//! `gristmill sim machine`: the machines, the file of one, and the network of a graph.

use lab::machines;
use machine::{Graph, Profile};

use terminal::ending::failure::CliFailure;
use terminal::ending::say;
use terminal::text::figure;
use units::grouped;

/// Prints all machines, or one: the file of a built-in machine, or a summary of a file.
pub(super) fn show(name: Option<&str>) -> Result<(), CliFailure> {
    let Some(name) = name else {
        return list();
    };
    if let Some(text) = Profile::text_of(name) {
        return say::out(text.trim_end());
    }
    let known = machines();
    if let Some((_, about)) = known.iter().find(|(known, _)| *known == name) {
        return say::out(format!("{name} has no file: {about}"));
    }
    let profile = Profile::load(name).map_err(|error| CliFailure {
        file: Some(name.into()),
        ..CliFailure::new("profile", error.to_string())
    })?;
    summary(&profile)
}

fn list() -> Result<(), CliFailure> {
    for (name, about) in machines() {
        say::out(format!("{name:<16} {about}"))?;
    }
    say::out("\n`gristmill sim machine nanopu > my.toml` writes the file of one, to be changed")
}

fn summary(profile: &Profile) -> Result<(), CliFailure> {
    let (name, about) = (&profile.name, &profile.description);
    say::out(format!("{name}: {about}"))?;
    let cores = grouped(profile.most_ranks());
    let ticks = |ticks: u64| figure(ticks as f64 * profile.tick_fs as f64 / 1e6, 3);
    let network = &profile.network;
    let Some(graph) = &profile.graph else {
        let layers = network.layers;
        return say::out(format!(
            "{cores} cores behind {layers} layers of switches, a link {} ns, a switch {} ns",
            ticks(profile.link().0),
            ticks(profile.switch().0)
        ));
    };
    let links: u64 = graph.links.iter().map(|link| u64::from(link.count)).sum();
    let [nics, switches, links] = [graph.nics(), graph.switches.len() as u64, links].map(grouped);
    say::out(format!(
        "{cores} cores behind {nics} NICs at {switches} switches, with {links} links between them"
    ))?;
    ways(profile, graph, ticks)
}

fn ways(profile: &Profile, graph: &Graph, ns: impl Fn(u64) -> String) -> Result<(), CliFailure> {
    let ways = graph.ways(profile, 0);
    let all: u64 = ways.iter().map(|ways| ways.pairs).sum();
    say::out("\nswitches on the way   pairs of NICs    of all   longest latency in ns")?;
    for (switches, ways) in (1..).zip(&ways).filter(|(_, ways)| ways.pairs > 0) {
        let percent = figure(ways.pairs as f64 * 100.0 / all as f64, 1);
        let (pairs, latency) = (grouped(ways.pairs), ns(ways.longest.0));
        say::out(format!(
            "{switches:>19}   {pairs:>13}   {percent:>5} %   {latency:>21}"
        ))?;
    }
    Ok(())
}
