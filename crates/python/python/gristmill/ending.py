"""The end of the interpreter, which leaves some objects and threads without a word."""

from __future__ import annotations

import atexit
import weakref
from typing import Any

from .errors import Error

_open: weakref.WeakSet[Any] = weakref.WeakSet()


def follow(thing: Any) -> None:
    """Closes an object at the end of the interpreter, so that its temporary files go."""
    _open.add(thing)


@atexit.register
def _close_all() -> None:
    for thing in list(_open):
        try:
            thing.close()
        except Error:
            # Another thread works with it, and ends with the process.
            thing._abandon()
