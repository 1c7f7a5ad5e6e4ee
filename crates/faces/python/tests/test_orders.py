"""Orders, keys and key functions."""

import unittest

import gristmill
from support import SMALL, TestCase, records


def result(pushed, **options):
    with gristmill.Sorter(**options) as sorter:
        sorter.push_all(pushed)
        return list(sorter.finish())


class Orders(TestCase):
    def test_lines(self):
        self.assertEqual(result([b"b", b"a\n", b"", b"ab"]), [b"\n", b"a\n", b"ab\n", b"b\n"])

    def test_keys_of_lines(self):
        lines = [b"x,10\n", b"y,9\n", b"z,10\n"]
        self.assertEqual(result(lines, key="2,2n", separator=","), [lines[1], lines[0], lines[2]])
        expected = [lines[0], lines[2], lines[1]]
        self.assertEqual(result(lines, key=["2,2nr", "1,1"], separator=b","), expected)

    def test_binary_records(self):
        pushed = records(3000, width=16)
        self.assertEqual(result(pushed, format="fixed:16"), sorted(pushed))
        by_number = sorted(pushed, key=lambda record: int.from_bytes(record[4:8], "little"))
        self.assertEqual(result(pushed, format="fixed:16", key="4+4:u32le", stable=True), by_number)

    def test_rows(self):
        rows = [b"item,price\n", b"chair,90\n", b"lamp,45.5\n"]
        expected = [rows[0], rows[2], rows[1]]
        self.assertEqual(result(rows, format="csv", key="price:num"), expected)
        self.assertEqual(result(rows[1:], format="csv", key="#2:num", header=False), expected[1:])

    def test_lines_on_top(self):
        lines = [b"# a\n", b"name\n", b"b\n", b"a\n"]
        expected = [lines[0], lines[1], lines[3], lines[2]]
        self.assertEqual(result(lines, header=["#", 1]), expected)
        self.assertEqual(result(lines, header=2), expected)
        self.assertEqual(result(lines[:1] + lines[2:], header="#"), [lines[0], lines[3], lines[2]])
        rows = [b"# made\n", b"n,v\n", b"b,2\n", b"a,1\n"]
        self.assertEqual(result(rows, format="csv", key="v:num", header="#"), rows[:2] + rows[:1:-1])
        for wrong in (b"#", -1, 1.5, [True], ""):
            with self.assertRaises((TypeError, gristmill.Error)):
                result(lines, header=wrong)
        with self.assertRaises(gristmill.Error):
            result(lines, key=len, header=1)

    def test_totals(self):
        rows = [b"city,sales,note\n", b"Oslo,9.5,a\n", b"Bonn,7,b\n", b"Oslo,3.25,c\n"]
        by_city = {"format": "csv", "key": "city", "sum": "sales"}
        self.assertEqual(result(rows, unique=True, **by_city), [rows[0], rows[2], b"Oslo,12.75,a\n"])
        self.assertEqual(result(rows, unique="last", **by_city), [rows[0], rows[2], b"Oslo,12.75,c\n"])
        lines = [b"a 1 10", b"b 2 20", b"a 3 30"]
        self.assertEqual(result(lines, key="1,1", unique=True, sum=["3", "2"]), [b"a 4 40\n", b"b 2 20\n"])
        with gristmill.Sorter(format="fixed:2", key="0+1", unique=True, sum="1+1:u8") as sorter:
            sorter.push_all([b"a\x80", b"a\x7f", b"a\x01"])
            totals = sorter.finish()
            self.assertEqual(list(totals), [b"a\xff", b"a\x01"])
        self.assertEqual(totals.report.apart, 1)
        for wrong in ({"sum": "2"}, {"unique": True, "sum": "1"}, {"unique": True, "sum": "x"},
                      {"unique": True, "sum": "2", "top": 1}, {"unique": True, "sum": 2}):
            with self.assertRaises((TypeError, gristmill.Error)):
                result(lines, key="1,1", **wrong)
        with self.assertRaises(gristmill.InputError):
            result([b"a x", b"a 1"], key="1,1", unique=True, sum="2")
        with self.assertRaises(gristmill.Error):
            result(lines, key=len, unique=True, sum="2")
        with self.assertRaises(gristmill.OptionsError):
            gristmill.Sorter(format="arrow", key="a", unique=True, sum="b")

    def test_values_as_people_write_them(self):
        def by(key, *values, **options):
            rows = [f"{value}\tx\n".encode() for value in values]
            backwards = [b"v\tw\n", *reversed(rows)]
            self.assertEqual(result(backwards, format="tsv", key=key, **options), [b"v\tw\n", *rows])

        by("v:amount", "($5.00)", "$999.99", "$1,234.50")
        by("v:date=dmy:desc:nulls-last", "5/1/2024", "31/12/2023", "")
        by("v:num:nulls-last", "9", "10", "NA", null="NA")
        by("v:ip", "9.9.9.9", "10.0.0.1", null=["-", "n/a"])
        with self.assertRaisesRegex(gristmill.OptionsError, "null is for lines and rows"):
            gristmill.Sorter(format="arrow", key="a", null="NA")
        lines = [b"a NA\n", b"b 9\n", b"c 10\n"]
        self.assertEqual(result(lines[::-1], key="2:num", null="NA"), lines)
        rows = [b"a,b\n", b"x,2\n", b"y\n"]
        self.assertEqual(result(rows, format="csv", key="b:num", short_rows=True), [rows[0], rows[2], rows[1]])
        with self.assertRaisesRegex(gristmill.Error, "is not an amount"):
            result([b"v\n", b"1,23\n"], format="csv", separator=";", key="v:amount")

    def test_unique_and_top(self):
        lines = [b"b\n", b"a\n", b"b\n", b"c\n"]
        self.assertEqual(result(lines, unique=True), [b"a\n", b"b\n", b"c\n"])
        self.assertEqual(result(lines, top=2), [b"a\n", b"b\n"])

    def test_other_delimiters(self):
        self.assertEqual(result([b"b\0", b"a\n"], delimiter="\0"), [b"a\n\0", b"b\0"])

    def test_bytearrays_and_empty_input(self):
        self.assertEqual(result([bytearray(b"b"), b"a"]), [b"a\n", b"b\n"])
        self.assertEqual(result([]), [])

    def test_more_than_memory_holds(self):
        pushed = records(300_000)
        options = {"format": "fixed:100", "memory": SMALL, "temporary": self.temporary}
        with gristmill.Sorter(**options) as sorter:
            sorter.push_all(pushed)
            back = sorter.finish()
            self.assertIsNone(back.report)
            self.assertTrue(list(back) == sorted(pushed))
            self.assertGreater(back.report.passes, 1)
            self.assertGreater(back.report.temporary_bytes, 10_000_000)
            self.assertEqual(back.report.records, 300_000)


