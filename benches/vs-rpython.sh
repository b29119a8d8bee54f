#!/usr/bin/env bash
# Builds each fixture with Taipan and with the original toolchain and runs both executables.
# Prints CPU seconds and peak memory side by side, and ratios.
#
# Needs CPython 2.7 (PYTHON2, default: python2.7) and a pypy checkout (PYPY). Without them it
# says so, measures Taipan alone and ends well.
#
# usage: benches/vs-rpython.sh [FIXTURE...]
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
taipan=${TAIPAN:-$root/target/release/taipan}
python2=${PYTHON2:-python2.7}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

[ -x "$taipan" ] || { echo "no $taipan: run 'cargo build --release' first"; exit 2; }
original=yes
if ! "$python2" --version >/dev/null 2>&1; then
    echo "CPython 2.7 not found (set PYTHON2): measuring Taipan alone"
    original=no
elif [ ! -x "${PYPY:-}/rpython/bin/rpython" ]; then
    echo "no pypy checkout (set PYPY): measuring Taipan alone"
    original=no
fi

# fixture, its file, and the argument for a run of about a second
fixtures=(
    "richards richards.py 100"
    "deltablue deltablue.py 5000"
    "nbody nbody.py 2000000"
    "spectralnorm spectralnorm.py 1000"
    "fannkuch fannkuch.py 10"
    "binarytrees binarytrees.py 17"
    "wordcount wordcount.py 100000"
    "raising raising.py 2000000"
    "shapes shapes.py 1000000"
    "bignums bignums.py 4000"
    "quill quill/targetquill.py fixtures/programs/quill/demo/bench.ql"
)

# Sets `cpu` (seconds, user and system) and `mem` (MB) of a command.
measure() {
    local out=$work/measure

    python3 - "$out" "$@" <<'PY'
import os, resource, subprocess, sys
with open(os.devnull, "w") as null:
    code = subprocess.call(sys.argv[2:], stdout=null, stderr=null)
r = resource.getrusage(resource.RUSAGE_CHILDREN)
with open(sys.argv[1], "w") as f:
    f.write("%.3f %.0f %d\n" % (r.ru_utime + r.ru_stime, r.ru_maxrss / 1024.0, code))
PY
    read -r cpu mem code <"$out"
}

ratio() { python3 -c "print('%.2f' % ($1 / max($2, 1e-3)))"; }

printf '%-14s %21s %21s %8s   %10s %10s %6s\n' fixture 'build, Taipan' 'build, RPython' faster \
    'run, Tai.' 'run, RPy.' ratio
for line in "${fixtures[@]}"; do
    read -r name file arg <<<"$line"
    if [ $# -gt 0 ] && [[ " $* " != *" $name "* ]]; then continue; fi
    measure "$taipan" build --no-cache "fixtures/programs/$file" -o "$work/$name-t"
    [ "$code" = 0 ] || { printf '%-14s build failed\n' "$name"; continue; }
    tcpu=$cpu tmem=$mem
    measure "$work/$name-t" "$arg"
    trun=$cpu
    if [ $original = yes ]; then
        (cd "$work" && PYTHONPATH="$root/fixtures/programs" \
            measure "$python2" -B "$PYPY/rpython/bin/rpython" --batch -O2 --output="$work/$name-r" \
            "$root/fixtures/programs/$file" && echo "$cpu $mem $code" >"$work/result")
        read -r cpu mem code <"$work/result"
        rcpu=$cpu rmem=$mem
        if [ "$code" != 0 ]; then
            printf '%-14s %8s s %8s MB   the original toolchain failed\n' "$name" "$tcpu" "$tmem"
            continue
        fi
        measure "$work/$name-r" "$arg"
        rrun=$cpu
        printf '%-14s %8s s %7s MB %8s s %7s MB %7sx   %8s s %8s s %6s\n' "$name" "$tcpu" "$tmem" \
            "$rcpu" "$rmem" "$(ratio "$rcpu" "$tcpu")" "$trun" "$rrun" "$(ratio "$trun" "$rrun")"
    else
        printf '%-14s %8s s %7s MB %33s   %8s s\n' "$name" "$tcpu" "$tmem" '' "$trun"
    fi
done
