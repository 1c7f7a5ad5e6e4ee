"""Code of a user that a type checker reads (tests/python.sh); nothing runs it."""

from __future__ import annotations

from typing import Iterator, List, Optional

import gristmill


def files() -> gristmill.Report:
    found: Optional[gristmill.Disorder] = gristmill.check("a", key="1,1n")
    if found is not None:
        found.record.decode()
    gristmill.merge(["a", "b"], "out", progress=lambda progress: print(progress.phase))
    return gristmill.sort_file("a", "out", memory="1G", temporary=["/tmp"], progress=True)


def records() -> Iterator[bytes]:
    with gristmill.Sorter(key=lambda record: (len(record), record), reverse=True) as sorter:
        sorter.push_all(b"%d" % number for number in range(9))
        sorter.push(b"9")
        for batch in sorter.finish().batches(5):
            yield from batch


def simulation() -> List[object]:
    runs = gristmill.simulate("merge-min", cores=64)
    figure = gristmill.lab("nanosort/figure-4", runs=2)
    return [runs["time_us"], runs.stages.rows(), figure.claims.to_csv()]
