#!/usr/bin/env python3
"""Times the Python module beside the Rust library, the command, Polars and DuckDB, in turn.

    cargo build --release --locked -p gristmill-cli -p gristmill --bins --example pushed
    tests/python.sh installed
    target/python/venv/bin/python bench/python.py [CASE...]      on a quiet machine

Cases: bytes    records of 100 bytes, pushed as `bytes` and read back, beside the Rust library
       arrow    record batches, beside the command on files: of two fixed columns, and of one binary one
       memory   the peak of a sort in 256 MiB above the interpreter, for both
       file     sort_file of lines of 100 bytes, beside Polars and DuckDB
       push     nanoseconds of one thread for a record, from push_all to the buffers of the sort

RECORDS=10000000 RUNS=5 set the size. It needs 6 GB of memory and, in PLACE (the current directory if
it is left out), 6 GB of disk. Prints the median of each, and ratios.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time

RECORDS = int(os.environ.get("RECORDS", 10_000_000))
RUNS = int(os.environ.get("RUNS", 5))
TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TARGET = os.environ.get("CARGO_TARGET_DIR", os.path.join(TOP, "target"))
COMMAND = os.path.join(TARGET, "release", "gristmill")
PUSHED = os.path.join(TARGET, "release", "examples", "pushed")
MEMORY = 4 << 30
BATCH = 10_000


def main(cases):
    with tempfile.TemporaryDirectory(dir=os.environ.get("PLACE", ".")) as place:
        os.chdir(place)
        for case in cases or CASES:
            CASES[case]()


# --- the cases


def of_bytes():
    generate()
    ours = lambda: own("bytes")
    rust = lambda: float(said(PUSHED, str(RECORDS), str(MEMORY >> 20)).split("read in ")[1].split("s,")[0])
    python, rust = in_turn(ours, rust)
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
    show("sort_file", ours)
    show("Polars", polars)
    show("DuckDB", duckdb)
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
        begin = time.perf_counter()
        gristmill.sort_file("lines", "out", **options)
        return print(time.perf_counter() - begin, 0)
    if kind in ("push", "read"):
        return print(own_thread(gristmill, kind, options), 0)
    is_large = megabytes << 20 >= MEMORY
    source = read_bytes if kind == "bytes" else lambda: read_batches(kind)
    # Before the clock starts, unless memory is measured.
    data = list(source()) if is_large else source()
    before = status("VmRSS:")
    begin = time.perf_counter()
    if kind == "bytes":
        with gristmill.Sorter(format="fixed:100", key="0+10", **options) as sorter:
            for records in data:
                sorter.push_all(records)
            count = sum(1 for _ in sorter.finish())
    else:
        import pyarrow

        with gristmill.Sorter(format="arrow", key="key", **options) as sorter:
            for batch in data:
                sorter.push_arrow(batch)
            stream = pyarrow.RecordBatchReader.from_stream(sorter.finish())
            count = sum(batch.num_rows for batch in stream)
    assert count == RECORDS, count
    print(time.perf_counter() - begin, status("VmHWM:") - before)


def own_thread(gristmill, kind, options):
    """Processor time of the calling thread."""
    records = [os.urandom(100) for _ in range(BATCH)]
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
    begin = time.perf_counter()
    environment = {**os.environ, "PYTHON": sys.executable}
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
    return time.perf_counter() - begin


def status(name):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) << 10 for line in file if line.startswith(name))


def show(name, seconds):
    print(f"{name:20} {seconds:8.2f} s {seconds / RECORDS * 1e9:8.0f} ns a record")


CASES = {"bytes": of_bytes, "arrow": of_arrow, "memory": of_memory, "file": of_file, "push": of_push}

if __name__ == "__main__":
    if sys.argv[1:2] == ["--own"]:
        run_own(sys.argv[2], int(sys.argv[3]))
    else:
        main(sys.argv[1:])
