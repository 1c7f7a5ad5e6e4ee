"""Sorts, merges and checks of files."""

from __future__ import annotations

from typing import Literal

from . import _gristmill
from .options import Bytes, Header, Keys, Path, Paths, Words
from .progress import ProgressOption, function
from .reports import Disorder, Report


def sort_file(
    inputs: Paths,
    output: Path,
    *,
    format: str = "lines",
    key: Keys = None,
    separator: str | bytes | None = None,
    delimiter: str | bytes | None = None,
    header: Header = True,
    record_start: str | None = None,
    record_lines: int | None = None,
    shuffle: int | None = None,
    null: Words = (),
    short_rows: bool = False,
    stable: bool = False,
    unique: bool | Literal["first", "last"] = False,
    sum: Words = (),
    top: int | None = None,
    memory: Bytes = None,
    threads: int | None = None,
    temporary: Paths | None = None,
    stripe: int | None = None,
    longest: int | None = None,
    bad_records: Path | None = None,
    progress: ProgressOption = None,
) -> Report:
    """Sorts a file, or several, into a file.

    The output appears in one step when it is complete, and may be one of the inputs.

    inputs     a path or several
    output     the path of the sorted file
    format     "lines"; rows: "csv", "tsv", "jsonl"; records: "fixed:100", "gensort", "varlen:u32le"
    key        a key or several, as the command has them: "2,2n" of lines, "price:num:desc" of rows,
               "0+10" of records; without keys, whole records are compared
    separator  the byte between the fields of a line, or the values of a row
    delimiter  the byte at the end of a line instead of a newline
    header     whether the first row names the columns; or lines that stay on top, also of lines: a number,
               the first characters of each such as "#", or a list of those
    record_start
               a regular expression: records of lines have several, and each begins with one at whose front it is
    record_lines
               the number of lines that a record has, such as 4 of FASTQ
    shuffle    a number: lines are shuffled instead of sorted; it decides the order, and each line has the same chance of
               each place
    null       a word that stands for a missing value, of rows and of keys of lines with types, or several
    short_rows whether rows may have fewer columns than the header
    stable     whether records with equal keys keep their order; otherwise their bytes decide
    unique     whether only the first of the records with equal keys is kept; or "last": only the last
    sum        with unique: a column, or several, whose numbers in records with equal keys are added up exactly: of
               rows as in a key, the number of a field of lines, "4+4:u32le" of records
    top        how many of the sorted records are kept, from the first on
    memory     the limit on memory in bytes or as in "2G"; 256 MiB if it is left out
    threads    threads that work at a time; as many as there are cores if it is left out
    temporary  a directory for temporary files, or several; the system's if it is left out
    stripe     the blocks of stripes, which protect temporary files by parity: one of so many directories
               and one more may be lost
    longest    bytes of the longest record, if it exceeds a 256th of the memory
    bad_records
               a file, which is replaced: rows with mistakes, and lines whose keys have types, are set aside in it,
               each with its input, its line and the reason; without it the first ends the sort
    progress   True for a bar in a terminal or notebook, or a function that takes a Progress; if it
               raises, the sort ends

    Raises OptionsError, InputError, MemoryLimitError, DamagedError or OSError; then the output has its
    old content. Ctrl-C ends the sort in the same way, unless the output is complete already.
    """
    options = {
        "format": format,
        "key": key,
        "separator": separator,
        "delimiter": delimiter,
        "header": header,
        "record_start": record_start,
        "record_lines": record_lines,
        "shuffle": shuffle,
        "null": null,
        "short_rows": short_rows,
        "stable": stable,
        "unique": unique,
        "sum": sum,
        "top": top,
        "memory": memory,
        "threads": threads,
        "temporary": temporary,
        "stripe": stripe,
        "longest": longest,
        "bad_records": bad_records,
        "progress": function(progress),
    }
    return _gristmill.sort_file(inputs, output, options)


def merge(
    inputs: Paths,
    output: Path,
    *,
    format: str = "lines",
    key: Keys = None,
    separator: str | bytes | None = None,
    delimiter: str | bytes | None = None,
    header: Header = True,
    record_start: str | None = None,
    record_lines: int | None = None,
    null: Words = (),
    short_rows: bool = False,
    stable: bool = False,
    unique: bool | Literal["first", "last"] = False,
    sum: Words = (),
    memory: Bytes = None,
    threads: int | None = None,
    temporary: Paths | None = None,
    stripe: int | None = None,
    bad_records: Path | None = None,
    progress: ProgressOption = None,
) -> Report:
    """Merges files that are sorted into a file.

    The options are those of sort_file. Raises InputError if an input is out of order; with unique="last"
    the files are sorted again.
    """
    options = {
        "format": format,
        "key": key,
        "separator": separator,
        "delimiter": delimiter,
        "header": header,
        "record_start": record_start,
        "record_lines": record_lines,
        "null": null,
        "short_rows": short_rows,
        "stable": stable,
        "unique": unique,
        "sum": sum,
        "memory": memory,
        "threads": threads,
        "temporary": temporary,
        "stripe": stripe,
        "bad_records": bad_records,
        "progress": function(progress),
    }
    return _gristmill.merge(inputs, output, options)


def check(
    file: Path,
    *,
    format: str = "lines",
    key: Keys = None,
    separator: str | bytes | None = None,
    delimiter: str | bytes | None = None,
    header: Header = True,
    record_start: str | None = None,
    record_lines: int | None = None,
    null: Words = (),
    short_rows: bool = False,
    stable: bool = False,
    unique: bool = False,
    memory: Bytes = None,
    threads: int | None = None,
    progress: ProgressOption = None,
) -> Disorder | None:
    """Looks for the first record of a file that is out of order; None if all are in order.

    The options are those of sort_file. With unique, equal keys are out of order, too.
    """
    options = {
        "format": format,
        "key": key,
        "separator": separator,
        "delimiter": delimiter,
        "header": header,
        "record_start": record_start,
        "record_lines": record_lines,
        "null": null,
        "short_rows": short_rows,
        "stable": stable,
        "unique": unique,
        "memory": memory,
        "threads": threads,
        "progress": function(progress),
    }
    found = _gristmill.check(file, options)
    return None if found is None else Disorder(*found)
