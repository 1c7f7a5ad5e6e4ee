//! The needs of docs/rows.md, each with values of the world: files of genomes, logs, price lists, listings of disks.

use std::fs;
use std::path::Path;

use children::Command;

/// A need, the options for it, the lines on top, and records in their order. One behind `~` comes first, and is
/// dropped; one behind `=` is made.
type Case = (
    &'static str,
    &'static str,
    &'static str,
    &'static [&'static str],
);

const CASES: [Case; 72] = [
    (
        "records of several lines",
        "--record-start [0-9]{4}-[0-9]{2}-[0-9]{2} -k1,2",
        "",
        &[
            "2026-11-30 09:59:01 ERROR pool\njava.lang.IllegalStateException: closed\n\tat a.B.c(B.java:7)\nCaused by: x",
            "2026-11-30 09:59:07 INFO started",
            "2026-11-30 10:02:00 WARN slow\n\tat a.B.d(B.java:9)",
        ],
    ),
    (
        "records of several lines",
        "--record-start > -k1,1V",
        "",
        &[">chr2 x\nACGT\nAC", ">chr9\nTT", ">chr10\nGGGG\nG\nG"],
    ),
    (
        "records of several lines",
        "--record-start ID -t|\n|-k2,2",
        "",
        &["ID   Q9\nAC   A1;\n//", "ID   P1\nAC   B7;\nDE   x\n//"],
    ),
    (
        "records of a number of lines",
        "--record-lines 4 -k1,1V",
        "",
        &["@SRR1.2 x\nACGT\n+\n@FFF", "@SRR1.10 y\nTTTT\n+\nFF:F"],
    ),
    (
        "records of a number of lines",
        "--record-lines 4 -t|\n|-k2,2 -k4,4r",
        "",
        &["@b\nAA\n+\nZZ", "@a\nAA\n+\nFF", "@c\nCC\n+\nFF"],
    ),
    (
        "records of a number of lines",
        "--record-lines 3 -k1.3",
        "",
        // Orbits of satellites have a name and two lines of elements.
        &[
            "0 ISS (ZARYA)\n1 25544U 98067A\n2 25544  51.6",
            "0 NOAA 19\n1 33591U 09005A\n2 33591  99.1",
        ],
    ),
    (
        "header lines stay on top",
        "--header 2 -k2,2n",
        "Report of May\nname count\n",
        &["a 1", "b 9", "c 10"],
    ),
    (
        "header lines stay on top",
        "--header 1 -t, -k2,2nr",
        "city,people\n",
        &["Tokyo,37400068", "Delhi,28514000"],
    ),
    (
        "header lines stay on top",
        "--format csv --header 2 --key b:num",
        "a title\na,b\n",
        &["x,1", "y,2"],
    ),
    (
        "comment lines stay on top",
        "--header # -k1,1V -k2,2n",
        "##fileformat=VCFv4.3\n#CHROM\tPOS\n",
        &["2\t9", "20\t14370", "20\t17330"],
    ),
    (
        "comment lines stay on top",
        "--header track --header browser -k2,2n",
        "browser position chr7\ntrack name=x\n",
        &["chr7 127471196", "chr7 127472363"],
    ),
    (
        "comment lines stay on top",
        "--format csv --header # --key t:num",
        "# station 7, \"west\nt,v\n",
        &["1,x", "2,y"],
    ),
    (
        "missing values last",
        "--format csv --key price:num:desc:nulls-last",
        "price\n",
        &["10", "9.5", "-1", "\"\""],
    ),
    (
        "missing values last",
        "--format csv --key price:num:nulls-last",
        "price,x\n",
        &["-1,a", "10,b", ",c"],
    ),
    (
        "missing values last",
        "--format jsonl --key a:str:desc:nulls-first",
        "",
        &["{\"a\":null}", "{\"a\":\"b\"}", "{\"a\":\"a\"}"],
    ),
    (
        "words for a missing value",
        "--format csv --null NA --key age:num",
        "age,who\n",
        &["NA,x", "3,y", "20,z"],
    ),
    (
        "words for a missing value",
        "--format tsv --null \\N --key v:num:nulls-last",
        "v\tw\n",
        &["1\ta", "2\tb", "\\N\td"],
    ),
    (
        "words for a missing value",
        "--format jsonl --null n/a --key t:num:desc",
        "",
        &["{\"t\":7}", "{\"t\":\"n/a\"}"],
    ),
    (
        "rows with fewer columns",
        "--format csv --short-rows --key b",
        "a,b,c\n",
        &["x", "1,a", "1,b,2"],
    ),
    (
        "rows with fewer columns",
        "--format tsv --short-rows --key c:num:nulls-last",
        "a\tb\tc\n",
        &["x\ty\t1", "x\ty\t2", "x\ty"],
    ),
    (
        "rows with fewer columns",
        "--format csv --short-rows --key #2:num:desc",
        "a,b\n",
        &["1,5", "1,4", "9"],
    ),
    (
        "a column without case",
        "--format csv --key name:nocase",
        "name\n",
        &["apple", "Banana", "cherry"],
    ),
    (
        "a column without case",
        "--format csv --key name:nocase:desc",
        "name,n\n",
        &["zeta,1", "YAK,2", "x-ray,3"],
    ),
    (
        "a column without case",
        "--format csv --key name:nocase:locale=de",
        "name,n\n",
        &["Affe,1", "Ähre,2", "ALT,3", "öl,4", "ÖLE,5"],
    ),
    (
        "a column by its language",
        "--format csv --key name:locale=sv",
        "name\n",
        &["Olga", "Zebra", "Ål", "Öl"],
    ),
    (
        "a column by its language",
        "--format csv --key name:locale=de",
        "name\n",
        &["Ol", "Öl", "Olga", "Zebra"],
    ),
    (
        "a column by its language",
        "--format csv --key a:locale=es --key b",
        "a,b\n",
        &["nube,2", "ñandú,1", "oso,0"],
    ),
    (
        "the language of the environment",
        "--locale env",
        "",
        &["Olga", "Zebra", "Ål", "Öl"],
    ),
    (
        "the language of the environment",
        "--locale env -k2,2 -k1,1n",
        "",
        &["2 Åre", "10 Åre", "1 Ärla"],
    ),
    (
        "the language of the environment",
        "--format csv --locale env --key name:desc",
        "name\n",
        &["Öberg", "Åberg", "Berg"],
    ),
    (
        "dates with the day first",
        "--format csv --key seen:date=dmy",
        "seen\n",
        &["31/12/2023", "5/1/2024", "02/02/2024"],
    ),
    (
        "dates with the day first",
        "--format csv --key seen:date=dmy",
        "seen\n",
        &["24.12.99 18:00", "1.1.00 0:00", "01.01.2000 00:01"],
    ),
    (
        "dates with the day first",
        "--format csv --key seen:date=mdy",
        "seen\n",
        &[
            "12/31/2023 11:59 PM",
            "01/05/2024 12:10 AM",
            "1/5/2024 1:00 AM",
        ],
    ),
    (
        "dates with names of months",
        "--format csv --key seen:date=dmy",
        "seen\n",
        &["28 Feb 2024", "1 March 2024", "2 Apr. 2024"],
    ),
    (
        "dates with names of months",
        "--format tsv --key seen:date=mdy",
        "seen\n",
        &["July 4, 1976", "Sept 11 2001", "Jan 20th, 2009"],
    ),
    (
        "dates with names of months",
        "--format csv --key seen:date=dmy",
        "seen\n",
        &["01-JAN-24", "15-JUN-24", "02-DEC-24"],
    ),
    (
        "dates by a pattern",
        "--format csv --key |seen:date=%d/%b/%Y:%T %z|",
        "seen\n",
        &[
            "10/Oct/2000:23:59:59 +0200",
            "10/Oct/2000:22:10:00 +0000",
            "11/Oct/2000:00:00:01 +0000",
        ],
    ),
    (
        "dates by a pattern",
        "--format csv --key |seen:date=%b %e %T|",
        "seen\n",
        &["Feb 28 23:59:59", "Mar  1 06:25:44", "Mar 10 00:00:00"],
    ),
    (
        "dates by a pattern",
        "--format csv --key seen:date=%y%m%d",
        "seen\n",
        &["690101", "991231", "000101", "681231"],
    ),
    (
        "thousands and currencies",
        "--format tsv --key price:amount",
        "price\n",
        &["($1,000.00)", "$999.99", "$1,234.50", "$12,345.00"],
    ),
    (
        "thousands and currencies",
        "--format tsv --key price:amount:desc",
        "price\n",
        &["1 234 567 kr", "99 500 kr", "-5 kr"],
    ),
    (
        "thousands and currencies",
        "--format csv --key price:amount",
        "price\n",
        &[
            "CHF 99.95",
            "\"USD 1,000\"",
            "\"₹99,999\"",
            "\"₹12,34,567.89\"",
        ],
    ),
    (
        "decimal commas",
        "--format csv -t ; --key price:amount=,",
        "price;x\n",
        &["0,99;a", "9,5;b", "1.234,50 €;c"],
    ),
    (
        "decimal commas",
        "--format tsv --key price:amount=,:desc",
        "price\n",
        &["10.000", "9.999,99", "-1,5"],
    ),
    (
        "decimal commas",
        "--format csv --key price:amount=,",
        "price\n",
        &["\"-0,5\"", "\"0,25\"", "\"1,0\""],
    ),
    (
        "per cent",
        "--format csv --key share:amount",
        "share\n",
        &["-1.5%", "0.5 %", "9%", "12.5%", "100 %"],
    ),
    (
        "per cent",
        "--format csv --key share:amount:desc",
        "share\n",
        &["1.5", "100 %", "0.99", "5 ‰"],
    ),
    (
        "per cent",
        "--format csv -t ; --key share:amount=,",
        "share\n",
        &["2,5 %", "10 %", "99,9%"],
    ),
    (
        "sizes with units",
        "--format tsv --key used:size",
        "used\tdir\n",
        &["0\ta", "4.0K\tb", "1.1M\tc", "940M\td", "2.3G\te"],
    ),
    (
        "sizes with units",
        "--format csv --key used:size:desc",
        "used\n",
        &["2TB", "1.9TB", "1TiB", "1000GB"],
    ),
    (
        "sizes with units",
        "--format csv --key used:size",
        "used\n",
        &["999", "1kB", "1KiB", "1MB", "1MiB"],
    ),
    (
        "hexadecimal numbers",
        "--format csv --key id:hex",
        "id\n",
        &["0x9", "0xA", "0x10", "0xFF", "0x100"],
    ),
    (
        "hexadecimal numbers",
        "--format csv --key id:hex",
        "id\n",
        &["400000", "7f1c2a3b4000", "ffffffffff600000"],
    ),
    (
        "hexadecimal numbers",
        "--format csv --key id:hex:desc",
        "id\n",
        &["da39a3ee5e6b4b0d", "0cc175b9c0f1b6a8"],
    ),
    (
        "addresses of IP",
        "--format csv --key host:ip",
        "host\n",
        &["9.9.9.9", "10.0.0.2", "10.0.0.10", "192.168.0.1"],
    ),
    (
        "addresses of IP",
        "--format csv --key host:ip",
        "host\n",
        &[
            "10.0.0.0/8",
            "10.0.0.0/16",
            "172.16.0.0/12",
            "192.168.0.0/16",
        ],
    ),
    (
        "addresses of IP",
        "--format csv --key host:ip",
        "host\n",
        &["8.8.8.8", "::1", "2001:4860:4860::8888", "fe80::1/64"],
    ),
    (
        "semantic versions",
        "--format csv --key release:semver",
        "release\n",
        &[
            "1.0.0-alpha",
            "1.0.0-alpha.1",
            "1.0.0-beta.2",
            "1.0.0-beta.11",
            "1.0.0-rc.1",
            "1.0.0",
        ],
    ),
    (
        "semantic versions",
        "--format csv --key release:semver:desc",
        "release\n",
        &["v1.84.0", "v1.9.0", "v1.9.0-nightly"],
    ),
    (
        "semantic versions",
        "--format csv --key release:semver",
        "release\n",
        &["2.6.39", "3.0", "6.1-rc8", "6.1", "6.1.1"],
    ),
    (
        "the length of a value",
        "--format csv --key name:length",
        "name\n",
        &["Bo", "Zoë", "Anna", "Łukasz"],
    ),
    (
        "the length of a value",
        "--format csv --key name:length:desc",
        "name\n",
        &["pneumonoultramicroscopic", "word", "I"],
    ),
    (
        "the length of a value",
        "--format jsonl --key s:length",
        "",
        &["{\"s\":\"\\u00e9\"}", "{\"s\":\"ab\"}", "{\"s\":\"abc\"}"],
    ),
    (
        "the order of a file",
        "--format csv --key size:order=sizes.txt",
        "size\n",
        &["XS", "S", "M", "L", "XL"],
    ),
    (
        "the order of a file",
        "--format tsv --key c:order=chromosomes.txt --key p:num",
        "c\tp\n",
        &["chr1\t9", "chr2\t5", "chr10\t1", "chrX\t3", "chrM\t2"],
    ),
    (
        "the order of a file",
        "--format csv --key day:order=days.txt:desc",
        "day\n",
        &["Sun", "Wed", "Mon"],
    ),
    (
        "the last of equal keys",
        "-u --keep last -t, -k1,1",
        "",
        &["host1,up", "host2,down", "~host2,up", "~host1,down"],
    ),
    (
        "the last of equal keys",
        "--format csv -u --keep last --key id:num",
        "id,status\n",
        &["7,shipped", "12,ordered", "~7,ordered", "~7,paid"],
    ),
    (
        "the last of equal keys",
        "--format jsonl -u --keep last --key name:nocase",
        "",
        &["{\"name\":\"ann\",\"v\":2}", "~{\"name\":\"Ann\",\"v\":1}"],
    ),
    (
        "totals of equal keys",
        "--format csv --key city -u --sum sales",
        "city,sales\n",
        &["~Oslo,1200.50", "~Oslo,-0.75", "Bergen,7", "=Oslo,1199.75"],
    ),
    (
        "totals of equal keys",
        "-u -k1,1 --sum 2 --sum 3",
        "",
        &[
            "~/index 1 512",
            "~/index 1 204800",
            "/about 1 90",
            "=/index 2 205312",
        ],
    ),
    (
        "totals of equal keys",
        "--format jsonl --key host -u --keep last --sum errors",
        "",
        &[
            "~{\"host\":\"a\",\"errors\":2,\"at\":1}",
            "~{\"host\":\"a\",\"errors\":null,\"at\":2}",
            "={\"host\":\"a\",\"errors\":2,\"at\":2}",
            "{\"host\":\"b\",\"errors\":0}",
        ],
    ),
];

