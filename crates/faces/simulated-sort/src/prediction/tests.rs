use super::*;
use crate::phases::{Phase, PhaseTime};

const GB: u64 = 1_000_000_000;

/// Disks of 100 MB/s without latency, for files and for temporary files.
fn machine(nodes: u32, files: usize, temporary: usize, memory_gb: f64) -> Server {
    let group = |count: usize, holds: &str| {
        format!(
            "[[disks]]\ncount = {count}\nholds = \"{holds}\"\ngb = 100\nread_mb_s = 100\nwrite_mb_s = 100\n\
             latency_us = 0\n"
        )
    };
    let text = format!(
        "format = 1\nname = \"test\"\ndescription = \"of tests\"\nnodes = {nodes}\n[node]\ncores = 4\n\
         memory_gb = {memory_gb}\n{}{}[network]\nlink_mb_s = 1000\n",
        group(files, "files"),
        group(temporary, "temporary"),
    );
    Server::parse(&text).unwrap()
}

fn wish(server: Server, bytes: u64) -> Wish {
    Wish {
        server,
        bytes,
        record_bytes: 100,
        is_of_lines: false,
        memory_bytes: None,
        plan: None,
        asked_layout: None,
        step_bytes: None,
        tuning: Tuning::default(),
        seed: 1,
    }
}

fn is_near(seconds: f64, expected: f64) {
    let part = seconds / expected;
    assert!(
        (0.97..1.1).contains(&part),
        "{seconds} s, {expected} expected"
    );
}

/// Each disk is read and written at its rate, however many there are.
#[test]
fn disks_work_at_the_same_time() {
    for disks in [1, 2, 5, 8] {
        let rate = 0.1 * disks as f64;
        let one = wish(machine(1, disks, 1, 16.0), 4 * GB).predict().unwrap();
        assert_eq!(
            (one.reports[0].passes, one.reports[0].records),
            (1, 40_000_000)
        );
        is_near(one.seconds, 2.0 * 4.0 / rate);
    }
    // Input and temporary files lie on different disks, as do these and the output.
    for disks in [1, 2, 5, 8] {
        // Of more disks than cores each has a share of the sorters.
        let most = if disks > 4 { 1.4 } else { 1.1 };
        let both = wish(machine(1, disks, disks, 0.5), 4 * GB)
            .predict()
            .unwrap();
        assert_eq!(both.reports[0].passes, 2);
        let part = both.seconds / (2.0 * 4.0 / (0.1 * disks as f64));
        assert!((0.97..most).contains(&part), "{disks} disks: {part}");
        for usage in &both.disks[0] {
            let share = usage.read.bytes as f64 * disks as f64 / 4e9;
            assert!((0.8..1.1).contains(&share), "{usage:?}");
        }
    }
}

/// Input and output lie on disks of 200 MB/s together, as do temporary files; sorters have four cores.
#[test]
fn phases_have_times_and_bottlenecks_of_their_own() {
    let phases_of = |wish: &Wish| {
        let sort = wish.predict().unwrap();
        let phases = sort.phases();
        let sum: f64 = phases.iter().map(|phase| phase.seconds).sum();
        assert!((sum - sort.seconds).abs() < 1e-6, "{sum}: {phases:?}");
        let names: Vec<_> = phases.iter().map(|phase| phase.name).collect();
        assert!(names.ends_with(&[PhaseTime::ONE, PhaseTime::TWO, "the rest"]));
        let rest = phases.last().unwrap();
        assert!(rest.seconds < 0.05 * sort.seconds, "{phases:?}");
        phases
    };
    let alone = wish(machine(1, 2, 2, 0.5), 4 * GB);
    let disks = phases_of(&alone);
    is_near(disks[0].seconds, 20.0);
    is_near(disks[1].seconds, 20.0);
    let two = disks[1].bottleneck.unwrap();
    assert!(["loader", "writer"].contains(&two), "{disks:?}");
    let cost = StageCost {
        ns_per_byte: 40.0,
        ..StageCost::default()
    };
    for (stage, slow) in [("distributor", 0), ("sorter", 1)] {
        let mut wish = alone.clone();
        wish.server.stages.insert(stage.to_owned(), cost);
        let phases = phases_of(&wish);
        // 40 ns for each of 4 GB, on four cores.
        is_near(phases[slow].seconds, 40.0);
        is_near(phases[1 - slow].seconds, 20.0);
        assert_eq!(phases[slow].bottleneck, Some(stage));
    }
    let text =
        "format = 1\nname = \"runs\"\ndescription = \"of tests\"\n[plan]\nsort = \"merge\"\n";
    let mut merge = alone.clone();
    merge.plan = Some(ForeignPlan::parse(text).unwrap());
    merge.server.stages.insert("sorter".to_owned(), cost);
    let phases = phases_of(&merge);
    assert_eq!(phases[0].bottleneck, Some("sorter"), "{phases:?}");
    let several = phases_of(&wish(machine(4, 2, 2, 0.2), 8 * GB));
    assert_eq!((several.len(), several[0].name), (4, "sample"));
}

