//! The rules between the numbers of a machine with disks.

use std::ops::Range;

use super::{DiskGroup, Holds, Most, Server, ServerNetwork};

/// Machines beyond these are mistakes of a unit.
const MOST: f64 = 1e9;
/// Times are whole nanoseconds per KiB, which is exact to a hundredth up to this rate.
const RATES_MB_S: Range<f64> = 0.001..20_000.0;
const LINKS_MB_S: Range<f64> = 0.001..1e6;
/// A request takes whole nanoseconds of its limit.
const REQUESTS_PER_S: Range<f64> = 0.1..1e7;
const CACHES_MB: Range<f64> = 0.001..1e6;
const TURNS_PER_MINUTE: Range<f64> = 1.0..1e6;
const MOST_SEEK_MS: f64 = 1e5;
const GB: Range<f64> = 0.001..1e9;
/// Drives of a machine are alike to within a part.
const SPREADS: Range<f64> = 0.0..0.2;
const MOST_CORES: usize = 4096;
const MOST_DISKS: usize = 1000;

impl Server {
    /// # Errors
    /// The first number that no machine has, by its key.
    pub(super) fn check(&self) -> Result<(), String> {
        if self.format != 1 {
            return Err(format!("format is {}: this program reads 1", self.format));
        }
        whole("nodes", self.nodes as usize, Server::MOST_NODES as usize)?;
        whole("node.cores", self.node.cores, MOST_CORES)?;
        above_0("node.memory_gb", self.node.memory_gb)?;
        for (key, value) in [
            ("node.mips", self.node.mips),
            ("node.price_usd", self.node.price_usd),
            (
                "node.memory_price_usd_per_gb",
                self.node.memory_price_usd_per_gb,
            ),
            ("node.watts", self.node.watts),
            (
                "node.first_touch_ns_per_byte",
                self.node.first_touch_ns_per_byte,
            ),
        ] {
            value.map_or(Ok(()), |value| above_0(key, value))?;
        }
        for (number, bus) in self.buses.iter().enumerate() {
            if let Some(on) = &bus.on
                && !self.buses[..number].iter().any(|before| before.name == *on)
            {
                let name = &bus.name;
                return Err(format!(
                    "buses: {name}: on is {on}: no [[buses]] before it has this name"
                ));
            }
            inside(
                &format!("buses: {}: read_mb_s", bus.name),
                bus.read_mb_s,
                RATES_MB_S,
            )?;
            inside(
                &format!("buses: {}: write_mb_s", bus.name),
                bus.write_mb_s,
                RATES_MB_S,
            )?;
            if self
                .buses
                .iter()
                .filter(|other| other.name == bus.name)
                .count()
                > 1
            {
                return Err(format!("buses: two have the name {}", bus.name));
            }
        }
        for (number, disks) in self.disks.iter().enumerate() {
            self.check_disks(disks)
                .map_err(|why| format!("disks, group {}: {why}", number + 1))?;
        }
        let all: usize = self.disks.iter().map(|disks| disks.count).sum();
        whole("disks of a node", all, MOST_DISKS)?;
        if self
            .disks
            .iter()
            .all(|disks| disks.holds == Holds::Temporary)
        {
            return Err(
                "no disk holds files: give one with holds = \"files\" or \"both\"".to_owned(),
            );
        }
        match &self.network {
            Some(network) => {
                network.check()?;
                self.check_bus("network: ", network.bus.as_deref())?;
            }
            None if self.nodes > 1 => {
                return Err("several nodes need [network], with link_mb_s".to_owned());
            }
            None => {}
        }
        for (stage, cost) in self.stages.iter().chain(&self.stages_of_lines) {
            let costs = [
                ("ns_per_record", cost.ns_per_record),
                ("ns_per_byte", cost.ns_per_byte),
            ];
            for (key, value) in costs {
                if !(0.0..MOST).contains(&value) {
                    return Err(format!(
                        "stages: {stage}: {key} is {value}: must be 0 to {MOST:e}"
                    ));
                }
            }
        }
        Ok(())
    }

    fn check_bus(&self, of: &str, name: Option<&str>) -> Result<(), String> {
        let is_there = |name: &&str| self.buses.iter().any(|bus| bus.name == **name);
        name.filter(|name| !is_there(name)).map_or(Ok(()), |name| {
            Err(format!("{of}bus is {name}: no [[buses]] has this name"))
        })
    }

