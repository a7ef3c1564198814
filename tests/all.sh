#!/bin/sh
# Runs all tests, one line per item; exits with 1 if one of them fails. Takes 100 minutes on two cores,
# 45 of them for the mutants. `./run test --all` calls it after it has installed what is needed.
set -u
cd -- "$(dirname -- "$0")/.."
begin=$(date +%s)
failed=0
mkdir -p build-test

# item NAME COMMAND...: writes the command's output to build-test/all-NAME.log and prints its
# summary.
item() {
  name=$1
  shift
  log=build-test/all-$name.log
  started=$(date +%s)
  if "$@" >"$log" 2>&1; then result=ok; else result=FAILED failed=1; fi
  line=$(grep -E '^([0-9]+% tests passed|random models:|fuzz:|mutants:|sanitizers|files:)' "$log" | tail -1)
  printf '%-7s %-18s %s (%s s)\n' "$result" "$name" "${line:-see $log}" "$(($(date +%s) - started))"
}

tests() {
  cmake --preset test && cmake --build --preset test --parallel "$(nproc)" && ctest --preset test --parallel "$(nproc)"
}
# Kills 200 savers.
killed_saves() {
  WEFT_KILLED_SAVES=200 build-test/tests/weft_files_test --run_test=saving
}

item tests tests
item killed-saves killed_saves
item mutants tests/mutants/run.py build-test
item random-models tests/random/run.sh 340
item sanitizers-threads tests/sanitizers/run.sh threads
item sanitizers-all tests/sanitizers/run.sh all
item fuzz tests/fuzz/run.sh 300
echo "all: $([ $failed = 0 ] && echo passed || echo failed), $(($(date +%s) - begin)) s"
exit $failed
