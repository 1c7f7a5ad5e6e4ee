//! A panic on a thread that serves disk requests ends like any other panic: the task that waits for
//! the answer panics in turn, and the thread continues to serve the other requests.

use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use node::backend::ticket;
use node::{Buffer, Memory, Open, Panic, catch};
use node_real::Cluster;

/// A run that takes longer hangs.
const TIMEOUT: Duration = Duration::from_secs(30);

/// More than there are threads that serve disk requests.
const REQUESTS: usize = 40;

/// Memory that cannot be written to.
struct Broken(Vec<u8>);

impl Memory for Broken {
    fn bytes(&self) -> &[u8] {
        &self.0
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        panic!("this memory is broken")
    }
}

/// The result of `run`. Fails the test if `run` does not end.
fn within_timeout<T: Send + 'static>(run: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || drop(sender.send(run())));
    let result = receiver.recv_timeout(TIMEOUT);
    result.expect("the run ends, and does not panic")
}

#[test]
fn a_panic_on_an_io_thread_reaches_the_task_that_waits() {
    let ends = within_timeout(|| {
        Cluster::new(1, 1).run(|node| async move {
            let zeros = node
                .open(Path::new("/dev/zero"), Open::Read { direct: false })
                .await
                .unwrap();
            let broken = || Buffer::new(Box::new(Broken(vec![0; 8])));
            let requests: Vec<_> = (0..REQUESTS)
                .map(|_| zeros.read(&node, 0, 8, broken()))
                .collect();
            let mut panics = Vec::new();
            for request in requests {
                panics.push(catch(request.wait(&node)).await.map(drop));
            }
            // Every thread has met a panic, and still serves requests.
            let (buffer, result) = zeros.read(&node, 0, 8, Buffer::heap(8)).wait(&node).await;
            result.unwrap();
            assert_eq!(buffer.filled(), [0; 8]);
            panics
        })
    });
    let said = "no answer to a disk read: its thread panicked".to_owned();
    assert_eq!(ends, [vec![Err(Panic(said)); REQUESTS]]);
}

/// A simulated kill drops tasks with their completers, and no other task may notice.
#[test]
fn a_completer_that_is_dropped_without_a_panic_stays_silent() {
    let is_done = within_timeout(|| {
        Cluster::new(1, 1).run(|node| async move {
            let (silent, completer) = ticket::<u32>(&node, "silence");
            drop(completer);
            silent.is_done()
        })
    });
    assert_eq!(is_done, [false]);
}