    fn check_disks(&self, disks: &DiskGroup) -> Result<(), String> {
        whole("count", disks.count, MOST_DISKS)?;
        inside("gb", disks.gb, GB)?;
        inside("read_mb_s", disks.read_mb_s, RATES_MB_S)?;
        inside("write_mb_s", disks.write_mb_s, RATES_MB_S)?;
        if !(0.0..MOST).contains(&disks.latency_us) {
            return Err(format!(
                "latency_us is {}: must be 0 or more",
                disks.latency_us
            ));
        }
        match (disks.cache_mb, disks.cache_mb_s) {
            (None, None) => {}
            (Some(mb), Some(mb_s)) => {
                inside("cache_mb", mb, CACHES_MB)?;
                inside("cache_mb_s", mb_s, RATES_MB_S)?;
            }
            _ => return Err("cache_mb and cache_mb_s: one of them is missing".to_owned()),
        }
        if let Some(both) = disks.both_mb_s {
            inside("both_mb_s", both, RATES_MB_S.start..2.0 * RATES_MB_S.end)?;
            if disks.depth.unwrap_or(1) < 2 {
                return Err("both_mb_s: needs a depth of 2 or more".to_owned());
            }
            if disks.rpm.is_some() {
                return Err(
                    "both_mb_s: a disk that turns does not read and write at once".to_owned(),
                );
            }
        }
        if let Some([read, write]) = disks.single_mb_s {
            inside("single_mb_s", read, RATES_MB_S)?;
            inside("single_mb_s", write, RATES_MB_S)?;
            if disks.rpm.is_some() {
                return Err(
                    "single_mb_s: a disk that turns serves one request at a time".to_owned(),
                );
            }
        }
        for rate in disks.limit_mb_s.into_iter().flat_map(Most::rates) {
            inside("limit_mb_s", rate, RATES_MB_S)?;
        }
        for rate in disks.limit_requests_per_s.into_iter().flat_map(Most::rates) {
            inside("limit_requests_per_s", rate, REQUESTS_PER_S)?;
        }
        if let Some(spread) = disks.spread {
            inside("spread", spread, SPREADS)?;
        }
        if let Some(share) = disks.input_share {
            above_0("input_share", share)?;
        }
        if let Some(at) = disks.inputs_at {
            inside("inputs_at", at, 0.0..1.0)?;
        }
        if let Some(depth) = disks.depth {
            whole("depth", depth, 1 << 16)?;
        }
        if let Some(price) = disks.price_usd {
            above_0("price_usd", price)?;
        }
        self.check_bus("", disks.bus.as_deref())?;
        let Some(rpm) = disks.rpm else {
            let seeks = disks.read_seek_ms.or(disks.write_seek_ms);
            if disks.inner.is_some() || seeks.is_some() {
                return Err("inner and seeks are of a disk that turns: give rpm, too".to_owned());
            }
            return Ok(());
        };
        inside("rpm", rpm, TURNS_PER_MINUTE)?;
        let inner = disks.inner.ok_or("a disk that turns needs inner")?;
        if !(0.1..=0.99).contains(&inner) {
            return Err(format!("inner is {inner}: must be 0.1 to 0.99"));
        }
        for (key, seek) in [
            ("read_seek_ms", disks.read_seek_ms),
            ("write_seek_ms", disks.write_seek_ms),
        ] {
            let [least, mean, most] =
                seek.ok_or_else(|| format!("a disk that turns needs {key}"))?;
            let ascend = 0.0 <= least && least <= mean && mean <= most && most < MOST_SEEK_MS;
            // Beyond that the curve through them would fall.
            let bends = (mean - least) * 3.0 <= (most - least) * 2.0;
            if !(ascend && bends) {
                return Err(format!(
                    "{key} is [{least}, {mean}, {most}]: must be the times of the next track, the mean, at \
                     most two thirds between the others, and the full stroke"
                ));
            }
        }
        Ok(())
    }
}

impl ServerNetwork {
    fn check(&self) -> Result<(), String> {
        inside("network.link_mb_s", self.link_mb_s, LINKS_MB_S)?;
        let keys = [
            ("network.round_trip_us", self.round_trip_us),
            ("network.window_kb", self.window_kb),
            ("network.port_kb", self.port_kb),
            ("network.timeout_ms", self.timeout_ms),
        ];
        for (key, value) in keys {
            value.map_or(Ok(()), |value| above_0(key, value))?;
        }
        let [round_trip, window, port, timeout] = keys.map(|(_, value)| value.is_some());
        if window && !round_trip {
            return Err("network.window_kb: needs round_trip_us, too".to_owned());
        }
        if port != timeout {
            return Err("network.port_kb and timeout_ms: need each other".to_owned());
        }
        Ok(())
    }
}

fn whole(key: &str, value: usize, most: usize) -> Result<(), String> {
    if (1..=most).contains(&value) {
        return Ok(());
    }
    Err(format!("{key} is {value}: must be 1 to {most}"))
}

fn inside(key: &str, value: f64, range: Range<f64>) -> Result<(), String> {
    if range.contains(&value) {
        return Ok(());
    }
    let Range { start, end } = range;
    Err(format!("{key} is {value}: must be {start} to {end}"))
}

