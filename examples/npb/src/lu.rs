//! LU: symmetric successive over-relaxation, on a grid of ranks each of which has a pencil of the cube.

mod layout;
mod schedule;
mod skeleton;
mod solver;

use gristmill_sim::prelude::*;

use crate::class;
use crate::mail::{Counts, Mail};
use crate::options::{Case, Options};
use crate::outcome::Outcome;
use layout::Layout;
use schedule::Sweeps;
use skeleton::Skeleton;
use solver::Solver;

/// Relax the equations of a flow by sweeps through the cube (NPB LU).
#[derive(Args, Clone, Debug, Serialize)]
#[serde(crate = "gristmill_sim::serde", rename_all = "kebab-case")]
pub struct Lu {
    #[command(flatten)]
    #[serde(flatten)]
    pub options: Options,
    /// A message of 40 bytes for each point of a border in a sweep, instead of one for all
    #[arg(long, action = clap::ArgAction::Set, num_args = 0..=1, require_equals = true)]
    #[arg(
        value_name = "BOOL",
        default_missing_value = "true",
        default_value = "false"
    )]
    pub per_point: bool,
    /// The seed of the run, which nothing depends on.
    #[arg(skip = 1_u64)]
    #[serde(skip)]
    pub seed: u64,
}

described! { Lu is "lu" on 4 cores; "--class S", "--class A --skeleton --iterations 2" }

impl Lu {
    fn case(&self) -> Case {
        Case {
            benchmark: &class::LU,
            options: self.options.clone(),
        }
    }

    /// Messages of all iterations on all ranks, by formula.
    pub fn expected(&self, ranks: u32) -> Counts {
        let size = self.case().size();
        let (points, inside) = (size.points as u64, size.points as u64 - 2);
        let [rows, columns] = layout::grid(ranks).map(u64::from);
        let pairs = (rows - 1) * columns + (columns - 1) * rows;
        // Borders across which ranks are neighbours, each as long as the cube.
        let borders = rows - 1 + columns - 1;
        let of_sweeps = if self.per_point {
            borders * inside
        } else {
            pairs
        };
        Counts {
            messages: 2 * inside * of_sweeps + 2 * pairs,
            bytes: 2 * inside * borders * 40 * inside + 2 * borders * 80 * points * points,
        }
        .times(size.iterations.into())
    }
}

impl Program for Lu {
    type Answer = Outcome;

    async fn run(self, node: Node) -> Outcome {
        let case = self.case();
        let (rank, ranks) = (node.rank(), node.nodes());
        let Ok(layout) = Layout::of(rank, ranks, case.size().points) else {
            return Outcome::default();
        };
        let mail = Mail::new(node);
        let each = self.per_point;
        if self.options.skeleton {
            let block = Skeleton::new(layout);
            return Sweeps::new(case, layout, block)
                .per_point(each)
                .run(mail)
                .await;
        }
        let block = Solver::new(layout, case.equations());
        Sweeps::new(case, layout, block)
            .per_point(each)
            .run(mail)
            .await
    }

    fn check(&self, answers: &[Outcome]) -> Verdict {
        self.verdict(answers, answers.len() as u32)
    }

    fn timing(&self) -> Timing {
        Timing::Part { of: "iterations" }
    }

    fn objection(&self, ranks: u32) -> Option<String> {
        Layout::of(Rank(0), ranks, self.case().size().points).err()
    }
}

impl Lu {
    /// The verdict on the outcomes of some of `ranks` ranks.
    pub fn verdict(&self, outcomes: &[Outcome], ranks: u32) -> Verdict {
        match self.objection(ranks) {
            Some(objection) => Verdict::refused(objection),
            None => Outcome::judge(&self.case(), outcomes, self.expected(ranks)),
        }
    }
}
