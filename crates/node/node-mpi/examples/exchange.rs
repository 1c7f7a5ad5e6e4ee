//! Measures the network between two ranks: `mpirun -n 2 exchange`. Without a launcher, both ranks
//! are in this process.

use std::sync::Arc;
use std::time::Instant;

use node::backend::{Network, Session as _};
use node::{Address, Buffer, Node, Pool, Port, Rank};
use node_mpi::Session;
use node_real::Cluster;

const SMALL: Port = Port(1);
const BULK: Port = Port(2);
const BACK: Port = Port(3);

fn main() {
    if terminal::launcher::is_launched() {
        let session = Session::start().unwrap_or_else(|error| panic!("{error}"));
        return run(session);
    }
    let sessions = Session::in_process(2).unwrap_or_else(|error| panic!("{error}"));
    let threads: Vec<_> = sessions
        .into_iter()
        .map(|session| std::thread::spawn(|| run(session)))
        .collect();
    threads
        .into_iter()
        .for_each(|thread| thread.join().unwrap());
}

fn run(session: Session) {
    let session = Arc::new(session);
    if session.rank() == Rank(0) {
        println!("{}", session.library());
    }
    let cluster = Cluster::over(Arc::clone(&session) as Arc<dyn Network>, 1);
    cluster.run(|node| async move {
        for round in 0..3 {
            measure(&node, round).await;
        }
    });
    session.end().unwrap();
}

async fn measure(node: &Node, round: u16) {
    let port = |port: Port| Port(port.0 + 10 * round);
    let other = Rank(1 - node.rank().0);
    let is_first = node.rank() == Rank(0);
    let back = node.bind(port(BACK));
    let small = node.bind(port(SMALL));
    let there = |at: Port| Address {
        rank: other,
        port: port(at),
    };

    // Round trips of one word.
    const TURNS: u32 = 5_000;
    let began = Instant::now();
    for _ in 0..TURNS {
        if is_first {
            node.send(there(BACK), &[1]).await;
            back.next(node).await;
        } else {
            back.next(node).await;
            node.send(there(BACK), &[1]).await;
        }
    }
    if is_first {
        println!(
            "one way {:6.2} us",
            began.elapsed().as_secs_f64() * 5e5 / f64::from(TURNS)
        );
    }

    // The rate of messages of one word.
    const MESSAGES: u32 = 1_000_000;
    let began = Instant::now();
    for number in 0..MESSAGES {
        if is_first {
            node.send(there(SMALL), &[u64::from(number)]).await;
        } else {
            small.next(node).await;
        }
    }
    turn(node, is_first, &back, there(BACK)).await;
    if is_first {
        let seconds = began.elapsed().as_secs_f64();
        println!(
            "messages of a word {:6.2} M/s",
            f64::from(MESSAGES) / seconds / 1e6
        );
    }

    // The rate of bulk, with a few buffers in flight.
    for bytes in [64 << 10, 1 << 20, 4 << 20, 16 << 20] {
        bulk(
            node,
            port(Port(BULK.0 + (bytes >> 16) as u16 * 100)),
            bytes,
            &back,
        )
        .await;
    }
}

async fn bulk(node: &Node, at: Port, bytes: usize, back: &node::MessagePort) {
    const IN_FLIGHT: usize = 4;
    let count = (1 << 30) / bytes;
    let other = Rank(1 - node.rank().0);
    let is_first = node.rank() == Rank(0);
    let there = Address {
        rank: other,
        port: at,
    };
    let answer = Address {
        rank: other,
        port: Port(BACK.0 + 10 * (at.0 % 100 / 10)),
    };
    let buffers = || node.buffers(IN_FLIGHT, bytes, node::Filled::Often).unwrap();
    let mut spare: Vec<Buffer> = buffers();
    let pool = Pool::new(node, "receive buffers", buffers());
    spare.iter_mut().for_each(|buffer| {
        buffer.bytes_mut().fill(1);
        buffer.set_len(bytes);
    });
    let port = node.bind_bulk(at);
    turn(node, is_first, back, answer).await;
    let began = Instant::now();
    if is_first {
        let mut tickets = std::collections::VecDeque::new();
        for _ in 0..count {
            if tickets.len() == IN_FLIGHT {
                let ticket: node::Ticket<Buffer> = tickets.pop_front().unwrap();
                spare.push(ticket.wait(node).await);
            }
            tickets.push_back(node.ship(there, spare.pop().unwrap()));
        }
        for ticket in tickets {
            spare.push(ticket.wait(node).await);
        }
    } else {
        let mut arrivals = std::collections::VecDeque::new();
        for _ in 0..count {
            if arrivals.len() == IN_FLIGHT {
                let arrival: node::Ticket<Buffer> = arrivals.pop_front().unwrap();
                pool.give(node, arrival.wait(node).await).await;
            }
            arrivals.push_back(port.lend(node, &pool).await.unwrap().filled);
        }
        for arrival in arrivals {
            pool.give(node, arrival.wait(node).await).await;
        }
    }
    turn(node, is_first, back, answer).await;
    if is_first {
        let seconds = began.elapsed().as_secs_f64();
        println!(
            "bulk of {:5} KiB {:6.2} GB/s",
            bytes >> 10,
            (1 << 30) as f64 / seconds / 1e9
        );
    }
}

/// A barrier of both ranks.
async fn turn(node: &Node, is_first: bool, back: &node::MessagePort, there: Address) {
    if is_first {
        node.send(there, &[1]).await;
        back.next(node).await;
    } else {
        back.next(node).await;
        node.send(there, &[1]).await;
    }
}
