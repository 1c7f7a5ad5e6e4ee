//! Keys of lines with the types that values of rows have: `-k4:date=dmy`.

use crate::common::Place;

fn text(place: &Place, name: &str) -> String {
    String::from_utf8(place.read(name)).unwrap()
}

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
    place.write("words", "1 5\n2 NA\n");
    for (options, told) in [
        (
            "-k2:ip in",
            "in, line 2: \"10.0.0.x\" in field 2 is not an address; write 10.0.0.1, 10.0.0.0/8 or an address of IPv6; set such lines aside with --bad-records FILE",
        ),
        (
            "-k1:num in",
            "\"a\" in field 1 is not a number; if it names the columns, keep it on top with --header 1",
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
        (
            "-c -k1:num in",
            "keep it on top with --header 1; else mend it",
        ),
        (
            "-c -k2:num words",
            "; name a word for missing values with --null, or mend it",
        ),
        ("-k2:str --bad-records bad in", "has nothing to do"),
        (
            "-k2n --bad-records bad in",
            "lines have mistakes only in keys with a type, such as -k4:date, or in fields of --sum",
        ),
        (
            "-k2:ip --record-lines 2 --bad-records bad in",
            "--record-lines makes records of several lines, and --bad-records sets single ones aside",
        ),
        (
            "-k2n --null NA in",
            "words stand for missing values of keys with a type, such as 4:num, or of fields that are added up",
        ),
        (
            "-k1,1 -u --sum 2 --null 5 in",
            "\"5\" stands for a missing value, and a total may come to it",
        ),
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

#[test]
fn words_stand_for_missing_values_of_fields() {
    let place = Place::new();
    for (options, lines) in [
        (
            "-k2:num --null NA --null - -s",
            &["a NA", "b -", "c", "d -5", "e 7"][..],
        ),
        ("-k2:num:desc --null NA -s", &["e 7", "d -5", "a NA"]),
        (
            "-t, -k2:date:nulls-last --null n/a",
            &["x,2024-01-05", "y,n/a"],
        ),
        // A word that is text, and one within a key of two fields.
        (
            "-k1:nocase:nulls-last --null none",
            &["a 1", "B 2", "none 0"],
        ),
        ("-k1,2:date --null none", &["none", "2024-01-05 09:00"]),
        (
            "-k2:locale=sv:nulls-last --null ?",
            &["a zebra", "b ål", "c ?"],
        ),
        // Not the word, but a part of it.
        ("-k2:str --null NA", &["a NA", "b N", "c NAB"]),
        // Blanks around it, and the carriage returns of a file, do not count.
        (
            "-t, -k2:num:desc:nulls-last --null NA",
            &["a,7\r", "b, 3\r", "c, NA \r"],
        ),
        ("-k2:str:nulls-last --null NA", &["a z\r", "b NA\r"]),
        // Words are for keys with types alone.
        ("-k2,2 -k1:num --null NA", &["NA A", "1 NA"]),
    ] {
        // Two words for nothing are one value.
        if options.ends_with("-s") {
            place.write("in", lines.join("\n"));
            let ran = place.run(&format!("sort {options} in")).succeeded();
            assert_eq!(
                String::from_utf8_lossy(&ran.out),
                format!("{}\n", lines.join("\n"))
            );
            continue;
        }
        assert_order(&place, options, lines);
    }
    // All words are one value, also for a language, which compares the bytes of equal texts.
    place.write("texts", "b NA 1\na - 2\nc n/a 3\nd x 4\n");
    let words = "--null NA --null - --null n/a texts";
    for key in [
        "-k2:str",
        "-k2:locale=sv",
        "-k2:nocase",
        "--locale sv -k2:str",
    ] {
        for (options, expected) in [
            ("-s", "b NA 1\na - 2\nc n/a 3\nd x 4\n"),
            ("-u", "b NA 1\nd x 4\n"),
            ("-u --keep last", "c n/a 3\nd x 4\n"),
            ("-u --sum 3", "b NA 6\nd x 4\n"),
            ("-m -s", "b NA 1\na - 2\nc n/a 3\nd x 4\n"),
        ] {
            let ran = place
                .run(&format!("sort {options} {key} {words}"))
                .succeeded();
            assert_eq!(
                String::from_utf8_lossy(&ran.out),
                expected,
                "{options} {key}"
            );
        }
        place.run(&format!("sort -c -s {key} {words}")).succeeded();
    }
    place.write("in", "a NA\nb -\nc 5\n");
    let ran = place
        .run("sort -u -k2:num --null NA --null - in")
        .succeeded();
    assert_eq!(String::from_utf8_lossy(&ran.out), "a NA\nc 5\n");
    let ran = place.run("explain -k2:num --null NA in").succeeded();
    let told = "a number, lines without it or with NA first";
    assert!(
        String::from_utf8_lossy(&ran.out).contains(told),
        "{:?}",
        ran.out
    );
    let shown = String::from_utf8(ran.out).unwrap();
    assert!(shown.contains("no value"), "{shown}");
    assert!(
        ran.err.contains(
            "line 2: \"-\" in field 2 is not a number; a sort ends here without --bad-records"
        ),
        "{}",
        ran.err
    );
    assert!(!ran.err.contains("line 1"), "{}", ran.err);
    place.write("sums", "a,NA,x\nb, 2,y\na,3,z\nb,NA,w\n");
    let ran = place
        .run("sort -t, -k1,1 -u --sum 2 --null NA sums")
        .succeeded();
    assert_eq!(String::from_utf8_lossy(&ran.out), "a,3,x\nb, 2,y\n");
    place.write("blanks", "a   NA\na 4\n");
    let ran = place
        .run("sort -k1,1 -u --sum 2 --null NA blanks")
        .succeeded();
    assert_eq!(
        String::from_utf8_lossy(&ran.out)
            .split_whitespace()
            .collect::<Vec<_>>(),
        ["a", "4"]
    );
}

#[test]
fn lines_with_mistakes_are_set_aside() {
    let place = Place::new();
    place.write("one", "top\na 3\nb x\nc \"1\"\n\nd 2\n");
    place.write("two", "e nan\nf 1\n");
    let sort = "sort -k2:num --bad-records bad";
    let ran = place
        .run(&format!("{sort} --header 1 one -o out"))
        .succeeded();
    assert_eq!(text(&place, "out"), "top\n\nd 2\na 3\n");
    let told = "bad: 2 lines with mistakes were set aside here; the first is one, line 3: \"x\" in field 2 is not a number";
    assert!(ran.err.contains(told), "{}", ran.err);
    let bad = "file,line,reason,row\n\
        \"one\",\"3\",\"\"\"x\"\" in field 2 is not a number\",\"b x\"\n\
        \"one\",\"4\",\"\"\"\\\"\"1\\\"\"\"\" in field 2 is not a number\",\"c \"\"1\"\"\"\n";
    assert_eq!(text(&place, "bad"), bad);
    // They are nowhere else once their input is replaced.
    place.write("own", "a x\nb 1\n");
    let own = "sort -k2:num own -o own --bad-records aside";
    place.run(own).succeeded();
    let ran = place.run(own);
    assert!(
        ran.complaint().contains("what an earlier sort set aside"),
        "{}",
        ran.err
    );
    assert_eq!(text(&place, "own"), "b 1\n");
    assert!(text(&place, "aside").contains("a x"));
    let ran = place
        .run("sort -k2:num own --bad-records aside")
        .succeeded();
    let told = "aside: rows that an earlier sort had set aside here were replaced";
    assert!(ran.err.contains(told), "{}", ran.err);
    place.write("aside", "file,line,reason,row,comment\n");
    let ran = place.run("sort -k2:num own --bad-records aside");
    assert!(
        ran.complaint().contains("does not hold rows set aside"),
        "{}",
        ran.err
    );
    // Rows of the file are rows that can be sorted again.
    place
        .run("sort --format csv --key line:num:desc bad")
        .succeeded();
    place.write("rest", "e nan\nf 1\n");
    for plan in ["auto", "two-pass", "merge"] {
        let ran = place
            .run(&format!("{sort} --plan {plan} two rest"))
            .succeeded();
        assert_eq!(String::from_utf8_lossy(&ran.out), "f 1\nf 1\n", "{plan}");
        assert!(
            ran.err.contains("bad: 2 lines with mistakes"),
            "{}",
            ran.err
        );
    }
    let ran = place.run(&format!("{sort} -m two rest")).succeeded();
    assert_eq!(String::from_utf8_lossy(&ran.out), "f 1\nf 1\n");
    // Lines that end with NUL are counted by their ends.
    place.write("nul", "a 1\n\0c x\0d 2\0");
    let nul = "sort -z -k2:num --bad-records bad nul -o out";
    let ran = place.run(nul).succeeded();
    assert!(
        ran.err.contains("the first is nul, line 2: \"x\""),
        "{}",
        ran.err
    );
    assert!(text(&place, "bad").contains("\"nul\",\"2\""));
    place.write("sums", "a,1\nb\na,x\na,2\n");
    let ran = place
        .run("sort -t, -k1,1 -u --sum 2 --bad-records bad sums")
        .succeeded();
    assert_eq!(String::from_utf8_lossy(&ran.out), "a,3\n");
    assert!(
        ran.err.contains("bad: 2 lines with mistakes"),
        "{}",
        ran.err
    );
}
