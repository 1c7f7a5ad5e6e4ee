//! Helpers: machines with other numbers, runs that cannot hang, and messages that name their
//! sender.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::atomic::Ordering;
use std::sync::mpsc;
use std::time::Duration;

use machine::{Cluster, Outcome, Profile, RunError, Setting};
use node::{Address, Message, MessagePort, Node, Port, Rank};

/// The port of most programs here.
pub const PORT: Port = Port(1);

/// A run that takes longer hangs: all of them end within a second or two, and within a minute under a
/// sanitizer.
const PATIENCE: Duration = Duration::from_secs(300);

/// The nanoPU cluster.
pub fn nanopu() -> Profile {
    edited(&[])
}

/// The nanoPU cluster with other numbers.
pub fn edited(changes: &[(&str, &str)]) -> Profile {
    edited_of("nanopu", changes)
}

/// A built-in machine with other numbers.
pub fn edited_of(name: &str, changes: &[(&str, &str)]) -> Profile {
    let (_, text) = Profile::BUILT_IN
        .into_iter()
        .find(|(known, _)| *known == name)
        .unwrap();
    let mut text = text.to_owned();
    for (key, value) in changes {
        let found = text
            .lines()
            .find(|line| line.starts_with(&format!("{key} ")));
        let line = found
            .unwrap_or_else(|| panic!("no {key} in {name}"))
            .to_owned();
        // No machine has a key that ends another.
        text = text.replacen(&format!("\n{line}"), &format!("\n{key} = {value}"), 1);
    }
    Profile::parse(&text).unwrap_or_else(|error| panic!("{error}"))
}

/// A small network: two NICs per leaf, two spines, two ranks per NIC; two or three layers.
pub fn small(layers: u32, changes: &[(&str, &str)]) -> Profile {
    let layers = layers.to_string();
    let shape = [
        ("layers", layers.as_str()),
        ("ranks_per_nic", "2"),
        ("down_links", "2"),
        ("up_links", "2"),
        ("top_links", "16"),
    ];
    edited(&[&shape, changes].concat())
}

/// The same machine with unlimited queues.
pub fn endless(mut profile: Profile) -> Profile {
    profile.network.queue_bytes = None;
    profile
}

/// Runs to the end without an error.
pub fn run<T, P, Task>(profile: Profile, setting: Setting, program: P) -> Outcome<T>
where
    T: Send + 'static,
    P: Fn(Node) -> Task + Clone + Send + Sync + 'static,
    Task: Future<Output = T> + 'static,
{
    try_run(profile, setting, program).unwrap_or_else(|error| panic!("{error}"))
}

/// Runs to the end or an error. A run with endless virtual time is stopped; one whose threads wait
/// for each other for ever is abandoned.
pub fn try_run<T, P, Task>(
    profile: Profile,
    setting: Setting,
    program: P,
) -> Result<Outcome<T>, RunError>
where
    T: Send + 'static,
    P: Fn(Node) -> Task + Clone + Send + Sync + 'static,
    Task: Future<Output = T> + 'static,
{
    let cluster = Cluster::new(profile, setting).unwrap_or_else(|error| panic!("{error}"));
    let watch = cluster.watch();
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || drop(tell.send(cluster.run(program))));
    told.recv_timeout(PATIENCE).unwrap_or_else(|_| {
        watch.stop.store(true, Ordering::Relaxed);
        let ended = told.recv_timeout(Duration::from_secs(5));
        let how = if ended.is_ok() {
            "virtual time goes on"
        } else {
            "its threads stand still"
        };
        panic!("the run did not end in {PATIENCE:?}: {how}")
    })
}

/// Sends to a port of a rank.
pub async fn send(node: &Node, to: u32, words: &[u64]) {
    node.send(
        Address {
            rank: Rank(to),
            port: PORT,
        },
        words,
    )
    .await;
}

/// A message that names its sender and number, and whose words can be checked.
pub fn letter(from: u32, number: u32, words: usize) -> Vec<u64> {
    let name = u64::from(from) << 32 | u64::from(number);
    (0..words as u64)
        .map(|word| name.wrapping_add(word * 0x0123_4567_89ab))
        .collect()
}

/// The sender and number of a letter, whose other words are checked.
pub fn opened(message: &Message) -> (u32, u32) {
    let name = message.words[0];
    let (from, number) = ((name >> 32) as u32, name as u32);
    assert_eq!(message.from, Rank(from), "it names another sender");
    assert_eq!(
        &message.words[..],
        letter(from, number, message.words.len()),
        "it was changed"
    );
    (from, number)
}

/// How often a rank received each letter.
pub type Got = BTreeMap<(u32, u32), u32>;

/// Receives `count` letters, and further ones until `patience` ticks after the last.
pub async fn take(node: &Node, port: &MessagePort, count: usize, patience: u64) -> Got {
    let mut got = Got::new();
    for _ in 0..count {
        *got.entry(opened(&port.next(node).await)).or_default() += 1;
    }
    while let Some(more) = port.next_until(node, node.now().after(patience)).await {
        *got.entry(opened(&more)).or_default() += 1;
    }
    got
}

/// Checks that each of these letters came once and no other; the error has the wrong counts.
pub fn each_once(got: &Got, letters: impl IntoIterator<Item = (u32, u32)>) -> Result<(), Got> {
    let sent: Got = letters.into_iter().map(|letter| (letter, 1)).collect();
    let came = |letter| got.get(letter).copied().unwrap_or(0);
    let unsent = got.keys().filter(|letter| !sent.contains_key(letter));
    let wrong = sent.keys().filter(|letter| came(letter) != 1).chain(unsent);
    let wrong: Got = wrong.map(|letter| (*letter, came(letter))).collect();
    if wrong.is_empty() { Ok(()) } else { Err(wrong) }
}
