//! The model of disks: chains of buffers, faults, and disk space.

use std::path::Path;

use disk::{Device, DiskModel, Fault, Rates, WriteCache};
use machine::{Cluster, Driver, Limit, Setting};
use node::{Buffer, Costs, DiskError, File, Node, Open, Work};

use crate::common::nanopu;

const KIB: usize = 1024;

async fn create(node: &Node, name: &str) -> File {
    let how = Open::Create {
        direct: false,
        mode: 0o600,
    };
    node.open(&Path::new("/").join(name), how).await.unwrap()
}

async fn write(node: &Node, file: &File, offset: u64, bytes: usize) -> Result<(), DiskError> {
    let mut buffer = Buffer::heap(bytes);
    buffer.bytes_mut().fill(1);
    file.write(node, offset, buffer, 0..bytes)
        .wait(node)
        .await
        .1
}

#[test]
fn a_chain_is_one_request_to_the_disk() {
    let model = DiskModel {
        latency_ns: 100,
        read_ns_per_kib: 7,
        write_ns_per_kib: 11,
    };
    let driver = Driver::with(1, 1, Costs::default(), model);
    let ends = driver.run(|node| async move {
        let file = create(&node, "file").await;
        let chain = [1024, 512, 3072].map(Buffer::counted).into();
        let (chain, result) = file.write_chain(&node, 0, chain).wait(&node).await;
        result.unwrap();
        assert!(chain.iter().all(Buffer::is_empty));
        let written = node.now().0;
        let (chain, result) = file.read_chain(&node, 1024, chain).wait(&node).await;
        result.unwrap();
        let lens: Vec<_> = chain.iter().map(Buffer::len).collect();
        assert_eq!(lens, [1024, 512, 2048], "counted buffers get their lengths");
        (written, node.now().0)
    });
    // 4.5 KiB are paid as 5.
    assert_eq!(ends.unwrap(), [(100 + 5 * 11, 100 + 5 * 11 + 100 + 5 * 7)]);
    assert_eq!(driver.disks(0).operations(), 3);
    assert_eq!(driver.disks(0).length(Path::new("/file")), Some(4608));
}

/// The time of 100 reads and 100 writes of 1 KiB that come at once, in any order.
fn time_of_both(device: Device) -> u64 {
    let driver = Driver::with(1, 1, Costs::default(), DiskModel::default());
    driver.disks(0).mount(Path::new("/disk"), device);
    let ends = driver.run(|node| async move {
        let read = create(&node, "disk/read").await;
        write(&node, &read, 0, 100 * KIB).await.unwrap();
        let written = create(&node, "disk/written").await;
        let begin = node.now();
        let places = (0..100).map(|place| (place * KIB) as u64);
        let reads: Vec<_> = places
            .clone()
            .map(|place| read.read(&node, place, KIB, Buffer::counted(KIB)))
            .collect();
        let writes: Vec<_> = places
            .map(|place| written.write(&node, place, Buffer::counted(KIB), 0..KIB))
            .collect();
        for ticket in reads.into_iter().chain(writes) {
            ticket.wait(&node).await.1.unwrap();
        }
        node.now().since(begin)
    });
    ends.unwrap()[0]
}

#[test]
fn a_disk_reads_and_writes_in_turn_or_at_once() {
    let model = DiskModel {
        latency_ns: 0,
        read_ns_per_kib: 10,
        write_ns_per_kib: 10,
    };
    let device = |both: Option<u64>| Device {
        depth: 1 + 63 * usize::from(both.is_some()),
        both_ns_per_kib: both,
        ..Device::from(model)
    };
    assert_eq!(time_of_both(device(None)), 2000);
    // Both ways at their full rate, and at 5/7 of it.
    let (both, less) = (time_of_both(device(Some(5))), time_of_both(device(Some(7))));
    assert!((1000..=1200).contains(&both), "{both}");
    assert!((1350..=1500).contains(&less), "{less}");
}

