//! The least of random values on all nodes, by Active Messages along a tree: one program for every kind of node
//! (docs/active-messages.md).
//!
//! ```text
//!   least threads N      nodes are threads
//!   least nanopu N       cores of a simulated nanoPU
//!   least now N          workstations of the simulated Berkeley NOW
//!   mpirun -n N least    processes
//! ```

use std::sync::Arc;
use std::{env, process};

use active::{Bundle, Handler, Handlers, Job, Request, Settings, Shape, Team};
use machine::{Cluster as Machine, Driver, Profile, Server, Setting};
use node::{Mutex, Node, Port, Rank, Work};
use node_mpi::Session;
use node_real::Cluster;

/// Values of a node.
const VALUES: u64 = 128;

/// Children of a node in the tree.
const INCAST: u32 = 4;

/// A child's least value.
const OFFER: Handler = Handler(1);

/// The least value of a node's part of the tree, and how long it took in microseconds.
async fn least(node: Node) -> (u32, f64) {
    let own = (0..VALUES).map(|_| node.random() as u32).min();
    node.work(Work::Scan { words: VALUES });
    let own = own.expect("some values");

    let least = Arc::new(Mutex::new(own));
    let merged = Arc::clone(&least);
    let handlers = Handlers::new().on(OFFER, move |token, args, _| {
        token.work(Work::Scan { words: 1 });
        let mut least = merged.lock();
        *least = args.iter().copied().fold(*least, u32::min);
    });
    let bundle = Bundle::open(&node, Port(1), Settings::default());
    let endpoint = bundle.endpoint(&node, Job(1), handlers).await;

    let (me, nodes) = (node.rank().0, node.nodes());
    let first = me * INCAST + 1;
    let children = (first..first + INCAST).filter(|child| *child < nodes);
    let children = children.count() as u64;
    bundle
        .serve_until(&node, |counts| counts.run == children)
        .await;
    let merged = *least.lock();
    if me > 0 {
        let parent = endpoint.name().at(Rank((me - 1) / INCAST));
        let offer = Request::new(parent, OFFER, &[merged]);
        endpoint
            .call(&node, offer)
            .await
            .expect("the parent serves");
    }
    let took = node.seconds(node.now().0) * 1e6;

    // All values once more, by a collective, to check the tree.
    let mut team = Team::open(&node, &bundle, Job(1), Shape::Binomial).await;
    let all = team.all_reduce(&node, own.into(), u64::min).await;
    let all = all.expect("all nodes take part") as u32;
    assert!(me > 0 || merged == all, "{merged} is not {all}");
    (all, took)
}

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let kind = arguments.first().map_or("mpi", String::as_str);
    let nodes = arguments.get(1).and_then(|nodes| nodes.parse().ok());
    let nodes = nodes.unwrap_or(16).max(1);
    let (is_first, answers) = match kind {
        "threads" => (true, Cluster::new(nodes, 1).run(least)),
        "nanopu" => {
            let profile = Profile::load("nanopu").expect("it is built in");
            let machine = Machine::new(profile, Setting::new(nodes)).expect("it has so many cores");
            (true, machine.run(least).expect("it ends").answers)
        }
        "now" => {
            let driver = Driver::new(1, nodes);
            let server = Server::load("now-1997").expect("it is built in");
            driver.limit_links(server.network.expect("it has a network").model());
            (true, driver.run(least).expect("it ends"))
        }
        "mpi" => over_mpi(),
        other => {
            eprintln!(
                "least: there is no kind '{other}': threads, nanopu, now, or none under mpirun"
            );
            process::exit(2);
        }
    };
    let took = answers.iter().map(|(_, took)| *took).fold(0.0, f64::max);
    if is_first {
        println!(
            "{}: the least is {}, after {took:.1} us",
            kind, answers[0].0
        );
    }
}

/// The answer of this rank, and whether it is the first one.
fn over_mpi() -> (bool, Vec<(u32, f64)>) {
    let session = Session::start().unwrap_or_else(|error| {
        eprintln!("least: {error}; start it with mpirun, or name a kind of nodes");
        process::exit(2);
    });
    let session = Arc::new(session);
    let is_first = node::backend::Network::rank(&*session) == Rank::ROOT;
    let answers = Cluster::over(session.clone(), 1).run(least);
    node::backend::Session::end(&*session).expect("all ranks end");
    (is_first, answers)
}
