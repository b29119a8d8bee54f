#!/bin/sh
# Tests of the Quill interpreter (fixtures/programs/quill): all of them from nothing,
# again, and after a one-line change of the virtual machine's loop; beside them the same
# tests under pytest and CPython 2.7, untranslated, and some of them translated by the
# original toolchain as its own tests are (interpret() of rpython.rtyper.test).
# Needs TAIPAN; PYTHON2 and PYPY (a pypy checkout) for the comparison.
set -e
taipan=$(realpath "${TAIPAN:-target/release/taipan}")
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$root/fixtures/programs/quill" "$work/quill"
cd "$work"

# Prints user and system time, and the last line of the command's output.
measure() {
    name=$1
    shift
    /usr/bin/env time -f '%U %S %e' -o times "$@" > out 2> err || { cat out err; exit 1; }
    awk -v name="$name" -v last="$(tail -n 1 out | tr -d =)" \
        '{ printf "%-44s %6.2f s CPU %6.2f s  %s\n", name, $1 + $2, $3, last }' times
}

measure 'taipan test, cold' "$taipan" test quill
measure 'taipan test, nothing changed' "$taipan" test quill
sed -i 's/self.instructions += 1/self.instructions += 2/' quill/vm.py
measure 'taipan test, one line of the loop' "$taipan" test quill
sed -i 's/^def is_digit/# A comment.\ndef is_digit/' quill/lexer.py
measure 'taipan test, a comment' "$taipan" test quill

if [ -n "$PYPY" ]; then
    python=${PYTHON2:-python2.7}
    measure 'pytest, CPython 2.7, untranslated' "$python" -B "$PYPY/pytest.py" -q -p no:cacheprovider quill
    cat > translated.py <<'END'
import sys
sys.path[:0] = [sys.argv[1], '.']
from rpython.rtyper.test.test_llinterp import interpret
from quill import test_compiler, test_lexer, test_objects
# Not those of the virtual machine: without its whole program the annotator says that frames,
# which are virtualizable, escape.
tests = [test_lexer.test_nothing_is_the_end, test_lexer.test_texts, test_lexer.test_lines,
         test_compiler.test_expression, test_compiler.test_constants_are_shared,
         test_compiler.test_disassembly_names_instructions,
         test_objects.test_truth, test_objects.test_mixed_arithmetic, test_objects.test_texts]
for test in tests:
    interpret(test, [])
print len(tests), 'passed'
END
    measure 'nine of them by interpret() of RPython' "$python" -B translated.py "$PYPY"
fi
