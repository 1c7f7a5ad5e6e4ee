//! Files of records for races: made before, checked after.

use std::path::Path;

use pipeline::Control;
use record::{Checksum, Comparison, Generator};
use sort::{Generate, IoChoice, Source, Target, Validated, generate, validate};

use crate::host::on_node;
use cli::failure::CliFailure;
use cli::machine;

/// Makes records of gensort, past the page cache.
pub fn generated(path: &Path, generator: Generator, records: u64) -> Result<Checksum, CliFailure> {
    let job = Generate {
        generator,
        first: 0,
        records,
        target: Target::Path(path.to_owned()),
        checksum: true,
        cores: machine::cores(),
        io: IoChoice::Direct,
        control: Control::default(),
    };
    on_node(move |node| {
        let job = job.clone();
        async move { generate(&node, &job).await }
    })
}

/// What valsort finds wrong with a sort's output, if anything: it must be in order, and hold the
/// records that were made.
pub fn what_is_wrong(output: &Path, records: u64, checksum: Checksum) -> Option<String> {
    let job = Validated {
        sources: vec![Source::Path(output.to_owned())],
        comparison: Comparison::valsort(false),
        io: IoChoice::Auto,
        cores: machine::cores(),
        control: Control::default(),
    };
    let validated = on_node(move |node| {
        let job = job.clone();
        async move { validate(&node, &job).await }
    });
    match validated {
        Ok(summary) => {
            let complete = summary.records == u128::from(records) && summary.checksum == checksum;
            let sound = complete && summary.is_ordered();
            (!sound).then(|| summary.report_lines().join(", "))
        }
        Err(failure) => Some(failure.message),
    }
}
