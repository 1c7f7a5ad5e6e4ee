//! The mapper's model: each answer makes a vertex, and vertices that must be one switch are merged.
//!
//! A vertex numbers its ports from the one by which the first probe entered, so two vertices of one switch
//! differ by an offset. Union-find keeps, for each vertex, its offset in the vertex it was merged into.
//!
//! ```text
//!   a host has one cable     two vertices that have it are one switch
//!   a port has one cable     the far ends of two edges at one port are one switch
//! ```

use std::collections::BTreeMap;

use super::visible::prune;
use super::{MapError, Port, Wiring};

/// A place at a vertex, counted from the port by which its first probe entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub vertex: usize,
    pub index: i32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Far {
    Host(u32),
    Vertex(Place),
}

/// The shortest known route to a vertex, and the index by which it enters.
#[derive(Clone, Debug)]
pub struct Route {
    pub turns: Vec<i16>,
    pub entry: i32,
}

#[derive(Debug)]
struct Vertex {
    /// The vertex that it was merged into, with the index there of its index 0; itself at first.
    into: Place,
    route: Route,
    cables: BTreeMap<i32, Far>,
    is_explored: bool,
}

#[derive(Debug)]
pub struct Model {
    vertices: Vec<Vertex>,
    hosts: BTreeMap<u32, Place>,
    /// Places that must be one, and are not yet.
    work: Vec<(Place, Place)>,
    ports: u32,
}

impl Model {
    pub fn new(ports: u32) -> Model {
        Model {
            vertices: Vec::new(),
            hosts: BTreeMap::new(),
            work: Vec::new(),
            ports,
        }
    }

    /// A switch at the end of a route, as far as is known a new one.
    pub fn add(&mut self, turns: Vec<i16>) -> usize {
        let vertex = self.vertices.len();
        self.vertices.push(Vertex {
            into: Place { vertex, index: 0 },
            route: Route { turns, entry: 0 },
            cables: BTreeMap::new(),
            is_explored: false,
        });
        vertex
    }

    /// Vertices that answers made.
    pub fn vertices(&self) -> usize {
        self.vertices.len()
    }

    /// The place in the vertex that now stands for it.
    pub fn find(&mut self, place: Place) -> Place {
        let mut at = place;
        while self.vertices[at.vertex].into.vertex != at.vertex {
            at = shifted(self.vertices[at.vertex].into, at.index);
        }
        let of_zero = shifted(at, -place.index);
        self.vertices[place.vertex].into = of_zero;
        at
    }

    /// The route of a vertex that stands for itself.
    pub fn route(&self, vertex: usize) -> &Route {
        &self.vertices[vertex].route
    }

    /// Whether it was not explored yet; from now on it is.
    pub fn begin(&mut self, vertex: usize) -> bool {
        !std::mem::replace(&mut self.vertices[vertex].is_explored, true)
    }

    /// The cable at a place that stands for itself.
    pub fn cable(&self, at: Place) -> Option<Far> {
        self.vertices[at.vertex].cables.get(&at.index).copied()
    }

    /// Whether a switch with the known cables can have a port there.
    pub fn is_possible(&self, at: Place) -> bool {
        let cables = &self.vertices[at.vertex].cables;
        let [first, last] = [cables.first_key_value(), cables.last_key_value()];
        let reach = self.ports as i32 - 1;
        let first = first.is_none_or(|(first, _)| at.index - first <= reach);
        first && last.is_none_or(|(last, _)| last - at.index <= reach)
    }

    /// Notes a shorter route; whether the vertex is to be explored by it.
    pub fn reach(&mut self, at: Place, turns: Vec<i16>) -> bool {
        let found = &mut self.vertices[at.vertex];
        let is_shorter = turns.len() < found.route.turns.len();
        if is_shorter {
            found.route = Route {
                turns,
                entry: at.index,
            };
        }
        is_shorter && !found.is_explored
    }

    /// A host answered from here.
    pub fn attach(&mut self, at: Place, host: u32) -> Result<(), MapError> {
        self.connect(at, Far::Host(host))?;
        if let Some(known) = self.hosts.insert(host, at) {
            self.work.push((known, at));
        }
        self.merge()
    }

