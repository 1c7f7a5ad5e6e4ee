//! `gristmill lab report`: the page is whole or not there, and nothing else is touched.

use std::fs;

use crate::common::Place;

#[test]
fn a_page_replaces_what_its_name_showed() {
    let place = Place::new();
    place.write("report.html", "old");
    // The name of a page for which none is given.
    let ran = place.run("lab report").succeeded();
    assert!(ran.out.is_empty(), "the page is told nowhere else");
    let page = String::from_utf8(place.read("report.html")).unwrap();
    assert!(
        page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"),
        "{page}"
    );
    assert!(
        page.contains("NanoSort, Figure 1") && page.contains("\">met</span>"),
        "{page}"
    );
    assert_eq!(place.names(), ["report.html"]);
    // All of them take a minute of a core.
    let few = "lab report nanosort/figure-1 tritonsort/figure-10 -o";
    place.run(&format!("{few} few.html")).succeeded();
    let told = place.run(&format!("{few} -")).succeeded().out;
    assert!(
        told == place.read("few.html"),
        "the same experiments are the same page"
    );
    assert_eq!(place.names(), ["few.html", "report.html"]);
}

#[test]
fn a_refused_page_changes_nothing() {
    let place = Place::new();
    fs::create_dir(place.path("directory")).unwrap();
    let cases = [
        ("directory", "directory"),
        ("no/such/page.html", "make it first"),
    ];
    for (output, why) in cases {
        let ran = place.run(&format!("lab report -o {output}"));
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(
            ran.complaint().contains(why) && ran.complaint().contains(output),
            "{ran:?}"
        );
        assert_eq!(place.names(), ["directory"]);
    }
}
