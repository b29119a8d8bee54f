#!/usr/bin/env python3
"""Opens hostile folders with `taipan`, and reports what they achieved.

    tests/hostile/run.py TAIPAN [-k TEXT] [-j NUMBER]

A case is a folder (cases.py) that tries to run, write, read, exhaust, hang or deceive. Each is opened by
`check`, by the language server (which is told of no file), by `watch check` and by `explore`, with a home of
its own in a temporary folder. A case has failed if

- the file that it tries to make exists (`canary`), or the one that it tries to change did change (`victim`),
- a value of the environment that no program asked for is in any file that Taipan left,
- a command took longer than its limit, used more memory than its limit, ended by a signal or with exit code 2
  where a sentence of its own is expected,
- the server did not answer `shutdown` in time,
- what a planted cache says is believed.

Exit code 0 if nothing was achieved. Needs Python 3.9 and nothing else.
"""

import argparse
import os
import shutil
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import ways
from cases import CASES


#: Bytes of the largest file that is searched: larger ones are the cases' own.
LARGEST = 1 << 30


class Place:
    """The folders of one case: the project, the user's home, and what must stay untouched."""

    def __init__(self, root: Path, case, taipan: str):
        self.root = root
        self.taipan = taipan
        self.case = case
        self.project = root / 'project'
        self.home = root / 'home'
        self.canary = root / 'canary'
        self.victim = root / 'victim'
        self.secret = 'token-' + os.urandom(12).hex()
        self.victim.write_text('untouched')
        self.home.mkdir()
        self.project.mkdir()
        for name, text in case.files.items():
            path = self.project / name
            path.parent.mkdir(parents=True, exist_ok=True)
            text = text.replace('@CANARY@', str(self.canary)).replace('@VICTIM@', str(self.victim))
            path.write_text(text.replace('@PROJECT@', str(self.project)))
            if text.startswith('#!'):
                path.chmod(0o755)
        if case.prepare:
            case.prepare(self)

    def environment(self):
        """What a command gets: a home of its own, and a secret that nobody asks for."""
        kept = {name: os.environ[name] for name in ('PATH', 'LANG') if name in os.environ}
        kept.update(HOME=str(self.home), TMPDIR=str(self.root / 'tmp'), TAIPAN_SAVE_AFTER='0',
                    DEPLOY_TOKEN=self.secret)
        (self.root / 'tmp').mkdir(exist_ok=True)
        return kept

    def achieved(self):
        """What the folder did that it must not."""
        found = []
        if self.canary.exists():
            found.append('it ran or wrote: the canary exists')
        if self.victim.read_text() != 'untouched':
            found.append('it changed a file outside of its folder')
        secret = self.secret.encode()
        for folder in (self.home, self.project, self.root / 'tmp'):
            for path in folder.rglob('*'):
                if not path.is_file() or path.is_symlink() or path.stat().st_size > LARGEST:
                    continue
                if secret in path.read_bytes():
                    found.append(f'the environment is in {path.relative_to(self.root)}')
        return found


def opened(taipan, case, way):
    """What went wrong when a case was opened in one way, and the seconds that it took."""
    root = Path(tempfile.mkdtemp(prefix='hostile-'))
    started = time.monotonic()
    try:
        place = Place(root, case, taipan)
        wrong = list(way(taipan, place)) + place.achieved()
    finally:
        shutil.rmtree(root, ignore_errors=True)
    return wrong, time.monotonic() - started


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('taipan', type=Path)
    parser.add_argument('-k', default='', help='only cases and ways whose names contain this')
    parser.add_argument('-j', type=int, default=6, help='how many are opened side by side: most of them wait')
    options = parser.parse_args()
    taipan = str(options.taipan.resolve())
    chosen = []
    for case in CASES:
        for way in ways.ALL + ways.SPECIAL:
            wanted = way.__name__ in case.only_by if case.only_by else way in ways.ALL
            name = f'{case.name}/{way.__name__}'
            if wanted and way.__name__ not in case.not_by and options.k in name:
                chosen.append((name, case, way))
    failures = 0
    with ThreadPoolExecutor(options.j) as pool:
        results = [pool.submit(opened, taipan, case, way) for _, case, way in chosen]
        for (name, _, _), result in zip(chosen, results):
            wrong, took = result.result()
            failures += bool(wrong)
            print(f'{"FAILED" if wrong else "ok    "} {name} ({took:.1f} s)')
            for line in wrong:
                print(f'    {line}')
            sys.stdout.flush()
    print(f'{len(chosen) - failures} passed, {failures} failed')
    return 1 if failures or not chosen else 0


if __name__ == '__main__':
    sys.exit(main())
