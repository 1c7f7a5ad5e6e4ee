//! Reading profiles: the built-in ones, and every way to get one wrong.

use super::{CoreModel, Nanoseconds, NetworkModel, Profile};
use crate::schedule::Ticks;

/// The text of the nanoPU with one line replaced.
fn with(line: &str, instead: &str) -> String {
    let text = Profile::BUILT_IN[0].1;
    let lines = text.lines().map(|found| {
        if found.starts_with(line) {
            instead
        } else {
            found
        }
    });
    let changed = lines.collect::<Vec<_>>().join("\n");
    assert_ne!(changed, text.trim_end(), "no line begins with {line}");
    changed
}

/// The error for the nanoPU with the line of a key replaced.
fn refused(line: &str, instead: &str) -> String {
    let error = Profile::parse(&with(line, instead))
        .unwrap_err()
        .to_string();
    assert!(!error.contains('\n'), "{error:?} is one line");
    error
}

#[test]
fn every_built_in_machine_is_read_under_its_name() {
    let mut hashes = Vec::new();
    for (name, text) in Profile::BUILT_IN {
        let profile = Profile::named(name).unwrap();
        assert_eq!(profile.name, name);
        assert!(!profile.description.is_empty());
        assert_eq!(Profile::parse(text), Ok(profile.clone()));
        assert_eq!(Profile::load(name), Ok(profile.clone()));
        hashes.push(profile.hash);
    }
    hashes.sort_unstable();
    hashes.dedup();
    assert_eq!(hashes.len(), Profile::BUILT_IN.len());
    assert_eq!(Profile::named("abacus"), None);
}

/// The words that name sources, as nanopu.toml explains them.
const LEGEND: [&str; 7] = [
    "paper",
    "RTL",
    "published",
    "reported",
    "calibrated",
    "inference",
    "assumption",
];

/// A number with this source equals that of nanopu.toml; at the head of a section it is the source
/// of all.
const AS_NANOPU: &str = "as nanopu.toml";

#[test]
fn every_number_of_a_built_in_machine_gives_its_source() {
    let nanopu = Profile::BUILT_IN[0].1;
    let legend: Vec<_> = nanopu
        .lines()
        .take_while(|line| line.starts_with('#'))
        .collect();
    for word in LEGEND {
        assert!(
            legend
                .iter()
                .any(|line| line.starts_with(&format!("#   {word} "))),
            "{word}"
        );
    }
    for (name, text) in Profile::BUILT_IN {
        for section in text.split("\n[") {
            let head = section.lines().next().unwrap_or("");
            let numbers = section.lines().filter(|line| {
                let value = line.split(" = ").nth(1).unwrap_or("");
                line.starts_with(|first: char| first.is_ascii_lowercase())
                    && value.starts_with(|first: char| first.is_ascii_digit())
            });
            for line in numbers {
                let (number, source) = line.split_once('#').unwrap_or((line, head));
                let is_same = nanopu
                    .lines()
                    .any(|other| other.split('#').next().unwrap_or("").trim() == number.trim());
                let is_said = LEGEND.iter().any(|word| source.contains(word))
                    || (source.contains(AS_NANOPU) && is_same);
                assert!(is_said, "{name}: no source that the legend knows: {line}");
            }
        }
    }
}

/// The same cores, NICs and network, with other ranks.
#[test]
fn a_node_is_four_cores_of_the_nanopu() {
    let nanopu = Profile::named("nanopu").unwrap();
    let nodes = Profile::named("nanopu-nodes").unwrap();
    assert_eq!(
        (nodes.core.cores_per_rank, nodes.core.ranks_per_nic),
        (4, 1)
    );
    let core = CoreModel {
        cores_per_rank: 1,
        ranks_per_nic: 4,
        ..nodes.core
    };
    assert_eq!(
        (core, nodes.work, nodes.nic, nodes.network),
        (nanopu.core, nanopu.work, nanopu.nic, nanopu.network)
    );
    assert_eq!(nodes.most_ranks() * 4, nanopu.most_ranks());
}

