"""The types of options that several functions take."""

from __future__ import annotations

import os
from typing import Iterable, Union

Path = Union[str, "os.PathLike[str]"]
Paths = Union[Path, Iterable[Path]]
Keys = Union[str, Iterable[str], None]
Bytes = Union[int, str, None]
Words = Union[str, Iterable[str]]
Header = Union[bool, int, str, Iterable[Union[int, str]]]
