#!/bin/sh
# Five jobs by gristmill, GNU sort, DuckDB, Polars, qsv and xan, as docs/comparison.md has them. Prints a table: the median
# of ROUNDS runs of each, and the memory of its largest process.
#
#   measure.sh [DIR]     makes some 1.6 GB of data in DIR and as much of outputs, and removes both; default: a
#                        directory in $TMPDIR or /tmp
#
# Variables:
#   GRISTMILL, QSV, XAN  the programs; default: those in PATH
#   PYTHON               a Python with the packages duckdb and polars; default: python3. It is needed to measure, too
#   ROUNDS               runs of each tool, in turn; default: 5
#   MEGABYTES            the size of each file; default: 500
#   PATIENCE             seconds; a tool that takes longer for a job runs it once; default: 120
#   JOBS                 which jobs; default: a b c d e
#   RESULTS              a file that gets every run: job, tool, seconds, bytes of memory
#
# A tool that is not there, cannot do a job or fails is left out, and the table says so. Inputs are in the page cache.
# gristmill ends when its output is durable; the others leave theirs to the page cache.
set -eu
GRISTMILL=${GRISTMILL:-gristmill}
QSV=${QSV:-qsv}
XAN=${XAN:-xan}
PYTHON=${PYTHON:-python3}
ROUNDS=${ROUNDS:-5}
MEGABYTES=${MEGABYTES:-500}
PATIENCE=${PATIENCE:-120}
JOBS=${JOBS:-a b c d e}
place=$(mktemp -d "${1:-${TMPDIR:-/tmp}}/comparison.XXXXXX")
trap 'rm -rf "$place"' EXIT
trap 'exit 1' INT TERM HUP
RESULTS=${RESULTS:-$place/results}
case $RESULTS in /*) ;; *) RESULTS=$PWD/$RESULTS ;; esac
: >"$RESULTS"
TMPDIR=$place/tmp
mkdir "$TMPDIR"
CORES=$(nproc)
export GRISTMILL QSV XAN PYTHON TMPDIR CORES
cd "$place"

# --- the data

# Numbers that are the same in each run, for awk.
draw='function draw(below) {
    state = (state * 1103515 + 12345) % 2147483648
    return int(state / 2147483648 * below)
}
'

# As many lines as $1 of a name, a number and an address: 26 bytes each.
fields() {
    awk -v count="$1" "$draw"'
        BEGIN {
            for (state = 1; at < count; at++)
                printf "%c%c%05x,%d,street %d\n", 97 + draw(26), 97 + draw(26), draw(1048576), draw(100000), draw(10000)
        }'
}

# Rows of CSV, 50 bytes each: names have commas in quotes, and the day of a date comes first.
rows() {
    echo "id,name,price,sold"
    awk -v count="$1" "$draw"'
        BEGIN {
            for (state = 1; at < count; at++)
                printf "%d,\"%c%05x, %s\",%d.%02d,%02d/%02d/%d\n", at, 65 + draw(26), draw(1048576), "wholesale",
                    draw(100000), draw(100), 1 + draw(28), 1 + draw(12), 2000 + draw(25)
        }'
}

# Lines of which each occurs some ten times.
repeated() {
    awk -v count="$1" '
        BEGIN {
            for (state = 1; at < count; at++) {
                state = (state * 1103515 + 12345) % 2147483648
                printf "/shop/item/%d?session=open&page=1\n", int(state / 2147483648 * count / 10)
            }
        }'
}

need() { case " $JOBS " in *" $1 "*) return 0 ;; *) return 1 ;; esac; }
if need a; then "$GRISTMILL" gensort -a "$((MEGABYTES * 10000))" lines.txt; fi
if need b || need d; then fields "$((MEGABYTES * 1000000 / 26))" >fields.csv; fi
if need c; then rows "$((MEGABYTES * 1000000 / 50))" >rows.csv; fi
if need e; then repeated "$((MEGABYTES * 1000000 / 41))" >repeated.txt; fi

# --- the commands: a function for each job and tool, each from a file to a file

cat >jobs.sh <<'END'
quick() { QSV_SKIP_FORMAT_CHECK=1 "$QSV" "$@"; }
gnu() { LC_ALL=C sort --parallel="$CORES" "$@"; }

a_gristmill() { "$GRISTMILL" sort -q lines.txt -o "$out"; }
a_gnu() { gnu -S 2G lines.txt -o "$out"; }

b_gristmill() { "$GRISTMILL" sort -q -s -t, -k2,2n fields.csv -o "$out"; }
b_gnu() { gnu -S 2G -s -t, -k2,2n fields.csv -o "$out"; }
b_qsv() { quick sort --no-headers --select 2 --numeric --faster fields.csv --output "$out"; }
b_xan() { "$XAN" sort --no-headers --select 1 --numeric --parallel fields.csv -o "$out"; }

c_gristmill() { "$GRISTMILL" sort -q -S 256M --format csv --key sold:date=dmy --key price:num:desc rows.csv -o "$out"; }

d_gristmill() { "$GRISTMILL" sort -q --top 100 -t, -k2,2nr fields.csv -o "$out"; }
d_gnu() { gnu -S 2G -t, -k2,2nr fields.csv | head -n 100 >"$out"; }
d_xan() { "$XAN" top --no-headers --limit 100 1 fields.csv -o "$out"; }

e_gristmill() { "$GRISTMILL" sort -q -u --count repeated.txt -o "$out"; }
e_gnu() { gnu -S 2G repeated.txt | uniq -c >"$out"; }
e_qsv() { quick frequency --no-headers --select 1 --limit 0 repeated.txt | tail -n +2 >"$out"; }
e_xan() { "$XAN" frequency --no-headers --select 0 --all --no-extra --parallel repeated.txt | tail -n +2 >"$out"; }

for job in a b c d e; do
    for tool in duckdb polars; do eval "${job}_$tool() { \"\$PYTHON\" peers.py $tool $job \"\$out\"; }"; done
done
END

cat >peers.py <<'END'
import os
import sys

tool, job, out = sys.argv[1:]


def duckdb():
    import duckdb

    database = duckdb.connect()
    database.execute(f"SET temp_directory = '{os.environ['TMPDIR']}'")
    database.execute("SET preserve_insertion_order = false")
    lines = "read_csv('{}', header = false, delim = '\x01', quote = '', escape = '', columns = {{'line': 'VARCHAR'}}, auto_detect = false)"
    plain = "(header false, delim '\x01', quote '', escape '')"
    fields = ("read_csv('fields.csv', header = false, auto_detect = false, "
              "columns = {'name': 'VARCHAR', 'number': 'BIGINT', 'street': 'VARCHAR'})")
    rows = ("read_csv('rows.csv', header = true, delim = ',', quote = '\"', auto_detect = false, "
            "columns = {'id': 'BIGINT', 'name': 'VARCHAR', 'price': 'DECIMAL(9, 2)', 'sold': 'VARCHAR'})")
    if job == "a":
        query = f"SELECT line FROM {lines.format('lines.txt')} ORDER BY line", plain
    if job == "b":
        query = f"FROM {fields} ORDER BY number", "(header false)"
    if job == "c":
        database.execute("SET memory_limit = '256MiB'")
        query = f"FROM {rows} ORDER BY strptime(sold, '%d/%m/%Y'), price DESC", "(header)"
    if job == "d":
        query = f"FROM {fields} ORDER BY number DESC LIMIT 100", "(header false)"
    if job == "e":
        query = f"SELECT count(*), line FROM {lines.format('repeated.txt')} GROUP BY line ORDER BY line", "(header false)"
    database.execute(f"COPY ({query[0]}) TO '{out}' {query[1]}")


def polars():
    import polars as pl

    def lines(name):
        return pl.scan_csv(name, has_header=False, separator="\x01", quote_char=None, schema={"line": pl.String})

    fields = pl.scan_csv("fields.csv", has_header=False,
                         schema={"name": pl.String, "number": pl.Int64, "street": pl.String})
    if job == "a":
        lines("lines.txt").sort("line").sink_csv(out, include_header=False, separator="\x01", quote_style="never")
    if job == "b":
        fields.sort("number").sink_csv(out, include_header=False)
    if job == "c":
        rows = pl.scan_csv("rows.csv", schema={"id": pl.Int64, "name": pl.String, "price": pl.Decimal(9, 2), "sold": pl.String})
        keys = [pl.col("sold").str.to_date("%d/%m/%Y"), "price"]
        rows.sort(keys, descending=[False, True]).sink_csv(out)
    if job == "d":
        fields.top_k(100, by="number").sort("number", descending=True).sink_csv(out, include_header=False)
    if job == "e":
        lines("repeated.txt").group_by("line").len().sort("line").select("len", "line").sink_csv(out, include_header=False)


{"duckdb": duckdb, "polars": polars}[tool]()
END

# Runs a command; prints its seconds and the bytes of its largest process.
cat >run.py <<'END'
import os
import resource
import subprocess
import sys
import time

began = time.monotonic()
status = subprocess.run(sys.argv[1:], stderr=open("said", "w")).returncode
seconds = time.monotonic() - began
if status:
    sys.exit(1)
print(f"{seconds:.3f} {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024}")
END

# --- the runs

# Whether an output of the job has the order and the number of lines that it should.
right() {
    case $1 in
        a) "$GRISTMILL" check -q out ;;
        b) "$GRISTMILL" check -q -s -t, -k2,2n out ;;
        c) "$GRISTMILL" check -q -s --format csv --key sold:date=dmy --key price:num:desc out ;;
        d) "$GRISTMILL" check -q -s -t, -k2,2nr out ;;
        e) true ;;
    esac >/dev/null 2>&1 || return 1
    count=$(wc -l <out)
    [ ! -e "count.$1" ] || [ "$count" -eq "$(cat "count.$1")" ] || return 1
    echo "$count" >"count.$1"
}

for job in $JOBS; do
    for input in lines.txt fields.csv rows.csv repeated.txt; do [ ! -e $input ] || cat $input >/dev/null; done
    for _ in $(seq "$ROUNDS"); do
        for tool in gristmill gnu duckdb polars qsv xan; do
            grep -q "^${job}_$tool()\|^    for tool in .*$tool" jobs.sh || continue
            [ ! -e "failed.$job.$tool" ] || continue
            rm -f out
            if figures=$("$PYTHON" run.py sh -euc ". ./jobs.sh; out=out; ${job}_$tool"); then
                right "$job" || figures=wrong
            else
                figures=failed
            fi
            case $figures in
                wrong | failed)
                    echo "$job $tool: $figures: $(tail -n 1 said)" >&2
                    echo "$figures" >"failed.$job.$tool"
                    ;;
                *)
                    echo "$job $tool $figures" | tee -a "$RESULTS" >&2
                    [ "${figures%%.*}" -lt "$PATIENCE" ] || echo slow >"failed.$job.$tool"
                    ;;
            esac
        done
    done
done

# --- the table

version() { "$@" 2>/dev/null | head -n 1 || true; }
echo "$(date +%Y-%m-%d), $CORES cores, load $(cut -d ' ' -f 1-3 /proc/loadavg), medians of $ROUNDS runs in turn, files of $MEGABYTES MB in the page cache"
version "$GRISTMILL" --version
version sort --version
version "$PYTHON" -c 'import duckdb; print("DuckDB", duckdb.__version__)'
version "$PYTHON" -c 'import polars; print("Polars", polars.__version__)'
version "$QSV" --version | sed "s/-.*//"
echo "xan $(version "$XAN" --version)"
cat <<'END'

| job | gristmill | GNU sort | DuckDB | Polars | qsv | xan |
|---|---|---|---|---|---|---|
END
sort -k1,1 -k2,2 -k3,3n "$RESULTS" | awk -v jobs="$JOBS" -v rounds="$ROUNDS" '
    { key = $1 " " $2; seconds[key, ++runs[key]] = $3; if ($4 > memory[key]) memory[key] = $4 }
    function cell(key) {
        if (!runs[key]) return "-"
        return sprintf("%.2f s%s, %d MB", seconds[key, int((runs[key] + 1) / 2)], runs[key] < rounds ? " (" runs[key] " run)" : "",
            memory[key] / 1000000)
    }
    END {
        count = split(jobs, names, " ")
        for (at = 1; at <= count; at++) {
            job = names[at]
            printf "| %s | %s | %s | %s | %s | %s | %s |\n", job, cell(job " gristmill"), cell(job " gnu"), cell(job " duckdb"),
                cell(job " polars"), cell(job " qsv"), cell(job " xan")
        }
    }'
