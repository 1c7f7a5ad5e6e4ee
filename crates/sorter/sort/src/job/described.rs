//! The job of records as a user describes them.

use std::sync::Arc;

use node::Decompress;
use pipeline::Control;
use record::{Comparison, LineKeys, RecordSpec};

use super::{
    Choice, ExchangeKind, Job, LongestLine, Pack, Resources, Shares, Source, SpillLayout,
    SplitterChoice, Target, Tuning,
};
use crate::records::contents::{Bytes, Contents, Lines};

impl Job {
    /// A sort of one rank, which may change what else it has: inputs and the output are compressed as
    /// they say, spill files go beside the output, and the plan follows from memory and input.
    #[must_use]
    pub fn new(
        sources: Vec<Source>,
        spec: &RecordSpec,
        target: Target,
        resources: Resources,
    ) -> Job {
        Job {
            headed: spec.headed().cloned(),
            ..Job::of_contents(sources, contents_of(spec), target, resources)
        }
    }

    /// As [`Job::new`], of records that no description has.
    #[must_use]
    pub fn of_contents(
        sources: Vec<Source>,
        contents: Arc<dyn Contents>,
        target: Target,
        resources: Resources,
    ) -> Job {
        Job {
            sources,
            decompress: Decompress::Auto,
            shared: false,
            temporary: Vec::new(),
            pack: Pack::Auto,
            spill_layout: SpillLayout::default(),
            stripe: None,
            temporary_limit: None,
            plan: Choice::Auto,
            target,
            compress: None,
            exchange: ExchangeKind::default(),
            shares: Shares::default(),
            contents,
            splitters: SplitterChoice::default(),
            top: None,
            headed: None,
            bad_rows: None,
            longest_line: LongestLine::Seen,
            may_begin_again: true,
            resources,
            tuning: Tuning::default(),
            listing: None,
            host: String::new(),
            resume: None,
            control: Control::default(),
        }
    }
}

/// The records that a user describes; of rows, as they are without their header.
pub fn contents_of(spec: &RecordSpec) -> Arc<dyn Contents> {
    match spec.order() {
        Comparison::Order(order) => {
            let records = Bytes::new(order.clone());
            if spec.keep().is_unique() {
                Arc::new(records.unique().summing(spec.totals()))
            } else {
                Arc::new(records)
            }
        }
        Comparison::Lines(order) => {
            let lines = match &order.keys {
                LineKeys::Fields(fields) => Lines::fields(fields.clone()),
                LineKeys::Text | LineKeys::Rows(_) => Lines::new(order.clone()),
            };
            Arc::new(lines.keeping(spec.keep()).summing(spec.totals()))
        }
        Comparison::IgnoreCase => unreachable!("nothing sorts as valsort compares"),
    }
}