#[test]
fn the_nanopu_is_the_one_of_the_paper() {
    let nanopu = Profile::named("nanopu").unwrap();
    assert_eq!(nanopu.tick_fs, 312_500);
    assert_eq!(
        (nanopu.core.cores_per_rank, nanopu.core.ranks_per_nic),
        (1, 4)
    );
    let network = NetworkModel {
        layers: 2,
        down_links: 64,
        up_links: 64,
        top_links: 256,
        flit_bytes: 8,
        link_ns: Nanoseconds::of(43.75),
        switch_ns: Nanoseconds::of(263.0),
        queue_bytes: Some(85 * 1088),
    };
    assert_eq!(nanopu.network, network);
    assert_eq!((nanopu.link(), nanopu.switch()), (Ticks(140), Ticks(842)));
    assert_eq!(
        (nanopu.most_ranks(), nanopu.nic.mac_ns.value()),
        (65_536, 52.0)
    );
    assert_eq!(nanopu.work.load, 24_250);
    let larger = Profile::named("nanopu-3-layer").unwrap();
    assert_eq!((larger.most_ranks(), larger.network.layers), (1_048_576, 3));
}

#[test]
fn the_hash_is_fnv_1a_of_the_text() {
    let text = with("queue_bytes", "queue_bytes = 92480");
    let profile = Profile::parse(&text).unwrap();
    let slow = text
        .bytes()
        .fold(14_695_981_039_346_656_037_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(1_099_511_628_211)
        });
    assert_eq!(profile.hash, slow);
    assert_ne!(profile.hash, Profile::named("nanopu").unwrap().hash);
}

#[test]
fn queues_without_an_end_have_no_key() {
    let endless = Profile::parse(&with("queue_bytes", "")).unwrap();
    assert_eq!(endless.network.queue_bytes, None);
}

#[test]
fn an_unknown_machine_is_told_the_known_ones() {
    let error = Profile::load("/no/such/abacus.toml")
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "/no/such/abacus.toml: no file or built-in machine has this name; \
         the built-in machines are nanopu, nanopu-nodes, nanopu-3-layer, nebula, erpc, ramcloud, \
         now, paragon, cs-2, sp-2, t3d, now-network, now-subcluster"
    );
    for path in ["nanopu-nodes.toml", "mine/nebula.toml"] {
        let name = path.trim_start_matches("mine/").trim_end_matches(".toml");
        let told = format!("{path}: no such file; the built-in machine is {name}, without .toml");
        assert_eq!(Profile::load(path).unwrap_err().to_string(), told);
    }
    let directory = Profile::load(env!("CARGO_MANIFEST_DIR"))
        .unwrap_err()
        .to_string();
    assert!(directory.contains(": cannot be read: "), "{directory}");
}

