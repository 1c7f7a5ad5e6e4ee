//! The report of a map, as text and as JSON.

use machine::mapper::{End, Recovery};
use serde_json::{Value, json};

use super::Report;
use terminal::ending::failure::CliFailure;
use terminal::ending::say;
use terminal::text::{figure, labelled, time, with_commas};
use units::{counted, grouped};

/// Of the JSON report.
const FORMAT_VERSION: u32 = 1;

/// A switch of the map, for people and programs.
struct Row {
    switch: u32,
    /// Its name in the machine, which the mapper does not know.
    name: Option<String>,
    level: u32,
    hosts: Vec<u32>,
    links: Vec<u32>,
}

impl Report<'_> {
    fn rows(&self) -> Vec<Row> {
        let map = &self.found.map;
        let levels = map.distances(self.root);
        let row = |switch: u32| {
            let (mut hosts, mut links) = (Vec::new(), Vec::new());
            for (_, end) in map.cables(switch) {
                match end {
                    End::Host(host) => hosts.push(host),
                    End::Switch(far) => links.push(far.switch),
                }
            }
            links.sort_unstable();
            let is = self.same.as_ref().ok().and_then(|same| same.get(&switch));
            Row {
                switch,
                name: is.map(|is| self.graph.switches[*is as usize].name.clone()),
                level: levels[switch as usize].unwrap_or(0),
                hosts,
                links,
            }
        };
        let is_wired = |switch: &u32| map.cables(*switch).next().is_some();
        let mut rows: Vec<Row> = (0..map.switches()).filter(is_wired).map(row).collect();
        rows.sort_by_key(|row| (row.level, row.switch));
        rows
    }

    pub(super) fn to_json(&self) -> Value {
        let map = &self.found.map;
        let switches = self.rows().into_iter().map(|row| {
            json!({
                "switch": row.switch, "name": row.name, "level": row.level, "hosts": row.hosts, "links": row.links,
            })
        });
        let busiest = self
            .load
            .busiest
            .map(|(channel, routes)| json!({ "switch": channel.switch, "routes": routes }));
        json!({
            "format_version": FORMAT_VERSION,
            "seed": self.seed,
            "machine": self.profile.name,
            "machine_hash": format!("{:016x}", self.profile.hash),
            "hosts": map.hosts().len(),
            "switches": map.wired(),
            "links": map.all_links(),
            "hidden_switches": self.sight.hidden,
            "hosts_elsewhere": self.elsewhere(),
            "is_right": self.same.is_ok(),
            "probes": self.sent.probes,
            "unanswered": self.sent.unanswered,
            "vertices": self.found.vertices,
            "depth": self.depth,
            "map_ms": self.map_ns as f64 / 1e6,
            "root": self.root,
            "routes": {
                "pairs": self.load.pairs,
                "missing": self.load.missing,
                "longest": self.load.longest,
                "mean": self.load.mean,
                "busiest": busiest,
                "acyclic": self.circle.is_none(),
            },
            "map": switches.collect::<Vec<_>>(),
            "death": self.recovery.as_ref().map(recovered),
        })
    }

    /// Hosts that the mapper does not reach.
    fn elsewhere(&self) -> usize {
        self.wiring.hosts().len() - self.sight.seen.hosts().len()
    }

    pub(super) fn print(&self) -> Result<(), CliFailure> {
        let map = &self.found.map;
        say::out(format!("seed {}", self.seed))?;
        let about = format!("{}: {}", self.profile.name, self.profile.description);
        say::out(labelled("machine", about.split(' ')))?;
        let [hosts, switches, links] = [map.hosts().len(), map.wired(), map.all_links()];
        let mut found = format!(
            "{}, {}, {}",
            counted(hosts as u64, "host"),
            of_switches(switches as u64),
            counted(links as u64, "link")
        );
        if self.same.is_ok() {
            found += ": as it is wired, port by port";
        }
        if self.sight.hidden > 0 {
            found += &format!(
                ", less {} that no probe can tell apart",
                of_switches(self.sight.hidden.into())
            );
        }
        if self.elsewhere() > 0 {
            let elsewhere = counted(self.elsewhere() as u64, "host");
            found += &format!(", less {elsewhere} of other parts");
        }
        say::out(labelled("map", found.split(' ')))?;
        let (probes, unanswered) = (grouped(self.sent.probes), grouped(self.sent.unanswered));
        let probes = format!(
            "{probes}, {unanswered} of them unanswered, of at most {}; {} of switches; {}",
            counted(self.depth as u64, "turn"),
            counted(self.found.vertices as u64, "replicate"),
            time(self.map_ns as f64 / 1e3)
        );
        say::out(labelled("probes", probes.split(' ')))?;
        self.print_routes()?;
        say::out("\nswitches by level, each with its hosts and the switches at its links")?;
        self.print_switches()?;
        match &self.recovery {
            Some(recovery) => print_recovery(recovery),
            None => Ok(()),
        }
    }

    fn print_routes(&self) -> Result<(), CliFailure> {
        let load = &self.load;
        let circle = match &self.circle {
            None => "no circle of channels",
            Some(_) => "channels in a circle",
        };
        let mut routes = format!(
            "{}, {} without one; {circle}; switches on a route: at most {}, {} on average",
            counted(load.pairs + load.missing, "pair"),
            grouped(load.missing),
            load.longest,
            figure(load.mean, 2),
        );
        if let Some((channel, over)) = load.busiest
            && let Some(End::Switch(far)) = self.found.map.end(channel)
        {
            let over = counted(over, "route");
            routes += &format!(
                "; the busiest link, from s{} to s{}, has {over}",
                channel.switch, far.switch
            );
        }
        say::out(labelled("routes", routes.split(' ')))
    }

    fn print_switches(&self) -> Result<(), CliFailure> {
        let cells = self.rows().into_iter().map(|row| {
            let links = row.links.chunk_by(|a, b| a == b).map(|same| match same {
                [only] => format!("s{only}"),
                same => format!("s{}x{}", same[0], same.len()),
            });
            let links: Vec<_> = links.collect();
            let (switch, name) = (format!("s{}", row.switch), row.name.unwrap_or_default());
            [
                row.level.to_string(),
                switch,
                name,
                ranges(&row.hosts),
                links.join(" "),
            ]
        });
        let cells: Vec<_> = cells.collect();
        let wide = |column: usize| {
            let lengths = cells.iter().map(|row| row[column].chars().count());
            lengths.max().unwrap_or(0)
        };
        let [level, switch, name, hosts] = [0, 1, 2, 3].map(wide);
        cells.iter().try_for_each(|[a, b, c, d, e]| {
            let line = format!("  {a:>level$}  {b:<switch$}  {c:<name$}  {d:<hosts$}  {e}");
            say::out(line.trim_end())
        })
    }
}

