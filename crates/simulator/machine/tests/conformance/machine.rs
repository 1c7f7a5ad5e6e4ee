//! The suite of every backend, on the full machine.

use std::future::Future;
use std::path::PathBuf;

use ::machine::{Cluster, Profile, Setting};
use node::Node;
use node::conformance::{Harness, Place, source_bytes};

/// A machine, on one thread and on several.
struct Machine(&'static str);

impl Harness for Machine {
    fn run<P, Task>(&self, nodes: u32, program: P)
    where
        P: Fn(Node, Place) -> Task + Clone + Send + Sync + 'static,
        Task: Future<Output = ()> + 'static,
    {
        for seed in 0..5 {
            let setting = Setting {
                seed,
                threads: 1 + seed as usize % 2,
                ..Setting::new(nodes)
            };
            let profile = Profile::load(self.0).expect("a built-in profile");
            let cluster = Cluster::new(profile, setting).expect("it fits");
            let place = Place {
                directory: PathBuf::from("/data"),
                source: PathBuf::from("/pipe"),
            };
            for rank in 0..nodes {
                cluster.disks(rank).put_pipe(&place.source, source_bytes());
            }
            let program = program.clone();
            let ended = cluster.run(move |node| program(node, place.clone()));
            assert_eq!(
                ended
                    .unwrap_or_else(|error| panic!("{error}"))
                    .answers
                    .len(),
                nodes as usize
            );
        }
    }
}

node::conformance_suite!(Machine("nanopu"));
active::conformance_suite!(Machine("nanopu"));
