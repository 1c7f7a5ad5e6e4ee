//! Sockets between the ranks of the job, and how ranks find each other: each tells its address and
//! ports over MPI. A host with several addresses has to be told which of its networks is meant.

use std::cell::Cell;
use std::fs;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, UdpSocket};

use rustix::net::sockopt::set_socket_recv_buffer_size;
use serde_json::{Value, json};

use super::Load;
use super::ranks::Ranks;
use terminal::ending::failure::CliFailure;
use terminal::launcher::ranks_here;

/// Where Linux lists the addresses of this host's networks.
const LISTED: &str = "/proc/net/fib_trie";

/// A network, as `--interface` names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    address: u32,
    mask: u32,
}

/// Reads `10.1.0.0/16`, or a single address.
///
/// # Errors
/// Another text.
pub fn network(text: &str) -> Result<Network, String> {
    let (address, bits) = text.split_once('/').unwrap_or((text, "32"));
    let address: Option<Ipv4Addr> = address.parse().ok();
    let bits: Option<u32> = bits.parse().ok().filter(|bits| *bits <= u32::BITS);
    let (Some(address), Some(bits)) = (address, bits) else {
        return Err("not a network like 10.1.0.0/16".to_owned());
    };
    let mask = u32::MAX.checked_shl(u32::BITS - bits).unwrap_or(0);
    Ok(Network {
        address: address.to_bits() & mask,
        mask,
    })
}

impl Network {
    fn has(self, address: Ipv4Addr) -> bool {
        address.to_bits() & self.mask == self.address
    }
}

/// This host's address for the others: of the network that is meant; else the loopback where all
/// ranks are on one host, or the only address there is.
fn own_address(asked: Option<Network>, ranks: u32) -> Result<Ipv4Addr, CliFailure> {
    if asked.is_none() && ranks_here() == u64::from(ranks) {
        return Ok(Ipv4Addr::LOCALHOST);
    }
    let listed = fs::read_to_string(LISTED).map_err(|cause| {
        CliFailure::new(
            "io",
            format!("cannot read this host's addresses in {LISTED}: {cause}"),
        )
    })?;
    let mut all = addresses(&listed);
    match asked {
        Some(network) => all.retain(|address| network.has(*address)),
        None => all.retain(|address| !address.is_loopback()),
    }
    let names: Vec<String> = all.iter().map(ToString::to_string).collect();
    match all[..] {
        [address] => Ok(address),
        [] => Err(CliFailure::usage(
            "this host has no address there: name a network of it with --interface",
        )),
        _ => Err(CliFailure::usage(format!(
            "this host has the addresses {}: name a network with one of them, as in --interface {}/24",
            names.join(", "),
            names[0]
        ))),
    }
}

