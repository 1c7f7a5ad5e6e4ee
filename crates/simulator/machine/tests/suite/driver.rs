//! The driver's guarantees: one schedule per seed, virtual time, and no hangs.

use std::path::Path;

use disk::{DiskModel, Fault};
use machine::Driver;
use node::{Buffer, Costs, Matching, Node, Open, Port, Queue, Rank, Reorder, Work};

async fn race(node: Node) -> Vec<u32> {
    let queue = Queue::new(&node, "arrivals", 100, 5);
    for task in 0..5 {
        let queue = queue.clone();
        drop(node.spawn(format!("task {task}"), move |node| async move {
            queue.push(&node, task).await.unwrap();
            queue.finish(&node).await;
        }));
    }
    let mut order = Vec::new();
    while let Some(task) = queue.pop(&node).await.unwrap() {
        order.push(task);
    }
    order
}

#[test]
fn a_seed_is_a_schedule() {
    let orders: Vec<_> = (0..50)
        .map(|seed| Driver::new(seed, 1).run(race).unwrap())
        .collect();
    let again: Vec<_> = (0..50)
        .map(|seed| Driver::new(seed, 1).run(race).unwrap())
        .collect();
    assert_eq!(orders, again);
    let distinct: std::collections::BTreeSet<_> = orders.into_iter().collect();
    assert!(
        distinct.len() > 20,
        "only {} schedules of 120 in 50 seeds",
        distinct.len()
    );
}

#[test]
fn tasks_that_wait_for_ever_are_named() {
    let stuck = Driver::new(3, 2).run(|node| async move {
        let queue: Queue<u32> = Queue::new(&node, "letters that never come", 1, 1);
        let reads = |node: Node| async move { queue.pop(&node).await };
        node.spawn("reader", reads).wait(&node).await
    });
    let stuck = stuck.unwrap_err();
    assert_eq!(stuck.waiting.len(), 4);
    assert_eq!(stuck.waiting[0], "node 0 waits for end of a task");
    let said = stuck.to_string();
    assert!(said.contains("seed 3"));
    assert!(
        said.contains("reader waits for letters that never come (2 times)"),
        "{said}"
    );
}

#[test]
fn work_and_disks_take_their_time() {
    let costs = Costs {
        classify: 10_000,
        ..Costs::default()
    };
    let model = DiskModel {
        latency_ns: 100,
        read_ns_per_kib: 7,
        write_ns_per_kib: 0,
    };
    let driver = Driver::with(1, 1, costs, model);
    driver.disks(0).put(Path::new("/file"), vec![1; 4096]);
    let ends = driver.run(|node| async move {
        node.work(Work::Classify { records: 5 });
        let file = node
            .open(Path::new("/file"), Open::Read { direct: false })
            .await
            .unwrap();
        let reads: Vec<_> = (0..2)
            .map(|at| file.read(&node, at * 2048, 2048, Buffer::heap(2048)))
            .collect();
        for read in reads {
            read.wait(&node).await.1.unwrap();
        }
        node.now().0
    });
    // 50 of work, then two requests one after the other: 100 + 2 * 7 each.
    assert_eq!(ends.unwrap(), [50 + 2 * 114]);
    assert_eq!(driver.now().0, 278);
}

/// An early message is copied to the reorder buffer, and again out of it.
#[test]
fn early_messages_cost_two_copies() {
    let costs = Costs {
        copy: 10_000,
        ..Costs::default()
    };
    let driver = Driver::with(1, 1, costs, DiskModel::default());
    let times = driver.run(|node| async move {
        let mut steps = Reorder::new(&node, Port(1), Matching::Software);
        steps.send(&node, Rank(0), 1, &[7; 64]).await;
        steps.send(&node, Rank(0), 0, &[]).await;
        let mut times = [node.now().0; 3];
        for step in 0..2 {
            steps.next(&node, step).await;
            times[step as usize + 1] = node.now().0;
        }
        times
    });
    let [begin, second, first] = times.unwrap()[0];
    // 512 bytes are 8 lines of 10 ns each.
    assert_eq!((second - begin, first - second), (80, 80));
}

#[test]
fn the_nth_operation_fails() {
    let run = |nth| {
        let driver = Driver::new(1, 1);
        driver.disks(0).put(Path::new("/file"), vec![1; 4096]);
        driver.disks(0).fail(nth, Fault::Device);
        let results = driver.run(|node| async move {
            let file = node
                .open(Path::new("/file"), Open::Read { direct: false })
                .await?;
            file.read(&node, 0, 4096, Buffer::heap(4096))
                .wait(&node)
                .await
                .1?;
            file.sync(&node).await
        });
        let verb = results
            .unwrap()
            .pop()
            .unwrap()
            .err()
            .map(|error| error.verb);
        (verb, driver.disks(0).operations())
    };
    assert_eq!(run(1), (Some("open"), 1));
    assert_eq!(run(2), (Some("read"), 2));
    assert_eq!(run(3), (Some("sync"), 3));
    assert_eq!(run(4), (None, 3));
}

#[test]
fn a_disk_has_a_capacity() {
    let driver = Driver::new(1, 1);
    driver.disks(0).set_capacity(5000);
    let errors = driver.run(|node| async move {
        let how = Open::Create {
            direct: false,
            mode: 0o600,
        };
        let file = node.open(Path::new("/file"), how).await.unwrap();
        assert_eq!(node.space(Path::new("/")).await.unwrap(), 5000);
        let mut buffer = Buffer::heap(6000);
        buffer.set_len(6000);
        file.write(&node, 0, buffer, 0..6000)
            .wait(&node)
            .await
            .1
            .unwrap_err()
            .to_string()
    });
    let error = errors.unwrap().pop().unwrap();
    assert!(error.contains("cannot write /file at byte 0"), "{error}");
    assert!(error.contains("free some space"), "{error}");
}
