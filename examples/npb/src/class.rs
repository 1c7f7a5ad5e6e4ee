//! Classes of problems, and the values by which NPB verifies them.

use gristmill_sim::clap::{self, ValueEnum};
use gristmill_sim::serde::Serialize;

use crate::block::State;

/// A class of problems, which fixes its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(crate = "gristmill_sim::serde")]
pub enum Class {
    /// Sample
    #[value(name = "S")]
    S,
    /// Workstation
    #[value(name = "W")]
    W,
    /// The size of the papers of 1997
    #[value(name = "A")]
    A,
    /// Larger
    #[value(name = "B")]
    B,
}

/// The size of a problem.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Size {
    /// Points of a side.
    pub points: usize,
    /// Iterations.
    pub iterations: u32,
    /// Step of pseudo-time.
    pub step: f64,
}

/// A benchmark of the two, as far as its tables go.
#[derive(Debug)]
pub struct Benchmark {
    /// Its name.
    pub name: &'static str,
    /// Sizes by class.
    pub sizes: [Size; 4],
    /// Operations of an iteration by the sources' formula, in powers 3 to 0 of the points of a side.
    pub operations: [f64; 4],
    /// Values by class, as far as they are here.
    pub references: [Option<&'static Reference>; 4],
}

/// The values that a right run comes to.
#[derive(Debug)]
pub struct Reference {
    /// Norms of the residual.
    pub residual: State,
    /// Norms of the distance from the exact solution.
    pub error: State,
    /// The surface integral of pressure, of LU.
    pub integral: Option<f64>,
}

const fn size(points: usize, iterations: u32, step: f64) -> Size {
    Size {
        points,
        iterations,
        step,
    }
}

/// The symmetric successive over-relaxation.
pub const LU: Benchmark = Benchmark {
    name: "LU",
    sizes: [
        size(12, 50, 0.5),
        size(33, 300, 1.5e-3),
        size(64, 250, 2.0),
        size(102, 250, 2.0),
    ],
    operations: [1984.77, -10923.3, 27770.9, -144_010.0],
    references: [Some(&LU_S), Some(&LU_W), None, None],
};

/// The block-tridiagonal solver.
pub const BT: Benchmark = Benchmark {
    name: "BT",
    sizes: [
        size(12, 60, 0.01),
        size(24, 200, 8e-4),
        size(64, 200, 8e-4),
        size(102, 200, 3e-4),
    ],
    operations: [3478.8, -17655.7, 28023.7, 0.0],
    references: [Some(&BT_S), Some(&BT_W), None, None],
};

const LU_S: Reference = Reference {
    residual: [
        1.619_634_321_097_670_2e-2,
        2.197_674_516_482_132e-3,
        1.517_992_765_339_918_5e-3,
        1.502_958_443_599_432_3e-3,
        3.426_407_315_589_646e-2,
    ],
    error: [
        6.422_331_995_796_092e-4,
        8.414_434_204_734_792e-5,
        5.858_826_961_648_518_6e-5,
        5.847_422_259_515_735e-5,
        1.310_334_791_411_129_4e-3,
    ],
    integral: Some(7.841_892_886_593_708),
};

const LU_W: Reference = Reference {
    residual: [
        12.365_116_381_92,
        1.317_228_477_799,
        2.550_120_713_095,
        2.326_187_750_252,
        28.267_994_441_89,
    ],
    error: [
        0.486_787_714_421_6,
        5.064_652_880_982e-2,
        9.281_818_101_960e-2,
        8.570_126_542_733e-2,
        1.084_277_417_792,
    ],
    integral: Some(11.613_993_110_23),
};

const BT_S: Reference = Reference {
    residual: [
        0.170_342_837_095_413_11,
        1.297_525_207_003_409_7e-2,
        3.252_792_698_948_605_5e-2,
        2.643_642_127_516_68e-2,
        0.192_117_841_317_444_3,
    ],
    error: [
        4.997_691_334_581_158e-4,
        4.519_566_678_296_193e-5,
        7.397_376_517_292_135e-5,
        7.382_123_863_243_973e-5,
        8.926_963_098_749_145e-4,
    ],
    integral: None,
};

const BT_W: Reference = Reference {
    residual: [
        112.559_040_934_4,
        11.800_075_957_31,
        27.103_297_678_46,
        24.691_749_376_69,
        263.842_787_431_7,
    ],
    error: [
        4.419_655_736_008,
        0.463_853_126_000_2,
        1.011_551_749_967,
        0.923_587_872_994_4,
        10.180_458_377_18,
    ],
    integral: None,
};
