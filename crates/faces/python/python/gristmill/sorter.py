"""Sorts of records that a program pushes."""

from __future__ import annotations

from typing import Any, Callable, Literal

from ._gristmill import Pushed
from .ending import follow
from .options import Bytes, Header, Keys, Path, Paths, Words
from .progress import ProgressOption, function


class Sorter(Pushed):
    """A sort of records that are pushed and read back in order.

    with gristmill.Sorter(format="fixed:16", key="0+8:u64le", memory="1G") as sorter:
        sorter.push_all(records)                     # any iterable of bytes
        for record in sorter.finish():
            ...

    Options that it shares with sort_file have the same meaning.

    format     as for files, or "arrow" for record batches: see push_arrow
    key        a key or several of the format; a function that makes the key of each record, a bool,
               int, float, str, bytes, None or a tuple of these; for "arrow", names of columns, as in
               "price", "price:desc", "price:nulls-last"
    reverse    with a key function: the largest key first

    A key function sees the record as it is pushed, and records with equal keys keep their order. A
    sorter is used by one thread at a time. At the end of the with block it is closed, and its temporary
    files are gone; the records that finish returned live on.
    """

    def __new__(
        cls,
        *,
        format: str = "lines",
        key: Keys | Callable[[bytes], Any] = None,
        reverse: bool = False,
        separator: str | bytes | None = None,
        delimiter: str | bytes | None = None,
        header: Header = True,
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
    ) -> Sorter:
        options = {
            "format": format,
            "key": key,
            "reverse": reverse,
            "separator": separator,
            "delimiter": delimiter,
            "header": header,
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
        sorter = super().__new__(cls, options)
        follow(sorter)
        return sorter
