#!/usr/bin/env python3
"""Times the Python module beside the Rust library, the command, Polars and DuckDB, in turn.

    cargo build --release --locked -p gristmill-cli -p gristmill-bench
    tests/python.sh installed
    target/python/venv/bin/python bench/python.py [CASE...]      on a quiet machine

Cases: bytes    records of 100 bytes, pushed as `bytes` and read back, beside the Rust library
       arrow    record batches, beside the command on files: of two fixed columns, and of one binary one
       memory   the peak of a sort in 256 MiB, for both, above the interpreter and its modules, so
                without the 40 MB of pyarrow's libraries
       file     sort_file of lines of 100 bytes, beside Polars and DuckDB
       push     nanoseconds of one thread for a record, from push_all to the buffers of the sort

RECORDS=10000000 RUNS=5 set the size. It needs 6 GB of memory and, in PLACE (the current directory if
it is left out), 6 GB of disk. Prints the median of each, and ratios.

Before each timed run 3 GB of memory are touched and freed. The host of a virtual machine may have taken
free memory back, and gives it again on the first touch. That takes seconds, which would hide the
differences between contenders.
"""

import mmap
import os
import statistics
import subprocess
import sys
import tempfile
import time

RECORDS = int(os.environ.get("RECORDS", 10_000_000))
RUNS = int(os.environ.get("RUNS", 5))
TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TARGET = os.path.abspath(os.environ.get("CARGO_TARGET_DIR", os.path.join(TOP, "target")))
COMMAND = os.path.join(TARGET, "release", "gristmill")
BENCH = os.path.join(TARGET, "release", "gristmill-bench")
MEMORY = 4 << 30
TOUCHED = 3 << 30
BATCH = 10_000


def main(cases):
    with tempfile.TemporaryDirectory(dir=os.environ.get("PLACE", ".")) as place:
        os.chdir(place)
        for case in cases or CASES:
            CASES[case]()


# --- the cases


def of_bytes():
    generate()
    python, rust = in_turn(lambda: own("bytes"), push_by_rust)
    show("Python bytes", python)
    show("Rust records", rust)
    print(f"  {(python - rust) / RECORDS * 1e9:.0f} ns a record above Rust (bar: 60)")


def of_arrow():
    generate()
    fixed, binary, command = in_turn(lambda: own("fixed"), lambda: own("binary"), sort_with_command)
    show("two fixed columns", fixed)
    show("a binary column", binary)
    show("gristmill sort", command)
    print(f"  {fixed / command:.2f} and {binary / command:.2f} times the command (bar: 1.2)")


def of_memory():
    generate()
    for kind in ["bytes", "fixed", "binary"]:
        above = max(int(said(sys.executable, __file__, "--own", kind, "256").split()[1]) for _ in range(RUNS))
        print(f"{kind:20} {above / 2**20:8.0f} MiB at most above the interpreter (bar: {256 + 32})")


