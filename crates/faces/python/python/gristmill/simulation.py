"""Programs on simulated machines, and the papers' experiments, as tables."""

from __future__ import annotations

import json
import os
from typing import Any

from . import _gristmill
from .options import Path
from .table import Table


class Simulation(Table):
    """The runs of a program: a row for each, with its seed, options, time and counts."""

    report: dict[str, Any]
    """The whole report, as `gristmill sim --json` prints it."""

    stages: Table
    """Time and idle time of each stage of each run, over all cores, in microseconds."""

    def __init__(self, report: dict[str, Any]) -> None:
        super().__init__(Table.of(_run(report, run) for run in report["runs"]))
        self.report = report
        self.stages = Table.of(
            {"seed": run["seed"], "stage": stage["name"], **_scalars(stage, but=("name",))}
            for run in report["runs"]
            for stage in run["stages"]
        )


class Figure(Table):
    """The points of an experiment's charts: a row for each, with mean and deviation over its runs."""

    report: dict[str, Any]
    """The whole figure, as `gristmill lab run --json` prints it."""

    paper: Table
    """The points that the paper gives, by chart; none at smoke size."""

    claims: Table
    """The paper's claims beside ours; none at smoke size."""

    def __init__(self, report: dict[str, Any]) -> None:
        charts = report["charts"]
        super().__init__(
            Table.of(
                {"chart": chart["title"], "series": series["label"], "x": point["x"], **point["y"]}
                for chart in charts
                for series in chart["series"]
                for point in series["points"]
            )
        )
        self.report = report
        self.paper = Table.of(
            {"chart": chart["title"], **mark} for chart in charts for mark in chart["paper"]
        )
        self.claims = Table.of(_scalars(claim) for claim in report["claims"])


def simulate(
    program: str,
    machine: Path | None = None,
    *,
    seed: int = 1,
    runs: int = 1,
    **options: Any,
) -> Simulation:
    """Runs a program on a simulated machine.

    program  as `gristmill sim` has it, such as "nano-sort"
    machine  a name such as "nanopu", the path of a file, or "threads" for this computer
    seed     seed of the first run, which decides everything that is drawn
    runs     runs, each with the next seed
    options  options of the program and changes of the machine, such as cores=4096, switch_ns=100

    The table of runs goes straight into pandas.DataFrame or polars.DataFrame. Raises OptionsError.
    """
    given = {name.replace("_", "-"): _value(value) for name, value in options.items()}
    on = None if machine is None else os.fspath(machine)
    report = _gristmill.simulation(program, on, json.dumps(given), (seed, runs))
    return Simulation(json.loads(report))


def lab(
    name: Path, *, full: bool = False, seed: int | None = None, runs: int | None = None
) -> Figure:
    """Runs an experiment of the papers, or one of your own.

    name  as experiments() has it, such as "nanosort/figure-12", or the path of an experiment's file
    full  the paper's size, which may take minutes; otherwise a size that takes a moment
    seed  seed of the first run, instead of the experiment's
    runs  runs of each point, instead of the experiment's

    Raises OptionsError.
    """
    report = _gristmill.experiment(os.fspath(name), full, seed, runs)
    return Figure(json.loads(report))


def experiments() -> list[str]:
    """The names of the built-in experiments."""
    return _gristmill.experiments()


def _value(value: Any) -> Any:
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else value


def _run(report: dict[str, Any], run: dict[str, Any]) -> dict[str, Any]:
    about = {"program": report["program"], "machine": report["machine"], "cores": report["cores"]}
    return {
        **about,
        **_scalars(report["parameters"]),
        **_scalars(run),
        "passed": run["check"]["passed"],
        "fault": run["check"]["fault"],
    }


def _scalars(fields: dict[str, Any], but: tuple[str, ...] = ()) -> dict[str, Any]:
    kept = {name: value for name, value in fields.items() if not isinstance(value, (dict, list))}
    return {name: value for name, value in kept.items() if name not in but}
