//! Whether a sort has ended as it should: with the records, in order, all accounted for.

use std::fs;

use super::job::{Job, Task};
use super::order::{Order, Record};
use super::run::Ran;
use super::texts::Format;
use super::ways::content;
use super::{Broken, Case};

/// Parts of messages that refuse options or a limit, and not the input.
const REFUSALS: [&str; 14] = [
    "no order is known",
    "at least -S",
    "give a larger -S",
    "or leave the words out",
    "--max-line",
    "leave ",
    "name an output file",
    "name one with -o",
    "name one file with -o",
    "--resume needs",
    "without --resume",
    "remove --resume",
    "several ranks",
    "on one node",
];

/// The words about an input of a merge.
const DISORDER: &str = "out of order, and -m only merges";

impl Job {
    pub(super) fn judge(
        &self,
        case: &Case,
        format: Format,
        ran: &Ran,
        output: Option<Vec<u8>>,
    ) -> Broken {
        if let Task::Check(_) = self.task {
            return self.judge_check(ran);
        }
        match ran.code() {
            Some(0) => {}
            Some(2) if ran.last_line().contains(DISORDER) && self.task == Task::Merge(false) => {
                return None;
            }
            Some(2) if is_refusal(ran) => return None,
            _ => return Some(("refused", ran.last_line())),
        }
        let all: Vec<&Record> = self
            .inputs
            .iter()
            .flat_map(|input| &input.records)
            .collect();
        let kept = match self.order.shuffle {
            Some(seed) => self.order.shuffled(seed, &self.inputs),
            None => self.order.sorted(&all),
        };
        let output = output.unwrap_or_else(|| b"(no output)".to_vec());
        let written = kept
            .iter()
            .map(|(count, record)| written(*count, record, self.order.is_counted, format));
        let written: Vec<Vec<u8>> = written.collect();
        let has_header = self.inputs.iter().any(|input| input.has_header);
        let header: &[u8] = if has_header { &self.header } else { b"" };
        if self.order.locale.is_some() {
            return match output.strip_prefix(header) {
                Some(rows) => self.judge_language(case, format, written, rows),
                None => Some(("wrong header", difference(&output, header))),
            };
        }
        let expected = [header, &written.concat()].concat();
        if output != expected {
            return Some(("wrong output", difference(&output, &expected)));
        }
        self.judge_account((case, format), kept.len(), &all)
    }

    /// The records of the report, and rows that were set aside.
    fn judge_account(
        &self,
        (case, format): (&Case, Format),
        kept: usize,
        all: &[&Record],
    ) -> Broken {
        if self.has("--report") {
            let text = content(&case.own("report")).unwrap_or_default();
            let report: serde_json::Value = serde_json::from_slice(&text).unwrap_or_default();
            if report["records"].as_u64() != Some(kept as u64) {
                return Some((
                    "account",
                    format!(
                        "{} records in the report, {kept} in the output",
                        report["records"]
                    ),
                ));
            }
        }
        let mut bad: Vec<Vec<u8>> = all
            .iter()
            .filter(|record| record.is_bad)
            .map(|record| record.bytes.clone())
            .collect();
        let aside = content(&case.own("bad")).unwrap_or_default();
        let mut found: Vec<Vec<u8>> = rows_aside(format, &aside);
        bad.sort_unstable();
        found.sort_unstable();
        (bad != found).then(|| {
            (
                "bad rows",
                format!(
                    "{} for {} rows: {}",
                    found.len(),
                    bad.len(),
                    aside.escape_ascii()
                ),
            )
        })
    }

    fn judge_check(&self, ran: &Ran) -> Broken {
        let records: Vec<&Record> = self.inputs[0].records.iter().collect();
        let order = &self.order;
        let mut pairs = records.windows(2);
        let expected = match (&order.locale, order.is_unique) {
            (None, false) => pairs.all(|pair| order.compare(pair[0], pair[1]).is_le()),
            (None, true) => pairs.all(|pair| order.by_keys(pair[0], pair[1]).is_lt()),
            (Some(_), _) if self.task == Task::Check(false) => return None,
            (Some(_), is_unique) => !is_unique || order.sorted(&records).len() == records.len(),
        };
        let is_right =
            ran.code() == Some(i32::from(!expected)) || ran.code() == Some(2) && is_refusal(ran);
        (!is_right).then(|| {
            (
                "wrong check",
                format!(
                    "{:?}, not {}: {}",
                    ran.code(),
                    i32::from(!expected),
                    ran.last_line()
                ),
            )
        })
    }

