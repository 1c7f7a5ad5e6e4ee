"""The end of the interpreter, which leaves some objects and threads without a word."""

from __future__ import annotations

import atexit
import weakref
from typing import Any

from .errors import Error

_open: weakref.WeakSet[Any] = weakref.WeakSet()


def follow(thing: Any) -> None:
    """Ends the sort of an object at the end of the interpreter, so that its temporary files go."""
    _open.add(thing)


@atexit.register
def _end_all() -> None:
    things = list(_open)
    for thing in things:
        try:
            thing.close()
        except Error:
            # Another thread works with it, and goes no further.
            pass
    for thing in things:
        thing._abandon()
