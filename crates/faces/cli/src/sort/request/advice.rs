//! Advice in place of an option of lines that does not go with the format.

use record::FormatKind;

/// Options for lines, and what to do instead with binary records.
const FOR_RECORDS: [(&str, &str); 9] = [
    ("--shuffle", "records are not shuffled; leave it out"),
    ("--header", "leave it out; records have no lines on top"),
    (
        "-r",
        "for the largest first add :desc to a key, as in --key 0+10:desc",
    ),
    (
        "-t",
        "records have no fields; a key is --key OFFSET+LENGTH, in bytes",
    ),
    (
        "--record-start",
        "every record has the length that --format gives",
    ),
    (
        "--record-lines",
        "every record has the length that --format gives",
    ),
    (
        "-z",
        "records have no end marker; every record has the length that --format gives",
    ),
    (
        "--locale",
        "records hold bytes; as-ebcdic and as-ascii are types of keys, as in --key 0+10:as-ascii",
    ),
    (
        "--count",
        "leave it out: with --report, -u says how many records it drops in all",
    ),
];

/// The advice for an option of lines that is given with binary records.
pub(super) fn for_records(option: &str) -> &'static str {
    let found = FOR_RECORDS.iter().find(|(name, _)| *name == option);
    found.map_or(
        "records are compared by the bytes of a key, or by a number, as in --key 8+8:u64le",
        |(_, instead)| instead,
    )
}

/// The advice for an option of lines that is given with rows.
pub(super) fn for_rows(option: &str, kind: FormatKind) -> &'static str {
    match option {
        "--shuffle" if kind == FormatKind::JsonLines => "leave --format out: each row is a line",
        "-n" | "-g" | "-h" => "give the type with the key, as in --key price:num",
        "-V" => "give the type with the key, as in --key name:natural",
        "-r" => "give the direction with the key, as in --key price:num:desc",
        "-t" => "the fields of tsv are separated by tabs, and jsonl has none",
        "-z" => "rows end with newlines",
        "--record-start" | "--record-lines" => "rows have ends of their own; leave it out",
        "--header" => "jsonl has no lines on top; leave it out",
        "--shuffle" => {
            "if no value has a newline, leave --format out, and keep the header on top with --header 1"
        }
        "-d" => "the byte between fields is given with -t, as in -t ';'",
        "-f" => "give it with the key, as in --key name:nocase",
        _ => {
            "a key is COLUMN[:TYPE][:desc], and a type is str, num, natural, date, amount or another one"
        }
    }
}