/// Writes end when they are in the cache, until it is full; a sync waits for the disk.
#[test]
fn a_cache_takes_writes() {
    let model = DiskModel {
        latency_ns: 0,
        read_ns_per_kib: 10,
        write_ns_per_kib: 10,
    };
    let cache = WriteCache {
        bytes: 4 * KIB as u64,
        ns_per_kib: 1,
    };
    let device = Device {
        cache: Some(cache),
        ..Device::from(model)
    };
    let driver = Driver::with(1, 1, Costs::default(), DiskModel::default());
    driver.disks(0).mount(Path::new("/disk"), device);
    let ends = driver.run(|node| async move {
        let file = create(&node, "disk/file").await;
        let mut ends = Vec::new();
        for place in 0..7 {
            let offset = (place * KIB) as u64;
            write(&node, &file, offset, KIB).await.unwrap();
            ends.push(node.now().0);
        }
        file.sync(&node).await.unwrap();
        ends.push(node.now().0);
        ends
    });
    assert_eq!(ends.unwrap(), [[1, 2, 3, 4, 11, 21, 31, 70]]);
}

#[test]
fn one_request_alone_is_slower_than_many() {
    let model = DiskModel {
        latency_ns: 0,
        read_ns_per_kib: 10,
        write_ns_per_kib: 10,
    };
    let device = Device {
        depth: 64,
        single: Some(Rates {
            read_ns_per_kib: 40,
            write_ns_per_kib: 40,
        }),
        ..Device::from(model)
    };
    let driver = Driver::with(1, 1, Costs::default(), DiskModel::default());
    driver.disks(0).mount(Path::new("/disk"), device);
    let alone = driver.run(|node| async move {
        let file = create(&node, "disk/file").await;
        for place in 0..10 {
            write(&node, &file, (place * KIB) as u64, KIB)
                .await
                .unwrap();
        }
        node.now().0
    });
    assert_eq!(alone.unwrap(), [400]);
    let end = time_of_both(device);
    assert!(end <= 2030, "{end}");
}

/// The time of 3000 reads of 1 KiB, or of writes after every second one, by so many tasks.
fn time_of_reads(device: Device, depth: u64, has_writes: bool) -> u64 {
    let driver = Driver::with(1, 1, Costs::default(), DiskModel::default());
    driver.disks(0).mount(Path::new("/disk"), device);
    let ends = driver.run(move |node| async move {
        let tasks: Vec<_> = (0..depth)
            .map(|task| {
                node.spawn("task", move |node| async move {
                    let file = create(&node, &format!("disk/{task}")).await;
                    write(&node, &file, 0, KIB).await.unwrap();
                    for number in 1..3000 / depth {
                        let buffer = Buffer::counted(KIB);
                        file.read(&node, 0, KIB, buffer)
                            .wait(&node)
                            .await
                            .1
                            .unwrap();
                        if has_writes && number % 2 == 0 {
                            write(&node, &file, 0, KIB).await.unwrap();
                        }
                    }
                })
            })
            .collect();
        for task in tasks {
            task.wait(&node).await.unwrap();
        }
        node.now().0
    });
    ends.unwrap()[0]
}

#[test]
fn a_limit_on_requests_runs_beside_the_time_of_the_disk() {
    let limit = |ms: u64| Limit {
        read_ns: ms * 1_000_000,
        write_ns: ms * 1_000_000,
        is_apart: true,
    };
    let device = Device {
        depth: 64,
        request_limit: limit(1),
        ..Device::from(DiskModel {
            latency_ns: 800_000,
            read_ns_per_kib: 100_000,
            write_ns_per_kib: 100_000,
        })
    };
    // 0.9 ms of the disk and 1 ms of the limit are not 1.9 ms, alone or not.
    for depth in [1, 4, 30] {
        let ms = time_of_reads(device, depth, false) / 1_000_000;
        assert!((2950..=3000).contains(&ms), "{ms}");
    }
    // The longer of both limits, and the disk where that is slower.
    let longer = Device {
        byte_limit: limit(2),
        ..device
    };
    let ms = time_of_reads(longer, 4, false) / 1_000_000;
    assert!((5900..=6000).contains(&ms), "{ms}");
    let slower = Device {
        request_limit: Limit::default(),
        ..device
    };
    assert_eq!(time_of_reads(slower, 1, false), 3000 * 900_000);
}

#[test]
fn a_limit_is_of_each_way_or_of_both() {
    let device = |is_apart| Device {
        depth: 64,
        request_limit: Limit {
            read_ns: 1_000_000,
            write_ns: 1_000_000,
            is_apart,
        },
        ..Device::default()
    };
    for depth in [1, 4] {
        // One request at a time as well: a share that a write left is there for the next one.
        let ms = |is_apart| time_of_reads(device(is_apart), depth, true) / 1_000_000;
        let (apart, together) = (ms(true), ms(false));
        assert!((2900..=3000).contains(&apart), "{apart}");
        assert!((4400..=4500).contains(&together), "{together}");
    }
}

