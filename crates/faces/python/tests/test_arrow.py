"""Arrow data of several libraries, in and out."""

import datetime
import decimal
import random
import unittest

import gristmill
from support import SMALL, TestCase

try:
    import pyarrow
    import pyarrow.compute
except ImportError:
    pyarrow = None
try:
    import polars
except ImportError:
    polars = None


def table(rows, seed=3):
    """A table with columns of many types, some with nulls."""
    rng = random.Random(seed)
    maybe = lambda value: None if rng.random() < 0.1 else value
    columns = {
        "number": pyarrow.array([maybe(rng.randrange(-50, 50)) for _ in range(rows)], pyarrow.int64()),
        "price": pyarrow.array([maybe(rng.uniform(-9, 9)) for _ in range(rows)]),
        "flag": pyarrow.array([maybe(rng.random() < 0.5) for _ in range(rows)]),
        "name": pyarrow.array([maybe("x" * rng.randrange(40) + str(rng.random())) for _ in range(rows)]),
        "blob": pyarrow.array([maybe(rng.randbytes(rng.randrange(70))) for _ in range(rows)]),
        "fixed": pyarrow.array([maybe(rng.randbytes(16)) for _ in range(rows)], pyarrow.binary(16)),
        "day": pyarrow.array([datetime.date.fromordinal(rng.randrange(1, 9999)) for _ in range(rows)]),
        "cents": pyarrow.array([decimal.Decimal(rng.randrange(10**6)) / 100 for _ in range(rows)]),
        "tags": pyarrow.array([maybe([rng.randrange(9)] * rng.randrange(3)) for _ in range(rows)]),
        "place": pyarrow.array([{"x": rng.random(), "y": maybe("z")} for _ in range(rows)]),
    }
    return pyarrow.table(columns)


def back(data, **options):
    with gristmill.Sorter(format="arrow", **options) as sorter:
        for piece in data if isinstance(data, list) else [data]:
            sorter.push_arrow(piece)
        return sorter.finish()


