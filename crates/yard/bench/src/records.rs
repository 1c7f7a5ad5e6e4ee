//! Files of records for races: made before, checked after.

use std::path::Path;
use terminal::launcher::cores;

use node::Decompress;
use pipeline::Control;
use record::{Checksum, Comparison, Generator};
use sort::{Generate, IoChoice, Source, Target, Validated, generate, validate};
use terminal::ending::failure::CliFailure;

use crate::host::on_node;
use crate::programs::{Input, Program};

/// Makes records of gensort, past the page cache.
///
/// # Errors
/// A file that cannot be written.
pub fn generated(path: &Path, generator: Generator, records: u64) -> Result<Checksum, CliFailure> {
    let job = Generate {
        generator,
        first: 0,
        records,
        target: Target::Path(path.to_owned()),
        checksum: true,
        cores: cores(),
        io: IoChoice::Direct,
        control: Control::default(),
    };
    on_node(move |node| {
        let job = job.clone();
        async move { generate(&node, &job).await }
    })
}

/// The inputs of a race. Outputs must hold the same records, in order.
pub struct Inputs {
    records: u64,
    checksums: Vec<(Input, Checksum)>,
}

impl Inputs {
    /// Makes every input that one of the programs reads, each by a call of `make`.
    ///
    /// # Errors
    /// The first failure of `make`.
    pub fn new(
        records: u64,
        programs: &[Program],
        mut make: impl FnMut(Input) -> Result<Checksum, CliFailure>,
    ) -> Result<Inputs, CliFailure> {
        let is_read = |input: &Input| programs.iter().any(|program| program.input == *input);
        let inputs = Input::ALL.into_iter().filter(is_read);
        let checksums: Result<_, CliFailure> =
            inputs.map(|input| Ok((input, make(input)?))).collect();
        Ok(Inputs {
            records,
            checksums: checksums?,
        })
    }

    /// The checksum of an input.
    ///
    /// # Panics
    /// If it was not made.
    pub fn checksum(&self, input: Input) -> Checksum {
        let mut all = self.checksums.iter();
        let found = all.find(|(other, _)| *other == input);
        found.expect("made for every program").1
    }

    /// The faults that valsort finds in a program's output, if there are any.
    pub fn what_is_wrong(&self, input: Input, output: &Path) -> Option<String> {
        let job = Validated {
            decompress: Decompress::Never,
            sources: vec![Source::Path(output.to_owned())],
            comparison: Comparison::valsort(false),
            io: IoChoice::Auto,
            cores: cores(),
            control: Control::default(),
        };
        let validated = on_node(move |node| {
            let job = job.clone();
            async move { validate(&node, &job).await }
        });
        match validated {
            Ok(summary) => {
                let complete = summary.records == u128::from(self.records)
                    && summary.checksum == self.checksum(input);
                let sound = complete && summary.is_ordered();
                (!sound).then(|| summary.report_lines().join(", "))
            }
            Err(failure) => Some(failure.message),
        }
    }
}