/// A sort of 64 GB on two of TritonSort's nodes, in `partitions` of a node.
fn long_sort(partitions: usize, pool_mb: u32, change: impl FnOnce(&mut Server)) -> Wish {
    let text = format!(
        "format = 1\nname = \"small\"\ndescription = \"of tests\"\n[plan]\nsort = \"two-pass\"\n\
         spill_layout = \"preallocated\"\nreaders = 8\nsorters = 8\nwriters = 8\nspillers = 1\n\
         depth = 2\nspiller_depth = 1\nunit_mb = 32\npartitions = {partitions}\npool_mb = {pool_mb}\n\
         chunk_kb = 65.536\nleast_write_mb = 1\nmost_write_mb = 4\nsplitters = \"even\"\nspills_all = true\n"
    );
    let server = Server::load("tritonsort-2011").unwrap();
    let mut server = Server { nodes: 2, ..server };
    change(&mut server);
    Wish {
        plan: Some(ForeignPlan::parse(&text).unwrap()),
        ..wish(server, 64 * GB)
    }
}

/// All of a sort and its extension from four short ones: each phase, and each disk. Sorts of 2 and 4 GB of a node
/// have hardly a steady phase two, so the first case is the farthest off in it.
#[test]
fn a_long_sort_lies_on_the_lines_of_short_ones() {
    let unlike = |server: &mut Server| {
        let groups = server.disks.iter_mut();
        groups.for_each(|group| group.spread = Some(0.05));
    };
    for (whole, step, most) in [
        (long_sort(1024, 800, |_| ()), 2 * GB, [0.02, 0.03, 0.08]),
        (long_sort(512, 1600, |_| ()), 4 * GB, [0.03, 0.03, 0.03]),
        (long_sort(512, 1600, unlike), 4 * GB, [0.04, 0.04, 0.06]),
    ] {
        let extended = Wish {
            step_bytes: Some(step),
            ..whole.clone()
        };
        assert_eq!((whole.step(), extended.step()), (None, Some(step)));
        let [whole, extended] = [whole, extended].map(|wish| wish.predict().unwrap());
        assert!(extended.events < whole.events);
        let parts = |sort: &Prediction| {
            let [one, two] = [Phase::One, Phase::Two].map(|phase| sort.phase(phase).seconds);
            [sort.seconds, one, two]
        };
        let near = [0, 1, 2].map(|at| parts(&extended)[at] / parts(&whole)[at] - 1.0);
        assert!(
            (0..3).all(|at| near[at].abs() < most[at]),
            "{near:?} for {most:?}"
        );
        let records = |sort: &Prediction| sort.reports[0].records as f64;
        assert!((records(&extended) / records(&whole) - 1.0).abs() < 0.01);
        let disks = |sort: &Prediction| sort.disks.concat();
        for (long, short) in disks(&whole).iter().zip(&disks(&extended)) {
            for (whole, extended) in [(long.read, short.read), (long.written, short.written)] {
                let is_near =
                    |whole: u64, extended: u64, part: u64| extended.abs_diff(whole) <= whole / part;
                assert!(
                    is_near(whole.bytes, extended.bytes, 40)
                        && is_near(whole.busy_ns, extended.busy_ns, 10),
                    "{long:?} {short:?}"
                );
            }
        }
    }
}

