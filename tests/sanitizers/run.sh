#!/bin/sh
# Builds tests under sanitizers and runs them; prints one line, and exits with 1 if one fails.
#   run.sh all       every test, under the address and undefined behaviour sanitizers
#   run.sh ci        those of kernels, files, laws, operations and runs, for AVX2
#   run.sh threads   the tests with threads, under the thread sanitizer
#   run.sh ci-threads  those of teams alone, likewise
set -eu
what=${1:-all}
cd -- "$(dirname -- "$0")/../.."
# Programs of documents and of compilation find nothing new under a sanitizer, nor do tests without a
# program, nor 800 steps of training after three of them, nor the example's ranks; mpi/1_ranks to
# 4_ranks make 8 ranks and two hosts superfluous.
tests=. skip='^readme/|^generate/([^g]|.*[+])|^char_lm/(learns|ranks)$|^mpi/(8_ranks|.*two_hosts)$'
case $what in
  all) preset=asan ;;
  # What compiles or runs longest is left out; of attention's kernels, a case that runs for half a
  # minute. The preset leaves out `random` and the examples.
  ci)
    preset=asan-ci skip="$skip|^(conformance|generate|models|mpi|nn|passes|reference)(/|$)"
    export BOOST_TEST_RUN_FILTERS=':!attention/each_query_sees*'
    ;;
  threads) preset=tsan tests='^(files|inspect|mpi|run|threads)/' ;;
  ci-threads) preset=tsan tests='^threads/' ;;
  *) sed -n '2,6s/^# *//p' "$0" >&2; exit 2 ;;
esac

begin=$(date +%s)
mkdir -p build-$preset
log=build-$preset/$what.log
status=0
# shellcheck disable=SC2046  # a list of words
{
  cmake --preset $preset &&
    chosen=$(awk -v tests="$tests" -v skip="$skip" '$1 ~ tests && $1 !~ skip && $2 != "-"' \
      build-$preset/tests/tests.txt) &&
    cmake --build --preset $preset --parallel "$(nproc)" --target \
      $(echo "$chosen" | awk '{print $2}' | sort -u) &&
    ctest --preset $preset --parallel "$(nproc)" -R "^($(echo "$chosen" | awk '{print $1}' | sort -u | paste -sd '|'))\$"
} >"$log" 2>&1 || status=1
passed=$(sed -n 's/^\([0-9]*% tests passed, .*\)/\1/p' "$log")
echo "sanitizers, $what: ${passed:-does not build}, $(($(date +%s) - begin)) s"
[ $status = 0 ] || tail -40 "$log" >&2
exit $status
