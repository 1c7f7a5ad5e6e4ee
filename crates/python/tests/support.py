"""Common parts of the tests."""

import io
import os
import random
import subprocess
import sys
import tempfile
import threading
import unittest

import gristmill

SMALL = "16M"
"""Memory that a few hundred thousand records exceed."""


class Terminal(io.StringIO):
    """A terminal that keeps its output."""

    def isatty(self):
        return True

    def shows_progress(self):
        """Whether its line has text; a line that was erased ends with a carriage return."""
        return not self.getvalue().endswith("\r") and self.getvalue() != ""


class TestCase(unittest.TestCase):
    """A test with a directory of its own, which no sort may leave a file in."""

    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.place = place.name
        self.temporary = os.path.join(self.place, "temporary")
        os.mkdir(self.temporary)
        self.addCleanup(lambda: self.assertEqual(os.listdir(self.temporary), []))

    def sorter(self, **options):
        """A sorter of binary records that puts most of them into temporary files."""
        options = {"format": "fixed:100", "memory": SMALL, "temporary": self.temporary, **options}
        return gristmill.Sorter(**options)

    def path(self, name):
        return os.path.join(self.place, name)

    def write(self, name, content):
        with open(self.path(name), "wb") as file:
            file.write(content)
        return self.path(name)

    def content(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def endless(self, name):
        """A pipe that never ends: a sort of it goes on until something else ends it."""
        path = self.path(name)
        os.mkfifo(path)
        block = b"".join(record.hex().encode() + b"\n" for record in records(10_000, width=50))

        def feed():
            try:
                with open(path, "wb", buffering=0) as pipe:
                    while True:
                        pipe.write(block)
            except BrokenPipeError:
                pass

        writer = threading.Thread(target=feed, daemon=True)
        writer.start()
        self.addCleanup(writer.join, 60)
        return path

    def run_script(self, script, *arguments):
        """Runs a script in a Python of its own, and returns what it prints."""
        command = [sys.executable, "-c", script, *arguments]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=120)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        return ended.stdout


def records(count, width=100, seed=1):
    """Records of random bytes, each as long."""
    rng = random.Random(seed)
    return [rng.randbytes(width) for _ in range(count)]
