//! Every program on threads of this machine.

use crate::programs::{Harness, is_right};
use grain::{Class, Is, Program};
use node_real::Cluster;

struct Threads;

impl Harness for Threads {
    fn run<P: Program>(&self, ranks: u32, program: &P) -> Vec<Vec<P::Answer>> {
        let program = program.clone();
        vec![Cluster::new(ranks, 1).run(move |node| program.clone().run(node))]
    }
}

crate::program_suite!(Threads);

/// Class A with `GRISTMILL_LONG`.
#[test]
fn larger_classes_of_is_have_their_published_ranks() {
    let is_long = std::env::var_os("GRISTMILL_LONG").is_some();
    let classes = [Class::W, Class::A].into_iter();
    for class in classes.take(1 + usize::from(is_long)) {
        for ranks in [1, 2, 4] {
            let program = Is { class, seed: 1 };
            is_right(&Threads, ranks, &program);
        }
    }
}