fn of_switches(number: u64) -> String {
    match number {
        1 => "1 switch".to_owned(),
        number => format!("{} switches", grouped(number)),
    }
}

/// Numbers in order as ranges: 0-4, 7.
fn ranges(numbers: &[u32]) -> String {
    let runs = numbers.chunk_by(|a, b| a + 1 == *b).map(|run| match run {
        [only] => only.to_string(),
        run => format!("{}-{}", run[0], run[run.len() - 1]),
    });
    let told: Vec<_> = runs.collect();
    if told.is_empty() {
        "-".to_owned()
    } else {
        with_commas(&told).join(" ")
    }
}

fn ms(ns: u64) -> f64 {
    ns as f64 / 1e6
}

fn recovered(recovery: &Recovery) -> Value {
    json!({
        "cut_off": recovery.cut_off,
        "parts": recovery.parts,
        "rounds": recovery.rounds,
        "found_ms": recovery.found_ns.map(ms),
        "affected_hosts": recovery.affected,
        "longest_until_new_routes_ms": ms(recovery.longest_ns),
        "longest_stopped_ms": ms(recovery.stopped_ns),
        "mixture_acyclic": !recovery.is_mixture_circular,
        "left_over": recovery.left_over,
        "unrouted": recovery.unrouted,
        "messages": recovery.messages,
        "delivered": recovery.delivered,
        "returned_unreachable": recovery.unreachable,
        "returned_unanswered": recovery.unanswered,
        "resent": recovery.resent,
        "packets": recovery.packets.packets,
        "packets_lost": recovery.packets.lost,
        "packets_reset": recovery.packets.reset,
    })
}

fn print_recovery(recovery: &Recovery) -> Result<(), CliFailure> {
    let us = |ns: u64| time(ns as f64 / 1e3);
    let cut = match recovery.cut_off.as_slice() {
        [] => "no host".to_owned(),
        [only] => format!("host {only}"),
        hosts => format!("hosts {}", ranges(hosts)),
    };
    let parts = counted(recovery.parts as u64, "part");
    let found = match recovery.found_ns {
        None => "no map changed".to_owned(),
        Some(ns) => format!("a new map after {}", us(ns)),
    };
    let affected = match recovery.affected {
        0 => "no other host had a route over it".to_owned(),
        hosts => format!(
            "{} had routes over it, and new ones after at most {}",
            counted(hosts, "host"),
            us(recovery.longest_ns)
        ),
    };
    let rest = match recovery.left_over {
        0 => "until the network was empty".to_owned(),
        left => format!("with {} left over", counted(left, "old packet")),
    };
    let stopped = match recovery.stopped_ns {
        0 => String::new(),
        ns => format!("; hosts sent nothing for at most {}, {rest}", us(ns)),
    };
    let mixture = if recovery.is_mixture_circular {
        "a circle"
    } else {
        "no circle"
    };
    let death = format!(
        "{cut} cut off, {parts} left; {found}, in {}; {affected}{stopped}; old and new channels together: {mixture}",
        counted(recovery.rounds, "round"),
    );
    say::out("")?;
    say::out(labelled("death", death.split(' ')))?;
    let messages = format!(
        "{}, {} delivered, {} returned as unreachable, {} returned without an answer; {} sent again, {} lost, {} reset",
        grouped(recovery.messages),
        grouped(recovery.delivered),
        grouped(recovery.unreachable),
        grouped(recovery.unanswered),
        counted(recovery.resent, "packet"),
        grouped(recovery.packets.lost),
        grouped(recovery.packets.reset),
    );
    say::out(labelled("messages", messages.split(' ')))
}