/// The host's own addresses in the kernel's tree of routes: `|-- ADDRESS`, and below it `/32 host
/// LOCAL`.
fn addresses(listed: &str) -> Vec<Ipv4Addr> {
    let mut found = Vec::new();
    let mut last: Option<Ipv4Addr> = None;
    for line in listed.lines().map(str::trim) {
        if let Some(address) = line.strip_prefix("|-- ") {
            last = address.parse().ok();
        } else if line.starts_with("/32 host LOCAL") {
            found.extend(last);
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Where a rank is.
#[derive(Clone, Copy, Debug)]
pub struct Peer {
    /// Takes datagrams.
    pub datagrams: SocketAddr,
    /// Sends datagrams, and receives the answers to them.
    pub answers: SocketAddr,
    /// Takes connections.
    pub streams: SocketAddr,
}

/// This rank's sockets, and where those of all ranks are.
pub struct Sockets {
    /// Takes datagrams.
    pub datagrams: UdpSocket,
    /// Sends datagrams, and receives the answers to them.
    pub answers: UdpSocket,
    /// Takes connections.
    pub streams: TcpListener,
    /// By rank.
    pub peers: Vec<Peer>,
    /// Rounds of datagrams so far.
    pub rounds: Cell<u32>,
}

impl Sockets {
    /// Opens them, and tells all ranks.
    ///
    /// # Errors
    /// No address, or several; a socket that cannot be opened, on any rank.
    pub fn open(
        ranks: &mut Ranks,
        asked: Option<Network>,
        load: Load,
    ) -> Result<Sockets, CliFailure> {
        let opened = own_address(asked, ranks.count())
            .and_then(|address| Sockets::at(address, load).map_err(failed("open")));
        let mut sockets = ranks.agree(opened)?;
        let own = sockets.own().map_err(failed("look at"))?;
        let told = [own.datagrams, own.answers, own.streams].map(|place| place.to_string());
        let read = |told: &Value| -> Option<Peer> {
            let place = |number: usize| told.get(number)?.as_str()?.parse().ok();
            Some(Peer {
                datagrams: place(0)?,
                answers: place(1)?,
                streams: place(2)?,
            })
        };
        let peers: Option<Vec<Peer>> = ranks.tell(&json!(told))?.iter().map(read).collect();
        let other = || CliFailure::new("network", "a rank sent no address");
        sockets.peers = ranks.agree(peers.ok_or_else(other))?;
        Ok(sockets)
    }

    fn at(address: Ipv4Addr, load: Load) -> io::Result<Sockets> {
        // Connections inherit the window of the listener, so it is set before they are made.
        let streams = TcpListener::bind((address, 0))?;
        set_socket_recv_buffer_size(&streams, load.window_bytes)?;
        Ok(Sockets {
            datagrams: UdpSocket::bind((address, 0))?,
            answers: UdpSocket::bind((address, 0))?,
            streams,
            peers: Vec::new(),
            rounds: Cell::new(0),
        })
    }

    fn own(&self) -> io::Result<Peer> {
        Ok(Peer {
            datagrams: self.datagrams.local_addr()?,
            answers: self.answers.local_addr()?,
            streams: self.streams.local_addr()?,
        })
    }

    /// The address of each rank.
    pub fn addresses(&self) -> Vec<String> {
        self.peers
            .iter()
            .map(|peer| peer.streams.ip().to_string())
            .collect()
    }
}

/// Makes the failure of a socket.
pub fn failed(verb: &'static str) -> impl Fn(io::Error) -> CliFailure {
    move |cause| {
        let message = format!("cannot {verb} a socket between ranks: {cause}; see --interface");
        CliFailure::new("network", message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_have_addresses() {
        let has = |text: &str, address: [u8; 4]| network(text).unwrap().has(address.into());
        assert!(has("10.1.0.0/16", [10, 1, 255, 3]) && !has("10.1.0.0/16", [10, 2, 0, 1]));
        assert!(has("10.1.7.9/16", [10, 1, 0, 0]) && has("0.0.0.0/0", [1, 2, 3, 4]));
        assert!(has("10.0.0.7", [10, 0, 0, 7]) && !has("10.0.0.7", [10, 0, 0, 6]));
        for wrong in ["", "10.1/16", "10.1.0.0/33", "10.1.0.0/x", "eth0"] {
            assert!(network(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn own_addresses_are_found_in_the_tree_of_routes() {
        let listed = "Main:\n  +-- 0.0.0.0/0 3 0 5\n     |-- 0.0.0.0\n        /0 universe UNICAST\n     \
                      |-- 10.77.0.0\n        /24 link UNICAST\n     |-- 10.77.0.2\n        /32 host LOCAL\n     \
                      |-- 10.77.0.255\n        /32 link BROADCAST\n     |-- 127.0.0.1\n        /32 host LOCAL\n\
                      Local:\n     |-- 10.77.0.2\n        /32 host LOCAL\n";
        assert_eq!(
            addresses(listed),
            [Ipv4Addr::new(10, 77, 0, 2), Ipv4Addr::LOCALHOST]
        );
    }
}
