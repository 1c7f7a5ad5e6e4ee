//! A machine with other numbers than its file has. The hash stays that of the file.

use super::check::{MOST_LINKS, MOST_RANKS_PER_NIC};
use super::{CoreModel, Nanoseconds, Profile, ProfileError};
use crate::schedule::Ticks;

/// Round trips per timeout, as in nanopu.toml.
const TIMEOUT_TRIPS: u64 = 10;

/// Times in nanoseconds that a machine's LogGP parameters are raised by, each alone (Martin et al., ISCA
/// 1997); `None` raises none.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Raised {
    /// The processor's at each send and each receive.
    pub overhead_ns: Option<f64>,
    /// Of a message, which delays no other.
    pub latency_ns: Option<f64>,
    /// The NIC's after each packet of data.
    pub gap_ns: Option<f64>,
    /// The NIC's for each byte of a packet.
    pub byte_ns: Option<f64>,
}

impl Profile {
    /// The machine with raised overhead, latency and gaps. The NIC's timeout grows by as much as a message
    /// may wait for others.
    ///
    /// # Errors
    /// If a time is negative, not a number, or longer than a second.
    pub fn raised(mut self, by: Raised) -> Result<Profile, ProfileError> {
        let ticks = |key, ns: Option<f64>| match ns {
            None => Ok(Ticks(0)),
            Some(ns) => latency(key, ns).map(|ns| Ticks(self.ticks(ns.value()))),
        };
        let overhead = ticks("overhead_ns", by.overhead_ns)?;
        let later = ticks("latency_ns", by.latency_ns)?;
        let gap = ticks("gap_ns", by.gap_ns)?;
        let byte = latency("byte_ns", by.byte_ns.unwrap_or(0.0))?.value();
        let flit_ns = byte * f64::from(self.network.flit_bytes);
        let per_flit = (flit_ns * 1e9 / self.tick_fs as f64).round() as u64;
        for step in [
            &mut self.core.send_cycles,
            &mut self.core.receive_cycles,
            &mut self.core.forward_cycles,
        ] {
            *step += overhead;
        }
        self.nic.receive_cycles += later;
        self.nic.gap_cycles += gap;
        self.nic.gap_per_flit += per_flit;
        let packet = u64::from(self.nic.header_bytes + self.nic.segment_bytes);
        let packet = packet.div_ceil(self.network.flit_bytes.into());
        let each = gap + Ticks(packet * per_flit / 1000);
        let waits = each * u64::from(2 * self.nic.transmit_buffers) + later * TIMEOUT_TRIPS;
        self.nic.timeout_cycles += waits;
        self.check()?;
        Ok(self)
    }

    /// Replaces latencies in nanoseconds; `None` keeps one. Links and switches of a graph that give
    /// a latency keep it. The NIC's timeout becomes at least ten
    /// round trips, since a slow network must not make NICs send everything twice.
    ///
    /// # Errors
    /// If a latency is negative, not a number, or longer than a second.
    pub fn with_network(
        mut self,
        link_ns: Option<f64>,
        switch_ns: Option<f64>,
    ) -> Result<Profile, ProfileError> {
        if let Some(ns) = link_ns {
            self.network.link_ns = latency("link_ns", ns)?;
        }
        if let Some(ns) = switch_ns {
            self.network.switch_ns = latency("switch_ns", ns)?;
        }
        if link_ns.is_some() || switch_ns.is_some() {
            let least = self.round_trip() * TIMEOUT_TRIPS;
            self.nic.timeout_cycles = self.nic.timeout_cycles.max(least);
            self.check()?;
        }
        Ok(self)
    }

    /// The machine with queues of these bytes in its switches; `None` keeps those of its file.
    ///
    /// # Errors
    /// If a queue has no room for a packet.
    pub fn with_queues(mut self, bytes: Option<u64>) -> Result<Profile, ProfileError> {
        if bytes.is_some() {
            self.network.queue_bytes = bytes;
            self.check()?;
        }
        Ok(self)
    }

