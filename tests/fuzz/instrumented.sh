#!/bin/sh
# rustc, with the flags that make a crate tell libFuzzer which code it reaches (SanitizerCoverage of
# LLVM). What runs while others are compiled stays as it is.
compiler="$1"
shift
case " $* " in
*" build_script_"* | *" proc-macro "*) exec "$compiler" "$@" ;;
esac
exec "$compiler" "$@" --cfg fuzzing -Ccodegen-units=1 -Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares
