//! The options that both benchmarks have.

use gristmill_sim::clap::{self, ArgAction, Args};
use gristmill_sim::serde::Serialize;

use crate::class::{Benchmark, Class, Reference, Size};
use crate::equations::Equations;

/// Dissipation of fourth order in NPB.
const DISSIPATION: f64 = 0.25;

/// Options of both benchmarks.
#[derive(Args, Clone, Debug, Serialize)]
#[serde(crate = "gristmill_sim::serde", rename_all = "kebab-case")]
pub struct Options {
    /// The class, which gives the size, the iterations and the values to come to
    #[arg(long, value_enum, ignore_case = true, default_value = "S")]
    pub class: Class,
    /// Iterations, if other than those of the class; then nothing is verified
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub iterations: Option<u32>,
    /// The step of pseudo-time, if other than that of the class; then it fails to verify
    #[arg(long, value_name = "T")]
    pub dt: Option<f64>,
    /// The coefficient of fourth differences; NPB takes 0.25, and others fail to verify
    #[arg(long, value_name = "F", default_value_t = DISSIPATION)]
    pub dissipation: f64,
    /// The messages of the benchmark, without its numbers
    #[arg(long, action = ArgAction::Set, num_args = 0..=1, require_equals = true)]
    #[arg(
        value_name = "BOOL",
        default_missing_value = "true",
        default_value = "false"
    )]
    pub skeleton: bool,
    /// The rate at which work takes time; without it work takes none on simulated machines. Per node in Table 1 of the
    /// NOW paper, LU and BT: NOW 38 and 28.6, SP-2 59 and 55, T3D 18.5 and 15.1
    #[arg(long, value_name = "F", value_parser = rate)]
    pub mflops_per_node: Option<f64>,
}

impl Options {
    /// Those that are set, by name.
    pub fn told(&self) -> Vec<(&'static str, String)> {
        let always = [
            ("class", format!("{:?}", self.class)),
            ("dissipation", self.dissipation.to_string()),
            ("skeleton", self.skeleton.to_string()),
        ];
        let iterations = self.iterations.map(|it| ("iterations", it.to_string()));
        let rate = self.mflops_per_node;
        let rate = rate.map(|it| ("mflops-per-node", it.to_string()));
        let step = self.dt.map(|it| ("dt", it.to_string()));
        let set = [iterations, rate, step].into_iter().flatten();
        always.into_iter().chain(set).collect()
    }
}

fn rate(text: &str) -> Result<f64, String> {
    let rate: f64 = text.parse().map_err(|_| "it is no number".to_owned())?;
    let is_rate = rate > 0.0 && rate.is_finite();
    is_rate
        .then_some(rate)
        .ok_or_else(|| "it must be above 0".to_owned())
}

/// A benchmark with its options.
#[derive(Clone, Debug)]
pub struct Case {
    /// The benchmark.
    pub benchmark: &'static Benchmark,
    /// Its options.
    pub options: Options,
}

impl Case {
    /// The size of the class, with the options' iterations and step.
    pub fn size(&self) -> Size {
        let Size {
            points,
            iterations,
            step,
        } = self.benchmark.sizes[self.options.class as usize];
        Size {
            points,
            iterations: self.options.iterations.unwrap_or(iterations),
            step: self.options.dt.unwrap_or(step),
        }
    }

    /// The equations of that size.
    pub fn equations(&self) -> Equations {
        let size = self.size();
        Equations::new(size.points, size.step, self.options.dissipation)
    }

    /// Operations of an iteration on all points.
    pub fn operations(&self) -> f64 {
        let points = self.size().points as f64;
        self.benchmark
            .operations
            .iter()
            .fold(0.0, |sum, factor| sum * points + factor)
    }

    /// Operations of an iteration for a point inside.
    pub fn operations_of_point(&self) -> f64 {
        self.operations() / (self.size().points as f64 - 2.0).powi(3)
    }

    /// The values to come to; none of a skeleton, of other iterations, or of a class without.
    pub fn reference(&self) -> Option<&'static Reference> {
        let is_whole = !self.options.skeleton && self.options.iterations.is_none();
        self.benchmark.references[self.options.class as usize].filter(|_| is_whole)
    }

    /// The name for people.
    pub fn name(&self) -> String {
        let kind = if self.options.skeleton {
            " skeleton"
        } else {
            ""
        };
        format!(
            "{} class {:?}{kind}",
            self.benchmark.name, self.options.class
        )
    }
}
