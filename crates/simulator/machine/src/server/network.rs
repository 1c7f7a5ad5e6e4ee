//! The network between nodes, in a machine file.

use serde::Deserialize;

use crate::driver::{FlowWindow, NodeLink, SwitchPort};

/// The network between nodes.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerNetwork {
    /// Millions of bytes a second that a node sends, and that it receives.
    pub link_mb_s: f64,
    /// Microseconds of a round trip between nodes; half of it, each message is late. None if it is missing.
    pub round_trip_us: Option<f64>,
    /// Thousands of bytes that a node sends to another without word of them; without it there is no limit.
    pub window_kb: Option<f64>,
    /// Thousands of bytes of windows that wait at an output port of the switch; without it nothing is lost.
    pub port_kb: Option<f64>,
    /// Milliseconds after which lost bytes are sent again.
    pub timeout_ms: Option<f64>,
    /// The bus that each byte passes when it is sent, and when it is received.
    pub bus: Option<String>,
}

impl ServerNetwork {
    /// The link of a simulated node.
    pub fn model(&self) -> NodeLink {
        let port = |kb: f64| SwitchPort {
            bytes: kb * 1e3,
            timeout_ns: (self.timeout_ms.unwrap_or(0.0) * 1e6) as u64,
        };
        let window = |kb: f64| FlowWindow {
            bytes: kb * 1e3,
            port: self.port_kb.map(port),
        };
        NodeLink {
            bytes_per_ns: self.link_mb_s / 1e3,
            round_trip_ns: (self.round_trip_us.unwrap_or(0.0) * 1e3) as u64,
            window: self.window_kb.map(window),
        }
    }
}
