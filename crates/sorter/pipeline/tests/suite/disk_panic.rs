//! A panic on a thread that serves disk requests loses a buffer, and still the pipeline ends.

use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use node::{Buffer, Memory, Open, Pool};
use node_real::Cluster;
use pipeline::{Control, Failure, Pipeline};

/// A pipeline that takes longer hangs.
const TIMEOUT: Duration = Duration::from_secs(30);

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

/// Runs readers that share one buffer, which the first request loses.
fn readers(control: &Control) -> Result<(), Failure> {
    let control = control.clone();
    let ends = Cluster::new(1, 1).run(move |node| {
        let control = control.clone();
        async move {
            let mut pipeline = Pipeline::new(&control);
            let buffer = Buffer::new(Box::new(Broken(vec![0; 8])));
            let pool = pipeline.owns(Pool::new(&node, "buffers", vec![buffer]));
            pipeline.stage(&node, "reader", 3, async move |worker| {
                let how = Open::Read { direct: false };
                let zeros = worker.node.open(Path::new("/dev/zero"), how).await?;
                let buffer = worker.take(&pool).await?;
                let (buffer, result) = zeros
                    .read(&worker.node, 0, 8, buffer)
                    .wait(&worker.node)
                    .await;
                pool.give(&worker.node, buffer).await;
                Ok(result?)
            });
            pipeline.join(&node).await.map(drop)
        }
    });
    ends.into_iter().next().expect("one node")
}

#[test]
fn a_panic_on_an_io_thread_ends_the_stage_and_all_waits_for_its_buffer() {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || drop(sender.send(readers(&Control::default()))));
    let end = receiver.recv_timeout(TIMEOUT).expect("the pipeline ends");
    let Err(Failure::Panic { stage, message }) = end else {
        panic!("{end:?}")
    };
    assert_eq!(
        (stage, &message[..]),
        ("reader", "no answer to a disk read: its thread panicked")
    );
}