#[test]
fn a_file_is_read_by_its_path_and_named_in_its_errors() {
    let directory = std::env::temp_dir().join(format!("profile-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let path = directory.join("mine.toml");
    std::fs::write(&path, with("name", "name = \"mine\"")).unwrap();
    let name = path.to_str().unwrap();
    let loaded = Profile::load(name).map(|profile| profile.name);
    std::fs::write(&path, with("layers", "layers = 4")).unwrap();
    let refused = Profile::load(name).unwrap_err().to_string();
    std::fs::remove_dir_all(&directory).unwrap();
    assert_eq!(loaded.as_deref(), Ok("mine"));
    assert_eq!(
        refused,
        format!("{name}: network.layers is 4: expected 2 or 3")
    );
}

#[test]
fn a_wrong_key_is_refused_at_its_line() {
    let error = refused("forward_cycles", "foreward_cycles = 3");
    assert!(error.starts_with("machine: line 17 ([core]): "), "{error}");
    assert!(
        error.contains("; line 26 (foreward_cycles): unknown key `foreward_cycles`, exp"),
        "{error}"
    );
    assert!(error.contains("`forward_cycles`"), "{error}");
    let missing = refused("forward_cycles", "");
    assert!(
        missing.ends_with("([core]): missing key `forward_cycles`"),
        "{missing}"
    );
    let top = refused("tick_ps", "");
    assert_eq!(top, "machine: missing key `tick_ps`");
    let twice = refused("forward_cycles", "notice_cycles = 3");
    assert!(twice.contains("(notice_cycles): duplicate key"), "{twice}");
    let broken = refused("forward_cycles", "forward_cycles = ");
    assert!(broken.contains("(forward_cycles): "), "{broken}");
}

#[test]
fn a_wrong_number_is_refused_with_what_is_expected() {
    let whole = "expected a whole number from 0 to 1000000000000";
    let cycles = "expected a whole number from 0 to 1000000";
    let cost = "expected a number from 0 to 1000000, with at most three decimals";
    let count = "expected a whole number from 1 to 4294967295";
    let decimal = "expected a number from 0 to 1000000000, with at most three decimals";
    let cases = [
        ("forward_cycles", "-3", cycles),
        ("forward_cycles", "3.5", cycles),
        ("forward_cycles", "\"three\"", cycles),
        ("forward_cycles", "1_000_001", cycles),
        ("timeout_cycles", "1_000_000_000_001", whole),
        ("sort_key_level_cycles", "1_000_000_000", cost),
        ("sort_key_level_cycles", "1_000_000.001", cost),
        ("down_links", "0", count),
        ("down_links", "-64", count),
        ("down_links", "5_000_000_000", count),
        ("link_ns", "-43.75", decimal),
        ("link_ns", "-43", decimal),
        ("link_ns", "nan", decimal),
        ("link_ns", "inf", decimal),
        ("link_ns", "43.7501", decimal),
        ("link_ns", "2e9", decimal),
        ("link_ns", "2_000_000_000", decimal),
        ("link_ns", "true", decimal),
        ("load_line_cycles", "24.2222", cost),
    ];
    for (key, value, expected) in cases {
        let error = refused(key, &format!("{key} = {value}"));
        assert!(error.contains(&format!(" ({key}): invalid ")), "{error}");
        assert!(error.ends_with(expected), "{error}");
    }
}

#[test]
fn numbers_that_do_not_fit_together_are_refused() {
    let cases = [
        (
            "name =",
            "name = ' '",
            "name is \" \": expected one line of text",
        ),
        (
            "description",
            r#"description = "\n""#,
            r#"description is "\n": expected one line of text"#,
        ),
        (
            "tick_ps",
            "tick_ps = 0",
            "tick_ps is 0: expected the length of a cycle, 1 to 1000000",
        ),
        (
            "tick_ps",
            "tick_ps = 0.001",
            "tick_ps is 0.001: expected the length of a cycle, 1 to 1000000",
        ),
        (
            "cores_per_rank",
            "cores_per_rank = 4_000_000_000",
            "core.cores_per_rank is 4000000000: expected at most 1024",
        ),
        (
            "transmit_words",
            "transmit_words = 4_000_000_000",
            "core.transmit_words is 4000000000: expected at most 1048576",
        ),
        (
            "receive_buffers",
            "receive_buffers = 1_048_577",
            "nic.receive_buffers is 1048577: expected at most 1048576",
        ),
        (
            "all_entries",
            "all_entries = 4_000_000_000",
            "nic.all_entries is 4000000000: expected at most 1048576",
        ),
        (
            "transmit_words",
            "transmit_words = 258",
            "core.transmit_words is 258: expected at least 259, the longest message with its headers",
        ),
        (
            "segment_bytes",
            "segment_bytes = 512",
            "nic.segment_bytes is 512: expected words of 8 bytes, 1024 to 2048 bytes in all",
        ),
        (
            "segment_bytes",
            "segment_bytes = 1030",
            "nic.segment_bytes is 1030: expected words of 8 bytes, 1024 to 2048 bytes in all",
        ),
        (
            "header_bytes",
            "header_bytes = 80",
            "nic.header_bytes is 80: expected at most nic.control_bytes, 72",
        ),
        (
            "control_bytes",
            "control_bytes = 2000",
            "nic.control_bytes is 2000: expected at most nic.segment_bytes, 1024",
        ),
        (
            "timeout_cycles",
            "timeout_cycles = 6466",
            "nic.timeout_cycles is 6466: expected at least 6467, a round trip over links of 43.75 ns \
             and switches of 263.125 ns",
        ),
        (
            "transmit_buffers",
            "transmit_buffers = 257",
            "nic.transmit_buffers is 257: expected at most 128",
        ),
        (
            "large_transmit_buffers",
            "large_transmit_buffers = 129",
            "nic.large_transmit_buffers is 129: expected at most nic.transmit_buffers, 128",
        ),
        (
            "queue_entries",
            "queue_entries = 31",
            "nic.queue_entries is 31, 1984 bytes: expected room for a message of 2048 bytes",
        ),
        (
            "all_entries",
            "all_entries = 62",
            "nic.all_entries is 62: expected at least nic.queue_entries, 63",
        ),
        (
            "layers",
            "layers = 1",
            "network.layers is 1: expected 2 or 3",
        ),
        (
            "up_links",
            "up_links = 4097",
            "network.up_links is 4097: expected at most 4096",
        ),
        (
            "flit_bytes",
            "flit_bytes = 16",
            "network.flit_bytes is 16: expected 1, 2, 4 or 8: whole flits in a word",
        ),
        (
            "queue_bytes",
            "queue_bytes = 1087",
            "network.queue_bytes is 1087: expected room for a packet of 1088 bytes",
        ),
        (
            "ranks_per_nic",
            "ranks_per_nic = 262145",
            "the topology holds 4294983680 ranks: expected at most 4294967295; \
             core.ranks_per_nic is 262145: expected at most 256",
        ),
    ];
    for (line, instead, expected) in cases {
        assert_eq!(refused(line, instead), format!("machine: {expected}"));
    }
}

#[test]
fn links_and_switches_may_be_others_for_a_run() {
    let nanopu = Profile::named("nanopu").unwrap();
    let same = nanopu.clone().with_network(None, None).unwrap();
    assert_eq!(same, nanopu);
    let other = nanopu.clone().with_network(Some(0.0), Some(100.1)).unwrap();
    assert_eq!((other.link(), other.switch()), (Ticks(0), Ticks(320)));
    assert_eq!(other.hash, nanopu.hash);
    // Six switches there and back are 21 us, and the timeout was 20.
    let slow = nanopu.clone().with_network(None, Some(3500.0)).unwrap();
    assert_eq!(other.nic.timeout_cycles, Ticks(64_000));
    assert!(
        (672_000..750_000).contains(&slow.nic.timeout_cycles.0),
        "{}",
        slow.nic.timeout_cycles
    );
    let link = nanopu.clone().with_network(Some(-1.0), None).unwrap_err();
    assert_eq!(
        link.to_string(),
        "machine: link_ns is -1: expected a number from 0 to 1000000000"
    );
    for wrong in [f64::NAN, f64::INFINITY, 2e9] {
        let switch = nanopu
            .clone()
            .with_network(None, Some(wrong))
            .unwrap_err()
            .to_string();
        assert!(switch.starts_with("machine: switch_ns is "), "{switch}");
    }
}

/// A directory that is removed at the end of a test.
struct Files(std::path::PathBuf);

impl Files {
    fn new(name: &str) -> Files {
        let directory = std::env::temp_dir().join(format!("{name}-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        Files(directory)
    }

    fn write(&self, name: &str, text: &str) -> String {
        let path = self.0.join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_base_gives_all_other_keys() {
    let nanopu = Profile::named("nanopu").unwrap();
    let text = "base = \"nanopu\"\nnetwork.switch_ns = 100\n[core]\nranks_per_nic = 2\n";
    let mine = Profile::parse(text).unwrap();
    let expected = Profile {
        name: "machine".into(),
        description: format!("{}; changed", nanopu.description),
        core: CoreModel {
            ranks_per_nic: 2,
            ..nanopu.core
        },
        network: NetworkModel {
            switch_ns: Nanoseconds::of(100.0),
            ..nanopu.network
        },
        hash: mine.hash,
        ..nanopu.clone()
    };
    assert_eq!(mine, expected);
    assert_ne!(mine.hash, nanopu.hash);
    let other = Profile::parse(&text.replace("nanopu", "nanopu-3-layer")).unwrap();
    assert_eq!(other.network.layers, 3);
    assert_ne!(other.hash, mine.hash, "the base is part of the machine");
}

#[test]
fn a_base_may_be_a_file_beside_and_errors_name_the_right_file() {
    let files = Files::new("bases");
    let graph = "base = \"nanopu\"\n[graph]\nswitches = [{ name = \"a\", nics = 3 }]\n";
    files.write("star.toml", graph);
    let mine = files.write("mine.toml", "base = \"star.toml\"\nnic.mac_ns = 7\n");
    let profile = Profile::load(&mine).unwrap();
    assert_eq!((profile.name.as_str(), profile.most_ranks()), ("mine", 12));
    assert_eq!(
        (profile.nic.mac_ns.value(), profile.network.layers),
        (7.0, 0)
    );
    let tree =
        "base = \"star.toml\"\n[network]\nlayers = 2\ndown_links = 4\nup_links = 4\ntop_links = 8";
    let tree = files.write("tree.toml", tree);
    assert_eq!(
        Profile::load(&tree).unwrap().most_ranks(),
        128,
        "no graph any more"
    );
    files.write("star.toml", &graph.replace("nics = 3", "nics = \"x\""));
    let told = Profile::load(&mine).unwrap_err().to_string();
    assert!(
        told.contains("star.toml: line 3 (switches): invalid type"),
        "{told}"
    );
    files.write("star.toml", "base = \"mine.toml\"");
    let told = Profile::load(&mine).unwrap_err().to_string();
    assert!(
        told.ends_with("mine.toml: more than 8 files with a base: is one its own base?"),
        "{told}"
    );
    files.write("mine.toml", "base = \"nowhere.toml\"");
    let told = Profile::load(&mine).unwrap_err().to_string();
    assert!(
        told.contains("mine.toml: its base is ")
            && told.contains("nowhere.toml: no file or built-in machine"),
        "{told}"
    );
    let told = Profile::parse("base = 3").unwrap_err().to_string();
    assert!(
        told.starts_with("machine: line 1 (base): expected the name"),
        "{told}"
    );
}

#[test]
fn all_mistakes_are_told_at_once() {
    let text = with("forward_cycles", "foreward_cycles = 3").replace("layers = 2", "layers = -2");
    let text = text
        .replace("tick_ps = 312.5", "")
        .replace("mac_ns = 52", "mac_ns = \"x\"");
    let told = Profile::parse(&text).unwrap_err().to_string();
    for part in [
        "missing key `tick_ps`",
        "(foreward_cycles): unknown key `foreward_cycles`",
        "([core]): missing key `forward_cycles`",
        "(mac_ns): invalid type: string \"x\"",
        "(layers): invalid value: integer `-2`",
    ] {
        assert_eq!(
            told.matches(part).count(),
            1,
            "{part} is not once in {told}"
        );
    }
    assert_eq!(told.matches("; ").count(), 4, "{told}");
    let rules = with("up_links", "up_links = 4097").replace("flit_bytes = 8", "flit_bytes = 16");
    let told = Profile::parse(&rules).unwrap_err().to_string();
    assert!(
        told.contains("up_links is 4097") && told.contains("flit_bytes is 16"),
        "{told}"
    );
    assert!(
        Profile::parse("")
            .unwrap_err()
            .to_string()
            .contains("missing key `nic`")
    );
}

#[test]
fn a_file_of_a_later_format_is_refused_by_name() {
    let nanopu = Profile::BUILT_IN[0].1;
    let with = |format: &str| Profile::parse(&format!("format = {format}\n{nanopu}"));
    assert_eq!(
        with("1").unwrap().core,
        Profile::named("nanopu").unwrap().core
    );
    for other in ["2", "\"1\"", "1.0"] {
        let told = with(other).unwrap_err().to_string();
        assert!(told.contains("the format of machine files"), "{told}");
        assert!(told.contains("line 1"), "{told}");
    }
}
