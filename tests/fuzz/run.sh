#!/usr/bin/env bash
# Looks for inputs that a decoder takes badly: `tests/fuzz/run.sh SECONDS [TARGET ...]`, so many seconds
# for each target; 0 only compiles. What it finds is written to target/fuzz: keep it in tests/fuzz/corpus
# once it is mended, and the tests replay it.
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds="$1"
shift
[ $# -gt 0 ] || set -- $(ls tests/fuzz/corpus)

target="${CARGO_TARGET_DIR:-target}"
# Our own crates tell libFuzzer which code an input reaches. Those of others are the ones of the
# ordinary build, so that little is compiled.
export RUSTC_WORKSPACE_WRAPPER="$PWD/tests/fuzz/instrumented.sh"
build() { cargo test --workspace --test fuzz --features fuzz/libfuzzer --locked --no-run 2>&1; }
build
[ "$seconds" != 0 ] || exit 0
# As in each program of Rust: who writes to a connection that the other side has closed gets an error, where
# the main function of libFuzzer lets the signal end the process.
trap '' PIPE
fuzz="$(build | sed -n 's/.*Executable .*(\(.*\))$/\1/p')"

for name in "$@"; do
    kept="$target/fuzz/$name"
    mkdir -p "$kept/corpus"
    echo "== $name"
    STAUNCH_FUZZ_TARGET="$name" "$fuzz" "$kept/corpus" "tests/fuzz/corpus/$name" \
        -artifact_prefix="$kept/" -max_total_time="$seconds" -max_len=16384 -timeout=30 \
        -rss_limit_mb=4096 -print_final_stats=1 2>"$kept/log" \
        || { grep -a -v "^#" "$kept/log" | tail -n 60; echo "$name: found; the input is in $kept"; exit 1; }
    grep -a -E 'number_of_executed_units|peak_rss' "$kept/log"
done
