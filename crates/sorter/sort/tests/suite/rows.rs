//! Rows: their header stays on top, and rows with mistakes are named or set aside.

use std::path::{Path, PathBuf};

use node::Random;
use pipeline::Failure;
use record::rows::{Dialect, Header};
use record::{Head, Headed, Keep, LineOrder, RowSpec, Ties};
use sort::{SortError, Target, Tuning, Warning};

use crate::common::lines::{LineSort, drawn_ties, seeds};
use crate::common::{get, paths, run};

const KEYS: [&str; 2] = ["price:num:desc", "name"];

/// A header, and rows of a name, which quotes may hold, and a price.
fn table(header: &str, rows: usize, goes_on: bool, random: &mut Random) -> Vec<u8> {
    let mut table = format!("{header}\n");
    for _ in 0..rows {
        let name = ["Oslo", "Bonn", "", "a \"b\"", "New, York"][random.below(5)];
        let name = if goes_on && random.below(50) == 0 {
            "two\nlines\n\n,\n1"
        } else {
            name
        };
        let price = ["", "-1.5", "2e3", "10", "7"][random.below(5)];
        let digits = random.below(1000);
        let price = if price.is_empty() {
            String::new()
        } else {
            format!("{price}{digits}")
        };
        table.push_str(&format!("\"{}\",{}\n", name.replace('"', "\"\""), price));
    }
    table.into_bytes()
}

fn rows(keep: Keep) -> RowSpec {
    RowSpec {
        dialect: Dialect::CSV,
        head: Head::of_lines(1),
        keys: KEYS.iter().map(|key| key.parse().unwrap()).collect(),
        keep,
        locale: None,
        nulls: Vec::new(),
        has_short_rows: false,
        sums: Vec::new(),
    }
}

/// A sort of tables with the same header.
fn sort_of(tables: &[Vec<u8>], header: &str, ties: Ties) -> LineSort {
    let names = Header::parse(Dialect::CSV, header.as_bytes()).unwrap();
    let rows = rows(match ties {
        Ties::Record => Keep::All,
        Ties::Position | Ties::LastPosition => Keep::Stable,
    });
    let order = rows.order(Some(&names)).unwrap();
    let mut sort = LineSort::of(tables.to_vec(), LineOrder::rows(order));
    sort.job.headed = Some(Headed::Rows(rows));
    sort.job.may_begin_again = true;
    sort
}

/// The header, and the rows of all tables in order.
fn expected(sort: &LineSort, header: &str) -> Vec<u8> {
    let behind = |table: &Vec<u8>| table[header.len() + 1..].to_vec();
    let bodies = sort.files.iter().map(behind).collect();
    let naive = LineSort::of(bodies, sort.order.clone());
    [header.as_bytes(), b"\n", &naive.expected()].concat()
}

#[test]
fn a_header_stays_on_top_under_hundreds_of_schedules() {
    for seed in 0..seeds(150, 400) {
        let random = &mut Random::new(seed);
        let header = match random.below(10) {
            // Longer than a write unit, and than a disk block.
            0 => format!("{},price,name", "x".repeat(9000 + random.below(9000))),
            _ => "name,price".to_owned(),
        };
        let is_long = header.len() > 100;
        let goes_on = random.below(2) == 0;
        let count = 1 + random.below(3);
        let mut one = || {
            let rows = if is_long { 0 } else { random.below(6000) };
            table(&header, rows, goes_on, random)
        };
        let tables: Vec<Vec<u8>> = (0..count).map(|_| one()).collect();
        let mut sort = sort_of(&tables, &header, drawn_ties(random));
        let expected = expected(&sort, &header);
        sort.pipes
            .iter_mut()
            .for_each(|pipe| *pipe = random.below(4) == 0);
        sort.draw(random);
        sort.job.tuning.chunks = None;
        sort.job.tuning.unit_records = None;
        // Headers change the least memory, and rows that go on over lines are merged.
        let is_piped = sort.pipes.contains(&true) || sort.job.target != Target::Path("/out".into());
        if goes_on || is_piped {
            sort.job.tuning = Tuning::default();
        }
        sort.job.resources.memory_bytes = (64 + random.below(48) as u64) << 20;
        if sort.job.stripe.is_some() {
            // Their memory comes on top.
            sort.job.resources.memory_bytes = sort.memory_from(sort.job.resources.memory_bytes);
        }
        let driver = sort.driver(seed);
        let report = run(&driver, &sort.job()).unwrap_or_else(|failure| {
            panic!("seed {seed}: {failure}");
        });
        let Target::Path(path) = &sort.job.target else {
            panic!("one output")
        };
        let output = get(&driver, path.to_str().unwrap()).unwrap();
        assert!(
            output == expected,
            "seed {seed}: {} of {} bytes",
            output.len(),
            expected.len()
        );
        let rows = LineSort::of(vec![expected], sort.order.clone());
        let lines = rows.order.framing.split(&rows.files[0]).count() as u64;
        assert_eq!(report.records + 1, lines, "seed {seed}");
    }
}

