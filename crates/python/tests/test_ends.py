"""Everything that may end a sort too early."""

import gc
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import unittest

import gristmill
from support import SMALL, TestCase, records

MANY = 200_000


class Ends(TestCase):
    def sorter(self, **options):
        options = {"format": "fixed:100", "memory": SMALL, "temporary": self.temporary, **options}
        return gristmill.Sorter(**options)

    def test_an_iterable_that_fails_midway(self):
        def broken():
            yield from records(MANY)
            raise LookupError("broken")

        with self.sorter() as sorter:
            with self.assertRaises(LookupError):
                sorter.push_all(broken())
            sorter.push(bytes(100))
            self.assertEqual(sum(1 for _ in sorter.finish()), MANY + 1)

    def test_a_block_that_raises(self):
        with self.assertRaises(ZeroDivisionError), self.sorter() as sorter:
            sorter.push_all(records(MANY))
            self.assertNotEqual(os.listdir(self.temporary), [])
            1 / 0

    def test_a_key_function_that_raises(self):
        with self.sorter(key=lambda record: 1 // record[0]) as sorter:
            sorter.push(b"\1" * 100)
            with self.assertRaises(ZeroDivisionError):
                sorter.push_all([b"\1" * 100, bytes(100), b"\1" * 100])
            self.assertEqual(len(list(sorter.finish())), 2)

    def test_a_key_function_that_uses_the_sorter(self):
        with self.sorter(key=lambda record: sorter.push(record)) as sorter:
            with self.assertRaises(gristmill.StateError):
                sorter.push(bytes(100))

    def test_wrong_records(self):
        with self.sorter() as sorter:
            for wrong in ["text", 5, None]:
                with self.assertRaises(TypeError):
                    sorter.push(wrong)
            with self.assertRaises(TypeError):
                sorter.push_all(7)
            with self.assertRaisesRegex(gristmill.InputError, "record 2: "):
                sorter.push_all([bytes(100), bytes(99)])
            self.assertEqual(list(sorter.finish()), [bytes(100)])
        with gristmill.Sorter() as sorter, self.assertRaises(gristmill.InputError):
            sorter.push(b"a\nb\n")

    def test_a_line_that_is_too_long(self):
        with gristmill.Sorter(memory=SMALL, temporary=self.temporary) as sorter:
            with self.assertRaisesRegex(gristmill.Error, "longest|long"):
                sorter.push(bytes(40_000_000))
                list(sorter.finish())

    def test_closed_objects(self):
        sorter = self.sorter()
        back = sorter.finish()
        with self.assertRaises(gristmill.StateError):
            sorter.push(bytes(100))
        with self.assertRaises(gristmill.StateError):
            sorter.finish()
        sorter.close()
        sorter.close()
        back.close()
        self.assertEqual(list(back), [])
        with self.assertRaises(gristmill.StateError):
            back.read()

    def test_records_are_read_once(self):
        sorter = self.sorter()
        sorter.push_all([bytes(100)] * 2)
        back = sorter.finish()
        next(iter(back))
        with self.assertRaises(gristmill.StateError):
            back.read()
        with self.assertRaises(gristmill.StateError):
            back.write_file(self.path("out"))
        self.assertFalse(os.path.exists(self.path("out")))

    def test_objects_that_are_dropped(self):
        sorter = self.sorter()
        sorter.push_all(records(MANY))
        del sorter
        self.assertEqual(os.listdir(self.temporary), [])
        sorter = self.sorter()
        sorter.push_all(records(MANY))
        back = sorter.finish()
        next(iter(back))
        del sorter, back
        gc.collect()
        self.assertEqual(os.listdir(self.temporary), [])

    def test_objects_that_refer_to_themselves(self):
        class Owner:
            def __init__(self, sorter):
                self.sorter = sorter(key=self.key, progress=self.told)

            def key(self, record):
                return record[0]

            def told(self, progress):
                pass

        owner = Owner(self.sorter)
        owner.sorter.push_all(records(MANY // 2))
        self.assertNotEqual(os.listdir(self.temporary), [])
        del owner
        gc.collect()
        self.assertEqual(os.listdir(self.temporary), [])

    def test_a_sort_that_is_stopped(self):
        with self.sorter() as sorter:
            sorter.push_all(records(MANY))
            sorter.stop()
            with self.assertRaises(gristmill.StoppedError):
                sorter.push_all(records(MANY))
        sorter = self.sorter()
        sorter.push_all(records(MANY))
        back = sorter.finish()
        sorter.stop()
        with self.assertRaises(gristmill.StoppedError):
            list(back)
        self.assertIsNone(back.report)

    def test_a_progress_function_that_raises(self):
        def tell(progress):
            raise LookupError("told")

        with self.sorter(progress=tell) as sorter, self.assertRaises(LookupError):
            while True:
                sorter.push_all(records(10_000))

    def test_several_sorts_in_threads(self):
        results = []

        def sort(seed):
            with self.sorter() as sorter:
                sorter.push_all(records(20_000, seed=seed))
                results.append(list(sorter.finish()) == sorted(records(20_000, seed=seed)))

        threads = [threading.Thread(target=sort, args=[seed]) for seed in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(results, [True] * 4)

    def test_two_threads_that_use_one_sorter(self):
        begun, refused = threading.Event(), threading.Event()

        def slow():
            yield bytes(100)
            begun.set()
            refused.wait(30)
            yield bytes(100)

        with self.sorter() as sorter:
            thread = threading.Thread(target=lambda: sorter.push_all(slow()))
            thread.start()
            begun.wait(30)
            for use in [lambda: sorter.push(bytes(100)), sorter.finish, sorter.close]:
                with self.assertRaises(gristmill.StateError):
                    use()
            refused.set()
            thread.join()
            self.assertEqual(len(list(sorter.finish())), 2)

    def test_exceptions_can_be_pickled(self):
        error = pickle.loads(pickle.dumps(gristmill.InputError("what", "file", 5)))
        self.assertEqual((str(error), error.file, error.offset), ("what", "file", 5))


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

    INTERRUPTED = """
import sys, gristmill
def told(progress):
    print(progress.phase, flush=True)
try:
    {work}
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""

    def interrupted(self, work):
        script = self.INTERRUPTED.format(work=work.replace("\n", "\n    "))
        command = [sys.executable, "-c", script, self.temporary, self.path("in"), self.path("out")]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.assertNotEqual(process.stdout.readline(), "")
        process.send_signal(signal.SIGINT)
        begin = time.monotonic()
        rest, _ = process.communicate(timeout=60)
        self.assertTrue(rest.endswith("interrupted\n"), rest)
        self.assertLess(time.monotonic() - begin, 20)
        self.assertFalse(os.path.exists(self.path("out")))

    def test_ctrl_c_while_records_are_pushed(self):
        self.interrupted(
            """sorter = gristmill.Sorter(memory="16M", temporary=sys.argv[1], progress=told)
many = [bytes(99 - n % 7) for n in range(10_000)]
while True:
    sorter.push_all(many)"""
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
