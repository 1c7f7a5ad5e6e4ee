//! The exploration: from the mapper's own cable outwards, first in, first out.

use std::collections::VecDeque;
use std::fmt;

use super::model::{Far, Model, Place};
use super::{Probes, Wiring};

/// The most vertices of a model. Where hosts are few, replicates of a switch stay apart for many turns, and each has
/// replicates of its neighbours.
const MOST_VERTICES: usize = 1 << 20;

/// A map, and the vertices that it took.
#[derive(Debug)]
pub struct Found {
    /// Switches in the order in which they answered, their ports from the first used one on, and hosts.
    pub map: Wiring,
    /// Switches of the model, each with its replicates.
    pub vertices: usize,
}

/// Probes that make no map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapError {
    /// The mapper's cable leads to no switch.
    Alone,
    /// Answers contradict each other.
    Changed,
    /// The model has more vertices than the limit.
    Endless,
}

impl fmt::Display for MapError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MapError::Alone => out.write_str("the cable of the mapper's host leads to no switch"),
            MapError::Changed => {
                out.write_str("the network changed while it was mapped; map it again")
            }
            MapError::Endless => write!(
                out,
                "more than {MOST_VERTICES} replicates: few hosts tell so many switches apart; map with more hosts"
            ),
        }
    }
}

impl std::error::Error for MapError {}

/// Maps the network by routes of at most `depth` turns.
///
/// # Errors
/// If the mapper has no switch, answers contradict each other, or the model grows too large.
pub fn map(probes: &mut impl Probes, depth: usize) -> Result<Found, MapError> {
    if !probes.switch(&[]) {
        return Err(MapError::Alone);
    }
    let mut model = Model::new(probes.ports());
    let vertex = model.add(Vec::new());
    model.attach(Place { vertex, index: 0 }, probes.own())?;
    let mut queue = VecDeque::from([vertex]);
    while let Some(vertex) = queue.pop_front() {
        let vertex = model.find(Place { vertex, index: 0 }).vertex;
        if model.route(vertex).turns.len() < depth && model.begin(vertex) {
            explore(probes, &mut model, vertex, &mut queue)?;
        }
        if model.vertices() > MOST_VERTICES {
            return Err(MapError::Endless);
        }
    }
    let vertices = model.vertices();
    let map = model.pruned();
    Ok(Found { map, vertices })
}

/// Tries each port of a switch that may be there and has no known cable: first for a host, then for a switch.
fn explore(
    probes: &mut impl Probes,
    model: &mut Model,
    vertex: usize,
    queue: &mut VecDeque<usize>,
) -> Result<(), MapError> {
    let most = probes.ports() as i16 - 1;
    let route = model.route(vertex).clone();
    for turn in (1..=most).chain((1..=most).map(|turn| -turn)) {
        let index = route.entry + i32::from(turn);
        let at = model.find(Place { vertex, index });
        let mut turns = route.turns.clone();
        turns.push(turn);
        match model.cable(at) {
            Some(Far::Vertex(far)) => {
                let far = model.find(far);
                if model.reach(far, turns) {
                    queue.push_back(far.vertex);
                }
                continue;
            }
            Some(Far::Host(_)) => continue,
            None if !model.is_possible(at) => continue,
            None => {}
        }
        if let Some(host) = probes.host(&turns) {
            model.attach(at, host)?;
        } else if probes.switch(&turns) {
            let found = model.add(turns);
            model.join(at, found)?;
            queue.push_back(found);
        }
    }
    Ok(())
}
