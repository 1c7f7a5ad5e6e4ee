"""Tables of plain Python columns."""

from __future__ import annotations

from typing import Any, Iterable, Iterator


class Table(dict[str, list[Any]]):
    """Columns by name, all of one length: pandas.DataFrame(table) and polars.DataFrame(table) take it.

    table["time_us"] is a column, table.rows() gives the rows.
    """

    @staticmethod
    def of(rows: Iterable[dict[str, Any]]) -> Table:
        """The table of rows, which may lack some of the columns."""
        rows = list(rows)
        names = dict.fromkeys(name for row in rows for name in row)
        return Table({name: [row.get(name) for row in rows] for name in names})

    @property
    def height(self) -> int:
        """The number of rows."""
        return len(next(iter(self.values()), []))

    def rows(self) -> Iterator[dict[str, Any]]:
        """The rows, each with its values by column."""
        return (dict(zip(self, values)) for values in zip(*self.values()))

    def to_csv(self) -> str:
        """The table as CSV, with a header."""
        import csv
        import io

        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(self)
        writer.writerows(zip(*self.values()))
        return out.getvalue()

    def __repr__(self) -> str:
        return f"<Table of {self.height} rows: {', '.join(self)}>"

    def _repr_html_(self) -> str:
        """The first rows, for notebooks."""
        from html import escape

        def line(cells: Iterable[object], tag: str) -> str:
            return "<tr>" + "".join(f"<{tag}>{escape(str(cell))}</{tag}>" for cell in cells) + "</tr>"

        shown = 20
        lines = [line(values, "td") for values, _ in zip(zip(*self.values()), range(shown))]
        more = f"<p>{self.height} rows</p>" if self.height > shown else ""
        return f"<table>{line(self, 'th')}{''.join(lines)}</table>{more}"
