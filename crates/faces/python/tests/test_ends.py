"""Everything that may end a sort too early."""

import gc
import os
import pickle
import threading
import unittest

import gristmill
from support import SMALL, TestCase, records

MANY = 200_000


class Ends(TestCase):
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
        self.assertIsNone(back.report)
        for use in [lambda: list(back), lambda: list(back), back.read]:
            with self.assertRaisesRegex(gristmill.StateError, "closed"):
                use()

    def test_records_that_are_closed_midway(self):
        sorter = self.sorter()
        sorter.push_all(records(MANY))
        back = sorter.finish()
        iterator, batches = iter(back), back.batches()
        next(iterator)
        back.close()
        for rest in [iterator, batches, batches, back]:
            with self.assertRaisesRegex(gristmill.StateError, "closed"):
                list(rest)

    def test_records_that_were_read(self):
        back = self.sorter().finish()
        self.assertEqual([list(back), list(back), list(back.batches())], [[], [], []])
        self.assertEqual(back.report.records, 0)
        back.close()
        self.assertEqual(list(back), [])

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
        for use in [iter, lambda back: next(iter(back)), gristmill.Sorted.batches]:
            owner = Owner(self.sorter)
            owner.sorter.push_all(records(MANY // 2))
            owner.back = owner.sorter.finish()
            owner.used = use(owner.back)
            self.assertNotEqual(os.listdir(self.temporary), [])
            # While something else refers to them, they stay.
            gc.collect()
            self.assertIsNone(owner.back.report)
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
        batches = back.batches()
        with self.assertRaises(gristmill.StoppedError):
            list(batches)
        self.assertIsNone(back.report)
        for rest in [batches, back]:
            with self.assertRaises(gristmill.StateError):
                list(rest)

    def test_an_iterator_that_is_made_twice_at_a_time(self):
        script = """
import itertools, gristmill
chain, inner = itertools.chain, []
class Chain:
    @staticmethod
    def from_iterable(batches):
        itertools.chain = chain
        inner.append(iter(back))
        return chain.from_iterable(batches)
sorter = gristmill.Sorter()
sorter.push_all([b"b", b"a"])
back = sorter.finish()
itertools.chain = Chain
assert iter(back) is inner[0]
assert list(back) == [b"a\\n", b"b\\n"]
"""
        self.run_script(script)

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

    def ends_with_the_interpreter(self, work, moment):
        """Runs work in a thread that the interpreter does not wait for, until the moment has come."""
        script = f"""
import os, sys, threading, time
import gristmill
temporary, path = sys.argv[1], sys.argv[2]
many = [os.urandom(100) for _ in range(100_000)]
def work():
{work}
thread = threading.Thread(target=work, daemon=True)
thread.start()
while not ({moment}):
    time.sleep(0.01)
print("over")
"""
        self.assertEqual(self.run_script(script, self.temporary, self.path("in")), "over\n")
        self.assertEqual(os.listdir(self.temporary), [])
        left = set(os.listdir(self.place)) - {"in", "temporary"}
        self.assertEqual(left, set())

    def test_the_interpreter_ends_while_a_thread_sorts_a_file(self):
        self.endless("in")
        self.ends_with_the_interpreter(
            """
    gristmill.sort_file(path, path + ".out", memory="16M", temporary=temporary)""",
            "len(os.listdir(temporary)) > 0 and len(os.listdir(path[:-3])) > 2",
        )

    def test_the_interpreter_ends_while_a_thread_is_in_its_iterable(self):
        self.ends_with_the_interpreter(
            """
    def slow():
        yield from many
        yield from many
        time.sleep(3600)
    with gristmill.Sorter(format="fixed:100", memory="8M", temporary=temporary) as sorter:
        sorter.push_all(slow())""",
            "len(os.listdir(temporary)) > 0",
        )

    def test_the_interpreter_ends_while_a_thread_writes(self):
        self.ends_with_the_interpreter(
            """
    with gristmill.Sorter(format="fixed:100", memory="8M", temporary=temporary) as sorter:
        for _ in range(4):
            sorter.push_all(many)
        sorter.finish().write_file(path)
        time.sleep(3600)""",
            "len(os.listdir(path[:-3])) > 1",
        )

    def test_the_interpreter_ends_while_a_thread_reads(self):
        self.ends_with_the_interpreter(
            """
    def told(progress):
        if progress.phase:
            time.sleep(3600)
    with gristmill.Sorter(
        format="fixed:100", memory="8M", temporary=temporary, progress=told
    ) as sorter:
        sorter.push_all(many)
        for record in sorter.finish():
            time.sleep(3600)""",
            "len(os.listdir(temporary)) > 0",
        )

    def test_exceptions_can_be_pickled(self):
        error = pickle.loads(pickle.dumps(gristmill.InputError("what", "file", 5)))
        self.assertEqual((str(error), error.file, error.offset), ("what", "file", 5))


if __name__ == "__main__":
    unittest.main()
