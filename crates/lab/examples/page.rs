//! Writes a page of made-up figures to standard output, to look at its layout:
//! `cargo run -p gristmill-lab --example page > page.html`. None of its figures is a result.

use std::io::Write;

#[path = "../tests/page/sample.rs"]
mod sample;

fn main() -> std::io::Result<()> {
    let about = lab::page::About {
        version: "0.0.0".to_owned(),
        command: "an example".to_owned(),
    };
    std::io::stdout().write_all(lab::page::page(&sample::figures(), &about).as_bytes())
}
