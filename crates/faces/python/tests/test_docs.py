"""The examples of docs/python.md, and docstrings of everything that is public."""

import inspect
import os
import pathlib
import re
import unittest

import gristmill
from support import TestCase

PAGE = pathlib.Path(__file__).parents[4] / "docs" / "python.md"


class Docs(TestCase):
    def test_examples_run(self):
        blocks = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
        self.assertGreater(len(blocks), 6)
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        os.chdir(self.place)
        names = {}
        for block in blocks:
            with self.subTest(block):
                try:
                    exec(compile(block, str(PAGE), "exec"), names)
                except ModuleNotFoundError as error:
                    self.skipTest(str(error))

    def test_everything_public_is_described(self):
        for name in gristmill.__all__:
            thing = getattr(gristmill, name)
            if isinstance(thing, str):
                continue
            self.assertTrue(inspect.getdoc(thing), name)
            if inspect.isclass(thing):
                for member, value in vars(thing).items():
                    if not member.startswith("_"):
                        self.assertTrue(inspect.getdoc(value), f"{name}.{member}")


if __name__ == "__main__":
    unittest.main()