def of_file():
    lines = RECORDS * 2
    if not os.path.exists("lines"):
        with open("lines", "wb") as file:
            for _ in range(lines // BATCH):
                text = os.urandom(BATCH * 99 // 2 + 1).hex().encode()
                file.write(b"".join(text[at : at + 99] + b"\n" for at in range(0, BATCH * 99, 99)))
    peer = lambda name: lambda: clocked(
        os.path.join(TOP, "bench", "peers", "lines", name), "lines", "out", str(MEMORY), "."
    )
    ours, polars, duckdb = in_turn(lambda: own("file"), peer("polars"), peer("duckdb"))
    show("sort_file", ours, lines)
    show("Polars", polars, lines)
    show("DuckDB", duckdb, lines)
    print(f"  {polars / ours:.1f} and {duckdb / ours:.1f} times as fast (bar: 2.5)")


def of_push():
    (spent,) = in_turn(lambda: own("push"))
    print(f"{'push_all':20} {spent / RECORDS * 1e9:8.1f} ns of the calling thread for a record")
    (spent,) = in_turn(lambda: own("read"))
    print(f"{'iteration':20} {spent / RECORDS * 1e9:8.1f} ns of the calling thread for a record")


# --- their parts, each run in a process of its own


def own(kind):
    return float(said(sys.executable, __file__, "--own", kind, str(MEMORY >> 20)).split()[0])


def run_own(kind, megabytes):
    """Prints seconds, and bytes of memory above those before the sort."""
    import gristmill

    options = {"memory": megabytes << 20, "temporary": "."}
    if kind == "file":
        touch_memory()
        begin = time.perf_counter()
        gristmill.sort_file("lines", "out", **options)
        return print(time.perf_counter() - begin, 0)
    if kind in ("push", "read"):
        return print(own_thread(gristmill, kind, options), 0)
    if kind != "bytes":
        # Its libraries are not the sort's memory.
        import pyarrow
    is_timed = megabytes << 20 >= MEMORY
    data = read_bytes() if kind == "bytes" else read_batches(kind)
    if is_timed:
        data = list(data)
        touch_memory()
    before = status("VmRSS:")
    begin = time.perf_counter()
    if kind == "bytes":
        with gristmill.Sorter(format="fixed:100", key="0+10", **options) as sorter:
            for records in data:
                sorter.push_all(records)
            count = sum(1 for _ in sorter.finish())
    else:
        with gristmill.Sorter(format="arrow", key="key", **options) as sorter:
            for batch in data:
                sorter.push_arrow(batch)
            stream = pyarrow.RecordBatchReader.from_stream(sorter.finish())
            count = sum(batch.num_rows for batch in stream)
    assert count == RECORDS, count
    # The peak of a timed run is that of the touched memory.
    print(time.perf_counter() - begin, 0 if is_timed else status("VmHWM:") - before)


def own_thread(gristmill, kind, options):
    """Processor time of the calling thread."""
    records = [os.urandom(100) for _ in range(BATCH)]
    touch_memory()
    with gristmill.Sorter(format="fixed:100", key="0+10", **options) as sorter:
        begin = time.thread_time()
        for _ in range(RECORDS // BATCH):
            sorter.push_all(records)
        pushed = time.thread_time() - begin
        back = sorter.finish()
        begin = time.thread_time()
        for _ in back:
            pass
        return pushed if kind == "push" else time.thread_time() - begin


def read_bytes():
    with open("records", "rb") as file:
        while block := file.read(100 * BATCH):
            yield [block[at : at + 100] for at in range(0, len(block), 100)]


def read_batches(kind):
    import pyarrow

    with open("records", "rb") as file:
        while block := file.read(100 * BATCH):
            records = [block[at : at + 100] for at in range(0, len(block), 100)]
            if kind == "binary":
                yield pyarrow.record_batch({"key": pyarrow.array(records, pyarrow.binary())})
            else:
                keys = pyarrow.array([record[:10] for record in records], pyarrow.binary(10))
                values = pyarrow.array([record[10:] for record in records], pyarrow.binary(90))
                yield pyarrow.record_batch({"key": keys, "value": values})


def push_by_rust():
    """Seconds, which the program writes to its output."""
    touch_memory()
    said(BENCH, "pushed", "records", "out", str(MEMORY), ".", "--in-memory")
    with open("out") as file:
        return float(file.read().removeprefix("seconds "))


def sort_with_command():
    memory = f"{MEMORY >> 20}M"
    arguments = ["--format", "gensort", "--memory", memory, "-T", ".", "-o", "out"]
    return clocked(COMMAND, "sort", *arguments, "records")


# --- tools


def generate():
    if not os.path.exists("records"):
        said(COMMAND, "gensort", str(RECORDS), "records")


def in_turn(*measured):
    """Medians of several measurements, which take turns."""
    rounds = [[measure() for measure in measured] for _ in range(RUNS)]
    return [statistics.median(times) for times in zip(*rounds)]


def said(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def clocked(*command):
    if os.path.exists("out"):
        os.remove("out")
    touch_memory()
    begin = time.perf_counter()
    environment = {**os.environ, "PYTHON": sys.executable}
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
    return time.perf_counter() - begin


def touch_memory():
    """Makes free memory of this machine memory of its host, too."""
    with mmap.mmap(-1, TOUCHED, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
        memory.madvise(mmap.MADV_HUGEPAGE)
        zeros = bytes(16 << 20)
        for at in range(0, TOUCHED, len(zeros)):
            memory[at : at + len(zeros)] = zeros


def status(name):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) << 10 for line in file if line.startswith(name))


def show(name, seconds, records=RECORDS):
    print(f"{name:20} {seconds:8.2f} s {seconds / records * 1e9:8.0f} ns a record")


CASES = {"bytes": of_bytes, "arrow": of_arrow, "memory": of_memory, "file": of_file, "push": of_push}

if __name__ == "__main__":
    if sys.argv[1:2] == ["--own"]:
        run_own(sys.argv[2], int(sys.argv[3]))
    else:
        main(sys.argv[1:])
