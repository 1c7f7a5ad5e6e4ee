//! The suite of every backend, on the deterministic driver: a hundred schedules each, half of them on a
//! machine with disks, links and few cores that take time.

use std::future::Future;
use std::path::PathBuf;

use machine::{Driver, Server};
use node::Node;
use node::conformance::{Harness, Place, source_bytes};

struct Seeds;

impl Harness for Seeds {
    fn run<P, Task>(&self, nodes: u32, program: P)
    where
        P: Fn(Node, Place) -> Task + Clone + Send + Sync + 'static,
        Task: Future<Output = ()> + 'static,
    {
        for seed in 0..100 {
            let driver = Driver::new(seed, nodes);
            let place = Place {
                directory: PathBuf::from("/data"),
                source: PathBuf::from("/pipe"),
            };
            if seed % 2 == 1 {
                let server = Server::load("now-1997").unwrap();
                driver.limit_cores(1 + seed as usize % 3);
                driver.limit_links(server.network.unwrap().model());
                for rank in 0..nodes {
                    let disks = driver.disks(rank);
                    let bus = disks.add_bus(server.buses[0].model(), None);
                    disks.mount(&place.directory, server.disks[0].device(Some(bus)));
                }
            }
            for rank in 0..nodes {
                driver.disks(rank).put_pipe(&place.source, source_bytes());
            }
            let program = program.clone();
            let ended = driver.run(move |node| program(node, place.clone()));
            assert_eq!(
                ended.unwrap_or_else(|stuck| panic!("{stuck}")).len(),
                nodes as usize
            );
        }
    }
}

node::conformance_suite!(Seeds);
active::conformance_suite!(Seeds);
