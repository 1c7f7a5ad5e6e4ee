//! Keys of lines with the types that values of rows have: `-k4:date=dmy`.

use crate::common::Place;

/// The lines in this order, from any other one.
fn assert_order(place: &Place, options: &str, lines: &[&str]) {
    let expected: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let mut backwards = lines.to_vec();
    backwards.reverse();
    place.write("in", backwards.join("\n"));
    for plan in ["auto", "two-pass", "merge"] {
        let ran = place
            .run(&format!("sort {options} --plan {plan} in"))
            .succeeded();
        assert_eq!(String::from_utf8_lossy(&ran.out), expected, "{options}");
    }
    place.write("sorted", &expected);
    place.run(&format!("sort {options} -c sorted")).succeeded();
    let ran = place
        .run(&format!("sort {options} -m -u sorted sorted"))
        .succeeded();
    assert_eq!(String::from_utf8_lossy(&ran.out), expected, "-m {options}");
    let ran = place.run(&format!("sort {options} --top 1 in")).succeeded();
    assert_eq!(String::from_utf8_lossy(&ran.out), format!("{}\n", lines[0]));
}

#[test]
fn fields_have_the_types_of_columns() {
    let place = Place::new();
    place.write("sizes.txt", "S\nM\nL\n");
    for (options, lines) in [
        (
            "-k2:ip",
            &["z 9.9.9.9 x", "a 10.0.0.0/8 y", "b   10.0.0.1"][..],
        ),
        ("-k2:size:desc", &["a 3MB", "b 2M", "c 512"]),
        (
            "-t, -k2:date=dmy",
            &["x,31/12/2023", "y, 5 Jan 2024", "z,06.01.24 17:30"],
        ),
        ("-k2,3:date", &["x 2024-01-05 09:00", "y 2024-01-05 10:00"]),
        (
            "-t; -k2:amount=,:nulls-last",
            &["a;1,50 €", "b;1.234,50 €", "c;"],
        ),
        (
            "-t; -k2:num:desc:nulls-last",
            &["a;10", "b;9.5", "c;-1", "d"],
        ),
        ("-k1:nocase -s", &["alpha 1", "Beta 2", "gamma 3"]),
        ("-t, -k2:locale=sv", &["a,zebra", "b,ål", "c,ö"]),
        ("-k2:length -k1", &["b å", "a xy", "c xy"]),
        ("-k2:semver -r", &["c 1.10.0", "b 1.10.0-rc.1", "a v1.9"]),
        ("-r -k2:ip:desc", &["b 10.0.0.1", "a 9.9.9.9"]),
        ("-k1.2,1.3:hex", &["x0Fy", "x1Az"]),
        ("-k1:order=sizes.txt -k2n", &["S 7", "M 1", "M 2", "L 0"]),
        ("-k1:natural", &["chr2 a", "chr10 b"]),
    ] {
        assert_order(&place, options, lines);
    }
}

#[test]
fn fields_of_another_type_are_told() {
    let place = Place::new();
    place.write("in", "a 10.0.0.1\nb 10.0.0.x\n");
    for (options, told) in [
        (
            "-k2:ip in",
            "in, line 2: \"10.0.0.x\" in field 2 is not an address",
        ),
        ("-k2.2,2:num in", "\"0.0.0.1\" in key 2.2,2 is not a number"),
        (
            "-k2n,2:ip in",
            "key \"2n,2:ip\", character 5: a key with a type has no letters but b",
        ),
        (
            "-k2:number in",
            "key \"2:number\", character 3: \"number\" is no type; the types are str, num",
        ),
        ("-k2:ip:reverse in", "character 6: \"reverse\" is no type"),
        ("-k2:order in", "order=FILE"),
        ("-k2:ip:asc in", "leave asc out"),
        (
            "-k0:ip in",
            "key \"0:ip\", character 1: fields are counted from 1",
        ),
        ("-k2:ip --bad-records bad in", "gristmill explain --lines"),
        ("-k2:date=%Q in", "%Q"),
        ("-k2:ip:nocase in", "nocase does not go with the type ip"),
    ] {
        let ran = place.run(&format!("sort {options}"));
        assert!(ran.complaint().contains(told), "{options}: {}", ran.err);
        assert_eq!((ran.code, &ran.out[..]), (2, &b""[..]), "{options}");
    }
    let ran = place.run("sort -t, -k2:num in").succeeded();
    assert!(
        ran.err.contains("no line has a value for field 2"),
        "{}",
        ran.err
    );
    assert_eq!(place.run("sort -k1:natural in").succeeded().err, "");
    let ran = place.run("explain -k2:ip:desc -k1 in").succeeded();
    let shown = String::from_utf8(ran.out).unwrap();
    assert!(
        shown.contains("key 1, -k 2,2:ip:desc: an IP address"),
        "{shown}"
    );
    assert!(
        ran.err
            .contains("line 2: \"10.0.0.x\" in field 2 is not an address"),
        "{}",
        ran.err
    );
}
