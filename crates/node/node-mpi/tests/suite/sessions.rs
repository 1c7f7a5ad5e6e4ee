//! Sessions within this process, each with one node.

use std::future::Future;
use std::sync::Arc;

use node::Node;
use node::backend::{Network, Session as _};
use node_mpi::Session;
use node_real::Cluster;

/// Runs `program` on the nodes of several sessions. Returns the answers in the order of ranks.
pub fn run<T, P, Task>(processes: u32, program: P) -> Vec<T>
where
    T: Send + 'static,
    P: Fn(Node) -> Task + Clone + Send + 'static,
    Task: Future<Output = T> + 'static,
{
    let sessions = Session::in_process(processes).unwrap();
    let each = |session: Session| {
        let program = program.clone();
        std::thread::spawn(move || run_one(session, program))
    };
    let threads: Vec<_> = sessions.into_iter().map(each).collect();
    threads
        .into_iter()
        .map(|thread| thread.join().unwrap())
        .collect()
}

fn run_one<T, P, Task>(session: Session, program: P) -> T
where
    T: Send + 'static,
    P: Fn(Node) -> Task + Clone + Send + 'static,
    Task: Future<Output = T> + 'static,
{
    session.on_failure(Box::new(|error| {
        // Tasks would wait forever.
        eprintln!("{error}");
        std::process::abort();
    }));
    let session = Arc::new(session);
    let cluster = Cluster::over(Arc::clone(&session) as Arc<dyn Network>, 1);
    let answer = cluster.run(program).pop().unwrap();
    session.end().unwrap();
    answer
}