/// A rank's clock may run ahead of its machine's: the disk works from the rank's time on.
#[test]
fn a_disk_begins_when_its_rank_asks() {
    const LATENCY_NS: u64 = 1000;
    const PER_KIB_NS: u64 = 100;
    let profile = nanopu();
    let tick_fs = profile.tick_fs;
    let cluster = Cluster::new(profile, Setting::new(1)).unwrap();
    cluster.disks(0).mount(
        Path::new("/disk"),
        DiskModel {
            latency_ns: LATENCY_NS,
            read_ns_per_kib: 1,
            write_ns_per_kib: PER_KIB_NS,
        },
    );
    let outcome = cluster.run(|node| async move {
        let file = create(&node, "disk/file").await;
        node.work(Work::Scan { words: 100_000 });
        let begun = node.now().0;
        write(&node, &file, 0, 3 * KIB).await.unwrap();
        node.now().0 - begun
    });
    let taken = outcome.unwrap().answers[0];
    let service_fs = (LATENCY_NS + 3 * PER_KIB_NS) * 1_000_000;
    assert_eq!(taken, service_fs / tick_fs);
}

#[test]
fn a_chain_comes_back_from_a_request_that_fails() {
    let run = |nth, fault| {
        let driver = Driver::new(1, 1);
        driver.disks(0).fail(nth, fault);
        let ends = driver.run(|node| async move {
            let file = create(&node, "file").await;
            let chain = [1000, 2000, 3000].map(Buffer::heap).into();
            let (chain, wrote) = file.write_chain(&node, 5, chain).wait(&node).await;
            let (chain, read) = file.read_chain(&node, 5, chain).wait(&node).await;
            assert_eq!(
                chain.iter().map(Buffer::capacity).collect::<Vec<_>>(),
                [1000, 2000, 3000]
            );
            let errors = [wrote, read].map(|end| end.err().map(|error| error.to_string()));
            (errors, chain.iter().map(Buffer::len).collect::<Vec<_>>())
        });
        ends.unwrap().pop().unwrap()
    };
    let (errors, lens) = run(2, Fault::Full);
    assert!(
        errors[0]
            .as_ref()
            .unwrap()
            .starts_with("cannot write /file at byte 5"),
        "{errors:?}"
    );
    assert_eq!(
        (&errors[1], lens),
        (&None, vec![0; 3]),
        "nothing was written"
    );
    let (errors, _) = run(3, Fault::Device);
    assert!(
        errors[1]
            .as_ref()
            .unwrap()
            .starts_with("cannot read /file at byte 5"),
        "{errors:?}"
    );
    assert_eq!(run(3, Fault::Short), ([None, None], vec![1000, 2000, 0]));
    assert_eq!(
        run(4, Fault::Device),
        ([None, None], vec![1000, 2000, 3000])
    );
}

#[test]
fn direct_chains_are_whole_blocks() {
    let driver = Driver::new(1, 1);
    let ends = driver.run(|node| async move {
        let how = Open::Create {
            direct: true,
            mode: 0o600,
        };
        let file = node.open(Path::new("/file"), how).await.unwrap();
        let chain = |capacities: [usize; 2]| capacities.map(Buffer::heap).into();
        file.write_chain(&node, 4096, chain([8192, 4096]))
            .wait(&node)
            .await
            .1
            .unwrap();
        // Together these are whole blocks, but no disk takes them so.
        assert!(
            file.write_chain(&node, 0, chain([4095, 4097]))
                .wait(&node)
                .await
                .1
                .is_err()
        );
        assert!(
            file.read_chain(&node, 1, chain([4096, 4096]))
                .wait(&node)
                .await
                .1
                .is_err()
        );
    });
    ends.unwrap();
}