    /// Whether these are the right lines, in an order that the command itself finds right.
    fn judge_language(
        &self,
        case: &Case,
        format: Format,
        mut expected: Vec<Vec<u8>>,
        output: &[u8],
    ) -> Broken {
        let end = format.end().expect("lines have ends");
        let lines: Vec<&[u8]> = output.split_inclusive(|&byte| byte == end).collect();
        let mut found: Vec<&[u8]> = lines.clone();
        found.sort_unstable();
        expected.sort_unstable();
        let is_right = match self.order.top {
            None => found == expected,
            Some(top) => {
                let mut left = expected.iter();
                found.len() == top.min(expected.len())
                    && found.iter().all(|line| left.any(|other| other == line))
            }
        };
        if !is_right {
            let how = difference(&found.concat(), &expected.concat());
            return Some(("wrong lines", how));
        }
        let skipped = if self.order.is_counted { 8 } else { 0 };
        let text = lines
            .iter()
            .map(|line| &line[skipped..])
            .collect::<Vec<_>>()
            .concat();
        let sorted = format.file([&self.header[..], &text].concat());
        fs::write(case.own("sorted"), sorted).unwrap();
        let order = Order {
            is_counted: false,
            top: None,
            ..self.order.clone()
        };
        let mut words = vec![
            "sort".to_owned(),
            "-c".to_owned(),
            "--decompress=none".to_owned(),
            "sorted".to_owned(),
        ];
        words.extend(format.words().into_iter().chain(order.words()));
        let checked = case.run_quietly(&words);
        (!checked).then(|| ("wrong order", "-c finds the output out of order".to_owned()))
    }
}

fn is_refusal(ran: &Ran) -> bool {
    REFUSALS.iter().any(|part| ran.last_line().contains(part))
}

/// A record with its end.
pub(super) fn written(count: usize, record: &Record, is_counted: bool, format: Format) -> Vec<u8> {
    let mut bytes = if is_counted {
        format!("{count:7} ").into_bytes()
    } else {
        Vec::new()
    };
    bytes.extend(&record.bytes);
    bytes.extend(format.end());
    bytes
}

/// The first place where two outputs differ.
fn difference(found: &[u8], expected: &[u8]) -> String {
    let at = found
        .iter()
        .zip(expected)
        .take_while(|(a, b)| a == b)
        .count();
    let part = |bytes: &[u8]| {
        bytes[at.min(bytes.len())..]
            .iter()
            .take(60)
            .copied()
            .collect::<Vec<u8>>()
    };
    format!(
        "{} bytes for {}, from byte {at}: \"{}\" for \"{}\"",
        found.len(),
        expected.len(),
        part(found).escape_ascii(),
        part(expected).escape_ascii()
    )
}

/// The rows of a file of rows set aside, which have neither separators nor quotes in fields.
fn rows_aside(format: Format, aside: &[u8]) -> Vec<Vec<u8>> {
    let mut lines = aside.split(|&byte| byte == b'\n');
    let row = |line: &[u8]| -> Vec<u8> {
        let json = serde_json::from_slice::<serde_json::Value>(line);
        let end = match (format, json) {
            (Format::Json, Ok(json)) => return json["row"].as_str().unwrap_or("").into(),
            (Format::Csv { .. } | Format::Lines { .. }, _) => {
                line.rsplit(|&byte| byte == b'"').nth(1)
            }
            _ => line.rsplit(|&byte| byte == b'\t').next(),
        };
        end.unwrap_or_default().to_vec()
    };
    if format != Format::Json {
        lines.next();
    }
    lines.filter(|line| !line.is_empty()).map(row).collect()
}
