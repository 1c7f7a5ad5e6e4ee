//! BT: block-tridiagonal systems along each axis in turn. Each rank has a cell in every slab of the cube, along any
//! axis, so all ranks work at once while a solution passes from slab to slab (multi-partition).

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
use schedule::Passes;
use skeleton::Skeleton;
use solver::Solver;

/// Solve the equations of a flow by block-tridiagonal systems (NPB BT).
#[derive(Args, Clone, Debug, Serialize)]
#[serde(crate = "gristmill_sim::serde", rename_all = "kebab-case")]
pub struct Bt {
    #[command(flatten)]
    #[serde(flatten)]
    pub options: Options,
    /// The seed of the run, which nothing depends on.
    #[arg(skip = 1_u64)]
    #[serde(skip)]
    pub seed: u64,
}

described! { Bt is "bt" on 4 cores; "--class S", "--class A --skeleton --iterations 2" }

impl Bt {
    fn case(&self) -> Case {
        Case {
            benchmark: &class::BT,
            options: self.options.clone(),
        }
    }

    /// Messages of all iterations on all ranks, by formula.
    pub fn expected(&self, ranks: u32) -> Counts {
        let size = self.case().size();
        let (cells, points) = (u64::from(ranks.isqrt()), size.points as u64);
        if cells == 1 {
            return Counts::default();
        }
        let cross = (points / cells + 1).pow(2);
        let of_passes = u64::from(ranks) * 3 * (cells - 1);
        Counts {
            messages: u64::from(ranks) * 6 * cells,
            bytes: of_passes * (240 + 40) * cross + 6 * (cells - 1) * 80 * points * points,
        }
        .times(size.iterations.into())
    }

    /// The verdict on the outcomes of some of `ranks` ranks.
    pub fn verdict(&self, outcomes: &[Outcome], ranks: u32) -> Verdict {
        match self.objection(ranks) {
            Some(objection) => Verdict::refused(objection),
            None => Outcome::judge(&self.case(), outcomes, self.expected(ranks)),
        }
    }
}

impl Program for Bt {
    type Answer = Outcome;

    async fn run(self, node: Node) -> Outcome {
        let case = self.case();
        let Ok(layout) = Layout::of(node.rank(), node.nodes(), case.size().points) else {
            return Outcome::default();
        };
        let mail = Mail::new(node);
        if self.options.skeleton {
            let cells = Skeleton::new(layout.clone());
            return Passes::new(case, layout, cells).run(mail).await;
        }
        let cells = Solver::new(&layout, case.equations());
        Passes::new(case, layout, cells).run(mail).await
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
