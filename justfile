# The project's habits.
default:
    @just --list

# Formatting and lints, as CI does
check:
    cargo fmt --all -- --check
    cargo clippy --workspace --all-targets -- -D warnings

# All tests
test:
    cargo test --workspace --release

# Random cases of one target (docs/trust.md lists them), as many as you like: `just fuzz parser 1000000`
fuzz TARGET CASES="1000" FIRST="0":
    TAIPAN_FUZZ_CASES={{CASES}} TAIPAN_FUZZ_FIRST={{FIRST}} tests/fuzz {{TARGET}}

# The collector and the runtime's data structures under Miri (needs the nightly toolchain)
miri *ARGS:
    tests/miri {{ARGS}}

# Update the snapshots of a crate (or of all), then read the diff
bless *ARGS:
    UPDATE_EXPECT=1 cargo test --workspace {{ARGS}}
    git diff --stat

# Speed: whole programs against the original toolchain (needs CPython 2.7 and a pypy checkout in PYPY)
bench:
    cargo build --release
    benches/vs-rpython.sh

# Speed: cold checks of generated programs, beside type checkers that are on PATH
bench-cold *SIZES:
    cargo build --release -p taipan -p taipan-benches
    benches/cold.sh {{SIZES}}

# Speed: from saving one changed line of Quill's VM loop to the new code running
bench-watch:
    cargo build --release
    benches/watch-quill.py
    benches/watch-quill.py --hot

# Speed: what a second process saves
bench-cache *SIZES:
    cargo build --release -p taipan -p taipan-benches
    benches/cache.sh {{SIZES}}

# Speed: incremental tests (beside pytest with CPython 2.7 and a pypy checkout in PYPY)
bench-tests:
    cargo build --release
    benches/tests.sh

# Speed: how long an editor waits in a generated program, beside ty and pyrefly if they are on PATH
bench-lsp SIZE:
    cargo build --release -p taipan -p taipan-benches
    target/release/generate --functions {{SIZE}} target/bench-lsp
    benches/lsp-latency.py target/bench-lsp 'target/release/taipan lsp' 'ty server' 'pyrefly lsp'

# Speed: what edits of large programs cost
bench-edits *SIZES:
    cargo bench -p taipan-benches --bench edits -- {{SIZES}}

# Speed: what more cores would bring for programs (target files, or numbers of generated functions)
bench-cores *PROGRAMS:
    cargo bench -p taipan-benches --bench cores -- {{PROGRAMS}}

# Speed: what edits of real programs cost in an editor and in watch mode (a checkout of PySOM)
bench-latency PYSOM:
    cargo build --release -p taipan
    benches/edit-latency.py server quill {{PYSOM}}
    benches/edit-latency.py check quill {{PYSOM}}
    benches/edit-latency.py run quill {{PYSOM}}

# The recording in README.md, made anew
recording:
    UPDATE_RECORDING=1 cargo test --release -p taipan --test recording

# The pictures of graphs in docs
pictures:
    UPDATE_PICTURES=1 cargo test --release -p taipan --test pictures

# The picture of the page in README.md (needs Chromium)
screenshot:
    UPDATE_SCREENSHOT=1 cargo test --release -p taipan --test browser -- screenshot

# Compare what fixtures print with CPython 2.7, on every engine
oracle:
    cargo test -p taipan --test fixtures

# The rules of the repository that are tests
tidy:
    cargo test -p taipan-driver --test tidy

# API documentation
docs:
    cargo doc --workspace --no-deps

# The files of a release with checksums, in target/release-files: all, or those of some steps (`just release source tar`)
release *STEPS:
    crates/taipan/packaging/release.py {{STEPS}}

# The VS Code extension: types, bundle, tests (needs node)
vscode:
    cd editors/vscode && npm ci && npm test
