//! This machine: a node to run programs on, and whether memory suffices.

use host::memory::memory_limit;
use std::future::Future;
use terminal::launcher::cores;

use node::Node;
use node_real::Cluster;
use pipeline::Failure;
use terminal::ending::failure::CliFailure;
use units::amount;

/// Runs a program on one real node, in this process.
///
/// # Errors
/// The program's failure.
pub fn on_node<T, P, Task>(program: P) -> Result<T, CliFailure>
where
    T: Send + 'static,
    P: Fn(Node) -> Task + Clone + Send + 'static,
    Task: Future<Output = Result<T, Failure>> + 'static,
{
    const SEED: u64 = 1; // places of samples and names of temporary files: the same in every run
    let end = Cluster::new(1, SEED).run(program).pop().expect("one node");
    end.map_err(::host::failure::ended)
}

/// Refuses a measurement that needs more memory than is free.
///
/// # Errors
/// Too little memory; the message names the `option` that reduces the need.
pub fn check_memory(needed: u64, option: &str) -> Result<(), CliFailure> {
    let limit = memory_limit(None);
    if needed <= limit {
        return Ok(());
    }
    let message = format!(
        "this needs {} of memory, but only {} are available; give a smaller {option}",
        amount(needed),
        amount(limit)
    );
    Err(CliFailure::new("memory_limit", message))
}

/// One thread, and all cores where there are more.
pub fn thread_counts() -> Vec<usize> {
    let mut counts = vec![1, cores()];
    counts.dedup();
    counts
}

pub fn threads_in_words(threads: usize) -> String {
    if threads == 1 {
        "one thread".to_owned()
    } else {
        format!("{threads} threads")
    }
}
