//! Disks in memory after a crash, and nodes that die.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use disk::Durability;
use machine::Driver;
use node::{Access, Buffer, File, Node, Open};

const SECTOR: usize = 512;
const BLOCK: usize = 4096;
const BYTES: usize = 4 * BLOCK;

/// Random crashes per story.
const DRAWS: u64 = 300;

async fn create(node: &Node, path: &str) -> File {
    node.open(
        Path::new(path),
        Open::Create {
            direct: false,
            mode: 0o600,
        },
    )
    .await
    .unwrap()
}

async fn write(node: &Node, file: &File, offset: u64, (bytes, with): (usize, u8)) {
    let mut buffer = Buffer::heap(bytes);
    buffer.bytes_mut().fill(with);
    file.write(node, offset, buffer, 0..bytes)
        .wait(node)
        .await
        .1
        .unwrap();
}

/// The results of `look` after a story and a crash, for each random crash.
fn crashes<T: Ord>(
    durability: Durability,
    story: impl AsyncFn(&Node) + Copy + Send + 'static,
    look: impl Fn(&Driver) -> T,
) -> BTreeSet<T> {
    let draw = |seed| {
        let driver = Driver::new(1, 1);
        driver.disks(0).put(Path::new("/old"), vec![1; BYTES]);
        driver.disks(0).set_durability(durability);
        driver
            .run(move |node| async move { story(&node).await })
            .unwrap();
        driver.disks(0).crash(seed);
        look(&driver)
    };
    (0..DRAWS).map(draw).collect()
}

fn get(driver: &Driver, path: &str) -> Option<Vec<u8>> {
    driver.disks(0).get(Path::new(path))
}

/// The value of each unit of a file, if all its bytes are equal.
fn units(bytes: &[u8], unit: usize) -> Option<Vec<u8>> {
    let fills = |unit: &[u8]| unit.iter().all(|&byte| byte == unit[0]).then_some(unit[0]);
    bytes.chunks(unit).map(fills).collect()
}

#[test]
fn unsynced_writes_are_torn_into_sectors() {
    let ends = crashes(
        Durability::Synced,
        async |node| {
            let file = create(node, "/file").await;
            write(node, &file, 0, (BYTES, 1)).await;
            file.sync(node).await.unwrap();
            write(node, &file, 0, (BYTES, 2)).await;
            write(node, &file, 0, (BYTES / 2, 3)).await;
        },
        |driver| get(driver, "/file").unwrap(),
    );
    let sectors = ends
        .iter()
        .map(|end| units(end, SECTOR).expect("sectors are whole"));
    let sectors: Vec<_> = sectors.collect();
    let (front, back) = (0..BYTES / SECTOR / 2, BYTES / SECTOR / 2..BYTES / SECTOR);
    for sectors in &sectors {
        assert!(
            sectors.len() == BYTES / SECTOR,
            "it is as long as it was when it was synced"
        );
        assert!(
            sectors[front.clone()]
                .iter()
                .all(|with| [1, 2, 3].contains(with))
        );
        assert!(
            sectors[back.clone()]
                .iter()
                .all(|with| [1, 2].contains(with))
        );
    }
    // Nothing survives, or all; whole blocks, or sectors alone.
    assert!(ends.contains(&vec![1; BYTES]));
    assert!(ends.contains(&[[3; BYTES / 2], [2; BYTES / 2]].concat()));
    let blocks = ends
        .iter()
        .filter(|end| units(end, BLOCK).is_some())
        .count();
    assert!(
        blocks > 20 && ends.len() - blocks > 50,
        "{blocks} of {}",
        ends.len()
    );
}

