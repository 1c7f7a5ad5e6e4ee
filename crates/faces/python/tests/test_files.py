"""Sorts, merges and checks of files."""

import os
import pathlib
import unittest

import gristmill
from support import SMALL, TestCase, records


class Files(TestCase):
    def test_a_file_is_sorted(self):
        source = self.write("in", b"b\na\n")
        report = gristmill.sort_file(source, pathlib.Path(self.path("out")))
        self.assertEqual(self.content("out"), b"a\nb\n")
        self.assertEqual((report.records, report.bytes, report.passes), (2, 4, 1))

    def test_several_files_with_keys(self):
        sources = [self.write("a", b"x 2\ny 10\n"), self.write("b", b"z 1\n")]
        gristmill.sort_file(sources, sources[0], key="2,2n")
        self.assertEqual(self.content("a"), b"z 1\nx 2\ny 10\n")

    def test_more_than_memory_holds(self):
        lines = [record.hex().encode() + b"\n" for record in records(200_000, width=50)]
        source, seen = self.write("in", b"".join(lines)), []
        options = {"memory": SMALL, "temporary": [self.temporary], "threads": 2}
        report = gristmill.sort_file(source, self.path("out"), progress=seen.append, **options)
        self.assertTrue(self.content("out") == b"".join(sorted(lines)))
        self.assertGreater(report.passes, 1)
        for progress in seen:
            self.assertIsInstance(progress, gristmill.Progress)
            self.assertTrue(progress.fraction is None or 0 <= progress.fraction <= 1)

    def test_merge(self):
        sources = [self.write("a", b"1\n3\n"), self.write("b", b"2\n3\n")]
        report = gristmill.merge(sources, self.path("out"), unique=True)
        self.assertEqual((self.content("out"), report.records), (b"1\n2\n3\n", 3))
        unsorted = self.write("c", b"2\n1\n")
        with self.assertRaises(gristmill.InputError):
            gristmill.merge([sources[0], unsorted], self.path("out"))
        self.assertEqual(self.content("out"), b"1\n2\n3\n")

    def test_check(self):
        self.assertIsNone(gristmill.check(self.write("a", b"1\n2\n2\n")))
        found = gristmill.check(self.path("a"), unique=True)
        self.assertEqual(found, gristmill.Disorder(3, b"2\n"))
        self.assertEqual(gristmill.check(self.path("a"), key="1,1nr").number, 2)

    def test_records_of_several_lines(self):
        log = self.write("log", b"10:02 late\n  at main\n09:59 early\n")
        gristmill.sort_file(log, self.path("out"), record_start="[0-9]{2}:")
        self.assertEqual(self.content("out"), b"09:59 early\n10:02 late\n  at main\n")
        self.assertEqual(gristmill.check(log, record_start="[0-9]{2}:"), gristmill.Disorder(2, b"09:59 early\n"))
        reads = self.write("reads", b"@b\nA\n@a\nC\n")
        gristmill.merge(reads, self.path("out"), record_lines=2, separator="\n", key="2,2")
        self.assertEqual(self.content("out"), b"@b\nA\n@a\nC\n")
        with self.assertRaisesRegex(OSError, "does not begin with"):
            gristmill.sort_file(log, self.path("out"), record_start="x")
        with self.assertRaisesRegex(gristmill.OptionsError, "at least one line"):
            gristmill.sort_file(log, self.path("out"), record_lines=0)

    def test_shuffled_lines(self):
        lines = self.write("lines", b"name\n" + b"".join(b"%d\n" % number for number in range(1000)))
        gristmill.sort_file(lines, self.path("out"), header=1, shuffle=7)
        once = self.content("out")
        self.assertTrue(once.startswith(b"name\n"))
        self.assertEqual(sorted(once.splitlines()), sorted(self.content("lines").splitlines()))
        gristmill.sort_file(lines, self.path("out"), header=1, shuffle=7, memory="8M", top=10)
        self.assertEqual(self.content("out"), b"".join(once.splitlines(True)[:11]))
        gristmill.sort_file(lines, self.path("out"), header=1, shuffle=8)
        self.assertNotEqual(self.content("out"), once)
        with self.assertRaisesRegex(gristmill.OptionsError, "have no keys"):
            gristmill.sort_file(lines, self.path("out"), key="1,1", shuffle=7)
        with self.assertRaisesRegex(gristmill.OptionsError, "shuffle must be at least 0"):
            gristmill.sort_file(lines, self.path("out"), shuffle=-1)

    def test_records_with_mistakes(self):
        lines = self.write("lines", b"b 2\na x\nc 1\n")
        report = gristmill.sort_file(lines, self.path("out"), key="2:num", bad_records=self.path("bad"))
        self.assertEqual((report.records, report.set_aside), (2, 1))
        self.assertEqual(self.content("out"), b"c 1\nb 2\n")
        self.assertEqual(self.content("bad").splitlines()[0], b"file,line,reason,row")
        rows = self.write("rows", b"a,b\n1,2\n3\n")
        gristmill.merge(rows, self.path("out"), format="csv", key="a:num", bad_records=pathlib.Path(self.path("bad")))
        self.assertEqual(self.content("out"), b"a,b\n1,2\n")
        with gristmill.Sorter(key="1:num", bad_records=self.path("bad")) as sorter:
            sorter.push_all([b"2", b"x", b"1"])
            sorted = sorter.finish()
            self.assertEqual(list(sorted), [b"1\n", b"2\n"])
        self.assertEqual(sorted.report.set_aside, 1)
        for wrong in ({}, {"format": "fixed:4"}, {"key": "1:num", "record_lines": 2}):
            with self.assertRaisesRegex(gristmill.OptionsError, "bad_records sets rows aside"):
                gristmill.sort_file(lines, self.path("out"), bad_records=self.path("bad"), **wrong)


