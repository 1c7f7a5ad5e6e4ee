//! Files of experiments: taken, or refused with their mistakes.

#![no_main]

use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use lab::experiment::Experiment;
use libfuzzer_sys::fuzz_target;
use plot::Size;

/// The file, in memory where possible.
static FILE: LazyLock<PathBuf> = LazyLock::new(|| {
    let name = format!("gristmill-fuzz-{}.toml", std::process::id());
    let memory = PathBuf::from("/dev/shm");
    let place = if memory.is_dir() {
        memory
    } else {
        std::env::temp_dir()
    };
    place.join(name)
});

fuzz_target!(|text: &str| {
    fs::write(&*FILE, text).expect("a file in memory");
    let loaded = Experiment::load(FILE.to_str().expect("a plain name"));
    fs::remove_file(&*FILE).expect("it was written");
    match loaded {
        Ok(experiment) => {
            for size in [Size::Smoke, Size::Full] {
                assert!(experiment.command(size).starts_with("gristmill lab run "));
                assert!(experiment.seeds(size).runs > 0);
            }
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
