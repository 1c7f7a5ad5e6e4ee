//! The ways through the sort that `gristmill-bench stages` takes: its plans, ends and outputs.

use std::path::Path;

use super::inputs::{COMPRESSED, Content, SORTED};
use crate::programs::{Ends, Program, Told};

/// A way through the sort.
#[derive(Clone, Copy)]
pub struct Way {
    pub name: &'static str,
    /// Options beside those of the content.
    options: &'static [&'static str],
    ends: Ends,
    /// The files that it reads; none is the uncompressed input.
    inputs: &'static [&'static str],
    /// Whether its memory holds a part of the input only.
    pub spills: bool,
}

pub const WAYS: [Way; 15] = [
    Way::new("file to file", &[]),
    Way::new("two passes", &["--plan", "two-pass"]).spilling(),
    Way::new("merge", &["--plan", "merge"]).spilling(),
    Way::new("from a pipe", &[]).between(Ends::FromPipe),
    Way::new("to a pipe", &[]).between(Ends::ToPipe),
    Way::new("merge of 8 files", &["-m"]).reading(&SORTED),
    Way::new("from gzip", &[]).reading(COMPRESSED[0].1),
    Way::new("from zstd", &[]).reading(COMPRESSED[1].1),
    Way::new("from lz4", &[]).reading(COMPRESSED[2].1),
    Way::new("to gzip", COMPRESSED[0].0),
    Way::new("to zstd", COMPRESSED[1].0),
    Way::new("to lz4", COMPRESSED[2].0),
    Way::new("unique", &["-u"]),
    Way::new("unique, from a pipe", &["-u"]).between(Ends::FromPipe),
    Way::new("counted", &["-u", COUNT]),
];

/// The option that only lines can have.
const COUNT: &str = "--count";

impl Way {
    const fn new(name: &'static str, options: &'static [&'static str]) -> Way {
        Way {
            name,
            options,
            ends: Ends::Files,
            inputs: &[],
            spills: false,
        }
    }

    const fn between(self, ends: Ends) -> Way {
        Way { ends, ..self }
    }

    const fn reading(self, inputs: &'static [&'static str]) -> Way {
        Way { inputs, ..self }
    }

    const fn spilling(self) -> Way {
        Way {
            spills: true,
            ..self
        }
    }

    /// Whether such records can take it.
    pub fn is_for(&self, content: Content) -> bool {
        content != Content::Records || !self.options.contains(&COUNT)
    }

    /// The measured command, which sorts such records in this way.
    pub fn program(&self, content: Content, gristmill: &Path, told: &Told) -> Program {
        let options = [self.options, content.options()].concat();
        let plain = [content.input().file()];
        let inputs = match self.inputs {
            [] => &plain,
            inputs => inputs,
        };
        Program::ours_reporting(gristmill, &options, told)
            .reading(content.input())
            .between(self.ends, inputs)
    }
}