#[test]
#[should_panic(expected = "a chain is for a file that is read and written anywhere")]
fn sequential_files_take_no_chains() {
    let driver = Driver::new(1, 1);
    driver.disks(0).put_pipe(Path::new("/pipe"), vec![1; 10]);
    let ends = driver.run(|node| async move {
        let pipe = node
            .open(Path::new("/pipe"), Open::Read { direct: false })
            .await
            .unwrap();
        drop(pipe.read_chain(&node, 0, vec![Buffer::heap(10)]));
    });
    ends.unwrap();
}

#[test]
fn released_space_can_be_reused() {
    let driver = Driver::new(1, 1);
    driver
        .disks(0)
        .put_counted(Path::new("/input"), 20 * KIB as u64);
    driver.disks(0).set_capacity(100 * KIB as u64);
    let ends = driver.run(|node| async move {
        let space = || node.space(Path::new("/"));
        let first = create(&node, "first").await;
        first.preallocate(&node, 0..64 * KIB as u64).await.unwrap();
        let second = create(&node, "second").await;
        assert!(write(&node, &second, 0, 20 * KIB).await.is_err());

        write(&node, &first, 0, 64 * KIB).await.unwrap();
        // Whole blocks are given back, two of them here; the rest reads as zeros all the same.
        first.release(&node, 1000..13_000).await.unwrap();
        assert_eq!(space().await.unwrap(), (16 + 8) * KIB as u64);
        write(&node, &second, 0, 20 * KIB).await.unwrap();
        assert_eq!(space().await.unwrap(), 4 * KIB as u64);
        let (read, _) = first
            .read(&node, 0, 64 * KIB, Buffer::heap(64 * KIB))
            .wait(&node)
            .await;
        let zeros = |at: usize| (1000..13_000).contains(&at);
        assert!((0..64 * KIB).all(|at| (read.bytes()[at] == 0) == zeros(at)));

        // Writing a released range needs space again.
        assert!(write(&node, &first, 4096, 8192).await.is_err());
        write(&node, &first, 8192, 4096).await.unwrap();
        assert_eq!(space().await.unwrap(), 0);
        write(&node, &first, 8192, 4096).await.unwrap();
        first.release(&node, 0..1 << 40).await.unwrap();
        assert_eq!(space().await.unwrap(), 60 * KIB as u64);
        assert_eq!(
            node.metadata(first.path()).await.unwrap().length,
            64 * KIB as u64
        );
    });
    ends.unwrap();
    assert_eq!(driver.disks(0).peak_bytes(), 100 * KIB as u64);
}

#[test]
fn extended_files_use_no_space() {
    let driver = Driver::new(1, 1);
    let ends = driver.run(|node| async move {
        let file = create(&node, "file").await;
        let write = |offset, bytes| file.write_chain(&node, offset, vec![Buffer::counted(bytes)]);
        write(0, 512).wait(&node).await.1.unwrap();
        file.truncate(&node, 1 << 40).await.unwrap();
        write(1 << 39, 4096).wait(&node).await.1.unwrap();
        file.truncate(&node, 1 << 20).await.unwrap();
        write(1 << 21, 1024).wait(&node).await.1.unwrap();
    });
    ends.unwrap();
    assert_eq!(
        driver.disks(0).length(Path::new("/file")),
        Some((1 << 21) + 1024)
    );
    assert_eq!(
        driver.disks(0).peak_bytes(),
        512 + 4096,
        "what was cut off is given back"
    );
}

#[test]
fn a_mounted_disk_may_have_its_own_limit() {
    let driver = Driver::new(1, 1);
    let small = Path::new("/small");
    driver.disks(0).mount(small, DiskModel::default());
    driver.disks(0).set_capacity_of(small, 10 * KIB as u64);
    driver
        .disks(0)
        .put_counted(Path::new("/elsewhere"), 50 * KIB as u64);
    driver
        .disks(0)
        .put_counted(Path::new("/small/file"), 4 * KIB as u64);
    let ends = driver.run(|node| async move {
        let space = async |path| node.space(Path::new(path)).await.unwrap();
        assert_eq!(space("/small").await, 6 * KIB as u64);
        assert!(space("/").await > 1 << 40);
        let file = create(&node, "/small/new").await;
        assert!(write(&node, &file, 0, 7 * KIB).await.is_err());
        write(&node, &file, 0, 6 * KIB).await.unwrap();
        assert_eq!(space("/small").await, 0);
        let file = create(&node, "/large").await;
        write(&node, &file, 0, 100 * KIB).await.unwrap();
    });
    ends.unwrap();
}
