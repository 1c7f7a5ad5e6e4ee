//! Writes a page of made-up figures to standard output, to check its layout:
//! `cargo run -p gristmill-plot --example page > page.html`. None of the figures is a result.

use std::io::Write;

#[path = "../tests/page/sample.rs"]
mod sample;

fn main() -> std::io::Result<()> {
    let about = plot::About {
        version: "0.0.0".to_owned(),
        command: "an example".to_owned(),
        title: None,
        verdict: None,
    };
    std::io::stdout().write_all(plot::page(&sample::figures(), &about).as_bytes())
}