/// Words between blanks; a word with blanks stands between bars.
fn words(options: &str) -> Vec<String> {
    let parts = options.split('|').enumerate();
    let words = parts.flat_map(|(number, part)| match number % 2 {
        0 => part.split_whitespace().map(str::to_owned).collect(),
        _ => vec![part.to_owned()],
    });
    words.collect()
}

fn sorted(place: &Path, words: &[String]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gristmill"));
    command.arg("sort").args(words).current_dir(place);
    // `--locale env` takes it; no other option reads it.
    command.env("LC_ALL", "sv_SE.UTF-8");
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words:?}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn each_need_is_met() {
    let place = tempfile::tempdir().unwrap();
    let at = place.path();
    fs::write(at.join("sizes.txt"), "XS\nS\nM\nL\nXL\n").unwrap();
    fs::write(
        at.join("chromosomes.txt"),
        "chr1\nchr2\nchr10\nchrX\nchrY\nchrM\n",
    )
    .unwrap();
    fs::write(at.join("days.txt"), "Mon\nTue\nWed\nThu\nFri\nSat\nSun\n").unwrap();
    for (need, options, head, records) in CASES {
        let file = |records: &[&str]| format!("{head}{}\n", records.join("\n"));
        let dropped = records.iter().filter_map(|record| record.strip_prefix('~'));
        let kept = records.iter().filter(|record| !record.starts_with('~'));
        let given = kept.clone().filter(|record| !record.starts_with('='));
        let backwards: Vec<&str> = dropped.chain(given.rev().copied()).collect();
        let records: Vec<&str> = kept.map(|record| record.trim_start_matches('=')).collect();
        let records = &records[..];
        let (half, rest) = backwards.split_at(backwards.len() / 2);
        for (name, records) in [("all", &backwards[..]), ("half", half), ("rest", rest)] {
            fs::write(at.join(name), file(records)).unwrap();
        }
        let with = |more: &[&str]| {
            let more = more.iter().map(|&word| word.to_owned());
            words(options).into_iter().chain(more).collect::<Vec<_>>()
        };
        let expected = file(records);
        assert_eq!(sorted(at, &with(&["all"])), expected, "{need}: {options}");
        assert_eq!(
            sorted(at, &with(&["half", "rest"])),
            expected,
            "{need}: {options}"
        );
        fs::write(at.join("sorted"), &expected).unwrap();
        if options.contains("--sum") {
            // Totals of one file are what they were. Checks and first records have none.
            assert_eq!(sorted(at, &with(&["-m", "sorted"])), expected, "{options}");
            continue;
        }
        sorted(at, &with(&["-c", "sorted"]));
        let merged = sorted(at, &with(&["-m", "-u", "sorted", "sorted"]));
        assert_eq!(merged, expected, "{need}: {options}");
        let first = sorted(at, &with(&["--top", "1", "all"]));
        assert_eq!(first, file(&records[..1]), "{need}: {options}");
    }
}

/// Each line of the table has three cases, one of them with its options.
#[test]
fn the_table_of_the_docs_is_tested() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/rows.md");
    let page = fs::read_to_string(page).unwrap();
    let table = page.split("| need | here |").nth(1).unwrap();
    let rows = table
        .lines()
        .skip(2)
        .take_while(|line| line.starts_with('|'));
    let mut told = Vec::new();
    for row in rows {
        let mut cells = row.split('|').map(str::trim).skip(1);
        let (need, here) = (cells.next().unwrap(), cells.next().unwrap());
        let cases: Vec<_> = CASES.iter().filter(|(of, ..)| *of == need).collect();
        assert_eq!(cases.len(), 3, "{need}");
        let here = here.trim_matches('`').replace('\'', "");
        let is_used = |(_, options, ..): &&&Case| options.replace('|', "").contains(&here);
        assert!(cases.iter().any(|case| is_used(&case)), "{need}: {here}");
        told.push(need);
    }
    let untold = CASES.iter().find(|(need, ..)| !told.contains(need));
    assert_eq!(untold.map(|(need, ..)| need), None);
}
