//! All cores over time: a raster of stages, and the share of cores in each stage.
//!
//! ```text
//!   core 0 |aaaaabbbbccc   |      a PNG in the page: one pixel per cell, one colour per stage;
//!          |aaaabbbbbbccc  |      cells without a stage are transparent and show the page
//!     1 % --aaaaabbbbbccc---      stacked areas, column by column
//! ```
//!
//! The size of a PNG is bounded by the number of cells, however ragged the stages are; that of
//! rectangles would not be.

use std::fmt::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::figure::{Path, Picture};
use crate::page::axis::{Span, Tick, quarters};
use crate::page::path;
use crate::page::plane::{Plane, Scaled};
use crate::page::stages::{colour, told};

/// Height of the raster, in units of the drawing.
const RASTER_HEIGHT: f64 = 250.0;

const AREAS_HEIGHT: f64 = 170.0;

/// Most columns of the areas: more cannot be told apart.
const AREA_COLUMNS: usize = 240;

/// Base of a cell's digit.
const BASE: u32 = 36;

/// The stage of each cell, row by row; `stages` stands for none.
pub(crate) struct Cells {
    columns: usize,
    rows: usize,
    stages: usize,
    cells: Vec<u8>,
}

impl Cells {
    /// The cells of a picture with this number of stages; `None` if their number is wrong or 0. A
    /// digit that is no stage counts as none.
    pub(crate) fn of(picture: &Picture, stages: usize) -> Option<Cells> {
        let (columns, rows) = (picture.columns, picture.rows);
        let count = columns.checked_mul(rows).filter(|count| *count > 0)?;
        if picture.cells.len() != count {
            return None;
        }
        let none = stages.min(BASE as usize) as u8;
        let cell = |digit: char| {
            digit
                .to_digit(BASE)
                .map_or(none, |stage| none.min(stage as u8))
        };
        let cells: Vec<u8> = picture.cells.chars().map(cell).collect();
        (cells.len() == count).then_some(Cells {
            columns,
            rows,
            stages: none.into(),
            cells,
        })
    }

    /// A PNG with one pixel per cell.
    fn png(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let mut encoder = png::Encoder::new(&mut out, self.columns as u32, self.rows as u32);
        encoder.set_color(png::ColorType::Indexed);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_compression(png::Compression::High);
        // Palette indexes are no quantities: differences between them would only hide runs.
        encoder.set_filter(png::Filter::NoFilter);
        let none = [0, 0, 0];
        let colours = (0..self.stages).map(colour).chain([none]);
        encoder.set_palette(colours.flatten().collect::<Vec<u8>>());
        let opaque = std::iter::repeat_n(u8::MAX, self.stages);
        encoder.set_trns(opaque.chain([0]).collect::<Vec<u8>>());
        let written = encoder
            .write_header()
            .and_then(|mut image| image.write_image_data(&self.cells));
        written.expect("a palette and as many cells as pixels, written to memory");
        out
    }

    /// The share of cells in each stage, for each group of neighbouring columns.
    fn shares(&self) -> Vec<Vec<f64>> {
        let wide = self.columns.div_ceil(AREA_COLUMNS);
        let groups = (0..self.columns).step_by(wide);
        let share = |first: usize| {
            let last = (first + wide).min(self.columns);
            let mut counts = vec![0_usize; self.stages + 1];
            for row in self.cells.chunks_exact(self.columns) {
                row[first..last]
                    .iter()
                    .for_each(|stage| counts[usize::from(*stage)] += 1);
            }
            let all = ((last - first) * self.rows) as f64;
            counts[..self.stages]
                .iter()
                .map(|count| *count as f64 / all)
                .collect()
        };
        groups.map(share).collect()
    }
}

/// The raster, and the areas below it.
pub(crate) fn both(picture: &Picture, cells: &Cells, path: Option<&Path>) -> String {
    let mut raster = raster(picture, cells);
    if let Some(path) = path {
        path::draw(path, &mut raster, picture.cores, picture.end_us);
    }
    let left = raster.frame()[0];
    framed(
        "All cores over time",
        "core",
        &raster.finish("The stage of every core over time."),
    ) + &areas(picture, cells, left)
}

/// Cores downwards, time to the right.
fn raster(picture: &Picture, cells: &Cells) -> Plane {
    let x = time(picture);
    let down = quarters(picture.cores);
    let ticks = down.into_iter().map(|tick| Tick {
        place: 1.0 - tick.place,
        ..tick
    });
    let y = Scaled::numbers(Span::exact(0.0, 1.0), ticks.collect());
    let mut plane = Plane::new(&x, &y, RASTER_HEIGHT);
    let [left, top, right, bottom] = plane.frame();
    let (width, height) = (right - left, bottom - top);
    plane.draw(&format!(
        "<image x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" \
         preserveAspectRatio=\"none\" href=\"data:image/png;base64,{}\"/>",
        STANDARD.encode(cells.png())
    ));
    plane
}

