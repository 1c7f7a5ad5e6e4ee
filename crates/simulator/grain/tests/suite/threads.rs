//! Every program on threads of this machine.

use crate::programs::Harness;
use grain::Program;
use node_real::Cluster;

struct Threads;

impl Harness for Threads {
    fn run<P: Program>(&self, ranks: u32, program: &P) -> Vec<Vec<P::Answer>> {
        let program = program.clone();
        vec![Cluster::new(ranks, 1).run(move |node| program.clone().run(node))]
    }
}

crate::program_suite!(Threads);
