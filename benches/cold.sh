#!/bin/sh
# Cold checks of generated programs: taipan's, those of type checkers of Python that are on
# PATH, and what the original toolchain takes to annotate and rtype the smallest one.
#
# usage: [TAIPAN=target/release/taipan] [PYTHON2=python2.7 PYPY=/path/to/pypy] benches/cold.sh [SIZE...]
#
# SIZE is a number of functions (default: 1000 10000 30000). Prints CPU seconds (user and
# system), wall-clock seconds and peak memory of one run each. The type checkers are told
# that the program is Python 2 as far as they can be; what they report is not looked at,
# only what it costs.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
taipan=$(realpath "${TAIPAN:-$here/../target/release/taipan}")
generate=${GENERATE:-$(dirname "$taipan")/generate}
[ $# -gt 0 ] || set -- 1000 10000 30000
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

measure() { # name, size, command...
    name=$1 size=$2
    shift 2
    python3 - "$name" "$size" "$@" <<'PY'
import resource, subprocess, sys, time
name, size, command = sys.argv[1], sys.argv[2], sys.argv[3:]
start = time.time()
subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
wall = time.time() - start
use = resource.getrusage(resource.RUSAGE_CHILDREN)
cpu = use.ru_utime + use.ru_stime
print("| %s | %s | %.2f s | %.2f s | %d MB |" % (name, size, cpu, wall, use.ru_maxrss // 1024))
PY
}

echo "| checker | functions | CPU | wall | peak memory |"
echo "| --- | --- | --- | --- | --- |"
smallest=
for size in "$@"; do
    program=$work/$size
    "$generate" --functions "$size" --seed 1 "$program" >/dev/null
    smallest=${smallest:-$program}
    measure taipan "$size" "$taipan" check --no-cache "$program/target.py"
    cd "$program"
    for checker in ty pyrefly; do
        if command -v "$checker" >/dev/null; then
            measure "$checker" "$size" "$checker" check ./*/*.py target.py
        fi
    done
    if command -v pyright >/dev/null; then
        measure pyright "$size" pyright .
    fi
done

if [ -n "${PYPY:-}" ]; then
    cat >"$work/original.py" <<'PY'
import os, sys
pypy, target = sys.argv[1:]
sys.path[:0] = [os.path.dirname(target), pypy]
sys.setrecursionlimit(100000)
import target as program
from rpython.annotator.listdef import s_list_of_strings
from rpython.translator.translator import TranslationContext
context = TranslationContext()
context.buildannotator().build_types(program.entry_point, [s_list_of_strings])
context.buildrtyper().specialize()
PY
    measure "original toolchain" "$(basename "$smallest")" \
        "${PYTHON2:-python2.7}" -B "$work/original.py" "$PYPY" "$smallest/target.py"
fi