#[test]
fn inputs_without_a_byte_have_no_header() {
    let tables = [Vec::new(), b"name,price\nb,1\n".to_vec(), Vec::new()];
    let sort = sort_of(&[b"name,price\n".to_vec()], "name,price", Ties::Record);
    for (tables, expected) in [
        (&tables[..], &b"name,price\nb,1\n"[..]),
        (&tables[..1], b""),
        (&[b"name,price".to_vec()][..], b"name,price\n"),
    ] {
        let mut sort = LineSort {
            files: tables.to_vec(),
            ..sort_like(&sort)
        };
        let sources =
            (0..tables.len()).map(|number| sort::Source::Path(format!("/in{number}").into()));
        sort.job.sources = sources.collect();
        sort.pipes = vec![false; tables.len()];
        let driver = sort.driver(1);
        run(&driver, &sort.job()).unwrap();
        assert_eq!(get(&driver, "/out").unwrap(), expected);
    }
}

fn sort_like(other: &LineSort) -> LineSort {
    LineSort {
        job: other.job(),
        files: other.files.clone(),
        order: other.order.clone(),
        pipes: other.pipes.clone(),
        equal: other.equal,
    }
}

fn refusal(sort: &LineSort) -> String {
    match sort.failure(1) {
        Failure::Program(error) => error.downcast::<SortError>().unwrap().to_string(),
        other => panic!("{other}"),
    }
}

#[test]
fn mistakes_are_named_with_file_and_line() {
    let said = |rows: &[u8]| {
        let table = [b"name,price\n", rows].concat();
        refusal(&sort_of(&[table], "name,price", Ties::Record))
    };
    assert_eq!(
        said(b"a,1\nb,x\n"),
        "/in0, line 3: \"x\" in column price is not a number"
    );
    assert_eq!(
        said(b"a,1\nb\n"),
        "/in0, line 3: 1 column, the header has 2"
    );
    assert_eq!(
        said(b"a,1\n\"b\n,c\n"),
        "/in0, line 3: column 1: the quote that begins here does not end"
    );
    let other = b"name,cost\n".to_vec();
    let first = b"name,price\na,1\n".to_vec();
    let sort = sort_of(&[first], "name,price", Ties::Record);
    let mut two = sort_like(&sort);
    two.files.push(other);
    two.pipes.push(false);
    two.job
        .sources
        .push(sort::Source::Path(PathBuf::from("/in1")));
    assert_eq!(
        refusal(&two),
        "/in1: its header differs from that of /in0; all inputs have the same header"
    );
}

#[test]
fn rows_with_mistakes_are_set_aside() {
    for seed in 0..20 {
        let random = &mut Random::new(seed);
        let good = [table("name,price", 3000, seed % 2 == 0, random)];
        let good = sort_of(&good, "name,price", Ties::Position);
        let expected = expected(&good, "name,price");
        let (mut table, mut bad) = (b"name,price\n".to_vec(), Vec::new());
        for row in good.order.framing.split(&good.files[0][11..]) {
            if random.below(100) == 0 {
                let mistake = format!("mistake {},no,{seed}", bad.len());
                let line = table.iter().filter(|byte| **byte == b'\n').count() + 1;
                table.extend(mistake.bytes());
                table.push(b'\n');
                let reason = "3 columns, the header has 2";
                bad.push(format!("\"/in0\",\"{line}\",\"{reason}\",\"{mistake}\""));
            }
            table.extend(row);
        }
        let mut sort = sort_like(&good);
        sort.files = vec![table];
        sort.pipes = vec![seed % 3 == 0];
        sort.job.bad_rows = Some("/bad".into());
        let driver = sort.driver(seed);
        let report = run(&driver, &sort.job()).unwrap_or_else(|failure| panic!("{failure}"));
        assert_eq!(get(&driver, "/out").unwrap(), expected, "seed {seed}");
        let aside = String::from_utf8(get(&driver, "/bad").unwrap()).unwrap();
        let (first, aside) = aside.split_once('\n').unwrap_or_default();
        assert_eq!(
            first,
            if bad.is_empty() {
                ""
            } else {
                "file,line,reason,row"
            }
        );
        let mut aside: Vec<&str> = aside.lines().collect();
        aside.sort_by_key(|row| bad.iter().position(|other| other == row));
        assert_eq!(aside, bad, "seed {seed}");
        let count = bad.len() as u64;
        let file = PathBuf::from("/bad");
        let fields: Vec<&str> = bad[0].split('"').collect();
        let first = format!("/in0, line {}: {}", fields[3], fields[5]);
        assert_eq!(
            report.warnings,
            [Warning::BadRows {
                file,
                count,
                first,
                of_lines: false
            }]
        );
        assert_eq!(paths(&driver).len(), 3, "seed {seed}: a file is left");
    }
}

#[test]
fn a_sort_that_fails_leaves_no_file_of_bad_rows() {
    let table = b"name,price\na,1\nb\n\"c".to_vec();
    let mut sort = sort_of(&[table], "name,price", Ties::Record);
    sort.job.bad_rows = Some("/bad".into());
    sort.job.resources.memory_bytes = 1;
    let driver = sort.driver(1);
    run(&driver, &sort.job()).unwrap_err();
    assert!(get(&driver, "/bad").is_none());
    assert_eq!(paths(&driver), [Path::new("/in0")]);
}
