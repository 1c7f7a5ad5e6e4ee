"""Memory: at most the limit and 32 MiB above the interpreter's own."""

import unittest

from support import TestCase

SCRIPT = """
import sys, gristmill
{imports}

def value(name):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) << 10 for line in status if line.startswith(name))

{before}
begin = value("VmRSS:")
sorter = gristmill.Sorter(memory=64 << 20, temporary=sys.argv[1], {options})
{work}
print(value("VmHWM:") - begin)
"""

MIB = 1 << 20


class Memory(TestCase):
    def above(self, options, work, imports="", before=""):
        """The peak of a sort in a process of its own, above the interpreter before it."""
        script = SCRIPT.format(options=options, work=work, imports=imports, before=before)
        return int(self.run_script(script, self.temporary))

    def test_records(self):
        work = """
sorter.push_all(n.to_bytes(8, "little") * 25 for n in range(1_000_000))
assert sum(1 for _ in sorter.finish()) == 1_000_000"""
        above = self.above("format='fixed:200'", work)
        self.assertGreater(above, 40 * MIB)
        self.assertLess(above, (64 + 32) * MIB)

    def test_record_batches(self):
        imports = "import pyarrow, pyarrow.compute"
        # The table is there before the sort, in one piece, and is no part of it.
        before = """
data = pyarrow.table({"n": pyarrow.compute.random(2_000_000), "text": ["x" * 60] * 2_000_000})
data = data.combine_chunks()"""
        work = """
sorter.push_arrow(data)
stream = pyarrow.RecordBatchReader.from_stream(sorter.finish())
assert sum(batch.num_rows for batch in stream) == 2_000_000"""
        try:
            above = self.above("format='arrow', key='n'", work, imports, before)
        except AssertionError as error:
            if "No module named" in str(error):
                raise unittest.SkipTest("pyarrow is not installed")
            raise
        self.assertLess(above, (64 + 32) * MIB)


if __name__ == "__main__":
    unittest.main()
