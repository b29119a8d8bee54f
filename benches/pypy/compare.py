"""Runs the programs of a folder with several interpreters: a table of CPU seconds, the least of some runs.

usage: compare.py FOLDER RUNS INTERPRETER...
"""
import os
import resource
import subprocess
import sys

# Rounds that take some seconds without a JIT.
ROUNDS = {
    'board': 8000, 'constraints': 2500, 'database': 8000, 'fannkuch': 3500, 'json_text': 40000, 'nbody': 1500,
    'pickles': 3000, 'records': 1500, 'regexes': 40000, 'scheduler': 1000, 'spectral': 4000, 'templates': 10000,
}


def timed(command):
    """CPU seconds and output of a process, and why it failed, if it did."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out, err = process.communicate()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    failure = None
    if process.returncode:
        failure = 'fails: ' + ''.join(err.decode(errors='replace').strip().splitlines()[-1:])
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, out, failure


def main(folder, runs, interpreters):
    failed = False
    print('| program | ' + ' | '.join(os.path.basename(i) for i in interpreters) + ' |')
    print('| --- ' * (len(interpreters) + 1) + '|')
    programs = [('start-up', ['-c', 'pass'])]
    programs += [(name, [os.path.join(folder, name + '.py'), str(n)]) for name, n in sorted(ROUNDS.items())]
    for name, arguments in programs:
        cells, outputs = [], set()
        for interpreter in interpreters:
            results = [timed([interpreter] + arguments) for _ in range(runs)]
            failures = [failure for _, _, failure in results if failure]
            cells.append(failures[0] if failures else '%.2f' % min(cpu for cpu, _, _ in results))
            failed = failed or bool(failures)
            outputs.update(out for _, out, failure in results if not failure)
        if len(outputs) > 1:
            failed = True
            cells.append('results differ')
        print('| %s | %s |' % (name, ' | '.join(cells)))
        sys.stdout.flush()
    return int(failed)


if __name__ == '__main__':
    sys.exit(main(sys.argv[1], int(sys.argv[2]), sys.argv[3:]))
