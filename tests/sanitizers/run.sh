#!/bin/sh
# Builds tests under sanitizers and runs them; prints one line, and exits with 1 if one fails.
#   run.sh all       every test, under the address and undefined behaviour sanitizers
#   run.sh ci        those of kernels, files, laws and runs alone, which touch the most memory
#   run.sh threads   the tests with threads, under the thread sanitizer
set -eu
what=${1:-all}
cd -- "$(dirname -- "$0")/../.."
case $what in
  all) preset=asan targets=all tests=. ;;
  ci) preset=asan targets="weft_kernels_test weft_laws_test weft_io_test weft_run_test"
    tests='^(kernels|laws|io|run)$' ;;
  threads) preset=tsan targets="weft_run_test weft_io_test" tests='^(run|io)$' ;;
  *) sed -n '2,5s/^# *//p' "$0" >&2; exit 2 ;;
esac

begin=$(date +%s)
mkdir -p build-$preset
log=build-$preset/$what.log
# Tests of compilation and installation find nothing new under a sanitizer.
skip='^(install|messages|every_rule|readme|format|static|aarch64|generate/)'
status=0
{
  # shellcheck disable=SC2086  # a list of words
  cmake --preset $preset && cmake --build --preset $preset --parallel "$(nproc)" --target $targets &&
    ctest --preset $preset -R "$tests" -E "$skip"
} >"$log" 2>&1 || status=1
passed=$(sed -n 's/^\([0-9]*% tests passed, .*\)/\1/p' "$log")
echo "sanitizers, $what: ${passed:-does not build}, $(($(date +%s) - begin)) s"
[ $status = 0 ] || tail -40 "$log" >&2
exit $status
