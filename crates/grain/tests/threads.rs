//! Every program on threads of this machine.

mod suite;

use grain::Program;
use node_real::Cluster;
use suite::Harness;

struct Threads;

impl Harness for Threads {
    fn run<P: Program>(&self, ranks: u32, program: &P) -> Vec<Vec<P::Answer>> {
        let program = program.clone();
        vec![Cluster::new(ranks, 1).run(move |node| program.clone().run(node))]
    }
}

program_suite!(Threads);
