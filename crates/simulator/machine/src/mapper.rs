//! Maps of networks whose switches have no names, routes without deadlock over them, and both again when a part dies.
//!
//! The switches of Myrinet answer nothing. A packet carries its route as turns: it enters a switch by port
//! p and leaves it by port p + t. A mapper on one host sends such probes and hears of those that arrive
//! ("Parallel Computing on the Berkeley NOW", 2.2; the method of the mapper is that of SPAA 1997).
//!
//! ```text
//!   Wiring      switches, ports, hosts: the machine as it is, and a map as it was found
//!   Probes      a route ends at a host, or at a switch, or there is no answer
//!   map         probes > replicates of switches > merged by hosts > the part that probes can see
//!   Routes      up*/down* over a map, as turns; channels that wait for each other in no circle
//!   Episode     messages travel, a part dies; the next round maps, stops, installs, goes on
//! ```
//!
//! A probe is shorter than the buffers of a port, so it never waits for its own tail. Nothing else travels
//! while a mapper probes (a quiet network, as in the publication); in an episode its probes take time alone.

mod channels;
mod episode;
mod explore;
mod model;
mod packets;
mod probe;
mod routes;
mod visible;
mod wiring;

pub use channels::{Channel, circle};
pub use episode::{Episode, Recovery};
pub use explore::{Found, MapError, map};
pub use packets::{Counted, Speeds};
pub use probe::{OverWires, ProbeTimes, Probes, Sent};
pub use routes::{Load, Routes};
pub use visible::Sight;
pub use wiring::{End, MOST_HOSTS, Part, Port, Wiring};
