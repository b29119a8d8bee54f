#!/bin/sh
# Makes target/debian/taipan_*.deb: the binary with manual pages and completions. Needs cargo-deb.
set -eu
cd "$(dirname "$0")/../../.."
target=${CARGO_TARGET_DIR:-target}
cargo build --profile dist --locked -p taipan --bin taipan
extra=crates/taipan/packaging/extra
rm -rf "$extra"
mkdir -p "$extra"
"$target/dist/taipan" man "$extra/man"
gzip -9n "$extra"/man/*.1
for shell in bash zsh fish; do
    "$target/dist/taipan" completions "$shell" > "$extra/taipan.$shell"
done
cargo deb --profile dist --no-build --locked -p taipan "$@"
rm -rf "$extra"
