#!/usr/bin/env bash
# PyPy by Taipan: builds without and with JIT (CPU seconds, peak memory, size), start-up, and the programs in benches/pypy.
#
# usage: [TAIPAN=target/release/taipan] [OTHERS="pypy3 python3"] [RUNS=1] benches/pypy.sh PYPY
#
# PYPY is a trusted checkout of PyPy 2.7 or 3.11; the executables are built into its pypy/goal. SKIP_BUILDS=1 takes those that
# are there. OTHERS are further interpreters. The results of all interpreters must be equal. database.py needs the cffi modules
# of the checkout (docs/pypy.md).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
taipan=$(realpath "${TAIPAN:-$here/../target/release/taipan}")
[ $# = 1 ] || { sed -n '2,9s/^# \{0,1\}//p' "$0"; exit 2; }
cd "$1"
target=pypy/goal/targetpypystandalone.py
options=(--target-option=--withoutmod-cpyext)
if [ -d lib-python/3 ]; then
    options+=(--target-option=--withoutmod-_hpy_universal --target-option=--withoutmod-_pickle)
fi

if [ -z "${SKIP_BUILDS:-}" ]; then
    for jit in "" --jit; do
        out=pypy/goal/pypy-bench${jit:+-jit}
        /usr/bin/time -f "%U %S %M" -o "$out.time" "$taipan" build -q --no-cache $jit -o "$out" "$target" "${options[@]}" 2>"$out.log" ||
            { cat "$out.log"; exit 1; }
        awk -v name="build $jit" -v size="$(stat -c %s "$out")" \
            '{ printf "%-14s %6.1f s of CPU, %5.2f GB, executable of %.0f MB\n", name, $1 + $2, $3 / 1e6, size / 1e6 }' "$out.time"
        rm "$out.time" "$out.log"
    done
fi

exec python3 "$here/pypy/compare.py" "$here/pypy" "${RUNS:-1}" "$PWD/pypy/goal/pypy-bench" "$PWD/pypy/goal/pypy-bench-jit" ${OTHERS:-}
