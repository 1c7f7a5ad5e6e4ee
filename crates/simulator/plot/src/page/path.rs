//! The critical path of a run: a line over the picture of all cores, and a table by stage and kind.

use crate::figure::Path;
use crate::page::plane::Plane;
use crate::page::text::{escaped, number};

/// Draws the path over a raster of `cores` cores that ends at `end_us`.
pub(crate) fn draw(path: &Path, plane: &mut Plane, cores: u32, end_us: f64) {
    let place = |(us, core): &(f64, u32)| {
        let down = (f64::from(*core) + 0.5) / f64::from(cores.max(1));
        let (x, y) = (plane.x(us / end_us), plane.y(1.0 - down));
        format!("{x:.1} {y:.1}")
    };
    let is_drawn = end_us > 0.0 && path.points.iter().all(|(us, _)| us.is_finite());
    let places: Vec<_> = path.points.iter().map(place).collect();
    if is_drawn && !places.is_empty() {
        let line = places.join("L");
        plane.draw(&format!(
            "<path class=\"critical under\" d=\"M{line}\"/><path class=\"critical\" d=\"M{line}\"/>"
        ));
    }
}

/// The table: a row per stage, a column per kind.
pub(crate) fn table(path: &Path) -> String {
    let head = path
        .kinds
        .iter()
        .map(|kind| format!("<th scope=\"col\">{}</th>", escaped(kind)));
    let head: String = head.collect();
    let row = |name: &str, us: &[f64]| {
        let all = [us.iter().sum()].into_iter().chain(us.iter().copied());
        let cells = all.map(|us: f64| format!("<td>{}</td>", number(us)));
        let cells: String = cells.collect();
        format!("<tr><td>{}</td>{cells}</tr>\n", escaped(name))
    };
    let rows = path.stages.iter().map(|stage| row(&stage.name, &stage.us));
    let rows: String = rows.collect();
    let sum = |kind: usize| {
        path.stages
            .iter()
            .filter_map(|stage| stage.us.get(kind))
            .sum()
    };
    let all: Vec<f64> = (0..path.kinds.len()).map(sum).collect();
    format!(
        "<h3>Critical path (us)</h3>\n<p class=\"soft\">The chain of work and messages that made the \
         last core last: the line in the picture above.</p>\n<div class=\"wide\"><table class=\"data\">\n\
         <thead><tr><th scope=\"col\">stage</th><th scope=\"col\">all</th>{head}</tr></thead>\n\
         <tbody>\n{rows}{}</tbody></table></div>\n",
        row("all", &all)
    )
}