/// The share of all cores that is in each stage, the first stage at the bottom.
fn areas(picture: &Picture, cells: &Cells, left: f64) -> String {
    let x = time(picture);
    let parts = [0.0, 25.0, 50.0, 75.0, 100.0];
    let tick = |part: f64| Tick {
        place: part / 100.0,
        label: format!("{part}"),
    };
    let ticks = parts.map(tick).to_vec();
    let y = Scaled::numbers(Span::exact(0.0, 100.0), ticks);
    let mut plane = Plane::below((&x, &y), AREAS_HEIGHT, left);
    let shares = cells.shares();
    // From the top: each area covers the lower part of the one before.
    for stage in (0..cells.stages).rev() {
        let path = area(&plane, &shares, stage);
        plane.draw(&format!(
            "<path class=\"area\" fill=\"{}\" d=\"{path}\"/>",
            told(colour(stage))
        ));
    }
    let drawing = plane.finish("The share of cores in each stage over time.");
    framed("Share of cores in each stage", "cores (%)", &drawing)
}

/// The path below the top of a stage's area, a step per column.
fn area(plane: &Plane, shares: &[Vec<f64>], stage: usize) -> String {
    let mut path = format!("M{:.1} {:.1}", plane.x(0.0), plane.y(0.0));
    let mut drawn = plane.y(0.0);
    for (at, share) in shares.iter().enumerate() {
        let top = plane.y(share[..=stage].iter().sum::<f64>().min(1.0));
        // A tenth of a unit is invisible.
        if (top - drawn).abs() >= 0.1 {
            let x = plane.x(at as f64 / shares.len() as f64);
            let _ = write!(path, "H{x:.1}V{top:.1}");
            drawn = top;
        }
    }
    let _ = write!(path, "H{:.1}V{:.1}z", plane.x(1.0), plane.y(0.0));
    path
}

fn time(picture: &Picture) -> Scaled {
    let end_us = if picture.end_us.is_finite() {
        picture.end_us
    } else {
        0.0
    };
    let span = Span::exact(0.0, end_us);
    let ticks = span.even_ticks();
    Scaled::numbers(span, ticks)
}

fn framed(title: &str, y_name: &str, drawing: &str) -> String {
    format!(
        "<figure class=\"chart\">\n<figcaption>{title}</figcaption>\n<p class=\"y-name\">{y_name}</p>\n\
         {drawing}<p class=\"x-name\">time (us)</p>\n</figure>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(columns: usize, rows: usize, cells: &str) -> Picture {
        Picture {
            columns,
            rows,
            cores: 8,
            end_us: 3.0,
            cells: cells.to_owned(),
        }
    }

    #[test]
    fn the_pixels_are_the_cells() {
        let cells = Cells::of(&picture(3, 2, "01z2 1"), 2).expect("six cells");
        let bytes = cells.png();
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes))
            .read_info()
            .unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        assert_eq!((info.width, info.height), (3, 2));
        assert_eq!(pixels, [0, 1, 2, 2, 2, 1]);
        let palette = reader.info().palette.as_ref().unwrap();
        assert_eq!(palette[..6], [colour(0), colour(1)].concat());
        assert_eq!(reader.info().trns.as_ref().unwrap()[..], [255, 255, 0]);
    }

    #[test]
    fn shares_are_of_all_rows() {
        let cells = Cells::of(&picture(2, 2, "0112"), 2).unwrap();
        assert_eq!(cells.shares(), [[0.5, 0.5], [0.0, 0.5]]);
        let wide = "0".repeat(500) + &"1".repeat(500);
        let shares = Cells::of(&picture(1000, 1, &wide), 2).unwrap().shares();
        assert_eq!(
            (shares.len(), shares[0][0], shares[199][1]),
            (200, 1.0, 1.0)
        );
    }

    #[test]
    fn no_cells_are_no_picture() {
        assert!(Cells::of(&picture(0, 4, ""), 2).is_none());
        assert!(Cells::of(&picture(2, 2, "000"), 2).is_none());
        assert!(Cells::of(&picture(usize::MAX, 2, "000"), 2).is_none());
        assert!(
            Cells::of(&picture(1, 2, "é"), 2).is_none(),
            "two bytes are one cell"
        );
    }
}
