"""What sorts and checks report."""

from __future__ import annotations

from typing import NamedTuple


class Report(NamedTuple):
    """What a sort did."""

    records: int
    """Records written."""
    bytes: int
    """Their bytes."""
    passes: int
    """How often a record was read and written: 1 if memory held all."""
    temporary_bytes: int
    """The most bytes of temporary files at any time."""
    seconds: float
    """The time that it took."""
    in_place: bool
    """Whether the output file was written in place, because it could not be replaced."""
    rebuilt_bytes: int = 0
    """Bytes of a temporary directory that was lost, read from the others."""
    apart: int = 0
    """Records that stayed apart from those with their keys, because a total would not have fitted."""
    set_aside: int = 0
    """Records that were set aside for their mistakes."""


class Disorder(NamedTuple):
    """A record that is out of order."""

    number: int
    """Its number among the records of the file, from 1."""
    record: bytes
    """The record, with its newline if it is a line."""
