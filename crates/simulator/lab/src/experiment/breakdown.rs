//! The breakdown of one run: its stages, and the stage of every core over time.
//!
//! ```text
//!              time
//!         0 ---------------> end
//!   core 0  0 0 0 1 1 2 2 2 2 3     a cell: the stage in which its cores spent the most of its
//!     :     0 0 1 1 1 1 2 2 3 3     time; or none, if that is more
//!   last    0 0 0 0 1 1 1 2 2 3
//! ```

use machine::{PathKind, Slice};
use plot::{Breakdown, Picture, StageSpread};

use crate::path_report::PathReport;
use crate::report::{RunReport, StageReport};
use crate::spread::microseconds;

/// Most rows of a picture; at 65,536 cores a row is 512 of them.
const ROWS: usize = 128;

/// Columns of a picture: a page has room for them at two pixels each.
const COLUMNS: usize = 480;

const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";

pub(super) fn of(run: &RunReport, cores: u32, tick_fs: u64) -> Result<Breakdown, String> {
    let traced = run.simulated.as_ref().map(|it| it.slices.as_slice());
    let slices = traced.ok_or("machine: threads are not traced")?;
    let stages = run.stages.len();
    if stages >= DIGITS.len() {
        return Err(format!("program: it has {stages} stages, too many to draw"));
    }
    let names: Vec<_> = run.stages.iter().map(|stage| stage.name).collect();
    let end = slices.iter().map(|slice| slice.end).max().unwrap_or(0);
    let canvas = Canvas { end, cores, stages };
    let path = run.simulated.as_ref().and_then(|it| it.path.as_ref());
    Ok(Breakdown {
        path: path.map(drawn),
        stages: run.stages.iter().map(spread).collect(),
        picture: Picture {
            columns: COLUMNS,
            rows: canvas.rows(),
            cores,
            end_us: microseconds(end, tick_fs),
            cells: canvas.paint(&names, slices),
        },
    })
}

/// The path as a table and as a line, which meets a core at the start and end of each part there.
fn drawn(path: &PathReport) -> plot::Path {
    let kinds = PathKind::ALL.into_iter();
    let kinds: Vec<_> = kinds.filter(|kind| path.of(*kind) > 0.0).collect();
    let stages = path.stages.iter().map(|stage| plot::PathStage {
        name: stage.stage.to_owned(),
        us: kinds.iter().map(|kind| stage.of(*kind)).collect(),
    });
    let on_cores = path.segments.iter().filter(|part| !part.kind.is_message());
    let points = on_cores.flat_map(|part| [(part.begin_us, part.core), (part.end_us, part.core)]);
    plot::Path {
        stages: stages.collect(),
        points: points.collect(),
        kinds: kinds.iter().map(|kind| kind.word().to_owned()).collect(),
    }
}

fn spread(stage: &StageReport) -> StageSpread {
    StageSpread {
        name: stage.name.to_owned(),
        cores: stage.cores,
        time_us: stage.quantiles_us,
        idle_us: stage.idle_quantiles_us,
    }
}

/// The size of a picture, with the last tick.
struct Canvas {
    end: u64,
    cores: u32,
    stages: usize,
}

impl Canvas {
    fn rows(&self) -> usize {
        ROWS.min(self.cores as usize)
    }

    /// The cells. Times are in parts of a tick, `COLUMNS` per tick, so a column has `end` of them.
    fn paint(&self, names: &[&str], slices: &[Slice]) -> String {
        let cells = self.rows() * COLUMNS;
        let mut spent = vec![0_u64; cells * self.stages];
        for slice in slices {
            let Some(stage) = names.iter().position(|name| *name == slice.name) else {
                continue;
            };
            let parts = [slice.begin, slice.end].map(|ticks| ticks * COLUMNS as u64);
            let row = self.row(slice.rank);
            for (column, time) in self.columns(parts) {
                spent[(row * COLUMNS + column) * self.stages + stage] += time;
            }
        }
        let digit = |cell: usize| {
            let all = self.end * self.cores_of(cell / COLUMNS);
            let spent = &spent[cell * self.stages..][..self.stages];
            DIGITS[most(spent, all)] as char
        };
        (0..cells).map(digit).collect()
    }

    fn row(&self, rank: u32) -> usize {
        (u64::from(rank) * self.rows() as u64 / u64::from(self.cores)) as usize
    }

    fn cores_of(&self, row: usize) -> u64 {
        let first = |row: usize| (row as u64 * u64::from(self.cores)).div_ceil(self.rows() as u64);
        first(row + 1) - first(row)
    }

    /// The columns that a slice covers, each with its part of the slice.
    fn columns(&self, [begin, end]: [u64; 2]) -> impl Iterator<Item = (usize, u64)> {
        let width = self.end.max(1);
        (begin / width..end.div_ceil(width)).map(move |column| {
            let (from, to) = (column * width, (column + 1) * width);
            (column as usize, end.min(to) - begin.max(from))
        })
    }
}

/// The first stage with the most time; the number of stages if more time was spent in none.
fn most(spent: &[u64], all: u64) -> usize {
    let none = all.saturating_sub(spent.iter().sum());
    let most = spent.iter().copied().max().unwrap_or(0);
    if most < none || most == 0 {
        return spent.len();
    }
    let first = spent.iter().position(|time| *time == most);
    first.unwrap_or(spent.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slice(rank: u32, name: &'static str, begin: u64, end: u64) -> Slice {
        Slice {
            rank,
            name,
            begin,
            end,
            idle: 0,
        }
    }

    #[test]
    fn a_cell_is_the_stage_of_most_of_its_time() {
        // Core 0 changes stage in the middle; core 1 begins late and ends early.
        let slices = [
            slice(0, "one", 0, 50),
            slice(0, "two", 50, 100),
            slice(1, "two", 25, 75),
        ];
        let canvas = Canvas {
            end: 100,
            cores: 2,
            stages: 2,
        };
        let cells = canvas.paint(&["one", "two"], &slices);
        let runs = |row: &str| -> Vec<(char, usize)> {
            let mut runs: Vec<(char, usize)> = Vec::new();
            for cell in row.chars() {
                match runs.last_mut() {
                    Some((last, count)) if *last == cell => *count += 1,
                    _ => runs.push((cell, 1)),
                }
            }
            runs
        };
        assert_eq!(runs(&cells[..COLUMNS]), [('0', 240), ('1', 240)]);
        assert_eq!(
            runs(&cells[COLUMNS..]),
            [('2', 120), ('1', 240), ('2', 120)]
        );
    }

    #[test]
    fn rows_are_neighbours_and_complete() {
        for cores in [1, 64, 129, 256, 300, 65_536] {
            let canvas = Canvas {
                end: 1,
                cores,
                stages: 1,
            };
            let mut counted = vec![0; canvas.rows()];
            (0..cores).for_each(|rank| counted[canvas.row(rank)] += 1);
            for (row, count) in counted.into_iter().enumerate() {
                assert_eq!(count, canvas.cores_of(row), "row {row} of {cores} cores");
            }
        }
    }

    #[test]
    fn most_is_the_first_of_the_largest() {
        assert_eq!(most(&[3, 5, 5], 13), 1);
        assert_eq!(most(&[3, 5, 5], 20), 3);
        assert_eq!(most(&[0, 0], 0), 2);
        assert_eq!(most(&[5, 0], 10), 0);
    }
}
