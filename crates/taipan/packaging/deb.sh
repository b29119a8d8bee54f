#!/bin/sh
# Makes target/debian/taipan_*.deb: the binary with manual pages and completions. Needs cargo-deb.
set -eu
cd "$(dirname "$0")/../../.."
target=${CARGO_TARGET_DIR:-target}
cargo build --release --locked -p taipan
extra=crates/taipan/packaging/extra
rm -rf "$extra"
mkdir -p "$extra"
"$target/release/taipan" man "$extra/man"
gzip -9n "$extra"/man/*.1
for shell in bash zsh fish; do
    "$target/release/taipan" completions "$shell" > "$extra/taipan.$shell"
done
cargo deb --no-build --locked -p taipan "$@"
rm -rf "$extra"