class Functions(TestCase):
    def test_types(self):
        keys = [
            [True, False],
            [3, -5, 0, 2**40, -(2**40)],
            [1.5, -0.5, float("inf"), 0.0],
            [1, 0.5, -1, 2**53, 2.0**53, 2**53 + 1, -(2**63), -(2.0**63), 2**63 - 1, 2.0**63, float("-inf")],
            [(1, "b"), (1.0, "a"), (0.5, "c"), (1, "a")],
            ["b", "", "ab", "\u00e4"],
            [b"b", b"", b"a\0b", b"a"],
            [(1, "b"), (1, "a"), (0, "c")],
        ]
        for values in keys:
            lines = [str(number).encode() + b"\n" for number in range(len(values))]
            expected = sorted(lines, key=lambda line: values[int(line)])
            self.assertEqual(result(lines, key=lambda line: values[int(line)]), expected)
            expected = sorted(lines, key=lambda line: values[int(line)], reverse=True)
            self.assertEqual(result(lines, key=lambda line: values[int(line)], reverse=True), expected)

    def test_equal_keys_keep_their_order(self):
        lines = [b"bb\n", b"aa\n", b"c\n"]
        self.assertEqual(result(lines, key=len), [b"c\n", b"bb\n", b"aa\n"])
        self.assertEqual(result(lines, key=len, reverse=True), [b"bb\n", b"aa\n", b"c\n"])

    def test_none_is_first(self):
        values = {b"a\n": 1, b"b\n": None, b"c\n": -1}
        self.assertEqual(result(values, key=values.get), [b"b\n", b"c\n", b"a\n"])

    def test_keys_of_several_types_are_refused(self):
        for values in [(1, "a"), (1, True), ((1, 2), (1,)), (None, [])]:
            keys = iter(values)
            with self.assertRaises(TypeError):
                result([b"a", b"b"], key=lambda _: next(keys))
        with self.assertRaises(OverflowError):
            result([b"a"], key=lambda _: 2**70)

    def test_a_refused_key_says_nothing_of_the_next(self):
        refused = [(1, object()), (1, (2, object())), (None, 2**70)]
        for wrong in refused:
            keys = iter([None, wrong, 2, 1])
            with gristmill.Sorter(key=lambda _: next(keys)) as sorter:
                sorter.push(b"none")
                with self.assertRaises((TypeError, OverflowError)):
                    sorter.push(b"wrong")
                sorter.push_all([b"2", b"1"])
                self.assertEqual(list(sorter.finish()), [b"none\n", b"1\n", b"2\n"])
        keys = iter([(1, None), (2, "b", 3), (3, object()), (1, "a")])
        with gristmill.Sorter(key=lambda _: next(keys)) as sorter:
            sorter.push(b"1")
            for _ in range(2):
                with self.assertRaises(TypeError):
                    sorter.push(b"wrong")
            sorter.push(b"2")

    def test_more_than_memory_holds(self):
        pushed = records(200_000, width=60)
        key = lambda record: record[7:12]
        back = result(pushed, format="fixed:60", key=key, memory=SMALL, temporary=self.temporary)
        self.assertTrue(back == sorted(pushed, key=key))


class Back(TestCase):
    def sorted(self, count=10_000):
        sorter = gristmill.Sorter(format="fixed:8")
        sorter.push_all(records(count, width=8))
        return sorter.finish(), sorted(records(count, width=8))

    def test_batches(self):
        back, expected = self.sorted()
        batches = list(back.batches(300))
        self.assertEqual([len(batch) for batch in batches], [300] * 33 + [100])
        self.assertEqual(sum(batches, []), expected)

    def test_long_records_make_short_batches(self):
        with gristmill.Sorter(format="fixed:100000") as sorter:
            sorter.push_all(records(40, width=100_000))
            self.assertLess(max(len(batch) for batch in sorter.finish().batches()), 20)

    def test_an_iteration_goes_on_where_it_was_left(self):
        back, expected = self.sorted()
        first = [record for record, _ in zip(back, range(10))]
        # zip takes one more, and drops it.
        self.assertEqual(first + list(back), expected[:10] + expected[11:])

    def test_read_and_write_file(self):
        back, expected = self.sorted()
        self.assertEqual(back.read(), b"".join(expected))
        self.assertEqual(back.report.records, 10_000)
        back, expected = self.sorted()
        report = back.write_file(self.path("out"))
        self.assertEqual((report, self.content("out")), (back.report, b"".join(expected)))


if __name__ == "__main__":
    unittest.main()
