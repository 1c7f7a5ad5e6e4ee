"""Drawn sorts beside Python's own: options, ways in and ways out together."""

import os
import random
import unittest

import gristmill
from support import TestCase

CASES = 2000 if os.environ.get("GRISTMILL_LONG") == "1" else 80


class Case:
    """Lines in an order that is drawn, and the options of the sort that makes it."""

    def __init__(self, rng):
        self.rng = rng
        count = rng.choice([0, 1, 2, 30, 30, 30, 3000])
        lines = [self.line() for _ in range(count)]
        while rng.random() < 0.1:
            lines.append(b"7,%d," % rng.randrange(9) + b"x" * rng.choice([900, 70_000, 600_000]))
        rng.shuffle(lines)
        self.lines = [line + b"\n" for line in lines]
        self.options = {"memory": rng.choice(["16M", "64M"]), "threads": rng.randrange(1, 4)}
        if max(map(len, self.lines), default=1) > 60_000:
            # A key may be the text once more.
            self.options.update(memory="1G", longest=1_300_000)
        if rng.random() < 0.3:
            self.options["stable"] = True
        if rng.random() < 0.3:
            self.options["unique"] = rng.choice([True, "first", "last"])
        if rng.random() < 0.3:
            self.options["top"] = rng.randrange(1, 40)

    def line(self):
        return b"%d,%d,%s" % (
            self.rng.randrange(-9, 9),
            self.rng.randrange(-90, 90),
            bytes(self.rng.choices(b"abc", k=self.rng.randrange(5))),
        )

    def key(self):
        """A way to compare lines: options of the sort, and a key for Python."""
        first, second = lambda line: int(line.split(b",")[0]), lambda line: int(line.split(b",")[1])
        text = lambda line: line.rstrip(b"\n").split(b",", 2)[2]
        functions = [
            second,
            lambda line: (text(line), -second(line)),
            lambda line: (first(line) if first(line) % 3 else None, text(line).decode()),
            lambda line: first(line) / 4,
            len,
        ]
        keys = [
            ({}, lambda line: line[:-1]),
            ({"separator": ",", "key": "2,2n"}, second),
            ({"separator": ",", "key": ["1,1n", "2,2nr"]}, lambda line: (first(line), -second(line))),
        ]
        if "unique" in self.options and "top" not in self.options and self.rng.random() < 0.5:
            return {"separator": ",", "key": "2,2n", "sum": "1"}, second
        if self.rng.random() < 0.5:
            function, reverse = self.rng.choice(functions), self.rng.random() < 0.5
            return {"key": function, "reverse": reverse}, function
        return self.rng.choice(keys)

    def expected(self, options, key):
        """The lines in order. None comes before any other key."""

        def plain(key):
            if isinstance(key, tuple):
                return tuple(plain(part) for part in key)
            return (key is not None, 0 if key is None else key)

        is_function = callable(options.get("key"))
        lines = self.lines
        if not is_function and not self.options.keys() & {"stable", "unique"}:
            lines = sorted(lines, key=lambda line: line[:-1])
        lines = sorted(lines, key=lambda line: plain(key(line)), reverse=options.get("reverse", False))
        if "unique" in self.options:
            is_last = self.options["unique"] == "last"
            kept = {plain(key(line)): line for line in (lines if is_last else reversed(lines))}
            # The place of a key is that of the first line with it.
            kept = list(kept.values()) if is_last else list(kept.values())[::-1]
            if "sum" in options:
                totals = {}
                for line in lines:
                    first, rest = line.split(b",", 1)
                    totals.setdefault(key(line), []).append(int(first))
                kept = [
                    line if len(totals[key(line)]) == 1 else b"%d," % sum(totals[key(line)]) + line.split(b",", 1)[1]
                    for line in kept
                ]
            lines = kept
        return lines[: self.options.get("top", len(lines))]


class Drawn(TestCase):
    def push(self, sorter, lines, rng, is_plain):
        # A key function sees a line as it is pushed, with its newline or without.
        way = rng.randrange(3) if is_plain else 0
        if way == 0:
            sorter.push_all(lines)
        elif way == 1:
            for line in lines:
                sorter.push(line if rng.random() < 0.5 else bytearray(line[:-1]))
        else:
            middle = rng.randrange(len(lines) + 1)
            sorter.push_all(iter(lines[:middle]))
            sorter.push_all(line[:-1] for line in lines[middle:])

    def read(self, back, rng):
        """All records, in a way that is drawn."""
        way = rng.randrange(4)
        if way == 0:
            return back.read()
        if way == 1:
            back.write_file(self.path("out"))
            return self.content("out")
        if way == 2:
            # An iterator goes on where the one before it has stopped.
            some = [record for _, record in zip(range(rng.randrange(40)), back)]
            return b"".join(some) + b"".join(back)
        got = []
        for batch in back.batches(rng.choice([1, 7, 4096])):
            got.extend(batch)
        return b"".join(got)

    def test_drawn_sorts(self):
        for seed in range(CASES):
            with self.subTest(seed=seed):
                rng = random.Random(seed)
                case = Case(rng)
                options, key = case.key()
                expected = b"".join(case.expected(options, key))
                options = {**case.options, **options, "temporary": self.temporary}
                if not callable(options.get("key")) and rng.random() < 0.4:
                    cut = rng.randrange(len(case.lines) + 1)
                    parts = [case.lines[:cut], case.lines[cut:]]
                    paths = [
                        self.write(f"in{number}", b"".join(part)) for number, part in enumerate(parts)
                    ]
                    report = gristmill.sort_file(paths, self.path("out"), **options)
                    got = self.content("out")
                else:
                    with gristmill.Sorter(**options) as sorter:
                        self.push(sorter, case.lines, rng, not callable(options.get("key")))
                        back = sorter.finish()
                        got = self.read(back, rng)
                        report = back.report
                self.assertTrue(got == expected, f"{len(got)} bytes of {len(expected)}")
                self.assertEqual(report.records, expected.count(b"\n"))
                self.assertEqual(report.bytes, len(expected))


if __name__ == "__main__":
    unittest.main()