@unittest.skipIf(pyarrow is None, "pyarrow is not installed")
class PyArrow(TestCase):
    def test_all_types_come_back(self):
        data = table(5000)
        result = pyarrow.table(back(data, key=["number", "name"]))
        result.validate(full=True)
        self.assertEqual(result.schema, data.schema)
        key = lambda row: [(row[name] is not None, row[name] or 0) for name in ["number"]]
        rows = result.to_pylist()
        self.assertEqual([key(row) for row in rows], sorted(key(row) for row in data.to_pylist()))
        order = lambda row: repr(sorted(row.items()))
        self.assertEqual(sorted(rows, key=order), sorted(data.to_pylist(), key=order))

    def test_directions_and_nulls(self):
        data = pyarrow.table({"n": [2, None, 1, 3], "s": ["b", "a", None, "b"]})
        cases = {
            "n": [None, 1, 2, 3],
            "n:desc": [None, 3, 2, 1],
            "n:nulls-last": [1, 2, 3, None],
            "n:desc:nulls-last": [3, 2, 1, None],
        }
        for key, expected in cases.items():
            self.assertEqual(pyarrow.table(back(data, key=key))["n"].to_pylist(), expected)
        result = pyarrow.table(back(data, key=["s:desc:nulls-last", "n:desc"]))
        self.assertEqual(result["n"].to_pylist(), [3, 2, None, 1])

    def test_fixed_columns_with_nulls(self):
        rng = random.Random(5)
        value = lambda width: None if rng.random() < 0.1 else rng.randbytes(width)
        make = lambda width: pyarrow.array([value(width) for _ in range(20_000)], pyarrow.binary(width))
        data = pyarrow.table({"a": make(2), "b": make(9), "c": make(3)})
        order = lambda *names: lambda row: [(row[name] is not None, row[name] or b"") for name in names]
        # A batch that begins within its arrays has other offsets.
        pieces = [data.slice(0, 7), data.slice(7, 12_000).combine_chunks(), data.slice(12_007)]
        for names in [["a"], ["b", "a"], ["c", "b", "a"]]:
            result = pyarrow.table(back(pieces, key=names, stable=True))
            result.validate(full=True)
            self.assertEqual(result.schema, data.schema)
            self.assertTrue(result.to_pylist() == sorted(data.to_pylist(), key=order(*names)))
        falling = pyarrow.table(back(data, key=["a:desc", "b", "c"]))["a"].to_pylist()
        self.assertEqual(falling, sorted(data["a"].to_pylist(), key=lambda a: (a is None, a or b""))[::-1])

    def test_all_columns_are_the_key_without_one(self):
        data = pyarrow.table({"a": [2, 1, 2], "b": ["y", "z", "x"]})
        self.assertEqual(pyarrow.table(back(data))["b"].to_pylist(), ["z", "x", "y"])

    def test_stable_unique_and_top(self):
        data = pyarrow.table({"k": [1, 0, 1, 0], "v": ["c", "d", "a", "b"]})
        result = lambda **options: pyarrow.table(back(data, key="k", **options))["v"].to_pylist()
        self.assertEqual(result(stable=True), ["d", "b", "c", "a"])
        self.assertEqual(result(unique=True), ["d", "c"])
        self.assertEqual(result(stable=True, top=1), ["d"])

    def test_fixed_columns_beyond_memory(self):
        count, rng = 300_000, random.Random(5)
        column = lambda width: pyarrow.array([rng.randbytes(width) for _ in range(count)], pyarrow.binary(width))
        data = pyarrow.table({"key": column(10), "value": column(90)})
        sorter = gristmill.Sorter(format="arrow", key="key", memory=SMALL, temporary=self.temporary)
        sorter.push_arrow(data)
        records = sorter.finish()
        result = pyarrow.table(records)
        expected = data.take(pyarrow.compute.sort_indices(data["key"]))
        self.assertTrue(result.combine_chunks().equals(expected.combine_chunks()))
        self.assertEqual(records.report.records, count)
        self.assertGreater(records.report.passes, 1)

    def test_batches_slices_and_streams(self):
        data = table(1000).select(["number", "name"])
        batch = data.combine_chunks().to_batches()[0]
        pieces = [batch.slice(0, 10), batch.slice(10, 1), data.slice(11, 500), data.slice(511).to_reader(7)]
        result = pyarrow.table(back(pieces, key="name"))
        self.assertTrue(result.equals(pyarrow.table(back(data, key="name"))))

    def test_only_the_array_interface(self):
        class Array:
            def __init__(self, batch):
                self.batch = batch

            def __arrow_c_array__(self, requested_schema=None):
                return self.batch.__arrow_c_array__(requested_schema)

        batch = pyarrow.record_batch({"n": [2, 1]})
        self.assertEqual(pyarrow.table(back(Array(batch)))["n"].to_pylist(), [1, 2])
        with self.assertRaises(gristmill.OptionsError):
            back(Array(pyarrow.array([1, 2])))

    def test_null_rows(self):
        rows = pyarrow.array([{"a": 2}, None, {"a": 1}])
        with gristmill.Sorter(format="arrow", temporary=self.temporary) as sorter:
            with self.assertRaisesRegex(gristmill.InputError, "1 of its rows are null"):
                sorter.push_arrow(rows)
            # None of it was taken.
            sorter.push_arrow(rows.slice(2))
            sorter.push_arrow(rows.drop_null())
            self.assertEqual(pyarrow.table(sorter.finish())["a"].to_pylist(), [1, 1, 2])
        with gristmill.Sorter(format="arrow", temporary=self.temporary) as sorter:
            with self.assertRaisesRegex(gristmill.InputError, "1 of its rows are null"):
                sorter.push_arrow(pyarrow.chunked_array([rows.drop_null(), rows]))
            with self.assertRaises(gristmill.StoppedError):
                sorter.push_arrow(rows.drop_null())
        with self.assertRaisesRegex(gristmill.OptionsError, "needs columns"):
            back(pyarrow.chunked_array([[1, 2]]))

    def test_capsules_that_were_used(self):
        class Used:
            """Exports the same capsules each time, as no producer may."""

            def __init__(self, batch, name):
                capsules = getattr(batch, name)()
                setattr(type(self), name, lambda self, requested_schema=None: capsules)

        batch = pyarrow.record_batch({"n": [2, 1]})
        for name in ["__arrow_c_array__", "__arrow_c_stream__"]:
            used = type("Used", (Used,), {})(batch, name)
            with gristmill.Sorter(format="arrow") as sorter:
                sorter.push_arrow(used)
                with self.assertRaisesRegex(gristmill.OptionsError, "used before"):
                    sorter.push_arrow(used)
                self.assertEqual(pyarrow.table(sorter.finish())["n"].to_pylist(), [1, 2])

    def test_a_stream_of_a_faulty_library(self):
        """Its functions are missing. A panic must not keep the temporary files of the sort."""
        script = """
import ctypes, os, sys, gristmill, pyarrow
release = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda stream: None)
stream = (ctypes.c_void_p * 5)(0, 0, 0, ctypes.cast(release, ctypes.c_void_p), 0)
new = ctypes.pythonapi.PyCapsule_New
new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
class Faulty:
    def __arrow_c_stream__(self, requested_schema=None):
        return new(ctypes.addressof(stream), b"arrow_array_stream", None)
sorter = gristmill.Sorter(format="arrow", memory="16M", temporary=sys.argv[1])
sorter.push_arrow(pyarrow.table({"text": ["x" * 100] * 300_000}))
assert os.listdir(sys.argv[1])
try:
    sorter.push_arrow(Faulty())
except BaseException as error:
    print(type(error).__name__)
try:
    sorter.finish()
except gristmill.StateError as error:
    print(error)
sorter.close()
assert not os.listdir(sys.argv[1])
"""
        printed = self.run_script(script, self.temporary)
        self.assertRegex(printed, "PanicException\n.*panicked")

    def test_metadata_of_an_array(self):
        schema = pyarrow.schema({"n": pyarrow.int64()}, {"by": "us"})

        class Array:
            def __arrow_c_array__(self, requested_schema=None):
                return pyarrow.record_batch({"n": [1]}, schema).__arrow_c_array__(requested_schema)

        self.assertEqual(pyarrow.table(back(Array())).schema.metadata, {b"by": b"us"})

    def test_dictionaries_come_back_as_values(self):
        data = pyarrow.table({"k": pyarrow.array(["b", "a", "b"]).dictionary_encode()})
        result = pyarrow.table(back(data))
        self.assertEqual(result["k"].to_pylist(), ["a", "b", "b"])
        self.assertEqual(result.schema.field("k").type, pyarrow.string())

    def test_dictionaries_in_lists_and_wide_columns(self):
        words = pyarrow.array(["b", "a", "b"]).dictionary_encode()
        lists = pyarrow.ListArray.from_arrays([0, 2, 3], words)
        result = pyarrow.table(back(pyarrow.table({"k": lists})))
        self.assertEqual(result["k"].to_pylist(), [["b"], ["b", "a"]])
        wide = pyarrow.array([b"b" * 5000, b"a" * 5000], pyarrow.binary(5000))
        result = pyarrow.table(back(pyarrow.table({"a": wide, "b": wide})))
        self.assertEqual(result["b"][0].as_py(), b"a" * 5000)

    def test_empty_tables(self):
        data = table(0)
        result = pyarrow.table(back(data, key="price"))
        self.assertEqual((result.num_rows, result.schema), (0, data.schema))

    def test_wrong_use(self):
        data = pyarrow.table({"n": [1]})
        for options in [{"key": "m"}, {"key": len}, {"key": ["n", "n:desc"]}, {"memory": "x"}]:
            with self.assertRaises(gristmill.OptionsError):
                back(data, **options)
        with self.assertRaises(gristmill.OptionsError):
            back([data, pyarrow.table({"m": [1]})])
        with self.assertRaises(TypeError):
            back(5)
        with self.assertRaises(gristmill.OptionsError):
            gristmill.Sorter(format="arrow").finish()
        with self.assertRaises(gristmill.StateError):
            gristmill.Sorter(format="arrow").push(b"a")
        with self.assertRaises(gristmill.StateError):
            gristmill.Sorter().push_arrow(data)
        records = back(data)
        for use in [lambda: list(records), records.read, lambda: records.write_file(self.path("out"))]:
            with self.assertRaises(gristmill.StateError):
                use()
        pyarrow.table(records)
        with self.assertRaises(gristmill.StateError):
            pyarrow.table(records)

    def test_a_stream_that_is_closed_midway(self):
        count = 200_000
        with gristmill.Sorter(format="arrow", memory=SMALL, temporary=self.temporary) as sorter:
            sorter.push_arrow(pyarrow.table({"n": range(count), "text": ["x" * 100] * count}))
            with sorter.finish() as records:
                stream = pyarrow.RecordBatchReader.from_stream(records)
                self.assertEqual(stream.read_next_batch()["n"][0].as_py(), 0)
            with self.assertRaisesRegex(Exception, "closed"):
                stream.read_all()

    def test_a_stream_that_fails_midway(self):
        schema = pyarrow.schema({"n": pyarrow.int64()})

        def broken():
            yield pyarrow.record_batch({"n": [1]}, schema)
            raise LookupError("broken")

        with gristmill.Sorter(format="arrow", temporary=self.temporary) as sorter:
            with self.assertRaisesRegex(gristmill.InputError, "broken"):
                sorter.push_arrow(pyarrow.RecordBatchReader.from_batches(schema, broken()))
            with self.assertRaises(gristmill.StoppedError):
                pyarrow.table(sorter.finish())


@unittest.skipIf(polars is None, "polars is not installed")
class Polars(TestCase):
    def test_a_frame_comes_back(self):
        rng = random.Random(7)
        data = {
            "n": [rng.randrange(100) for _ in range(2000)],
            "text": [rng.randbytes(rng.randrange(30)).hex() for _ in range(2000)],
            "flag": [rng.choice([True, False, None]) for _ in range(2000)],
        }
        frame = polars.DataFrame(data)
        result = polars.DataFrame(back(frame, key=["n:desc", "text"], stable=True))
        expected = frame.sort(["n", "text"], descending=[True, False], maintain_order=True)
        self.assertTrue(result.equals(expected))

    def test_categories(self):
        frame = polars.DataFrame({"c": ["b", "a", "b"]}, schema={"c": polars.Categorical})
        self.assertEqual(polars.DataFrame(back(frame))["c"].to_list(), ["a", "b", "b"])


if __name__ == "__main__":
    unittest.main()