/// Of disks for files alone, of nothing, and of fewer bytes than the buffers hold.
#[test]
fn odd_sorts_are_not_extended() {
    let alone = long_sort(1024, 800, |server| {
        server.disks.retain(|group| group.holds == Holds::Files)
    });
    let step = |bytes: u64, step_bytes: u64| {
        let wish = Wish {
            bytes,
            step_bytes: Some(step_bytes),
            ..alone.clone()
        };
        wish.step()
    };
    assert_eq!(step(64 * GB, 2 * GB), Some(2 * GB));
    assert_eq!(step(0, 2 * GB), None);
    // A quarter more than the pool of 800 MB.
    assert_eq!(step(64 * GB, 1), Some(12207 * 65_536 * 5 / 4));
    assert_eq!(step(3 * GB, 1), None);
    let mut new = alone.clone();
    new.step_bytes = Some(1);
    new.memory_bytes = Some(15 * GB);
    new.server.node.first_touch_ns_per_byte = Some(0.1);
    assert_eq!(new.step(), Some(15 * GB));
}

#[test]
fn nodes_exchange_over_their_links() {
    let mut server = machine(4, 2, 2, 0.2);
    let disks = wish(server.clone(), 8 * GB).predict().unwrap();
    let read: u64 = disks.reports.iter().map(|report| report.records).sum();
    assert_eq!(read, 80_000_000);
    is_near(disks.seconds, 2.0 * 10.0);
    // Three quarters of 2 GB leave each node, at a tenth of the rate of its disks.
    server.network.as_mut().unwrap().link_mb_s = 20.0;
    let links = wish(server, 8 * GB).predict().unwrap();
    // Credits, and chunks that wait behind those of another node, leave links idle for a quarter.
    let least = 1.5 / 0.02 + 10.0;
    let seconds = links.seconds;
    assert!(
        (least..1.4 * least).contains(&seconds),
        "{seconds} s, at least {least}"
    );
}

#[test]
fn a_seed_decides_all() {
    let server = Server::load("tritonsort-2011").unwrap();
    let server = Server { nodes: 2, ..server };
    let wish = wish(server, 4 * GB);
    let [first, again] = [(); 2].map(|()| wish.predict().unwrap());
    assert_eq!(
        (&first.reports, first.events),
        (&again.reports, again.events)
    );
    assert_eq!(first.disks, again.disks);
}

#[test]
fn what_no_machine_can_do_is_refused() {
    let refused = |wish: &Wish| wish.predict().unwrap_err().to_string();
    let large = wish(machine(1, 1, 1, 1.0), 60 * GB);
    let said = refused(&large);
    assert!(
        said.contains("hold 100.0 GB") && said.contains("have 120.0 GB"),
        "{said}"
    );
    let little = Wish {
        memory_bytes: Some(100_000),
        ..wish(machine(1, 1, 1, 1.0), GB)
    };
    let said = refused(&little);
    assert!(said.contains("memory"), "{said}");
    let mut server = machine(1, 1, 1, 1.0);
    server
        .stages
        .insert("sortr".to_owned(), StageCost::default());
    let said = refused(&wish(server, GB));
    assert!(
        said.contains("no stage \"sortr\"") && said.contains("sorter"),
        "{said}"
    );
    let full = wish(machine(1, 2, 1, 0.5), 100 * GB - GB);
    let said = refused(&full);
    assert!(said.contains("space") || said.contains("hold"), "{said}");
}