    /// A switch answered from here: a vertex with this cable at its index 0.
    pub fn join(&mut self, at: Place, vertex: usize) -> Result<(), MapError> {
        let far = Place { vertex, index: 0 };
        self.connect(at, Far::Vertex(far))?;
        self.connect(far, Far::Vertex(at))?;
        self.merge()
    }

    fn connect(&mut self, at: Place, far: Far) -> Result<(), MapError> {
        let at = self.find(at);
        let known = self.vertices[at.vertex].cables.insert(at.index, far);
        match (known, far) {
            (Some(Far::Vertex(a)), Far::Vertex(b)) => self.work.push((a, b)),
            (Some(known), far) if known != far => return Err(MapError::Changed),
            _ => {}
        }
        self.is_possible(at).then_some(()).ok_or(MapError::Changed)
    }

    fn merge(&mut self) -> Result<(), MapError> {
        while let Some((a, b)) = self.work.pop() {
            let [a, b] = [a, b].map(|place| self.find(place));
            if a.vertex == b.vertex {
                if a.index != b.index {
                    return Err(MapError::Changed);
                }
                continue;
            }
            // The older vertex stays, so numbers follow the order of answers.
            let (stays, goes) = if a.vertex < b.vertex { (a, b) } else { (b, a) };
            let of_zero = shifted(stays, -goes.index);
            let gone = &mut self.vertices[goes.vertex];
            gone.into = of_zero;
            let cables = std::mem::take(&mut gone.cables);
            let (route, is_explored) = (gone.route.clone(), gone.is_explored);
            let kept = &mut self.vertices[stays.vertex];
            kept.is_explored |= is_explored;
            if route.turns.len() < kept.route.turns.len() {
                let entry = shifted(of_zero, route.entry).index;
                kept.route = Route { entry, ..route };
            }
            for (index, far) in cables {
                self.connect(shifted(of_zero, index), far)?;
            }
        }
        Ok(())
    }

    /// The switches and hosts of the model without F. Of F the model has replicates as a tree, whose ends go
    /// first, and if it has a circle, some of it as it is: a probe came in by the one cable, and back by it.
    pub fn pruned(mut self) -> Wiring {
        let is_root = |vertex: &usize| self.vertices[*vertex].into.vertex == *vertex;
        let roots: Vec<usize> = (0..self.vertices.len()).filter(is_root).collect();
        let mut cables: BTreeMap<usize, BTreeMap<i32, Far>> = BTreeMap::new();
        for root in roots {
            let own = std::mem::take(&mut self.vertices[root].cables);
            let resolved = own.into_iter().map(|(index, far)| match far {
                Far::Vertex(place) => (index, Far::Vertex(self.find(place))),
                host => (index, host),
            });
            cables.insert(root, resolved.collect());
        }
        let mut ends: Vec<usize> = cables.keys().copied().collect();
        while let Some(vertex) = ends.pop() {
            let single = match cables.get(&vertex) {
                Some(own) if own.len() == 1 => own.first_key_value().map(|(_, far)| *far),
                _ => None,
            };
            if let Some(Far::Vertex(far)) = single {
                cables.remove(&vertex);
                cables
                    .get_mut(&far.vertex)
                    .expect("a vertex with this cable")
                    .remove(&far.index);
                ends.push(far.vertex);
            }
        }
        let mut wiring = self.wired(&cables);
        prune(&mut wiring);
        wiring
    }

    fn wired(&self, cables: &BTreeMap<usize, BTreeMap<i32, Far>>) -> Wiring {
        let number: BTreeMap<usize, u32> = cables.keys().copied().zip(0..).collect();
        let place = |vertex: usize, index: i32| {
            let first = cables[&vertex].keys().next().copied().unwrap_or(index);
            Port {
                switch: number[&vertex],
                port: (index - first) as u32,
            }
        };
        let mut wiring = Wiring::new(cables.len() as u32, self.ports);
        for (&vertex, own) in cables {
            for (&index, far) in own {
                let near = place(vertex, index);
                match *far {
                    Far::Host(host) => wiring.attach(host, near),
                    Far::Vertex(far) => wiring.join(near, place(far.vertex, far.index)),
                }
            }
        }
        wiring
    }
}

fn shifted(place: Place, by: i32) -> Place {
    Place {
        index: place.index + by,
        ..place
    }
}
