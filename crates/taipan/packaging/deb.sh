#!/bin/sh
# Makes target/debian/taipan_*.deb: the binary with manual pages and completions. Needs cargo-deb. PROFILE is the
# profile of cargo's that it is built with.
set -eu
cd "$(dirname "$0")/../../.."
target=${CARGO_TARGET_DIR:-target}
profile=${PROFILE:-dist}
cargo build --profile "$profile" --locked -p taipan --bin taipan
extra=crates/taipan/packaging/extra
rm -rf "$extra"
mkdir -p "$extra"
"$target/$profile/taipan" man "$extra/man"
gzip -9n "$extra"/man/*.1
for shell in bash zsh fish; do
    "$target/$profile/taipan" completions "$shell" > "$extra/taipan.$shell"
done
cargo deb --profile "$profile" --no-build --locked -p taipan "$@"
rm -rf "$extra"
