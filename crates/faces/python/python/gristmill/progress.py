"""Progress of sorts: for functions, terminals and notebooks."""

from __future__ import annotations

import sys
import time
from typing import Any, Callable, NamedTuple, Union


class Progress(NamedTuple):
    """How far a sort has come."""

    phase: str
    """The phase: empty before the sort begins, then such as "sort" and "merge"."""
    read: int
    """Bytes that were read in this phase."""
    written: int
    """Bytes that were written in this phase."""
    total: int
    """Bytes of all records; 0 if that is not known."""

    @property
    def fraction(self) -> float | None:
        """The part of the phase that is done, from 0 to 1; None if that is not known."""
        if not self.total:
            return None
        return min(1.0, max(self.read, self.written) / self.total)


ProgressOption = Union[bool, Callable[[Progress], object], None]


def function(option: ProgressOption) -> Callable[[Progress], object] | None:
    """The function that shows progress as the option asks for it."""
    if option is True:
        return Bar() if _in_notebook() else Line() if sys.stderr.isatty() else None
    if option is None or option is False:
        return None
    if not callable(option):
        raise TypeError("progress must be True, False or a function that takes a Progress")
    return option


class Line:
    """Shows progress in one line of a terminal.

    The line disappears with this object. A sort lets go of it at its end, however it ends.
    """

    def __init__(self) -> None:
        self._begin = time.monotonic()
        self._width = 0

    def __call__(self, progress: Progress) -> None:
        text = describe(progress, time.monotonic() - self._begin)
        sys.stderr.write("\r" + text.ljust(self._width))
        sys.stderr.flush()
        self._width = len(text)

    def __del__(self) -> None:
        if self._width:
            sys.stderr.write("\r" + " " * self._width + "\r")
            sys.stderr.flush()


class Bar:
    """Shows progress as a bar in a notebook."""

    def __init__(self) -> None:
        self._begin = time.monotonic()
        self._display: Any = None

    def __call__(self, progress: Progress) -> None:
        self._show(progress.fraction, describe(progress, time.monotonic() - self._begin))

    def _show(self, fraction: float | None, text: str) -> None:
        from IPython.display import HTML, display  # type: ignore[import-not-found,unused-ignore]

        value = "" if fraction is None else f' value="{fraction:.3f}"'
        page = HTML(f"<progress{value}></progress> {text}")
        if self._display is None:
            self._display = display(page, display_id=True)
        else:
            self._display.update(page)

    def __del__(self) -> None:
        if self._display is not None:
            self._show(1.0, f"ended after {time.monotonic() - self._begin:.1f} s")


def describe(progress: Progress, seconds: float) -> str:
    """The progress in a line of text."""
    done = max(progress.read, progress.written)
    parts = [progress.phase or "start"]
    fraction = progress.fraction
    if fraction is not None:
        parts.append(f"{fraction:4.0%} of {size(progress.total)}")
    else:
        parts.append(size(done))
    parts.append(f"{seconds:.0f} s")
    return "  ".join(parts)


def size(count: int) -> str:
    """A number of bytes for people, such as 5.9 GB."""
    number, unit = float(count), "B"
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if number < 1000 or unit == "TB":
            break
        number /= 1000
    return f"{number:.0f} B" if unit == "B" else f"{number:.1f} {unit}"


def _in_notebook() -> bool:
    """Whether this is a kernel of Jupyter, which has loaded IPython."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return type(shell).__name__ == "ZMQInteractiveShell"
