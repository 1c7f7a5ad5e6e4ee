//! Drawings of merge trees: each core is a dot on every level on which it still has a value
//! (NanoSort, Figure 3).
//!
//! ```text
//!   o o o o o o o o      level 0: each core has one
//!   |/  |/  |/  |/
//!   o   o   o   o        level 1, merged by twos
//! ```

use std::fmt::Write;

use crate::figure::{Link, Tree};
use crate::page::plane::WIDTH;
use crate::page::text::escaped;

/// Most height of a level, in units of the drawing.
const LEVEL: f64 = 40.0;

/// Most height of all levels: a chain has as many as cores.
const HEIGHT: f64 = 150.0;

/// Radius of a dot, and the space around the drawing.
const DOT: f64 = 3.5;

/// The drawings beside each other.
pub(crate) fn trees(trees: &[Tree]) -> String {
    if trees.is_empty() {
        return String::new();
    }
    let drawn: String = trees.iter().map(drawn).collect();
    format!("<div class=\"charts\">\n{drawn}</div>\n")
}

fn drawn(tree: &Tree) -> String {
    let depth = tree.depth();
    let step = LEVEL.min(HEIGHT / f64::from(depth.max(1)));
    let across = (WIDTH - 2.0 * DOT) / f64::from(tree.cores.saturating_sub(1).max(1));
    let place = |core: u32, level: u32| {
        let (x, y) = (f64::from(core) * across, f64::from(level) * step);
        (DOT + x, DOT + y)
    };
    let (mut lines, mut dots) = (String::new(), String::new());
    let mut dot = |(x, y): (f64, f64)| {
        let _ = write!(
            dots,
            "<circle class=\"sign\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{DOT}\"/>"
        );
    };
    (0..tree.cores).for_each(|core| dot(place(core, 0)));
    for Link {
        child,
        parent,
        level,
    } in &tree.links
    {
        let end = place(*parent, *level);
        // The values that it merges: its child's and its own.
        for core in [*child, *parent] {
            let (x, y) = place(core, tree.level_before(core, *level));
            let _ = write!(lines, "M{x:.1} {y:.1}L{:.1} {:.1}", end.0, end.1);
        }
        dot(end);
    }
    let height = f64::from(depth) * step + 2.0 * DOT;
    let words = format!("{}: {} cores, {depth} levels", tree.label, tree.cores);
    let words = escaped(&words);
    format!(
        "<figure class=\"chart\">\n<figcaption>{words}</figcaption>\n<svg viewBox=\"0 0 {WIDTH} {height:.1}\" \
         role=\"img\" aria-label=\"{words}\">\n<path class=\"frame\" d=\"{lines}\"/>\n\
         <g class=\"series\">{dots}</g>\n</svg>\n</figure>\n"
    )
}

impl Tree {
    fn depth(&self) -> u32 {
        self.links.iter().map(|link| link.level).max().unwrap_or(0)
    }

    /// The last level below `level` on which a core merged; 0 if it merged on none.
    fn level_before(&self, core: u32, level: u32) -> u32 {
        let own = self.links.iter().filter(|link| link.parent == core);
        let levels = own.map(|link| link.level).filter(|other| *other < level);
        levels.max().unwrap_or(0)
    }
}
