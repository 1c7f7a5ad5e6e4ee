"""Functions that are told the progress, and its line on a terminal."""

import os
import sys
import threading
import time
import unittest
from unittest import mock

import gristmill
from support import Terminal, TestCase, records

try:
    import pyarrow
except ImportError:
    pyarrow = None


class Progresses(TestCase):
    def test_a_progress_function_that_raises(self):
        def tell(progress):
            raise LookupError("told")

        with self.sorter(progress=tell) as sorter, self.assertRaises(LookupError):
            while True:
                sorter.push_all(records(10_000))

    def ended(self, end):
        """Checks that no line is left after an end of a sort, while its objects are."""
        with mock.patch("sys.stderr", Terminal()) as terminal:
            sorter = self.sorter(progress=True)
            while not terminal.shows_progress():
                sorter.push_all(records(10_000))
            kept = end(sorter)
            self.assertFalse(terminal.shows_progress())
            del sorter, kept

    def fails(self, call):
        with self.assertRaises(gristmill.StoppedError):
            call()

    def test_a_line_of_progress_before_the_end_of_the_input(self):
        def fail(sorter):
            sorter.stop()
            self.fails(lambda: [sorter.push_all(records(10_000)) for _ in range(1000)])

        for end in [gristmill.Sorter.close, fail]:
            with self.subTest(end):
                self.ended(end)

    def test_a_line_of_progress_while_records_are_read(self):
        def fail(back, call):
            back.stop()
            self.fails(call)

        ends = {
            "close": lambda back: back.close(),
            "the last record": list,
            "the last batch": lambda back: list(back.batches()),
            "read": lambda back: back.read(),
            "write_file": lambda back: back.write_file(self.path("out")),
            "a failure": lambda back: fail(back, lambda: list(back)),
            "a failure of read": lambda back: fail(back, back.read),
        }

        def end(sorter):
            back = sorter.finish()
            sorter.close()
            self.assertTrue(sys.stderr.shows_progress())
            ends[name](back)
            return back

        for name in ends:
            with self.subTest(name):
                self.ended(end)

    @unittest.skipIf(pyarrow is None, "pyarrow is not installed")
    def test_a_line_of_progress_of_record_batches(self):
        schema = pyarrow.schema({"text": pyarrow.string()})

        def broken():
            yield batch
            raise LookupError("broken")

        def fail(sorter):
            with self.assertRaises(gristmill.InputError):
                sorter.push_arrow(pyarrow.RecordBatchReader.from_batches(schema, broken()))

        def end(sorter):
            back = sorter.finish()
            self.assertTrue(sys.stderr.shows_progress())
            self.assertGreater(pyarrow.table(back).num_rows, 0)
            return back

        batch = pyarrow.record_batch({"text": ["x" * 100] * 10_000}, schema)
        for each in [fail, end]:
            with self.subTest(each), mock.patch("sys.stderr", Terminal()) as terminal:
                sorter = gristmill.Sorter(format="arrow", temporary=self.temporary, progress=True)
                while not terminal.shows_progress():
                    sorter.push_arrow(batch)
                kept = each(sorter)
                self.assertFalse(terminal.shows_progress())
                del sorter, kept

    def test_a_line_of_progress_whose_exception_is_kept(self):
        with mock.patch("sys.stderr", Terminal()) as terminal:
            path = self.path("in")
            os.mkfifo(path)

            def feed():
                with open(path, "wb") as pipe:
                    pipe.write(bytes(150))
                    while not terminal.shows_progress():
                        time.sleep(0.01)

            writer = threading.Thread(target=feed)
            writer.start()
            kept = None
            try:
                gristmill.sort_file(path, self.path("out"), format="fixed:100", progress=True)
            except gristmill.InputError as error:
                kept = error
            writer.join()
            self.assertIsNotNone(kept)
            self.assertFalse(terminal.shows_progress())

    def test_an_output_that_is_there_when_progress_would_raise(self):
        """The function is called once, returns after the end, and would raise in a second call."""
        path, out, told = self.path("in"), self.path("out"), []
        os.mkfifo(path)

        def tell(progress):
            if told:
                raise LookupError("told")
            told.append(progress)
            while not os.path.exists(out):
                time.sleep(0.01)
            time.sleep(0.5)

        def feed():
            with open(path, "wb") as pipe:
                pipe.write(b"b\na\n")
                while not told:
                    time.sleep(0.01)

        writer = threading.Thread(target=feed)
        writer.start()
        report = gristmill.sort_file(path, out, progress=tell)
        writer.join()
        self.assertEqual((report.records, self.content("out")), (2, b"a\nb\n"))


if __name__ == "__main__":
    unittest.main()