fn above_0(key: &str, value: f64) -> Result<(), String> {
    if value > 0.0 && value < MOST {
        return Ok(());
    }
    Err(format!(
        "{key} is {value}: must be above 0 and below {MOST:e}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_machines_are_right() {
        for (name, text) in Server::BUILT_IN {
            let server = Server::parse(text).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(server.name, name);
        }
    }

    #[test]
    fn limits_are_of_both_ways_or_of_each_and_relief_doubles_them() {
        let text = Server::text_of("cloud-2026").unwrap();
        let limited = "limit_mb_s = 125\nlimit_requests_per_s = [4000, 2000]\nread_mb_s";
        let mut server = Server::parse(&text.replacen("read_mb_s", limited, 1)).unwrap();
        let device = server.disks[0].device(None);
        let limit = |read_ns, write_ns, is_apart| disk::Limit {
            read_ns,
            write_ns,
            is_apart,
        };
        assert_eq!(device.byte_limit, limit(8192, 8192, false));
        assert_eq!(device.request_limit, limit(250_000, 500_000, true));
        server.disks[0].double();
        let device = server.disks[0].device(None);
        assert_eq!(device.byte_limit, limit(4096, 4096, false));
        assert_eq!(device.request_limit, limit(125_000, 250_000, true));
    }

    #[test]
    fn mistakes_name_their_key_and_a_remedy() {
        let text = Server::text_of("now-1997").unwrap();
        let cases = [
            (
                "format = 1\n",
                "format = 2\n",
                "format is 2: this program reads 1",
            ),
            ("nodes = 32 ", "nodes = 0 ", "nodes is 0: must be 1 to 1000"),
            (
                "cores = 1 ",
                "cores = -1 ",
                "line 10: invalid value: integer `-1`, expected usize",
            ),
            (
                "memory_gb = 0.044",
                "memory_gb = nan",
                "node.memory_gb is NaN: must be above 0",
            ),
            (
                "read_mb_s = 5.5",
                "read_mb_s = -3",
                "disks, group 1: read_mb_s is -3: must be 0.001 to 20000",
            ),
            (
                "read_mb_s = 5.5",
                "limit_requests_per_s = [100, 0]\nread_mb_s = 5.5",
                "disks, group 1: limit_requests_per_s is 0: must be 0.1 to 10000000",
            ),
            (
                "read_mb_s = 5.5",
                "limit_mb_s = [1, -1]\nread_mb_s = 5.5",
                "limit_mb_s is -1: must be 0.001 to 20000",
            ),
            (
                "read_mb_s = 5.5",
                "limit_mb_s = [1, 2, 3]\nread_mb_s = 5.5",
                "expected a number, or two: [read, written]",
            ),
            (
                "read_mb_s = 5.5",
                "cache_mb = 0.5\nread_mb_s = 5.5",
                "disks, group 1: cache_mb and cache_mb_s: one of them is missing",
            ),
            (
                "read_mb_s = 5.5",
                "cache_mb = 0\ncache_mb_s = 8\nread_mb_s = 5.5",
                "disks, group 1: cache_mb is 0: must be 0.001 to 1000000",
            ),
            (
                "bus = \"narrow\"",
                "bus = \"wide\"",
                "bus is wide: no [[buses]] has this name",
            ),
            (
                "rpm = 5411 ",
                "",
                "inner and seeks are of a disk that turns: give rpm, too",
            ),
            (
                "[1.0, 10.0, 20.0]",
                "[1.0, 19.0, 20.0]",
                "read_seek_ms is [1, 19, 20]: must be",
            ),
            (
                "link_mb_s = 38",
                "link_mbs = 38",
                "unknown field `link_mbs`, expected one of `link_mb_s`",
            ),
            (
                "link_mb_s = 38",
                "window_kb = 8\nlink_mb_s = 38",
                "network.window_kb: needs round_trip_us, too",
            ),
            (
                "link_mb_s = 38",
                "port_kb = 480\nlink_mb_s = 38",
                "network.port_kb and timeout_ms: need each other",
            ),
            (
                "link_mb_s = 38",
                "round_trip_us = 0\nlink_mb_s = 38",
                "network.round_trip_us is 0: must be above 0",
            ),
            ("count = 2 ", "", "missing field `count`"),
            (
                "mips = 167 ",
                "mips = 0 ",
                "node.mips is 0: must be above 0",
            ),
            (
                "memory_price_usd_per_gb = 15000",
                "memory_price_usd_per_gb = 1e12",
                "node.memory_price_usd_per_gb is 1000000000000: must be above 0 and below 1e9",
            ),
            (
                "price_usd = 2000 ",
                "price_usd = -2000 ",
                "disks, group 1: price_usd is -2000: must be above 0",
            ),
            (
                "holds = \"both\"",
                "holds = \"temporary\"",
                "no disk holds files",
            ),
        ];
        for (right, wrong, expected) in cases {
            assert!(text.contains(right), "{right}");
            let error = Server::parse(&text.replacen(right, wrong, 1)).unwrap_err();
            assert!(error.to_string().contains(expected), "{error}");
            assert!(!error.to_string().contains('\n'), "{error}");
        }
        let missing = Server::load("no-such").unwrap_err().to_string();
        assert!(
            missing.contains("built-in machine: tritonsort-2011"),
            "{missing}"
        );
    }
}
