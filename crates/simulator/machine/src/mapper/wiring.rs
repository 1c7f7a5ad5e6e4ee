//! Switches with ports, the cables between them, and hosts.

use std::collections::BTreeMap;

use crate::profile::{Graph, Profile};

/// Ports of a switch of Myrinet.
const MYRINET_PORTS: u32 = 8;

/// The most ports that a turn of one byte can name.
const MOST_PORTS: u32 = 128;

/// The most hosts of a network that is mapped: routes of all pairs are kept in memory.
pub const MOST_HOSTS: u32 = 1024;

/// A port of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Port {
    /// From 0, in the order of the file or of a map.
    pub switch: u32,
    /// From 0; a map counts from the first port in use.
    pub port: u32,
}

/// The far end of a cable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The interface of a host.
    Host(u32),
    /// The port of another switch.
    Switch(Port),
}

/// A part that may die or be absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// A switch, and all its cables.
    Switch(u32),
    /// The cable at this port.
    Link(Port),
}

/// A network as it is wired, or as a map has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wiring {
    ends: Vec<Vec<Option<End>>>,
    hosts: BTreeMap<u32, Port>,
    ports: u32,
}

impl Wiring {
    /// Switches with so many ports each, and no cable.
    pub fn new(switches: u32, ports: u32) -> Wiring {
        Wiring {
            ends: vec![vec![None; ports as usize]; switches as usize],
            hosts: BTreeMap::new(),
            ports,
        }
    }

    /// The graph of a machine with its first `hosts` NICs. Ports have its NICs first, then its links in the
    /// order of the file; each switch has eight, or as many as the largest of the file needs.
    ///
    /// # Errors
    /// If the machine has no graph, not so many NICs, or too many ports or hosts: one line with the key.
    pub fn of(profile: &Profile, hosts: Option<u32>) -> Result<Wiring, String> {
        let Some(graph) = &profile.graph else {
            return Err(
                "network.layers: this network is no [graph], so it has no cables to map".to_owned(),
            );
        };
        let hosts = hosts.unwrap_or_else(|| graph.nics().min(u64::from(u32::MAX)) as u32);
        if u64::from(hosts) > graph.nics() || !(1..=MOST_HOSTS).contains(&hosts) {
            return Err(format!(
                "graph.switches: {} NICs, of which {hosts} are to be hosts: expected 1 to {}",
                graph.nics(),
                graph.nics().min(MOST_HOSTS.into())
            ));
        }
        let used = used_ports(graph);
        let most = used.iter().copied().max().unwrap_or(0);
        if most > MOST_PORTS {
            return Err(format!(
                "graph.links: a switch has {most} NICs and links: a turn names at most {MOST_PORTS} ports"
            ));
        }
        let mut wiring = Wiring::new(used.len() as u32, most.max(MYRINET_PORTS));
        let mut host = 0;
        let mut free = vec![0; used.len()];
        for (switch, model) in (0..).zip(&graph.switches) {
            for port in 0..model.nics {
                if host < hosts {
                    wiring.attach(host, Port { switch, port });
                }
                host += 1;
            }
            free[switch as usize] = model.nics;
        }
        let mut next = |switch: u32| {
            let port = free[switch as usize];
            free[switch as usize] += 1;
            Port { switch, port }
        };
        for link in &graph.links {
            for _ in 0..link.count {
                let [a, b] = link.ends.map(&mut next);
                wiring.join(a, b);
            }
        }
        Ok(wiring)
    }

    /// Connects two ports.
    pub fn join(&mut self, a: Port, b: Port) {
        *self.slot(a) = Some(End::Switch(b));
        *self.slot(b) = Some(End::Switch(a));
    }

    /// Connects a host.
    pub fn attach(&mut self, host: u32, at: Port) {
        *self.slot(at) = Some(End::Host(host));
        self.hosts.insert(host, at);
    }

