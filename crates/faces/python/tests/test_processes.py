"""Forks, the end of the interpreter, signals, and a system without threads."""

import os
import signal
import time
import unittest

import gristmill
from support import SMALL, TestCase, records

try:
    import pyarrow
except ImportError:
    pyarrow = None

MANY = 200_000


class Processes(TestCase):
    def test_a_fork(self):
        sorter = gristmill.Sorter(format="fixed:100", memory=SMALL, temporary=self.temporary)
        sorter.push_all(records(MANY))
        child = os.fork()
        if child == 0:
            status = 1
            try:
                sorter.push_all(records(MANY))
                list(sorter.finish())
            except gristmill.StateError:
                del sorter
                with gristmill.Sorter() as own:
                    own.push_all([b"b", b"a"])
                    status = 0 if list(own.finish()) == [b"a\n", b"b\n"] else 2
            finally:
                os._exit(status)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertTrue(list(sorter.finish()) == sorted(records(MANY)))
        sorter.close()

    def test_an_end_without_a_close(self):
        script = """
import sys, gristmill
def told(progress):
    pass
sorters = [gristmill.Sorter(memory="16M", temporary=sys.argv[1], progress=told) for _ in range(2)]
for sorter in sorters:
    sorter.push_all([bytes(99 - n % 7) for n in range(400_000)])
back = iter(sorter.finish())
next(back)
"""
        self.run_script(script, self.temporary)

    def test_a_system_without_threads(self):
        """A thread needs 2 MiB of addresses for its stack, and there are none."""
        script = """
import resource, sys, gristmill
sorter = gristmill.Sorter()
sorter.push(b"a")
pages = int(open("/proc/self/statm").read().split()[0])
limits = resource.getrlimit(resource.RLIMIT_AS)
resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + (1 << 20), limits[1]))
try:
    gristmill.check(sys.argv[1])
except OSError as error:
    caught = error
resource.setrlimit(resource.RLIMIT_AS, limits)
print(caught)
assert gristmill.check(sys.argv[1]) is None
"""
        self.assertIn("no thread", self.run_script(script, self.write("in", b"a\n")))

    INTERRUPTED = """
import sys, gristmill
def told(progress):
    print(progress.phase, flush=True)
try:
    {work}
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""

    def interrupted(self, work, seconds=20):
        script = self.INTERRUPTED.format(work=work.replace("\n", "\n    "))
        process = self.start_script(script, self.temporary, self.path("in"), self.path("out"))
        self.assertNotEqual(process.stdout.readline(), "")
        process.send_signal(signal.SIGINT)
        begin = time.monotonic()
        rest, _ = process.communicate()
        self.assertTrue(rest.endswith("interrupted\n"), rest)
        self.assertLess(time.monotonic() - begin, seconds)
        self.assertFalse(os.path.exists(self.path("out")))

    def test_ctrl_c_while_records_are_pushed(self):
        self.interrupted(
            """sorter = gristmill.Sorter(memory="16M", temporary=sys.argv[1], progress=told)
many = [bytes(99 - n % 7) for n in range(10_000)]
while True:
    sorter.push_all(many)"""
        )

    @unittest.skipIf(pyarrow is None, "pyarrow is not installed")
    def test_ctrl_c_while_a_slow_stream_is_pushed(self):
        self.interrupted(
            """import pyarrow, time
schema = pyarrow.schema({"n": pyarrow.int64()})
def slow():
    for _ in range(600):
        print("batch", flush=True)
        time.sleep(0.05)
        # A stream may have rows that rarely pass its filter.
        yield pyarrow.record_batch({"n": []}, schema)
sorter = gristmill.Sorter(format="arrow", temporary=sys.argv[1])
sorter.push_arrow(pyarrow.RecordBatchReader.from_batches(schema, slow()))""",
            seconds=5,
        )

    def test_ctrl_c_while_a_file_is_sorted(self):
        self.endless("in")
        self.interrupted(
            """gristmill.sort_file(sys.argv[2], sys.argv[3], progress=told,
    memory="16M", temporary=sys.argv[1])"""
        )

    def test_ctrl_c_while_a_machine_is_simulated(self):
        self.interrupted(
            """print("begun", flush=True)
gristmill.simulate("nano-sort", cores=65536, runs=100)"""
        )


if __name__ == "__main__":
    unittest.main()