    /// The machine with another time of a cache miss, and another time that a line occupies the L2
    /// that the cores of a NIC share; `None` keeps one.
    ///
    /// # Errors
    /// If a time is negative or longer than a second.
    pub fn with_caches(
        mut self,
        miss_ns: Option<f64>,
        l2_line_ns: Option<f64>,
    ) -> Result<Profile, ProfileError> {
        if let Some(ns) = miss_ns {
            let thousandths = latency("miss_ns", ns)?.value() * 1e9 / self.tick_fs as f64;
            self.work.load = thousandths.round() as u64;
        }
        if let Some(ns) = l2_line_ns {
            let ns = latency("l2_line_ns", ns)?.value();
            self.core.l2_line_cycles = Ticks(self.ticks(ns));
        }
        Ok(self)
    }

    /// The machine with `cores` cores behind each NIC; `None` keeps their number. With fewer, the
    /// switches on top of a folded Clos network get links for the NICs that hold as many cores as
    /// before; a graph keeps its NICs.
    ///
    /// # Errors
    /// If there are none, or too many for a NIC or the switches, or if a rank has several cores.
    pub fn with_cores_per_nic(mut self, cores: Option<u32>) -> Result<Profile, ProfileError> {
        let Some(cores) = cores else {
            return Ok(self);
        };
        let wrong = |what: String| Err(ProfileError::new(what));
        let CoreModel {
            cores_per_rank,
            ranks_per_nic,
            ..
        } = self.core;
        if cores_per_rank > 1 {
            return wrong(format!(
                "cores_per_nic is {cores}: each rank has {cores_per_rank} cores here; change \
                 core.ranks_per_nic in a file of your own"
            ));
        }
        if !(1..=MOST_RANKS_PER_NIC).contains(&cores) {
            return wrong(format!(
                "cores_per_nic is {cores}: expected 1 to {MOST_RANKS_PER_NIC}"
            ));
        }
        let links = u64::from(self.network.top_links) * u64::from(ranks_per_nic);
        let links = links.div_ceil(u64::from(cores));
        if links > u64::from(MOST_LINKS) {
            return wrong(format!(
                "cores_per_nic is {cores}: a switch on top would need {links} links, and has at \
                 most {MOST_LINKS}"
            ));
        }
        self.network.top_links = self.network.top_links.max(links as u32);
        self.core.ranks_per_nic = cores;
        self.check()?;
        Ok(self)
    }
}

fn latency(key: &str, ns: f64) -> Result<Nanoseconds, ProfileError> {
    const SECOND_NS: f64 = 1e9;
    if (0.0..=SECOND_NS).contains(&ns) {
        return Ok(Nanoseconds::of(ns));
    }
    Err(ProfileError::new(format!(
        "{key} is {ns}: expected a number from 0 to {SECOND_NS}"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fewer_cores_behind_a_nic_need_more_nics() {
        let nanopu = || Profile::named("nanopu").unwrap();
        let with = |cores| nanopu().with_cores_per_nic(Some(cores));
        let one = with(1).unwrap();
        assert_eq!((one.core.ranks_per_nic, one.network.top_links), (1, 1024));
        assert_eq!(one.most_ranks(), nanopu().most_ranks());
        let sixteen = with(16).unwrap();
        assert_eq!(sixteen.network.top_links, 256);
        assert_eq!(sixteen.most_ranks(), 4 * nanopu().most_ranks());
        let told = |cores| with(cores).unwrap_err().to_string();
        assert_eq!(told(0), "machine: cores_per_nic is 0: expected 1 to 256");
        assert_eq!(
            told(257),
            "machine: cores_per_nic is 257: expected 1 to 256"
        );
        let nodes = Profile::named("nanopu-nodes").unwrap();
        let told = nodes.with_cores_per_nic(Some(2)).unwrap_err().to_string();
        assert!(told.contains("each rank has 4 cores here"), "{told}");
        let mut wide = nanopu();
        wide.network.top_links = 4096;
        let told = wide.with_cores_per_nic(Some(1)).unwrap_err().to_string();
        assert!(
            told.contains("would need 16384 links, and has at most 4096"),
            "{told}"
        );
        let unchanged = nanopu().with_cores_per_nic(None).unwrap();
        assert_eq!(unchanged, nanopu());
    }
}