#[test]
fn synced_data_survive() {
    let story = async |node: &Node| {
        let file = create(node, "/file").await;
        write(node, &file, 0, (BYTES, 2)).await;
        file.truncate(node, 5000).await.unwrap();
        let access = Access {
            mode: 0o640,
            ..Access::default()
        };
        file.set_access(node, access).await.unwrap();
        file.sync(node).await.unwrap();
        node.rename(file.path(), Path::new("/old")).await.unwrap();
    };
    let look = |driver: &Driver| (driver.disks(0).paths(), get(driver, "/old"));
    let expected = (vec![PathBuf::from("/old")], Some(vec![2; 5000]));
    for durability in [Durability::Synced, Durability::Always] {
        let ends = crashes(durability, story, look);
        assert!(ends.into_iter().eq([expected.clone()]), "{durability:?}");
    }
    // A disk that only says so keeps any of it.
    let ends = crashes(Durability::Never, story, look);
    let olds: BTreeSet<_> = ends.iter().map(|(_, old)| old.clone().unwrap()).collect();
    assert!(olds.contains(&vec![1; BYTES]), "the rename is lost");
    assert!(olds.contains(&vec![2; 5000]), "all survives");
    let torn = olds.iter().filter(|old| old.contains(&0)).count();
    assert!(
        torn > 10,
        "the name survives and the data do not: {torn} times"
    );
}

#[test]
fn an_unsynced_name_may_be_lost() {
    let ends = crashes(
        Durability::Synced,
        async |node| {
            let file = create(node, "/file").await;
            write(node, &file, 0, (1000, 2)).await;
            node.rename(file.path(), Path::new("/old")).await.unwrap();
        },
        |driver| get(driver, "/old").unwrap(),
    );
    assert!(
        ends.iter().all(|end| end.len() <= 1000),
        "the rename is durable"
    );
    for end in [vec![], vec![0; 1000], vec![2; 512], vec![2; 1000]] {
        assert!(ends.contains(&end), "{} bytes", end.len());
    }
}

#[test]
fn names_change_in_order() {
    let ends = crashes(
        Durability::Synced,
        async |node| {
            create(node, "/a").await;
            let file = create(node, "/b").await;
            file.sync(node).await.unwrap();
            create(node, "/c").await;
            node.remove(Path::new("/old")).await.unwrap();
            create(node, "/d").await;
        },
        |driver| driver.disks(0).paths(),
    );
    // The sync of a file makes what came before durable, too.
    let prefixes: BTreeSet<_> = ["/a /b /old", "/a /b /c /old", "/a /b /c", "/a /b /c /d"]
        .map(paths)
        .into();
    assert_eq!(ends, prefixes);
}

fn paths(names: &str) -> Vec<PathBuf> {
    names.split(' ').map(PathBuf::from).collect()
}

/// A node dies after each event of its run, and the other is not told. The next run finds the disks
/// without locks, and no request of the last run ends.
#[test]
fn a_node_dies_after_any_event() {
    let work = |node: Node| async move {
        let file = create(&node, "/file").await;
        assert!(file.lock(&node).await.unwrap());
        for round in 0..4 {
            let (bytes, offset) = (BLOCK, round * BLOCK as u64);
            write(&node, &file, offset, (bytes, 2)).await;
        }
        file.sync(&node).await.unwrap();
        node.rank().0
    };
    let mut deaths = 0;
    for nth in 1.. {
        let driver = Driver::new(7, 2);
        driver.disks(1).set_durability(Durability::Synced);
        driver.kill(1, nth);
        let answers = driver.run(work).unwrap();
        assert_eq!(
            get(&driver, "/file").unwrap(),
            [2; BYTES],
            "the node that lives"
        );
        if driver.deaths() == 0 {
            assert_eq!((answers, driver.events()), (vec![0, 1], nth - 1));
            break;
        }
        deaths += 1;
        let left = driver.disks(1).get(Path::new("/file"));
        assert!(answers == [0] || left == Some(vec![2; BYTES]), "{nth}");
        let length = left.as_ref().map(|left| left.len() as u64);
        let again = driver.run(move |node| async move {
            if node.rank().0 == 0 {
                return None;
            }
            let file = node
                .open(Path::new("/file"), Open::Read { direct: false })
                .await
                .ok()?;
            assert!(file.lock(&node).await.unwrap(), "the lock is dead");
            Some(node.metadata(file.path()).await.unwrap().length)
        });
        assert_eq!(again.unwrap(), [None, length], "{nth}");
        driver.disks(1).crash(nth);
        assert!(
            driver.disks(1).get(Path::new("/file")) == left,
            "{nth}: what is left stays"
        );
    }
    assert!(deaths > 30, "{deaths}");
}
