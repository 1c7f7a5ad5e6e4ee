"""Numbers of every size in every call: each is taken, or refused with what to do."""

import unittest

import gristmill
from support import TestCase

NUMBERS = [
    -(2**70),
    -(2**63),
    -1,
    0,
    1,
    2,
    255,
    2**31,
    2**32,
    2**40,
    2**46,
    2**62,
    2**63 - 1,
    2**64 - 1,
    2**64,
    2**200,
]
"""Edges of ranges, and numbers that no machine has."""

REFUSED = (gristmill.OptionsError, gristmill.MemoryLimitError, gristmill.InputError)


class Numbers(TestCase):
    def each(self, work, numbers=NUMBERS):
        """Does work with each number. It is done, or refused with a text of several words."""
        for number in numbers:
            with self.subTest(number=number):
                try:
                    work(number)
                except REFUSED as refusal:
                    self.assertIn(" ", str(refusal))

    def test_options_of_files(self):
        file, out = self.write("in", b"b\na\n"), self.path("out")

        def sorts(**options):
            try:
                gristmill.sort_file(file, out, temporary=self.temporary, **options)
                self.assertTrue(b"a\nb\n".startswith(self.content("out")))
            finally:
                options.pop("top", None)
                options.pop("longest", None)
                gristmill.check(file, **options)
                gristmill.merge([], out, temporary=self.temporary, **options)

        for name in ["memory", "threads", "top", "longest"]:
            self.each(lambda number, name=name: sorts(**{name: number}))
            self.each(lambda number, name=name: sorts(**{name: number, "memory": 2**62}))
        self.each(lambda number: sorts(memory=2**46, longest=number, threads=2**62))
        self.each(lambda number: sorts(memory=str(number)))
        self.each(lambda number: sorts(memory=f"{number}T"))
        self.each(lambda number: gristmill.check(file, format=f"fixed:{number}"))
        self.each(lambda number: sorts(key=f"{number}.{number},{number}n"))

    def test_options_of_records(self):
        def sorts(records=(b"b\n", b"a\n"), **options):
            with gristmill.Sorter(temporary=self.temporary, **options) as sorter:
                sorter.push_all(records)
                self.assertTrue([b"a\n", b"b\n"][: len(list(sorter.finish()))])

        for name in ["memory", "threads", "top", "longest"]:
            self.each(lambda number, name=name: sorts(**{name: number}))
            self.each(lambda number, name=name: sorts(key=lambda line: line, **{name: number}))
        self.each(lambda number: sorts(memory=2**46, longest=number, threads=2**62))

    def test_sizes_of_batches(self):
        def reads(size):
            with gristmill.Sorter() as sorter:
                sorter.push_all([b"b", b"a"])
                batches = list(sorter.finish().batches(size))
            self.assertEqual(sum(batches, []), [b"a\n", b"b\n"])

        self.each(reads)
        with self.assertRaisesRegex(gristmill.OptionsError, "size must be at least 1, not -1"):
            reads(-1)
        with self.assertRaises(TypeError):
            reads("many")

    def test_keys(self):
        for number in NUMBERS:
            with gristmill.Sorter(key=lambda line: number) as sorter:
                if -(2**63) <= number < 2**63:
                    sorter.push(b"a")
                else:
                    with self.assertRaises(OverflowError):
                        sorter.push(b"a")

    def test_simulations(self):
        few = [number for number in NUMBERS if not 2 < number < 2**64]
        self.each(lambda seed: gristmill.simulate("loopback", seed=seed))
        # As many runs as that take for ever.
        self.each(lambda runs: gristmill.simulate("loopback", runs=runs), few)
        self.each(lambda runs: gristmill.simulate("loopback", seed=2**64 - 1, runs=runs), few)
        for option in ["cores", "incast", "values_per_core", "switch_ns", "link_ns", "threads", "no_such"]:
            self.each(lambda number: gristmill.simulate("merge-min", **{"cores": 8, option: number}))
        for name in ["cores", "keys_per_core", "buckets"]:
            self.each(lambda number: gristmill.simulate("nano-sort", **{"cores": 16, name: number}))

    def test_experiments(self):
        few = [number for number in NUMBERS if not 2 < number < 2**64]
        self.each(lambda seed: gristmill.lab("nanosort/figure-4", seed=seed, runs=1))
        self.each(lambda runs: gristmill.lab("nanosort/figure-4", runs=runs), few)


if __name__ == "__main__":
    unittest.main()
