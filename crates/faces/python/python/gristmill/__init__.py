"""Sorts records that do not fit in memory, and simulates sorts on clusters of tiny tasks.

    import gristmill

    gristmill.sort_file("in.txt", "out.txt")             # lines of a file

    with gristmill.Sorter(key=len) as sorter:            # records of a program
        sorter.push_all([b"ccc", b"a", b"bb"])
        for line in sorter.finish():
            ...

    gristmill.simulate("merge-min", cores=64)            # a program on a simulated machine

Sorts work within a limit of memory and put the rest into temporary files, which they remove.
"""

from ._gristmill import Batches, Sorted, __version__
from .errors import (
    DamagedError,
    Error,
    InputError,
    MemoryLimitError,
    OptionsError,
    StateError,
    StoppedError,
)
from .files import check, merge, sort_file
from .progress import Progress
from .reports import Disorder, Report
from .simulation import Figure, Simulation, experiments, lab, simulate
from .sorter import Sorter
from .table import Table

__all__ = [
    "Batches",
    "DamagedError",
    "Disorder",
    "Error",
    "Figure",
    "InputError",
    "MemoryLimitError",
    "OptionsError",
    "Progress",
    "Report",
    "Simulation",
    "Sorted",
    "Sorter",
    "StateError",
    "StoppedError",
    "Table",
    "__version__",
    "check",
    "experiments",
    "lab",
    "merge",
    "simulate",
    "sort_file",
]