class BadInput(TestCase):
    def test_a_missing_file(self):
        with self.assertRaises(FileNotFoundError) as raised:
            gristmill.sort_file(self.path("none"), self.path("out"))
        self.assertEqual(raised.exception.filename, self.path("none"))
        self.assertFalse(os.path.exists(self.path("out")))

    def test_a_directory_that_is_missing(self):
        source = self.write("in", b"a\n")
        with self.assertRaises(OSError):
            gristmill.sort_file(source, self.path("none/out"))

    def test_a_torn_record(self):
        source = self.write("in", bytes(250))
        with self.assertRaises(gristmill.InputError) as raised:
            gristmill.sort_file(source, self.path("out"), format="fixed:100")
        self.assertEqual(raised.exception.file, source)
        self.assertIn(source, str(raised.exception))
        self.assertFalse(os.path.exists(self.path("out")))

    def test_options(self):
        source = self.write("in", b"a\n")
        wrong = [
            {"format": "lynes"},
            {"key": "x"},
            {"memory": "12Q"},
            {"separator": "ab"},
            {"format": "arrow"},
            {"key": len},
        ]
        for options in wrong:
            with self.assertRaises(gristmill.OptionsError, msg=options):
                gristmill.sort_file(source, self.path("out"), **options)
        ranges = [
            {"memory": -1},
            {"memory": 1 << 64},
            {"threads": 0},
            {"threads": -1},
            {"stripe": 0},
            {"top": -1},
            {"longest": -1},
        ]
        for options in ranges:
            with self.assertRaisesRegex(gristmill.OptionsError, next(iter(options)), msg=options):
                gristmill.sort_file(source, self.path("out"), **options)
        for options in [{"nonsense": 1}, {"progress": 3}, {"top": "x"}, {"threads": 1.5}]:
            with self.assertRaises(TypeError, msg=options):
                gristmill.sort_file(source, self.path("out"), **options)
        with self.assertRaises(gristmill.MemoryLimitError):
            gristmill.sort_file(source, self.path("out"), memory=1000)

    def test_a_progress_function_that_raises(self):
        def tell(progress):
            raise KeyError("no more")

        options = {"memory": SMALL, "temporary": self.temporary, "progress": tell}
        with self.assertRaises(KeyError):
            gristmill.sort_file(self.endless("in"), self.path("out"), **options)
        self.assertFalse(os.path.exists(self.path("out")))


if __name__ == "__main__":
    unittest.main()