    /// Takes a part away.
    pub fn remove(&mut self, part: Part) {
        match part {
            Part::Link(port) => self.cut(port),
            Part::Switch(switch) => {
                (0..self.ports).for_each(|port| self.cut(Port { switch, port }))
            }
        }
    }

    fn cut(&mut self, at: Port) {
        match self.slot(at).take() {
            Some(End::Host(host)) => {
                self.hosts.remove(&host);
            }
            Some(End::Switch(far)) => *self.slot(far) = None,
            None => {}
        }
    }

    fn slot(&mut self, at: Port) -> &mut Option<End> {
        &mut self.ends[at.switch as usize][at.port as usize]
    }

    /// The far end of the cable at a port.
    pub fn end(&self, at: Port) -> Option<End> {
        self.ends[at.switch as usize][at.port as usize]
    }

    /// Number of switches, those without a cable included.
    pub fn switches(&self) -> u32 {
        self.ends.len() as u32
    }

    /// Number of switches with a cable.
    pub fn wired(&self) -> usize {
        let has_cable = |ends: &&Vec<Option<End>>| ends.iter().any(Option::is_some);
        self.ends.iter().filter(has_cable).count()
    }

    /// Ports of a switch.
    pub fn ports(&self) -> u32 {
        self.ports
    }

