#!/usr/bin/env bash
# What a second process saves: CPU and wall-clock time of check, run and build for fixtures
# and for generated programs: cold, unchanged, and after an edit of one line.
#
# usage: benches/cache.sh [FUNCTIONS...]     numbers of functions of generated programs
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
taipan=${TAIPAN:-$root/target/release/taipan}
generate=${GENERATE:-$root/target/release/generate}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

[ -x "$taipan" ] || { echo "no $taipan: run 'cargo build --release' first"; exit 2; }

# measure LABEL COMMAND...: the median of five runs (of one where a run changes what it
# measures: RUNS=1).
measure() {
    local label=$1
    shift
    python3 - "$label" "${RUNS:-5}" "$@" <<'PY'
import resource, statistics, subprocess, sys, time
label, runs, command = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
cpu, wall = [], []
for _ in range(runs):
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.time()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 1):
        sys.exit(done.stderr.decode())
    wall.append(time.time() - start)
    cpu.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
print("  %-34s %8.3f s CPU %8.3f s wall" % (label, statistics.median(cpu), statistics.median(wall)))
PY
}

# program NAME TARGET EDITED SED-SCRIPT ARGUMENT...
program() {
    local name=$1 target=$2 edited=$3 script=$4 cache=$work/cache
    shift 4
    for command in check run build; do
        local options=() arguments=("$target")
        [ "$command" = build ] && options=(-o "$work/out")
        [ "$command" = run ] && arguments+=("$@")
        [ "$command" = run ] && [ -n "${SKIP_RUN:-}" ] && continue
        rm -rf "$cache"
        echo "$name: $command"
        RUNS=${COLD_RUNS:-3} measure "without a cache" "$taipan" $command --no-cache "${options[@]}" "${arguments[@]}"
        RUNS=1 measure "first process" "$taipan" $command --cache-dir "$cache" "${options[@]}" "${arguments[@]}"
        measure "second, unchanged" "$taipan" $command --cache-dir "$cache" "${options[@]}" "${arguments[@]}"
        cp "$edited" "$work/saved"
        sed -i "$script" "$edited"
        cmp -s "$edited" "$work/saved" && { echo "the edit changed nothing"; exit 2; }
        RUNS=1 measure "second, after an edit of one line" "$taipan" $command --cache-dir "$cache" "${options[@]}" "${arguments[@]}"
        cp "$work/saved" "$edited"
    done
}

cp -r fixtures/programs "$work/programs"
program richards "$work/programs/richards.py" "$work/programs/richards.py" \
    's/self.packet_pending = True/self.packet_pending = 1 == 1/' 1
program quill "$work/programs/quill/targetquill.py" "$work/programs/quill/vm.py" \
    '0,/^\( *\)if /s//\1unused = 1\n\1if /' "$work/programs/quill/demo/closures.ql"

for n in "$@"; do
    [ -x "$generate" ] || { echo "no $generate: run 'cargo build --release -p taipan-benches'"; exit 2; }
    "$generate" --functions "$n" "$work/generated$n" >/dev/null
    edited=$(find "$work/generated$n" -path '*pkg*' -name ops0.py | sort | sed -n 1p)
    COLD_RUNS=1 SKIP_RUN=1 program "$n functions" "$work/generated$n/target.py" "$edited" \
        '0,/^\( *\)return /s//\1unused = 1\n\1return /'
done
