"""Common parts of the tests."""

import io
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

import gristmill

SMALL = "16M"
"""Memory that a few hundred thousand records exceed."""

LIMIT = 120
"""Seconds after which a script hangs."""


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

    def start_script(self, script, *arguments):
        """Starts a script in a Python of its own, which is killed when it hangs."""
        command = [sys.executable, "-c", script, *arguments]
        pipe = subprocess.PIPE
        process = subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True)
        limit = threading.Timer(LIMIT, process.kill)
        limit.start()
        self.addCleanup(limit.cancel)
        return process

    def run_script(self, script, *arguments):
        """Runs a script in a Python of its own, and returns what it prints."""
        process = self.start_script(script, *arguments)
        printed, said = process.communicate()
        self.assertEqual(process.returncode, 0, said)
        return printed


def hear_signals():
    """From now on programs that this one starts have the default signals, also where `nohup` or a job
    in the background ignores them: a new program inherits no handlers."""
    for number in [signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM]:
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, lambda *_: None)


hear_signals()


def records(count, width=100, seed=1):
    """Records of random bytes, each as long."""
    rng = random.Random(seed)
    return [rng.randbytes(width) for _ in range(count)]