    /// The hosts with a cable, and where it ends.
    pub fn hosts(&self) -> impl ExactSizeIterator<Item = (u32, Port)> + '_ {
        self.hosts.iter().map(|(host, port)| (*host, *port))
    }

    /// The port that the cable of a host leads to.
    pub fn port_of(&self, host: u32) -> Option<Port> {
        self.hosts.get(&host).copied()
    }

    /// The cables of a switch: its ports in order, each with the far end.
    pub fn cables(&self, switch: u32) -> impl Iterator<Item = (Port, End)> + '_ {
        let ends = self.ends[switch as usize].iter();
        (0..)
            .zip(ends)
            .filter_map(move |(port, end)| Some((Port { switch, port }, (*end)?)))
    }

    /// The cables of a switch to other switches.
    pub fn neighbours(&self, switch: u32) -> impl Iterator<Item = (Port, Port)> + '_ {
        self.cables(switch).filter_map(|(port, end)| match end {
            End::Switch(far) => Some((port, far)),
            End::Host(_) => None,
        })
    }

    /// The cables between switches, each once.
    pub fn links(&self) -> impl Iterator<Item = (Port, Port)> + '_ {
        let all = (0..self.switches()).flat_map(|switch| self.neighbours(switch));
        all.filter(|(near, far)| near < far)
    }

    /// The cables of hosts and between switches: the links of the publication.
    pub fn all_links(&self) -> usize {
        self.hosts.len() + self.links().count()
    }

    /// The port by which a packet leaves that entered here.
    pub fn turned(&self, entered: Port, turn: i16) -> Option<Port> {
        let port = entered.port as i32 + i32::from(turn);
        let is_port = (0..self.ports as i32).contains(&port);
        is_port.then_some(Port {
            port: port as u32,
            ..entered
        })
    }

    /// The ports by which a packet leaves the switches on its way, as far as there are cables, and the far end
    /// of its last cable; `None` if a host or nothing is there while turns are left.
    pub fn walk(
        &self,
        host: u32,
        turns: impl IntoIterator<Item = i16>,
    ) -> (Vec<Port>, Option<End>) {
        let mut at = self.port_of(host).map(End::Switch);
        let mut left = Vec::new();
        for turn in turns {
            let out = match at {
                Some(End::Switch(entered)) => self.turned(entered, turn),
                _ => None,
            };
            at = out.and_then(|out| self.end(out));
            left.extend(out.filter(|_| at.is_some()));
        }
        (left, at)
    }

    /// The switches that a host reaches, with their distances from its own.
    pub fn distances(&self, from: u32) -> Vec<Option<u32>> {
        let mut distances = vec![None; self.ends.len()];
        distances[from as usize] = Some(0);
        let mut reached = vec![from];
        let mut next = 0;
        while let Some(&at) = reached.get(next) {
            next += 1;
            let farther = distances[at as usize].map(|distance| distance + 1);
            for (_, far) in self.neighbours(at) {
                if distances[far.switch as usize].is_none() {
                    distances[far.switch as usize] = farther;
                    reached.push(far.switch);
                }
            }
        }
        distances
    }

    /// The hosts that hear each other: all of one part of the network, part by part.
    pub fn parts(&self) -> Vec<Vec<u32>> {
        let mut parts: Vec<Vec<u32>> = Vec::new();
        for (host, at) in self.hosts() {
            let with = |part: &&mut Vec<u32>| {
                let first = self.port_of(part[0]).expect("a host of the network");
                self.distances(first.switch)[at.switch as usize].is_some()
            };
            match parts.iter_mut().find(with) {
                Some(part) => part.push(host),
                None => parts.push(vec![host]),
            }
        }
        parts
    }

    /// Compares the networks that `host` reaches in both, port by port; the ports of a switch may be shifted.
    /// The switch of `other` that is each switch here.
    ///
    /// # Errors
    /// The first difference.
    pub fn compare(&self, other: &Wiring, host: u32) -> Result<BTreeMap<u32, u32>, String> {
        let start = |wiring: &Wiring| {
            wiring
                .port_of(host)
                .ok_or_else(|| format!("host {host} is absent"))
        };
        let mut known: BTreeMap<u32, (u32, i32)> = BTreeMap::new();
        let mut work = vec![(start(self)?, start(other)?)];
        while let Some((mine, theirs)) = work.pop() {
            let shift = theirs.port as i32 - mine.port as i32;
            let meant = (theirs.switch, shift);
            if let Some(already) = known.insert(mine.switch, meant) {
                if already != meant {
                    return Err(format!(
                        "switch {} is two there, or its ports are others",
                        mine.switch
                    ));
                }
                continue;
            }
            // The shift is less than the larger number of ports, in either direction.
            let most = self.ports.max(other.ports) as i32;
            for port in -most..2 * most {
                let ends = [
                    (self, mine.switch, port),
                    (other, theirs.switch, port + shift),
                ];
                match ends.map(|(wiring, switch, port)| wiring.end_at(switch, port)) {
                    [None, None] => {}
                    [Some(End::Host(a)), Some(End::Host(b))] if a == b => {}
                    [Some(End::Switch(a)), Some(End::Switch(b))] => work.push((a, b)),
                    [a, b] => {
                        let of = mine.switch;
                        return Err(format!(
                            "port {port} of switch {of}: {} here, {} there",
                            told(a),
                            told(b)
                        ));
                    }
                }
            }
        }
        let both: BTreeMap<u32, u32> = known
            .iter()
            .map(|(mine, (theirs, _))| (*mine, *theirs))
            .collect();
        let mut theirs: Vec<u32> = both.values().copied().collect();
        theirs.sort_unstable();
        theirs.dedup();
        if theirs.len() < both.len() {
            return Err("two switches here are one there".to_owned());
        }
        Ok(both)
    }

    fn end_at(&self, switch: u32, port: i32) -> Option<End> {
        let port = u32::try_from(port).ok().filter(|port| *port < self.ports)?;
        self.end(Port { switch, port })
    }
}

fn told(end: Option<End>) -> String {
    match end {
        None => "nothing".to_owned(),
        Some(End::Host(host)) => format!("host {host}"),
        Some(End::Switch(Port { switch, port })) => format!("port {port} of switch {switch}"),
    }
}

/// NICs and links of each switch.
fn used_ports(graph: &Graph) -> Vec<u32> {
    let mut used: Vec<u32> = graph.switches.iter().map(|switch| switch.nics).collect();
    for link in &graph.links {
        for end in link.ends {
            used[end as usize] = used[end as usize].saturating_add(link.count);
        }
    }
    used
}
