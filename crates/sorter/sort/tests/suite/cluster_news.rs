//! Messages between ranks other than records, under the deterministic driver: their progress while
//! they sort, and how they ended.

use std::path::PathBuf;

use crate::common::job;
use kernel::patterns::{Pattern, draw};
use node::{Node, Port, Rank};
use pipeline::{Control, Failure, Heard};
use record::{Order, Ties};
use rehearsal::Driver;
use sort::{Job, Report};

fn put(driver: &Driver, rank: u32, records: usize) {
    let records = draw(Pattern::Uniform, u64::from(rank), records, 100);
    driver.disks(rank).put(&PathBuf::from("/in"), records);
}

/// Ports of tests.
const PARTING: Port = Port(200);
const NOBODY: Port = Port(201);

/// Waits for some seconds.
async fn wait(node: &Node, seconds: f64) {
    let until = node.now().after((seconds / node.seconds(1)) as u64);
    assert!(node.bind(NOBODY).next_until(node, until).await.is_none());
}

/// Each rank tells the first one its progress regularly, and no other rank.
#[test]
fn the_first_rank_gets_the_progress_of_all() {
    let order = Order::gensort(Ties::Record);
    let driver = Driver::new(3, 3);
    for rank in 0..3 {
        put(&driver, rank, 300 * rank as usize);
    }
    let base = job(&["/in"], "/out", &order);
    let ends = driver.run(move |node| {
        let job = Job {
            control: Control::default(),
            ..base.clone()
        };
        async move {
            let then = async |report: Report| {
                let before = job.control.others();
                wait(&node, 4.5).await;
                Ok((report, before, job.control.others()))
            };
            sort::run_and(&node, &job, then).await
        }
    });
    let ends: Vec<_> = ends.unwrap().into_iter().map(Result::unwrap).collect();
    let (first, others) = ends.split_first().unwrap();
    let (_, before, after) = first;
    assert_eq!(
        after.keys().copied().collect::<Vec<_>>(),
        [Rank(1), Rank(2)]
    );
    for (rank, (report, ..)) in (1..).map(Rank).zip(others) {
        let Heard { times, progress } = &after[&rank];
        assert_eq!(
            (progress.phase, progress.total_bytes),
            ("sort partitions", report.bytes)
        );
        assert_eq!(
            progress.bytes_of("writer"),
            report.stage("writer").unwrap().bytes
        );
        let earlier = before.get(&rank).map_or(0, |heard| heard.times);
        // Four beats a second.
        assert!(
            (17..=19).contains(&(times - earlier)),
            "{earlier} and then {times}"
        );
    }
    assert!(others.iter().all(|(_, _, heard)| heard.is_empty()));
}

/// The steps after a sort are watched, too: the first rank gets the texts of all, and a failure of
/// one ends all.
#[test]
fn ranks_part_together() {
    for wrong in [None, Some(0), Some(2)] {
        let order = Order::gensort(Ties::Record);
        let driver = Driver::new(4, 3);
        (0..3).for_each(|rank| put(&driver, rank, 100));
        let base = job(&["/in"], "/out", &order);
        let ends = driver.run(move |node| {
            let job = Job {
                control: Control::default(),
                ..base.clone()
            };
            async move {
                let rank = node.rank().0;
                let mine = if wrong == Some(rank) {
                    Err(Failure::Program("a bad disk".into()))
                } else {
                    Ok(format!("part {rank}"))
                };
                let then = async |_| sort::parting(&node, &job.control, PARTING, mine).await;
                sort::run_and(&node, &job, then).await
            }
        });
        for (rank, end) in (0..).zip(ends.unwrap()) {
            match wrong {
                None if rank == 0 => assert_eq!(end.unwrap(), ["part 0", "part 1", "part 2"]),
                None => assert!(end.unwrap().is_empty()),
                Some(bad) => {
                    let own = "a bad disk".to_owned();
                    let told = if bad == rank {
                        own
                    } else {
                        format!("rank {bad}: {own}")
                    };
                    assert_eq!(end.unwrap_err().to_string(), told);
                }
            }
        }
    }
}

/// A rank that fails after its sort ends the others, which wait for it.
#[test]
fn a_rank_that_fails_after_its_sort_is_named() {
    let order = Order::gensort(Ties::Record);
    let driver = Driver::new(5, 3);
    (0..3).for_each(|rank| put(&driver, rank, 100));
    let base = job(&["/in"], "/out", &order);
    let ends = driver.run(move |node| {
        let job = Job {
            control: Control::default(),
            ..base.clone()
        };
        async move {
            let then = async |_| match node.rank() {
                Rank(1) => Err(Failure::Program("it fell ill".into())),
                _ => sort::parting(&node, &job.control, PARTING, Ok(String::new())).await,
            };
            sort::run_and(&node, &job, then)
                .await
                .unwrap_err()
                .to_string()
        }
    });
    assert_eq!(
        ends.unwrap(),
        ["rank 1: it fell ill", "it fell ill", "rank 1: it fell ill"]
    );
}
