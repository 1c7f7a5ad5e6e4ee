"""The exceptions of the module. A file that cannot be opened, read or written is an OSError."""

from __future__ import annotations


class Error(Exception):
    """A sort or a simulation has failed. No output has its name then, and no temporary file is left."""


class OptionsError(Error, ValueError):
    """A format, a key or another option has a mistake."""


class MemoryLimitError(Error, MemoryError):
    """The limit on memory is too low, or a record is longer than it allows."""


class InputError(Error, ValueError):
    """A record or a file is wrong: it ends within a record, is out of order, or changed meanwhile."""

    file: str | None
    """The file, if it is one."""

    offset: int | None
    """Bytes of the file before the mistake, if that is known."""

    def __init__(self, what: str, file: str | None = None, offset: int | None = None) -> None:
        super().__init__(what)
        self.file = None if file is None else str(file)
        self.offset = offset

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), (*self.args, self.file, self.offset)


class StoppedError(Error):
    """The sort was stopped, by its stop method or by an exception before."""


class StateError(Error, RuntimeError):
    """An object cannot do this now: it is closed, another thread uses it, or this is a forked process."""


class DamagedError(Error):
    """Records were lost or changed, on a disk or in memory. The check of the output found it."""
