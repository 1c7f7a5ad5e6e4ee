//! The options that say on which machine with disks a program runs.

use clap::Args;
use machine::Server;
use serde::Serialize;

use crate::foreign_plan::Changes;

/// A machine with disks, some of its numbers changed.
#[derive(Args, Clone, Debug, Serialize)]
pub(crate) struct ServerOptions {
    /// A built-in machine with disks, or a file; --cores are its nodes
    #[arg(long, value_name = "NAME|FILE", default_value = "server-2026")]
    server: String,
    /// The group of the machine's disks that is there alone, from 1; 0 for all
    #[arg(long, value_name = "N", default_value_t = 0)]
    disk_group: u32,
    /// Other numbers of the machine, and of a plan, as `network.link_mb_s=118;plan.depth=1`
    #[arg(long, value_name = "KEY=VALUE", value_delimiter = ';')]
    set: Vec<String>,
}

impl ServerOptions {
    /// The machine on that many nodes, not yet checked, and the changes of the plan.
    pub fn load(&self, nodes: u32) -> Result<(Server, Vec<String>), String> {
        let changes = Changes::of(&self.set);
        let server = Server::load_changed(&self.server, &changes.of_server);
        let mut server = server.map_err(|error| error.to_string())?;
        server.nodes = nodes;
        if let Some(group) = self.disk_group.checked_sub(1) {
            let all = server.disks.len();
            let found = server.disks.into_iter().nth(group as usize);
            let found = found.ok_or_else(|| {
                format!(
                    "--disk-group {}: {} has {all}",
                    self.disk_group, server.name
                )
            })?;
            server.disks = vec![found];
        }
        Ok((server, changes.of_plan))
    }

    /// A machine with changes, for tests.
    #[cfg(test)]
    pub fn of(server: &str, set: &str) -> ServerOptions {
        ServerOptions {
            server: server.to_owned(),
            disk_group: 0,
            set: set.split(';').map(str::to_owned).collect(),
        }
    }
}
